/** The bytes of ctxweave.wasm; the build writes this module. */
export const base64: string;
