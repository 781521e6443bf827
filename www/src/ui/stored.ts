/** Documents in the browser's database: each tab keeps its document of a view, with its undo steps. */

import { read, write } from "./database.js";
import { openTabs, tabId } from "./tab.js";
import { sliceOf, wholePlace } from "./text-edits.js";
import { LARGE } from "./text-parts.js";

export interface State<T> {
  value: T;
  /** Whether the user made or opened it; false for a sample. */
  own: boolean;
  /** The number under which it is stored. */
  step: number;
}

export interface History<T> {
  past: readonly State<T>[];
  now: State<T>;
  future: readonly State<T>[];
}

/** What a tab has stored for a view. The states are separate records, so that a step writes only what is new. */
interface Head {
  tab: string;
  /** Milliseconds since 1970 of the last change. */
  time: number;
  past: number[];
  now: number;
  future: number[];
  own: boolean;
  /** Whether it was changed in its tab; false for a copy of another tab's document. */
  isChanged: boolean;
}

/** Maximum number of stored steps before and after the document. */
const MAX_STORED_STEPS = 20;

const headKey = (view: string, tab: string): string => `head/${view}/${tab}`;
const stateKey = (view: string, tab: string, step: number): string => `state/${view}/${tab}/${step}`;
const stepsOf = ({ past, now, future }: Head): number[] => [...past, now, ...future];

/** All stored documents of a view, the last changed first. */
async function headsOf(view: string): Promise<Head[]> {
  const start = `head/${view}/`;
  const range = IDBKeyRange.bound(start, `${start}\uffff`);
  const found = await read("views", (store) => store.getAll(range) as IDBRequest<Head[]>);
  return found.toSorted((one, other) => other.time - one.time);
}

async function historyOf<T>(view: string, { tab, past, now, future }: Head): Promise<History<T> | undefined> {
  const get = (step: number): Promise<State<unknown> | undefined> =>
    read("views", (store) => store.get(stateKey(view, tab, step)) as IDBRequest<State<unknown> | undefined>);
  const all = async (steps: number[]): Promise<State<T>[]> =>
    (await Promise.all(steps.map(async (step) => unpacked<T>(await get(step))))).filter((state) => state !== undefined);
  const state = await unpacked<T>(await get(now));
  return state && { past: await all(past), now: state, future: await all(future) };
}

/** The large text of a document: the document itself, or its `text`. */
export function largeText(value: unknown): string | undefined {
  const text = (value as { text?: unknown } | null | undefined)?.text ?? value;
  return typeof text === "string" && text.length > LARGE ? text : undefined;
}

const withText = (value: unknown, text: unknown): unknown =>
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

async function unpacked<T>(state: State<unknown> | undefined): Promise<State<T> | undefined> {
  const blob = (state?.value as { text?: unknown } | null | undefined)?.text ?? state?.value;
  if (!state || !(blob instanceof Blob)) return state as State<T> | undefined;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await blob.arrayBuffer());
  return { ...state, value: withText(state.value, text) as T };
}

function remove(store: IDBObjectStore, view: string, head: Head): void {
  store.delete(headKey(view, head.tab));
  for (const step of stepsOf(head)) store.delete(stateKey(view, head.tab, step));
}

/** The stored documents of a view, as one tab sees them. */
export class StoredDocuments<T> {
  readonly #view: string;
  /** The states that the database has, by number. */
  #stored = new Map<number, State<T>>();
  /** The document of a closed tab, which this tab continues. */
  #continued: Head | undefined;

  constructor(view: string) {
    this.#view = view;
  }

  /** The document of this tab before a reload, otherwise the last one, with whether an open tab has it. */
  async restore(): Promise<{ history: History<T>; isShared: boolean } | undefined> {
    const [heads, tab, open] = [await headsOf(this.#view), await tabId(), await openTabs()];
    const found = heads.find((head) => head.tab === tab) ?? heads[0];
    const history = found && (await historyOf<T>(this.#view, found));
    if (!history) return undefined;
    if (found.tab === tab) {
      for (const state of [...history.past, history.now, ...history.future]) this.#stored.set(state.step, state);
    } else if (!open.has(found.tab)) {
      this.#continued = found;
    }
    return { history, isShared: found.tab !== tab && open.has(found.tab) };
  }

  /** Stores the document with the steps next to it. Without a document of the user's among them, nothing is stored. */
  async keep({ past, now, future }: History<T>, isChanged: boolean): Promise<void> {
    const tab = await tabId();
    const view = this.#view;
    const [before, after] = [past.slice(-MAX_STORED_STEPS), future.slice(-MAX_STORED_STEPS)];
    const states = [...before, now, ...after];
    const kept = new Map(states.some(({ own }) => own) ? states.map((state) => [state.step, state]) : []);
    const steps = (some: readonly State<T>[]): number[] => some.map(({ step }) => step);
    const head: Head = {
      tab,
      time: Date.now(),
      past: steps(before),
      now: now.step,
      future: steps(after),
      own: now.own,
      isChanged,
    };
    const added = [...kept.values()].filter((state) => this.#stored.get(state.step) !== state);
    const records = await Promise.all(added.map(packed));
    await write(["views"], (store) => {
      for (const step of this.#stored.keys()) if (!kept.has(step)) store.delete(stateKey(view, tab, step));
      for (const state of records) store.put(state, stateKey(view, tab, state.step));
      if (kept.size > 0) store.put(head, headKey(view, tab));
      else store.delete(headKey(view, tab));
      if (this.#continued) remove(store, view, this.#continued);
    });
    this.#stored = kept;
    this.#continued = undefined;
  }

  /** Whether another open tab has a document, and the documents of closed tabs, the last changed first. */
  async others(): Promise<{ isElsewhere: boolean; closed: readonly Head[] }> {
    const [heads, tab, open] = [await headsOf(this.#view), await tabId(), await openTabs()];
    const others = heads.filter((head) => head.tab !== tab && head.tab !== this.#continued?.tab && head.own);
    const closed = others.filter((head) => !open.has(head.tab));
    const copies = closed.filter(({ isChanged }) => !isChanged);
    if (copies.length > 0) await write(["views"], (store) => copies.forEach((head) => remove(store, this.#view, head)));
    return { isElsewhere: others.length > closed.length, closed: closed.filter(({ isChanged }) => isChanged) };
  }

  /** Takes the last document of a closed tab out of the database. */
  async take(): Promise<State<T> | undefined> {
    const [head] = (await this.others()).closed;
    const history = head && (await historyOf<T>(this.#view, head));
    if (!history) return undefined;
    await write(["views"], (store) => remove(store, this.#view, head));
    return history.now;
  }
}
