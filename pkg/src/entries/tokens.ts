/** `ctxweave/tokens`: tokens alone. */

export * from "../api/tokenizer.js";
export * from "../api/tokens.js";
export * from "../common.js";
