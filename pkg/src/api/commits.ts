/** Context commits: the graph of records, materialisation, checkpoints. */

export { Checkpointer } from "./commits/checkpointer.js";
export { CommitGraph } from "./commits/graph.js";
export { materializeStream, materializeWith } from "./commits/materialize-with.js";
export { artifactRef, shortRef } from "./commits/refs.js";
export { timeKey } from "./commits/times.js";
export { ChainWalk } from "./commits/walk.js";
