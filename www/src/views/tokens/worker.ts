/** The worker that computes the tokens of large texts. */

import { effect } from "@preact/signals";
import { expose, transfer } from "comlink";
import { init } from "ctxweave/tokens";
import wasm from "ctxweave/tokens/ctxweave.wasm?url";
import { isEncoding, loadVocabulary } from "../../ui/vocabularies.js";
import { bringOwnVocabularies } from "./own-vocabularies.js";
import { ofPage, settings } from "./state.js";

const ready = init(fetch(wasm)).then(() => bringOwnVocabularies().catch(() => undefined));

expose(ofPage(ready, transfer));

// As in the view: a vocabulary is loaded when it is chosen.
void ready.then(() =>
  effect(() => {
    const { tokenizer } = settings.value;
    if (isEncoding(tokenizer)) void loadVocabulary(tokenizer);
  }),
);
