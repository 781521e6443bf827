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
export function assembleDialogue(request: unknown): unknown;
export function assembleBuffer(request: unknown): unknown;
export function countTokens(text: unknown, options: unknown): number;
export function countTokensBatch(texts: unknown, options: unknown): Uint32Array;
export function countTokensUpTo(text: unknown, limit: unknown, options: unknown): number | undefined;
export function loadVocabulary(name: string, asset: Uint8Array): void;
export function countChatTokens(messages: unknown, options: unknown): number;
export function modelInfo(name: string): unknown;
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
