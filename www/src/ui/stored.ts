/** Documents in the browser's database: each tab keeps its document of a view, with its undo steps. */

import { read, write } from "./database.js";
import { openTabs, tabId } from "./tab.js";
import { sliceOf, wholePlace } from "./text-edits.js";
import { LARGE } from "./text-parts.js";

export interface State<T> {
  value: T;
  /** Whether the user made or opened it; false for a sample. */
  own: boolean;
  /** The number under which it is stored. It grows from state to state. */
  step: number;
}

/** The open document, at `at`, with the states that undo and redo lead to. */
export interface History<T> {
  states: readonly State<T>[];
  at: number;
}

/** What a tab has stored for a view. The states are separate records, so that a step writes only what is new. */
interface Head {
  tab: string;
  /** Milliseconds since 1970 of the last change. */
  time: number;
  /** The step of the open document. */
  now: number;
  own: boolean;
  /** Whether it was changed in its tab; false for a copy of another tab's document. */
  isChanged: boolean;
}

/** Maximum number of stored steps before and after the document. */
const MAX_STORED_STEPS = 20;

const headKey = (view: string, tab = ""): string => `head/${view}/${tab}`;
const stateKey = (view: string, tab: string, step: number | "" = ""): string => `state/${view}/${tab}/${step}`;

/** All keys that begin like this. */
const keysFrom = (start: string): IDBKeyRange => IDBKeyRange.bound(start, `${start}\uffff`);

const readAll = <Stored>(start: string): Promise<Stored[]> =>
  read("views", (store) => store.getAll(keysFrom(start)) as IDBRequest<Stored[]>);

async function historyOf<T>(view: string, { tab, now }: Head): Promise<History<T> | undefined> {
  const found = await readAll<State<unknown>>(stateKey(view, tab));
  const states = (await Promise.all(found.map(unpacked<T>))).toSorted((one, other) => one.step - other.step);
  const at = states.findIndex(({ step }) => step === now);
  return at < 0 ? undefined : { states, at };
}

/** The large text of a document: the document itself, or its `text`. */
export function largeText(value: unknown): string | undefined {
  const text = (value as { text?: unknown } | null | undefined)?.text ?? value;
  return typeof text === "string" && text.length > LARGE ? text : undefined;
}

export const withText = (value: unknown, text: unknown): unknown =>
  typeof value === "object" && value !== null && "text" in value ? { ...value, text } : text;

/** Characters that are copied at once. */
const PIECE = 1_000_000;

/** A state with its large text as a Blob, made piece by piece: to store a long string blocks the page. */
async function packed(state: State<unknown>): Promise<State<unknown>> {
  const text = largeText(state.value);
  if (text === undefined) return state;
  const pieces: Blob[] = [];
  for (let at = 0; at < text.length;) {
    const end = wholePlace(text, at + PIECE);
    pieces.push(new Blob([sliceOf(text, at, end)]));
    at = end;
    if (at < text.length) await new Promise((done) => setTimeout(done));
  }
  return { ...state, value: withText(state.value, new Blob(pieces)) };
}

async function unpacked<T>(state: State<unknown>): Promise<State<T>> {
  const blob = (state.value as { text?: unknown } | null)?.text ?? state.value;
  if (!(blob instanceof Blob)) return state as State<T>;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await blob.arrayBuffer());
  return { ...state, value: withText(state.value, text) as T };
}

function remove(store: IDBObjectStore, view: string, { tab }: Head): void {
  store.delete(headKey(view, tab));
  store.delete(keysFrom(stateKey(view, tab)));
}

/** The stored documents of a view, as one tab sees them. */
export class StoredDocuments<T> {
  readonly #view: string;
  /** The states that the database has. */
  #stored: readonly State<T>[] = [];
  /** The document of a closed tab, which this tab continues. */
  #continued: Head | undefined;

  constructor(view: string) {
    this.#view = view;
  }

  /** All stored documents, the last changed first, and whose they are. */
  async #heads(): Promise<(Head & { of: "this" | "open" | "closed" })[]> {
    const [heads, id, open] = [await readAll<Head>(headKey(this.#view)), await tabId(), await openTabs()];
    return heads
      .map((head) => ({ ...head, of: head.tab === id ? "this" : open.has(head.tab) ? "open" : "closed" }) as const)
      .toSorted((one, other) => other.time - one.time);
  }

  /** The document of this tab before a reload, otherwise the last one, with whether an open tab has it. */
  async restore(): Promise<{ history: History<T>; isShared: boolean } | undefined> {
    const heads = await this.#heads();
    const found = heads.find((head) => head.of === "this") ?? heads[0];
    const history = found && (await historyOf<T>(this.#view, found));
    if (!history) return undefined;
    if (found.of === "this") this.#stored = history.states;
    if (found.of === "closed") this.#continued = found;
    return { history, isShared: found.of === "open" };
  }

  /** Stores the document with the steps next to it. Without a document of the user's among them, nothing is stored. */
  async keep({ states, at }: History<T>, isChanged: boolean): Promise<void> {
    const [tab, view] = [await tabId(), this.#view];
    const near = states.slice(Math.max(at - MAX_STORED_STEPS, 0), at + 1 + MAX_STORED_STEPS);
    const kept = near.some(({ own }) => own) ? near : [];
    const records = await Promise.all(kept.filter((state) => !this.#stored.includes(state)).map(packed));
    await write("views", (store) => {
      // Records that could not be restored.
      if (this.#stored.length === 0) store.delete(keysFrom(stateKey(view, tab)));
      for (const state of this.#stored) if (!kept.includes(state)) store.delete(stateKey(view, tab, state.step));
      for (const state of records) store.put(state, stateKey(view, tab, state.step));
      const now = states[at];
      if (now && kept.length > 0)
        store.put({ tab, time: Date.now(), now: now.step, own: now.own, isChanged } satisfies Head, headKey(view, tab));
      else store.delete(headKey(view, tab));
      if (this.#continued) remove(store, view, this.#continued);
    });
    this.#stored = kept;
    this.#continued = undefined;
  }

  /** Whether another open tab has a document, and the documents of closed tabs, the last changed first. */
  async others(): Promise<{ isElsewhere: boolean; closed: readonly Head[] }> {
    const others = (await this.#heads()).filter((head) => head.own && head.tab !== this.#continued?.tab);
    const closed = others.filter((head) => head.of === "closed");
    const copies = closed.filter(({ isChanged }) => !isChanged);
    if (copies.length > 0) await write("views", (store) => copies.forEach((head) => remove(store, this.#view, head)));
    return {
      isElsewhere: others.some((head) => head.of === "open"),
      closed: closed.filter(({ isChanged }) => isChanged),
    };
  }

  /** Takes the last document of a closed tab out of the database. */
  async take(): Promise<State<T> | undefined> {
    const [head] = (await this.others()).closed;
    const history = head && (await historyOf<T>(this.#view, head));
    if (!history) return undefined;
    await write("views", (store) => remove(store, this.#view, head));
    return history.states[history.at];
  }
}
