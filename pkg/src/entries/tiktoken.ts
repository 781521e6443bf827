/** `ctxweave-tiktoken`: all areas, and all encodings of tiktoken-rs. */

export * from "./default.js";

declare module "../types/common.js" {
  interface Encodings {
    o200k_harmony: true;
    p50k_base: true;
    p50k_edit: true;
    r50k_base: true;
    gpt2: true;
  }
}
