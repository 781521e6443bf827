import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { convertMessages } from "ctxweave/chat";
import type { ChatFormat, CtxweaveError, Diagnostic, FitOptions, FitReport } from "ctxweave/chat";
import { keepAddress, linkParams, numberIn, paramsOf, wordIn } from "../../shell/route.js";
import { mirror } from "../../ui/mirror.js";
import { PersistedDocument } from "../../ui/own.js";
import { LARGE } from "../../ui/text-parts.js";
import type { Turns } from "./cache.js";
import type { Compared, Comparison, Snapshot } from "./compare.js";
import { countRequest, itemsOf, type Item } from "./items.js";
import { applyMarks, keptMarks, NO_MARKS, type Edit, type Marked, type Marks } from "./marks.js";
import { isExact, knownModel } from "./models.js";
import { roleOf, textOf, type Read } from "./parts.js";
import { countChat, fitChat } from "./resident.js";
import { chatOf, fieldsOf, messagesOf, modelOf, readRequest, requestOf, systemOf } from "./request.js";
import { SAMPLES } from "./samples.js";
import { requestAt, type OpenTurns } from "./session.js";
import type { SessionTurns } from "../../reader/session-turns.js";
import { FORMATS, STRATEGIES } from "./words.js";

type Strategy = NonNullable<FitOptions["truncationStrategy"]>;

/** The request as JSON, and the user's edits; or a session, of which one request is shown. */
export interface OpenChat {
  text: string;
  marks: Marks;
  session?: OpenTurns;
}

export const own = new PersistedDocument<OpenChat>("chats");

/** In the worker: the document of the page. */
export const mirrored = signal<OpenChat | undefined>(undefined);

export const opened = computed<OpenChat>(() => mirrored.value ?? own.value.value ?? chatOfText(SAMPLES[0].text));
export const text = computed(() => opened.value.text);
export const marks = computed(() => opened.value.marks);
export const session = computed(() => opened.value.session);

/** Settings of the fit, by their names in the address. Absent ones have their defaults. */
export interface Settings {
  /** In tokens. Defaults to the model's limit; without a model, to half of a sample's cost, or to no limit. */
  limit?: number | undefined;
  strategy: Strategy;
  /** Number of tool results that are never cleared. */
  results: number | "all";
  /** Whether old results are cleared even under the limit. */
  always: boolean;
  /** Step of the cut in tokens, so that the prompt cache is valid for many turns. */
  step: number;
  /** `""` for none; undefined for the model named in the request. */
  model?: string | undefined;
  /** The format of the result; undefined for that of the request. */
  as?: ChatFormat | undefined;
}

const DEFAULTS: Settings = { strategy: "truncateMiddle", results: "all", always: false, step: 0 };
export const settings = signal(DEFAULTS);

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

const fromParams = (params: URLSearchParams): Settings => ({
  limit: numberIn(params, "limit", 1),
  strategy: wordIn(params, "strategy", Object.keys(STRATEGIES) as Strategy[]) ?? DEFAULTS.strategy,
  results: numberIn(params, "results", 0) ?? DEFAULTS.results,
  always: params.get("always") === "true",
  step: numberIn(params, "step", 0) ?? DEFAULTS.step,
  model: params.get("model") ?? undefined,
  as: wordIn(
    params,
    "as",
    FORMATS.map(({ value }) => value),
  ),
});

/** Views of the result. */
export type Tab = "window" | "messages" | "compare" | "cache" | "json";

/** The shown view of the result. */
export const tab = signal<Tab>("window");

/** Everything that the worker computes for a large chat: what each view shows, and that of the open tab. */
export interface ChatResults {
  given: ChatInput;
  items: Item[];
  /** Without its rows. */
  shown: Shown | Problem;
  rows: readonly Row[];
  texts?: Texts | undefined;
  turns?: Turns;
  comparison?: Comparison;
}

/** The inputs of the worker. Each pinned result is one of them: what did not change is not sent again. */
export interface ChatInputs extends OpenChat {
  settings: Settings;
  tab: Tab;
  compared: Compared;
  [pin: `pin-${number}`]: Snapshot;
}

/** The choices of the comparison. */
export const compared = signal<Compared>({ left: undefined, right: "now", asJson: false, onlyChanges: true });

/** Pinned results; kept until the page is closed. */
export const pins = signal<readonly Snapshot[]>([]);

/** The worker for large chats. */
export const remote = mirror<ChatInputs, ChatResults>(() =>
  text.value.length > LARGE
    ? {
        ...opened.value,
        settings: settings.value,
        tab: tab.value,
        compared: compared.value,
        ...Object.fromEntries(pins.value.map((pin) => [pin.id, pin])),
      }
    : undefined,
);

/** A large chat whose results are not there yet. */
const PENDING: Problem = { kind: "error", code: "pending", message: "the chat is being read" };

/** The open sample. */
export const sample = computed(() => SAMPLES.find((one) => one.text === text.value));

function chatOfText(json: string): OpenChat {
  return { text: json, marks: NO_MARKS };
}

/** The document of a link: only the text in older links, or the text and its marks. */
export function linked(content: unknown): OpenChat {
  const { text: json, marks: done, session } = fieldsOf(content) as Partial<OpenChat>;
  if (typeof json !== "string") return chatOfText(String(content));
  return { text: json, marks: done ?? NO_MARKS, ...(session ? { session } : {}) };
}

/** A sample replaces the user's document only after confirmation. */
export async function open(json: string, isOwn: boolean): Promise<void> {
  if (!(await own.offer(chatOfText(json), isOwn))) return;
  change({ limit: undefined, model: undefined });
}

/** Opens a session at its last request. */
export async function openSession(turns: SessionTurns): Promise<void> {
  const session = { ...turns, turn: Math.max(turns.turns.length - 1, 0) };
  if (await own.offer({ text: "", marks: NO_MARKS, session }, true)) change({ limit: undefined, model: undefined });
}

/** Shows another request of the session. Edits stay while its messages begin alike. */
export function showTurn(turn: number): void {
  const now = opened.peek();
  const before = now.session;
  if (!before) return;
  const segment = (at: number): number | undefined => before.turns[at]?.segment;
  const kept = segment(turn) === segment(before.turn) ? now.marks : NO_MARKS;
  own.note({ ...now, marks: kept, session: { ...before, turn } });
}

/** Replaces the session by its shown request, as a chat to edit. */
export function editTurn(): void {
  const now = session.peek();
  if (now) own.show(chatOfText(JSON.stringify(requestAt(now), null, 2)), true);
}

/** Opens the document of the link, the sample that it names, the last document, or the first sample. */
export async function begin(): Promise<void> {
  const link = linkParams("chats");
  // An address without parameters, such as a link to this view, keeps the settings.
  const before = settings.peek();
  if (link.size > 0) settings.value = fromParams(link);
  await own.begin(linked);
  const asked = SAMPLES.find(({ id }) => id === link.get("sample"));
  if (asked && asked !== sample.peek() && !(await own.offer(chatOfText(asked.text), false))) settings.value = before;
  const now = own.value.peek();
  if (now === undefined) own.show(chatOfText(SAMPLES[0].text), false);
  // Earlier versions of the page stored only the text.
  else if (typeof now === "string") own.note(chatOfText(now));
}

/** Writes the settings and the open sample into the address; returns a function that stops it. */
export const follow = (): (() => void) =>
  keepAddress("chats", () => {
    const params = paramsOf(settings.value, DEFAULTS);
    const open = own.isOwn.value ? undefined : sample.value;
    if (open && open !== SAMPLES[0]) params.set("sample", open.id);
    return params;
  });

export function edit(json: string): void {
  const before = marks.peek();
  const isMarked = Object.keys(before.edits).length + before.pinned.length > 0;
  let kept = before;
  // The edits of a large chat stay: comparing its messages takes too long for each letter.
  if (isMarked && !remote.isUsed.peek()) {
    try {
      kept = keptMarks(before, messagesOf(readRequest(text.peek())), messagesOf(readRequest(json)));
    } catch {
      // Incomplete JSON: unchanged messages are determined when it is complete.
    }
  }
  own.edit({ text: json, marks: kept });
}

/** Edits an item in the window, or, with undefined, reverts the edit. */
export function mark(id: string, what: Edit | undefined): void {
  const { [id]: _, ...rest } = marks.peek().edits;
  setMarks({ edits: what === undefined ? rest : { ...rest, [id]: what } });
}

export function togglePin(message: number): void {
  const { pinned } = marks.peek();
  setMarks({ pinned: pinned.includes(message) ? pinned.filter((one) => one !== message) : [...pinned, message] });
}

/** Changes some or, with `NO_MARKS`, all of the user's edits. */
export function setMarks(fields: Partial<Marks>): void {
  own.show({ ...opened.peek(), marks: { ...marks.peek(), ...fields } }, true);
}

export interface Problem {
  kind: "error";
  code: string;
  message: string;
}

const problemOf = (error: unknown): Problem => {
  const { code = "invalid_json", message } = error as CtxweaveError;
  return { kind: "error", code, message };
};

const parsed: ReadonlySignal<{ kind: "request"; request: unknown } | Problem> = computed(() => {
  if (session.value) return { kind: "request", request: requestAt(session.value) };
  if (remote.isUsed.value) {
    const now = given.value;
    return now.kind === "error" ? now : { kind: "request", request: now.request };
  }
  try {
    return { kind: "request", request: readRequest(text.value) };
  } catch (error) {
    return { kind: "error", code: "invalid_json", message: `this is not JSON: ${(error as Error).message}` };
  }
});

/** The name of the model: the chosen one, otherwise that of the request. */
export const modelName = computed(() => {
  const now = parsed.value;
  return (settings.value.model ?? (now.kind === "request" ? modelOf(now.request) : undefined)) || undefined;
});

/** The model that determines the window and counts, if the package knows it. */
export const model = computed(() => knownModel(modelName.value));

/** How tokens are counted: by the model's tokenizer, if it needs no vocabulary or that is loaded. */
export const counting = computed<Pick<FitOptions, "model" | "tokenizer">>(() => {
  const known = model.value;
  if (!known) return {};
  return known.vocabulary && !isExact(known) ? { model: known.name, tokenizer: "heuristic" } : { model: known.name };
});

export type ChatInput = { kind: "chat"; request: unknown; read: Read[]; report: FitReport } | Problem;

/** The request, with its token costs. */
export const given: ReadonlySignal<ChatInput> = computed(() => {
  if (remote.isUsed.value) return remote.results.value?.given ?? PENDING;
  const now = parsed.value;
  if (now.kind === "error") return now;
  try {
    const { request, read, report } = countChat(now.request, counting.value);
    return { kind: "chat", request, read, report };
  } catch (error) {
    return problemOf(error);
  }
});

/** The items in the window. */
export const items = computed<Item[]>(() => {
  if (remote.isUsed.value) return remote.results.value?.items ?? [];
  const now = given.value;
  if (now.kind === "error") return [];
  return itemsOf(now.request, now.read, now.report, { ...counting.value, format: now.report.format });
});

export const whole = computed(() => (given.value.kind === "chat" ? given.value.report.tokens.total : undefined));

/** Whether there is a limit: a chosen one, that of the model, or that of a sample. */
export const isLimited = computed(
  () =>
    settings.value.limit !== undefined || model.value !== undefined || sample.value !== undefined || !own.isOwn.value,
);

export const limit = computed(() => {
  const all = whole.value ?? 0;
  const free = (mirrored.value || own.isOwn.value) && !sample.value ? all : Math.ceil(all / 2);
  return settings.value.limit ?? model.value?.limit ?? Math.max(free, 16);
});

export interface Fitted {
  kind: "fitted";
  given: unknown;
  fitted: unknown;
  report: FitReport;
  rows: readonly Row[];
  /** The first message changed by the user's edits. */
  firstChanged?: number;
}

export type Outcome = Fitted | Problem;

/** The options of the fit, without pins. */
export const options = computed((): FitOptions => {
  const { strategy, results, always, step } = settings.value;
  return {
    maxTokens: limit.value,
    truncationStrategy: strategy,
    ...(step > 0 ? { cutStep: step } : {}),
    ...counting.value,
    ...editsOf(results, always),
  };
});

/** The edits that are set, unless they equal the library's default. */
function editsOf(results: Settings["results"], always: boolean): Pick<FitOptions, "edits"> {
  if (results === "all") return { edits: false };
  if (results === 3 && !always) return {};
  return { edits: { ...(always ? { when: "always" } : {}), toolResults: { keepLast: results } } };
}

/** The request after the user's edits, before it is fitted; only the worker has that of a large chat. */
export const marked = computed<Marked | undefined>(() => {
  if (remote.isUsed.value) return undefined;
  const now = given.value;
  if (now.kind === "error") return undefined;
  return applyMarks(now.request, now.read, marks.value, { ...counting.value, format: now.report.format });
});

export interface FitCall {
  request: unknown;
  chat: unknown[];
  options: FitOptions;
}

/** The arguments of `fitMessages`, and the request with the chat; only the worker has those of a large chat. */
export const fitCall = computed<FitCall | undefined>(() => {
  const now = given.value;
  if (!marked.value || now.kind === "error") return undefined;
  const { request, places } = marked.value;
  const pinned = marks.value.pinned.map((place) => places.indexOf(place)).filter((place) => place >= 0);
  const { chat, others } = chatOf(request);
  return {
    request,
    chat: chat as unknown[],
    options: {
      ...options.value,
      ...others,
      format: now.report.format,
      ...(pinned.length > 0 ? { pinned } : {}),
    } as FitOptions,
  };
});

export const outcome: ReadonlySignal<Outcome> = computed(() => {
  if (remote.isUsed.value) {
    const at = shown.value;
    return "kind" in at ? at : (at.problem ?? at.now);
  }
  const now = given.value;
  if (now.kind === "error") return now;
  try {
    const { request, options } = fitCall.value as FitCall;
    const { messages, report } = fitChat(request, options);
    return fittedOf(now, requestOf(request, messages), report);
  } catch (error) {
    return problemOf(error);
  }
});

function fittedOf(all: Extract<ChatInput, { kind: "chat" }>, fitted: unknown, report: FitReport): Fitted {
  const { places, firstChanged } = marked.value as Marked;
  return {
    kind: "fitted",
    given: all.request,
    fitted,
    report,
    rows: rowsOf(all.read, places, fitted, report, all.report),
    ...(firstChanged === undefined ? {} : { firstChanged }),
  };
}

export interface Shown {
  now: Fitted;
  problem?: Problem;
}

function remotelyShown(results: ChatResults | undefined): Shown | Problem {
  if (!results) return PENDING;
  const { shown: at, rows } = results;
  return "kind" in at ? at : { ...at, now: { ...at.now, rows } };
}

/** What the view shows: the result, or, if nothing fits, the request with the user's edits and the reason. */
export const shown: ReadonlySignal<Shown | Problem> = computed(() => {
  if (remote.isUsed.value) return remotelyShown(remote.results.value);
  const all = given.value;
  const result = outcome.value;
  if (all.kind === "error") return all;
  if (result.kind === "fitted") return { now: result };
  try {
    const { request } = marked.value as Marked;
    const counted = countRequest(request, { ...counting.value, format: all.report.format });
    return { now: fittedOf(all, request, { ...counted, limit: limit.value }), problem: result };
  } catch {
    // Only the request with the edits cannot be counted; without them it was.
    return result;
  }
});

/** The result as sent: in its format, or converted; only the worker has that of a large chat. */
export const sent = computed<{ request: unknown; diagnostics: readonly Diagnostic[] } | undefined>(() => {
  const now = outcome.value;
  if (now.kind === "error" || remote.isUsed.value) return undefined;
  const to = settings.value.as;
  if (to === undefined || to === now.report.format) return { request: now.fitted, diagnostics: [] };
  try {
    const { system, messages, diagnostics } = convertMessages(containerOf(now.fitted), { from: now.report.format, to });
    return { request: system === undefined ? messages : withSystem(to, system, messages), diagnostics };
  } catch (error) {
    const { code, message } = problemOf(error);
    return { request: now.fitted, diagnostics: [{ code: code as Diagnostic["code"], severity: "error", message }] };
  }
});

/** The result and its report as JSON. */
interface Texts {
  messages: string;
  report: string;
  diagnostics: readonly Diagnostic[];
}

export const texts = computed<Texts | undefined>(() => {
  if (remote.isUsed.value) return remote.results.value?.texts;
  const [now, last] = [outcome.value, sent.value];
  if (now.kind === "error" || !last) return undefined;
  const json = (value: unknown): string => JSON.stringify(value, null, 2);
  return { messages: json(last.request), report: json(now.report), diagnostics: last.diagnostics };
});

/** Messages next to a system context, in the vendor's format. */
function withSystem(to: ChatFormat, system: string, messages: unknown[]): object {
  switch (to) {
    case "gemini":
      return { systemInstruction: { parts: [{ text: system }] }, contents: messages };
    case "gemini-interactions":
      return { system_instruction: system, input: messages };
    default:
      return { system, messages };
  }
}

/** The input of `convertMessages`: the messages with the system context. */
function containerOf(request: unknown): unknown[] {
  const { chat } = chatOf(request);
  const system = systemOf(request);
  if (chat === request || system === undefined) return chat as unknown[];
  return { system, messages: chat } as unknown as unknown[];
}

/** A row: a message with its fate, a message excluded by the user, or an added message. */
export type Row =
  | { kind: "message"; role: string; text: string; row: FitReport["messages"][number]; excluded?: true }
  | { kind: "added"; added: NonNullable<FitReport["added"]> };

/** The messages in input order; an added message comes before the first of those that it replaces. */
function rowsOf(
  read: readonly Read[],
  places: readonly number[],
  fitted: unknown,
  report: FitReport,
  before: FitReport,
): Row[] {
  const after = messagesOf(fitted);
  const rows: Row[] = [];
  const { added } = report;
  const ofPlace = new Map(places.map((place, index) => [place, report.messages[index]]));
  let out = 0;
  for (const [place, { message: given }] of read.entries()) {
    const row = ofPlace.get(place);
    if (!row) {
      const tokens = before.messages[place]?.tokens ?? 0;
      const cut = { index: place, fate: "cut" as const, tokens };
      rows.push({ kind: "message", role: roleOf(given), text: textOf(given), row: cut, excluded: true });
      continue;
    }
    if (out === added?.index) {
      rows.push({ kind: "added", added });
      out += 1;
    }
    const stays = row.fate === "kept" || row.fate === "changed";
    const message = stays ? after[out] : given;
    if (stays) out += 1;
    rows.push({ kind: "message", role: roleOf(message), text: textOf(message), row: { ...row, index: place } });
  }
  if (out === added?.index) rows.push({ kind: "added", added });
  return rows;
}
