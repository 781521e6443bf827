import { readFileSync } from "node:fs";
import tailwind from "@tailwindcss/vite";
import { defineConfig } from "vite";
import { offline } from "./plugins/offline.js";
import { pages } from "./plugins/pages.js";
import { sampleFolder } from "./plugins/sample-folder.js";

const { homepage, repository } = JSON.parse(readFileSync(new URL("../pkg/package.json", import.meta.url), "utf8"));
const { DOCS_URL = homepage ?? "", SOURCE_URL = repository?.url ?? "" } = process.env;

/** The module of each area is named `ctxweave.wasm`; its folder identifies the area. */
const assetFileNames = ({ originalFileNames: [from = ""] }: { originalFileNames: readonly string[] }): string => {
  const area = /([a-z]+)\/ctxweave\.wasm$/u.exec(from)?.[1];
  return `assets/${area ?? "[name]"}-[hash][extname]`;
};

/** Without a report of the time that plugins take. */
const checks = { bundlerTimings: false };

export default defineConfig({
  // Addresses of the documentation and the source, for the links of the start view.
  define: { DOCS_URL: JSON.stringify(DOCS_URL), SOURCE_URL: JSON.stringify(SOURCE_URL.replace(/^git\+|\.git$/gu, "")) },
  // Relative addresses, so that the built page works in any folder of any server.
  base: "./",
  plugins: [tailwind(), sampleFolder(), pages(), offline()],
  // The package locates its wasm next to its JavaScript; pre-bundling would separate them.
  optimizeDeps: { exclude: ["ctxweave", "ctxweave-vocab"] },
  // In development the sample trees are read from ../examples and the package from ../pkg.
  server: { fs: { allow: [".."] } },
  // Workers share the modules of the areas with the page: same content, same name.
  worker: { format: "es", rolldownOptions: { checks, output: { assetFileNames } } },
  build: {
    target: ["chrome123", "edge123", "firefox128", "safari17.5"],
    // Samples are fetched as files, never inlined in the bundle.
    assetsInlineLimit: 0,
    // The style is small enough to be inlined in the page (plugins/pages.ts).
    cssCodeSplit: false,
    rolldownOptions: {
      checks,
      output: {
        // Code shared by views is one file. Otherwise the bundler creates many small ones, with one request each.
        codeSplitting: {
          groups: [
            {
              name: "common",
              test: /www\/src\/(ui|shell)\/|node_modules\/@?preact\/|pkg\/dist\/shared\.js/u,
            },
          ],
        },
        assetFileNames,
      },
    },
  },
});
