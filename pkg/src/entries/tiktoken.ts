/** `ctxweave-tiktoken`: all areas, and all encodings of tiktoken-rs. */

export * from "./default.js";
