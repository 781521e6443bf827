/**
 * Types of glue.js, which wasm-bindgen generates from src/wasm. Written by hand, so that the types check without a
 * build; every golden test that runs through the package verifies that the names exist.
 */

import type { WasmModule } from "./types/platform.js";

/** Compiles (bytes) or takes (a module) and instantiates. A no-op if an instance exists. */
export function initSync(options: { module: WasmModule }): unknown;

/** The same as `initSync`, but creates the instance asynchronously. */
export function initAsync(options: { module_or_path: WasmModule }): Promise<unknown>;

/** Discards the instance and creates a new one from the same module. */
export function __wbg_reset_state(): void;

export function version(): string;

/**
 * Calls a function of an area by its name, with JSON in UTF-8, the bytes that it refers to and the caller's tokenizer.
 * Returns JSON text, or `[text, ...bytes]` if the result contains bytes.
 */
export function call(
  name: string,
  request: Uint8Array,
  bytes: readonly Uint8Array[] | undefined,
  tokenizer: unknown,
): unknown;

export class LoomTree {
  constructor(tree: Uint8Array);
  /** Calls a method by its name, like {@link call}. */
  call(name: string, request: Uint8Array, bytes: readonly Uint8Array[] | undefined, tokenizer: unknown): unknown;
  packDialogue(
    request: Uint8Array,
    bytes: readonly Uint8Array[] | undefined,
    tokenizer: unknown,
    have: number,
    withRows: boolean,
  ): unknown;
  requestBody(
    request: Uint8Array,
    bytes: readonly Uint8Array[] | undefined,
    tokenizer: unknown,
    withReport: boolean,
  ): unknown;
  free(): void;
}

export class Chat {
  constructor(request: Uint8Array, tokenizer: unknown);
  /** Calls a method by its name. */
  call(name: string, request: Uint8Array): unknown;
  free(): void;
}

export class TokenCounter {
  constructor(request: Uint8Array, tokenizer: unknown);
  append(delta: string, isHalf: boolean): number;
  /** Returns -1 if the text cannot be appended. */
  appendCharacter(code: number): number;
  reset(): void;
  free(): void;
}

export function countTokens(text: string, tokenizer: string | undefined): number;
export function countTokensBatch(texts: readonly string[], tokenizer: string | undefined): Uint32Array;
export function countTokensUpTo(text: string, limit: number, tokenizer: string | undefined): number | undefined;
export function encodeTokens(text: string, tokenizer: string): Uint32Array<ArrayBuffer> | undefined;
export function decodeTokens(
  ids: Uint32Array,
  tokenizer: string,
): Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | undefined;
export function loadVocabulary(name: string, asset: Uint8Array): void;
export function artifactRef(blob: Uint8Array): string;
export function shortRef(artifactRef: string): string;

export class CommitGraph {
  constructor(options: Uint8Array);
  readonly size: number;
  call(name: string, request: Uint8Array, bytes: readonly Uint8Array[] | undefined): unknown;
  begin(plan: Uint8Array): Materialization;
  free(): void;
}

export class ChainWalk {
  constructor(options: Uint8Array);
  readonly wanted: string | undefined;
  call(name: string, request: Uint8Array, bytes: readonly Uint8Array[] | undefined): unknown;
  begin(plan: Uint8Array): Materialization;
  free(): void;
}

export class Materialization {
  private constructor();
  order(): unknown[];
  push(blob: Uint8Array, verification: number): number;
  missing(): unknown;
  finish(): unknown;
  free(): void;
}

export class Checkpointer {
  constructor(options: Uint8Array);
  readonly head: string | undefined;
  readonly position: number;
  readonly pending: number;
  push(message: Uint8Array): void;
  call(name: string, request: Uint8Array, bytes: readonly Uint8Array[] | undefined): unknown;
  free(): void;
}
