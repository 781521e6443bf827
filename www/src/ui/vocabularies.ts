import { signal } from "@preact/signals";
import type { Encoding } from "ctxweave/tokens";

/** How far a vocabulary has come. One that nobody asked for has no state and costs nothing. */
export type VocabularyState =
  | { kind: "loading"; loaded: number; total: number | undefined }
  | { kind: "loaded" }
  | { kind: "failed"; message: string };

const states = signal<Partial<Record<Encoding, VocabularyState>>>({});

/** Each is a piece of code and a file of its own, fetched when it is first asked for. */
const MODULES: Record<Encoding, () => Promise<Pick<typeof import("ctxweave/vocab/o200k_base"), "load">>> = {
  o200k_base: () => import("ctxweave/vocab/o200k_base"),
  o200k_harmony: () => import("ctxweave/vocab/o200k_harmony"),
  cl100k_base: () => import("ctxweave/vocab/cl100k_base"),
  p50k_base: () => import("ctxweave-vocab/p50k_base"),
  p50k_edit: () => import("ctxweave-vocab/p50k_edit"),
  r50k_base: () => import("ctxweave-vocab/r50k_base"),
  gpt2: () => import("ctxweave-vocab/gpt2"),
};

/** The vocabularies that ship. */
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

/** Brings the vocabularies that are there into an area that was initialised after them. */
export async function loadIntoNewArea(): Promise<void> {
  const loaded = ENCODINGS.filter(isLoaded);
  // One that the area cannot have is refused, and stays where it is.
  await Promise.allSettled(loaded.map(async (name) => (await MODULES[name]()).load()));
}

/**
 * Loads a vocabulary into every area of the package that is initialised, unless it is there or on its way; after a failure it
 * tries again. Gives whether it is there.
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
    // What stands after the semicolon is advice for whoever builds the page.
    become({ kind: "failed", message: (error as Error).message.split("; ")[0] ?? "" });
    return false;
  }
}
