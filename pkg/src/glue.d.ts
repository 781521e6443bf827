/**
 * What wasm-bindgen generates from src/wasm as glue.js. Written by hand, so that the types check without a build; every
 * golden that runs through the package proves that the names are really there.
 */

/** Compiles (bytes) or takes (a module) and instantiates; does nothing when there is an instance already. */
export function initSync(options: { module: WebAssembly.Module }): unknown;

/** The same, but that the instance is made aside. */
export function initAsync(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;

/** Throws the instance away and makes a new one from the same module. */
export function __wbg_reset_state(): void;

export function version(): string;

/**
 * Calls a function of an area by its name, with JSON in UTF-8, the bytes that it refers to and the caller's own tokenizer.
 * Gives JSON text, or `[text, ...bytes]` where bytes belong to the result.
 */
export function call(name: string, request: Uint8Array, bytes: readonly Uint8Array[], tokenizer: unknown): unknown;

export class LoomTree {
  constructor(tree: Uint8Array);
  /** Calls a method by its name, as {@link call} a function. */
  call(name: string, request: Uint8Array, bytes: readonly Uint8Array[], tokenizer: unknown): unknown;
  packAssembly(request: Uint8Array, bytes: readonly Uint8Array[], tokenizer: unknown, have: number): unknown;
  packDialogue(request: Uint8Array, bytes: readonly Uint8Array[], tokenizer: unknown, have: number): unknown;
  requestBody(request: Uint8Array, bytes: readonly Uint8Array[], tokenizer: unknown, withReport: boolean): unknown;
  free(): void;
}

export function countTokens(text: string, tokenizer: string | undefined): number;
export function countTokensBatch(texts: readonly string[], tokenizer: string | undefined): Uint32Array;
export function countTokensUpTo(text: string, limit: number, tokenizer: string | undefined): number | undefined;
export function loadVocabulary(name: string, asset: Uint8Array): void;
export function parseTask(xml: unknown, options: unknown): string;
export function writeTask(task: unknown): string;
export function explainTask(task: unknown): string;
export function beginContextAssembly(request: unknown): unknown;
export function finishContextAssembly(state: unknown, answer: unknown): unknown;
export function sequentialFailure(input: unknown): unknown;
export function reduceFailure(input: unknown): unknown;
export function startRun(input: unknown): unknown;
export function nextRequest(run: unknown): unknown;
export function recordResult(run: unknown, result: unknown): unknown;
export function artifactRef(blob: Uint8Array): string;
export function shortRef(artifactRef: string): string;

export class CommitGraph {
  constructor(options: unknown);
  readonly size: number;
  checkpoint(request: unknown): unknown;
  show(id: string): unknown;
  history(id: string, options: unknown): unknown;
  resolve(principal: string, time: string): unknown;
  updateMetadata(id: string, fields: unknown): unknown;
  records(which: string, of: string): unknown;
  commonAncestor(one: string, other: string): unknown;
  reachableArtifacts(tips: unknown): unknown;
  resolveArtifact(artifactRef: string): string;
  importJsonl(text: Uint8Array): unknown;
  exportJsonl(): Uint8Array<ArrayBuffer>;
  planMaterialization(request: unknown): unknown;
  begin(plan: unknown): Materialization;
  snapshot(plan: unknown, result: unknown, fields: unknown): unknown;
  free(): void;
}

export class Materialization {
  private constructor();
  order(): unknown[];
  push(blob: Uint8Array): number;
  missing(): unknown;
  finish(): unknown;
  free(): void;
}

export class Checkpointer {
  constructor(options: unknown);
  readonly head: string | undefined;
  readonly position: number;
  readonly pending: number;
  push(message: Uint8Array): void;
  checkpoint(trigger: string, fields: unknown): unknown[];
  compact(summary: Uint8Array, fields: unknown): unknown[];
  stored(id: string): void;
  free(): void;
}
export function importTranscript(format: string, bytes: Uint8Array, options: unknown): unknown;
export function translateTranscript(request: unknown): unknown;
export function transcriptToMessages(format: string, bytes: Uint8Array, options: unknown): unknown;
export function transcriptToLoomTree(format: string, bytes: Uint8Array, options: unknown): unknown;
export function parseContextFile(path: string, text: unknown): unknown;
export function discoverContextFolders(paths: unknown): unknown;
export function buildContextChain(request: unknown): unknown;
export function renderContextPrompt(chain: unknown, options: unknown): string;
export function watchersOf(path: string, files: unknown, options: unknown): unknown;
export function bubble(paths: unknown, files: unknown, options: unknown): unknown;
export function editContextFile(text: unknown, edit: unknown): unknown;
export function migrateLegacyContexts(input: unknown): unknown;
export function contextWatchRecords(files: unknown): unknown;
export function sessionContextRecords(session: unknown): unknown;
export function diffRecords(before: unknown, after: unknown): unknown;
export function foldersResponse(discovery: unknown): unknown;
export function chainResponse(chain: unknown): unknown;
