/**
 * The functions of ctxweave, an area a file. Each crosses into the wasm once; there is no logic here, but that what is not
 * a string never gets to where the glue would take it for one.
 */

export * from "./api/bodies.js";
export * from "./api/commits.js";
export * from "./api/folders.js";
export * from "./api/loom.js";
export * from "./api/operators.js";
export * from "./api/resident.js";
export * from "./api/tokens.js";
export * from "./api/transcripts.js";
export * from "./api/workspace.js";
