/** What a static import of a wasm file gives where the runtime or the bundler compiles it. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** What a static import of a data file gives in Workers. */
declare module "*.bin" {
  const data: ArrayBuffer;
  export default data;
}

/** Bytes that the build has packed into JavaScript, once for all that need them: base64 of what gzip made of them. */
declare module "*.packed.js" {
  export const packed: string;
}

/** The name of the flavour that is built; the build puts it in. */
declare const AREA: string;
