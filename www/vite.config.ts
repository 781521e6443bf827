import { defineConfig, type Plugin } from "vite";
import { sampleFolder } from "./sample-folder.js";

/**
 * A policy that lets the built page talk to nobody but the server it came from. Only in the build: the dev server
 * writes inline scripts of its own.
 */
const contentSecurityPolicy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    {
      tag: "meta",
      attrs: {
        "http-equiv": "Content-Security-Policy",
        content:
          "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
          "img-src 'self' data:; media-src 'self' data:; base-uri 'none'; form-action 'none'",
      },
      injectTo: "head-prepend",
    },
  ],
};

export default defineConfig({
  // Relative addresses, so that the built page can stand in any folder of any server.
  base: "./",
  plugins: [contentSecurityPolicy, sampleFolder()],
  // The package finds its wasm beside its own JavaScript; bundling it in advance would part the two.
  optimizeDeps: { exclude: ["ctxweave", "ctxweave-vocab"] },
  // In development the sample trees are read from ../examples and the package from ../pkg.
  server: { fs: { allow: [".."] } },
  build: {
    target: ["chrome123", "edge123", "firefox128", "safari17.5"],
    // A sample tree is a file to fetch, never a string in the bundle.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // Each area's module is a `ctxweave.wasm`; the folder it lies in says which.
        assetFileNames: ({ originalFileNames: [from = ""] }) => {
          const area = /([a-z]+)\/ctxweave\.wasm$/u.exec(from)?.[1];
          return `assets/${area ?? "[name]"}-[hash][extname]`;
        },
      },
    },
  },
});
