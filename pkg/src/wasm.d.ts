/** What a static import of a wasm file gives where the runtime or the bundler compiles it. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
