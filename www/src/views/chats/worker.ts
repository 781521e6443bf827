/** The worker that computes the state of large chats. */

import { batch, computed, effect } from "@preact/signals";
import { expose } from "comlink";
import { init } from "ctxweave/chat";
import type { FitReport } from "ctxweave/chat";
import wasm from "ctxweave/chat/ctxweave.wasm?url";
import { mirrorWorker } from "../../ui/mirror.js";
import { loadVocabulary } from "../../ui/vocabularies.js";
import { turns } from "./cache.js";
import { codeOfChat } from "./code.js";
import { comparison, loadDiff, shortenedComparison, type Snapshot } from "./compare.js";
import { withMessages } from "./request.js";
import {
  compared,
  given,
  items,
  mirrored,
  model,
  pins,
  settings,
  shown,
  tab,
  texts,
  type ChatInputs,
  type ChatResults,
  type Fitted,
  type ChatInput,
  type Row,
  type Shown,
} from "./state.js";

const ready = init(fetch(wasm));

function apply({ settings: asked, tab: open, compared: choices, text, marks, session, ...pinned }: ChatInputs): void {
  if (open === "compare") void loadDiff();
  for (const id of requests.keys()) if (!(id in pinned)) requests.delete(id);
  const all = Object.values(pinned).map(withRequest);
  batch(() => {
    mirrored.value = { text, marks, ...(session ? { session } : {}) };
    settings.value = asked;
    tab.value = open;
    compared.value = choices;
    pins.value = all;
  });
}

/** The requests of pinned results, by id. */
const requests = new Map<string, unknown>();

/** A pinned result of a large chat arrives as the document and settings of which it is the result. */
function withRequest(pin: Snapshot): Snapshot {
  const { source, id } = pin;
  if (!source) return pin;
  if (!requests.has(id)) {
    batch(() => {
      mirrored.value = source.opened;
      settings.value = source.settings;
    });
    requests.set(id, comparison.now()?.request);
  }
  return { ...pin, request: requests.get(id) };
}

// What the page shows, without messages: to receive ten thousand of them blocks it for longer than a frame.
const shortGiven = computed(() => shortenedInput(given.value));
const shortItems = computed(() => items.value.map(shortened));
const shortShown = computed(() => shortenedShown(shown.value));
const shortRows = computed(() => ("kind" in shown.value ? [] : shown.value.now.rows.map(shortenedRow)));

const read = (): ChatResults => ({
  given: shortGiven.value,
  items: shortItems.value,
  shown: shortShown.value,
  rows: shortRows.value,
  ...(tab.value === "json" ? { texts: texts.value } : {}),
  ...(tab.value === "cache" ? { turns: turns.value } : {}),
  ...(tab.value === "compare" ? { comparison: shortenedComparison() } : {}),
});

expose(mirrorWorker(ready, apply, read, { answers: { code: codeOfChat } }));

// As in the view: the counts become exact once the vocabulary of the model is loaded.
void ready.then(() =>
  effect(() => {
    const { vocabulary } = model.value ?? {};
    if (vocabulary) void loadVocabulary(vocabulary);
  }),
);

/** Number of characters of a text that the view shows. */
const SHOWN = 4001;

const shortened = <T extends { text: string }>(item: T): T => ({ ...item, text: item.text.slice(0, SHOWN) });
const numbers = (report: FitReport): FitReport => ({ ...report, messages: [] });

function shortenedInput(all: ChatInput): ChatInput {
  if (all.kind === "error") return all;
  return { kind: "chat", request: withMessages(all.request, []), read: [], report: numbers(all.report) };
}

function shortenedShown(at: Shown | Extract<ChatInput, { kind: "error" }>): ChatResults["shown"] {
  return "kind" in at ? at : { ...at, now: shortenedFit(at.now) };
}

function shortenedFit(fit: Fitted): Fitted {
  return {
    ...fit,
    given: withMessages(fit.given, []),
    fitted: [],
    report: numbers(fit.report),
    rows: [],
  };
}

const shortenedRow = (row: Row): Row => (row.kind === "message" ? { ...row, text: row.text.slice(0, 421) } : row);
