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
export function requestBody(request: unknown): Uint8Array<ArrayBuffer>;
export function requestBodyWithReport(request: unknown): unknown;
export class LoomTree {
  constructor(tree: unknown);
  readonly diagnostics: unknown;
  upsert(change: unknown): unknown;
  remove(removal: unknown): unknown;
  configure(settings: unknown, defaults: unknown): void;
  size(): unknown;
  path(tip: string, options: unknown): unknown;
  tokensOf(ids: unknown, options: unknown): unknown;
  measurePath(options: unknown): unknown;
  wouldCut(options: unknown): unknown;
  assembleDialogue(options: unknown): unknown;
  assembleBuffer(options: unknown): unknown;
  requestBody(options: unknown, withReport: boolean): unknown;
  free(): void;
}

export function countTokens(text: unknown, options: unknown): number;
export function countTokensBatch(texts: unknown, options: unknown): Uint32Array;
export function countTokensUpTo(text: unknown, limit: unknown, options: unknown): number | undefined;
export function loadVocabulary(name: string, asset: Uint8Array): void;
export function countChatTokens(messages: unknown, options: unknown): number;
export function modelInfo(name: string): unknown;
