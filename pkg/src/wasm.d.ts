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
