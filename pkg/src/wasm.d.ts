/** What a static import of a wasm file gives where the runtime or the bundler compiles it. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The same in the edge runtime of Next and Vercel. */
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

/** Bytes that the build has packed into JavaScript, once for all that need them: base64 of what gzip made of them. */
declare module "*.packed.js" {
  export const packed: string;
}

/** The name of the flavor that is built; the build puts it in. */
declare const AREA: string;

/** Whether the file is there packed, too; the build puts it in. */
declare const PACKED: boolean;

interface ImportMeta {
  /** What bundlers say of the build: of which kind it is, and whether it is for a server. */
  readonly env?: { readonly PROD?: boolean; readonly SSR?: boolean };
}
