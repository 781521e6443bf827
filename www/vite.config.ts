import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { offline } from "./plugins/offline.js";
import { pages } from "./plugins/pages.js";
import { sampleFolder } from "./plugins/sample-folder.js";

const { homepage, repository } = JSON.parse(readFileSync(new URL("../pkg/package.json", import.meta.url), "utf8"));
const { DOCS_URL = homepage ?? "", SOURCE_URL = repository?.url ?? "" } = process.env;

export default defineConfig({
  // Where documentation and source are, for the start view to link to.
  define: { DOCS_URL: JSON.stringify(DOCS_URL), SOURCE_URL: JSON.stringify(SOURCE_URL.replace(/^git\+|\.git$/gu, "")) },
  // Relative addresses, so that the built page can stand in any folder of any server.
  base: "./",
  plugins: [sampleFolder(), pages(), offline()],
  // The package finds its wasm beside its own JavaScript; bundling it in advance would part the two.
  optimizeDeps: { exclude: ["ctxweave", "ctxweave-vocab"] },
  // In development the sample trees are read from ../examples and the package from ../pkg.
  server: { fs: { allow: [".."] } },
  build: {
    target: ["chrome123", "edge123", "firefox128", "safari17.5"],
    // A sample tree is a file to fetch, never a string in the bundle.
    assetsInlineLimit: 0,
    // All of the style is small enough to stand in the page itself (plugins/pages.ts).
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        // What views share is one file. By itself the bundler makes many small ones of it, each with a request of its own.
        codeSplitting: {
          groups: [{ name: "common", test: /www\/src\/(ui|shell)\/|node_modules\/@?preact\/|pkg\/dist\/shared\.js/u }],
        },
        // Each area's module is a `ctxweave.wasm`; the folder it lies in says which.
        assetFileNames: ({ originalFileNames: [from = ""] }) => {
          const area = /([a-z]+)\/ctxweave\.wasm$/u.exec(from)?.[1];
          return `assets/${area ?? "[name]"}-[hash][extname]`;
        },
      },
    },
  },
});
