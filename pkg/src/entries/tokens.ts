/** `ctxweave/tokens`: counting alone. */

export * from "../api/tokens.js";
export * from "../common.js";
