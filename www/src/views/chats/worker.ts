/** The worker that computes the state of large chats. */

import { effect } from "@preact/signals";
import { expose } from "comlink";
import { init } from "ctxweave/chat";
import wasm from "ctxweave/chat/ctxweave.wasm?url";
import { loadVocabulary } from "../../ui/vocabularies.js";
import { model, ofPage } from "./state.js";

const ready = init(fetch(wasm));

expose(ofPage(ready));

// As in the view: the counts become exact once the vocabulary of the model is loaded.
void ready.then(() =>
  effect(() => {
    const { vocabulary } = model.value ?? {};
    if (vocabulary) void loadVocabulary(vocabulary);
  }),
);
