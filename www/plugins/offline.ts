import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

/** Emits `service-worker.js`, which caches the files of the page so that it works offline. */
export function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      async handler(_, bundle) {
        const hash = createHash("sha256");
        const files: string[] = [];
        for (const [name, output] of Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : 1))) {
          // Vocabularies are large, and cached on first use.
          if (/\.(bin|map)$/u.test(name)) continue;
          hash.update(name).update(output.type === "asset" ? output.source : output.code);
          files.push(name);
        }
        for (const name of ["icon.svg", "manifest.webmanifest"]) {
          hash.update(await readFile(new URL(`../public/${name}`, import.meta.url)));
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
