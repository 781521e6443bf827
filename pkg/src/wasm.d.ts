/** Type of a static import of a wasm file in runtimes and bundlers that compile it. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The same in the edge runtime of Next and Vercel. */
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

/** Bytes that the build packed into JavaScript: gzip, then base64. */
declare module "*.packed.js" {
  export const packed: string;
}

/** The name of the flavor; the build replaces it. */
declare const AREA: string;

/** Whether the packed file is included; the build replaces it. */
declare const PACKED: boolean;

interface ImportMeta {
  /** The kind of the build and whether it is for a server, as bundlers define it. */
  readonly env?: { readonly PROD?: boolean; readonly SSR?: boolean };
}
