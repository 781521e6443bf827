import { signal } from "@preact/signals";
import type { PageEncoding } from "./settings.js";

/** How far a vocabulary has come. One that nobody asked for has no state and costs nothing. */
export type VocabularyState =
  | { kind: "loading"; loaded: number; total: number | undefined }
  | { kind: "loaded" }
  | { kind: "failed"; message: string };

const states = signal<Partial<Record<PageEncoding, VocabularyState>>>({});

/** Each is a piece of code and a file of its own, fetched when it is first asked for. */
const MODULES = {
  o200k_base: () => import("ctxweave/vocab/o200k_base"),
  cl100k_base: () => import("ctxweave/vocab/cl100k_base"),
};

export function vocabularyState(name: PageEncoding): VocabularyState | undefined {
  return states.value[name];
}

export function isLoaded(name: PageEncoding): boolean {
  return states.value[name]?.kind === "loaded";
}

/** Loads a vocabulary, unless it is there or on its way; after a failure it tries again. */
export async function loadVocabulary(name: PageEncoding): Promise<void> {
  const before = states.peek()[name]?.kind;
  if (before === "loading" || before === "loaded") return;
  const become = (state: VocabularyState): void => {
    states.value = { ...states.peek(), [name]: state };
  };
  become({ kind: "loading", loaded: 0, total: undefined });
  try {
    const vocabulary = await MODULES[name]();
    await vocabulary.load({ onProgress: (loaded, total) => become({ kind: "loading", loaded, total }) });
    become({ kind: "loaded" });
  } catch (error) {
    // What stands after the semicolon is advice for whoever builds the page.
    become({ kind: "failed", message: (error as Error).message.split("; ")[0] ?? "" });
  }
}
