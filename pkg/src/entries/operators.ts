/** `ctxweave/operators`: the context rules of tasks, and counting. */

export * from "../api/operators.js";
export * from "../api/run-task.js";
export * from "../api/tokens.js";
export * from "../common.js";
export type * from "../types/operators.js";
