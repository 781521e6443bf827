/**
 * The entry points of the package that a program has imported. Each has a module and an instance of its own; a vocabulary is
 * loaded once and goes into all of them.
 */

import { CtxweaveError } from "./error.js";
import type { InitSource } from "./load.js";
import type { Standard } from "./source.js";

/** What is known of one of them. */
export interface Area {
  /** Where its module is when the caller of `init` does not say. */
  standard?: Standard<InitSource>;
  /** An `init` that is under way. */
  loading?: Promise<void>;
  /** Its instance, once there is one. */
  instance?: Instance;
}

/** What a vocabulary is loaded into. */
export interface Instance {
  /** Whether the vocabulary is loaded. */
  hasVocabulary(name: string): boolean;
  /** Loads a vocabulary into this instance and into each that takes its place. The asset has to stay as it is. */
  keepVocabulary(name: string, asset: Uint8Array): void;
}

const areas = new Map<string, Area>();

/** The area of that name. */
export function area(name: string): Area {
  const known = areas.get(name);
  if (known) return known;
  const made: Area = {};
  areas.set(name, made);
  return made;
}

/** The instances that there are. */
export function instances(): Instance[] {
  return [...areas.values()].flatMap(({ instance }) => instance ?? []);
}

/** Each `init` that is under way. Those that fail are the business of who called them. */
export function initsUnderWay(): Promise<void>[] {
  return [...areas.values()].flatMap(({ loading }) => loading ?? []);
}

/** What a call before `init` is answered with. */
export function notInitialized(): CtxweaveError {
  return new CtxweaveError(
    "not_initialized",
    "ctxweave is not initialised yet: call `await init()` (or `initSync(module)`) once before any other function",
  );
}
