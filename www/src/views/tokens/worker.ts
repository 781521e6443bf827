/** The worker that computes the tokens of large texts. */

import { effect } from "@preact/signals";
import { expose, transfer } from "comlink";
import { init, type TokenSpans } from "ctxweave/tokens";
import wasm from "ctxweave/tokens/ctxweave.wasm?url";
import { isEncoding, loadVocabulary } from "../../ui/vocabularies.js";
import type { Boxes } from "./layout.js";
import { bringOwnVocabularies } from "./own-vocabularies.js";
import { remote, settings } from "./state.js";

const ready = init(fetch(wasm)).then(() => bringOwnVocabularies().catch(() => undefined));

expose(remote.worker(ready, { move: moved }));

// As in the view: a vocabulary is loaded when it is chosen.
void ready.then(() =>
  effect(() => {
    const { tokenizer } = settings.value;
    if (isEncoding(tokenizer)) void loadVocabulary(tokenizer);
  }),
);

/** Results with copies of their arrays, which are moved to the page: it would be blocked if it had to copy them. */
function moved(changed: { spans?: TokenSpans; boxes?: Boxes }) {
  const copy = structuredClone(changed);
  const arrays = [copy.spans, copy.boxes].flatMap((some): Uint32Array<ArrayBuffer>[] => Object.values(some ?? {}));
  return transfer(copy, [...new Set(arrays.map(({ buffer }) => buffer))]);
}
