import { signal } from "@preact/signals";
import type { Encoding } from "ctxweave/tokens";

/** Progress of a vocabulary. One that was never requested has no state and costs nothing. */
export type VocabularyState =
  | { kind: "loading"; loaded: number; total: number | undefined }
  | { kind: "loaded" }
  | { kind: "failed"; message: string };

const states = signal<Partial<Record<Encoding, VocabularyState>>>({});

/** Each is a separate chunk with a separate file, fetched on first use. */
const MODULES: Record<Encoding, () => Promise<Pick<typeof import("ctxweave/vocab/o200k_base"), "load">>> = {
  o200k_base: () => import("ctxweave/vocab/o200k_base"),
  o200k_harmony: () => import("ctxweave/vocab/o200k_harmony"),
  cl100k_base: () => import("ctxweave/vocab/cl100k_base"),
  p50k_base: () => import("ctxweave-vocab/p50k_base"),
  p50k_edit: () => import("ctxweave-vocab/p50k_edit"),
  r50k_base: () => import("ctxweave-vocab/r50k_base"),
  gpt2: () => import("ctxweave-vocab/gpt2"),
};

/** The vocabularies of the package. */
export const ENCODINGS = Object.keys(MODULES) as readonly Encoding[];

export function isEncoding(name: string): name is Encoding {
  return name in MODULES;
}

export function vocabularyState(name: Encoding): VocabularyState | undefined {
  return states.value[name];
}

export function isLoaded(name: Encoding): boolean {
  return states.value[name]?.kind === "loaded";
}

/** Loads the available vocabularies into an area that was initialized after them. */
export async function loadIntoNewArea(): Promise<void> {
  const loaded = ENCODINGS.filter(isLoaded);
  // A vocabulary that the area does not support is rejected there; others are unaffected.
  await Promise.allSettled(loaded.map(async (name) => (await MODULES[name]()).load()));
}

/**
 * Loads a vocabulary into every initialized area of the package, unless it is loaded or loading; after a failure it
 * tries again. Returns whether it is loaded.
 */
export async function loadVocabulary(name: Encoding): Promise<boolean> {
  const become = (state: VocabularyState): void => {
    states.value = { ...states.peek(), [name]: state };
  };
  const before = states.peek()[name]?.kind;
  if (before === "loaded") return true;
  if (before !== "loading") become({ kind: "loading", loaded: 0, total: undefined });
  try {
    const vocabulary = await MODULES[name]();
    await vocabulary.load({ onProgress: (loaded, total) => become({ kind: "loading", loaded, total }) });
    become({ kind: "loaded" });
    return true;
  } catch (error) {
    // The part after the semicolon is advice for developers of the page.
    become({ kind: "failed", message: (error as Error).message.split("; ")[0] ?? "" });
    return false;
  }
}
