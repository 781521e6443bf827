/** The worker that computes the state of large chats. */

import { effect } from "@preact/signals";
import { expose } from "comlink";
import { init } from "ctxweave/chat";
import wasm from "ctxweave/chat/ctxweave.wasm?url";
import "./cache.js";
import { codeOfChat } from "./code.js";
import { computePinned, loadDiff } from "./compare.js";
import { loadVocabularies, remote, tab } from "./state.js";

const ready = init(fetch(wasm));

expose(remote.worker(ready, { answers: { code: codeOfChat }, prepare: ({ pins }) => computePinned(pins) }));

void ready.then(() => {
  loadVocabularies();
  effect(() => {
    if (tab.value === "compare") void loadDiff();
  });
});
