import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

/** Not kept in advance: vocabularies are large and kept once they were asked for, previews are for others. */
const LATER = /\.bin$|^preview\//u;

/** Beside the page: `service-worker.js`, which keeps all of its files, so that it works without a connection. */
export function offline(): Plugin {
  let publicDir = "";
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    configResolved(config) {
      publicDir = config.publicDir;
    },
    generateBundle: {
      order: "post",
      async handler(_, bundle) {
        const hash = createHash("sha256");
        const files: string[] = [];
        for (const [name, output] of Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : 1))) {
          if (LATER.test(name) || name.endsWith(".map")) continue;
          hash.update(name).update(output.type === "asset" ? output.source : output.code);
          files.push(name);
        }
        for (const name of ["icon.svg", "manifest.webmanifest"]) {
          hash.update(await readFile(`${publicDir}/${name}`));
          files.push(name);
        }
        const code = await readFile(new URL("./service-worker.js", import.meta.url), "utf8");
        const source = code
          .replace('"VERSION"', JSON.stringify(hash.digest("hex").slice(0, 12)))
          .replace('["FILES"]', JSON.stringify(files));
        this.emitFile({ type: "asset", fileName: "service-worker.js", source });
      },
    },
  };
}
