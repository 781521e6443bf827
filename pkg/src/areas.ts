/**
 * Registry of the entry points that a program has imported. Each has a separate module and instance; a vocabulary is
 * loaded once, into all of them.
 */

import { CtxweaveError } from "./error.js";
import type { InitSource } from "./load.js";
import type { Standard } from "./source.js";

/** State of one entry point. */
export interface Area {
  /** Location of its module if the caller of `init` gives none. */
  standard?: Standard<InitSource>;
  /** The pending `init`. */
  loading?: Promise<void>;
  /** Its instance, once created. */
  instance?: Instance;
}

/** An instance that can hold vocabularies. */
export interface Instance {
  /** Whether the vocabulary is loaded. */
  hasVocabulary(name: string): boolean;
  /** Loads a vocabulary into this instance and its replacements. The asset must not change afterwards. */
  keepVocabulary(name: string, asset: Uint8Array): void;
}

const areas = new Map<string, Area>();

/** Returns the area of this name, creating it if needed. */
export function area(name: string): Area {
  const known = areas.get(name);
  if (known) return known;
  const made: Area = {};
  areas.set(name, made);
  return made;
}

/** All instances created so far. */
export function instances(): Instance[] {
  return [...areas.values()].flatMap(({ instance }) => instance ?? []);
}

/** The pending `init` calls. Their failures are left to those who called them. */
export function initsUnderWay(): Promise<void>[] {
  return [...areas.values()].flatMap(({ loading }) => loading ?? []);
}

/** The error of a call before `init`. */
export function notInitialized(): CtxweaveError {
  return new CtxweaveError(
    "not_initialized",
    "ctxweave is not initialised yet: call `await init()` (or `initSync(module)`) once before any other function",
  );
}
