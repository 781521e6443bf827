/** `ctxweave`: all areas. */

export * from "./chat.js";
export * from "./commits.js";
export * from "./folders.js";
export * from "./loom.js";
export * from "./operators.js";
export * from "./workspace.js";
