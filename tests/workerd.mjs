/** How wrangler bundles a Worker and starts it: what makes one takes these options. */

import { join } from "node:path";

/** For esbuild: the wasm and the vocabularies stay files of their own beside the Worker. */
export const bundleOptions = {
  bundle: true,
  format: "esm",
  conditions: ["workerd", "worker", "browser"],
  // The file beside the Worker, imported as a module: what the platform compiles when the Worker is uploaded.
  loader: { ".wasm": "copy", ".bin": "copy" },
  assetNames: "[name]",
  logLevel: "warning",
};

/** For Miniflare: the Worker that was bundled into a folder as `worker.js`. */
export function workerOptions(folder) {
  return {
    modules: true,
    modulesRules: [
      { type: "CompiledWasm", include: ["**/*.wasm"] },
      { type: "Data", include: ["**/*.bin"] },
    ],
    scriptPath: join(folder, "worker.js"),
    modulesRoot: folder,
    compatibilityDate: "2026-01-01",
    host: "127.0.0.1",
    // Else it would ask the network where in the world it is.
    cf: false,
  };
}
