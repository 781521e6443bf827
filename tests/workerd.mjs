/** Options for bundling and starting a Worker like wrangler. */

import { join } from "node:path";

/** For esbuild: the wasm and the vocabularies remain separate files next to the Worker. */
export const bundleOptions = {
  bundle: true,
  format: "esm",
  conditions: ["workerd", "worker", "browser"],
  // The file next to the Worker, imported as a module: the platform compiles it when the Worker is uploaded.
  loader: { ".wasm": "copy", ".bin": "copy" },
  assetNames: "[name]",
  logLevel: "warning",
};

/** For Miniflare: the Worker bundled into a folder as `worker.js`. */
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
    // Otherwise it would look up its location over the network.
    cf: false,
  };
}
