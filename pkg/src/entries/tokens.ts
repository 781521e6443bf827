/** `ctxweave/tokens`: tokens only. */

export * from "../api/cut.js";
export * from "../api/open-models.js";
export * from "../api/tokenizer.js";
export * from "../api/tokens.js";
export * from "../common.js";
