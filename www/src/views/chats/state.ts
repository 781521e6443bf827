import { computed, effect, signal } from "@preact/signals";
import { convertMessages } from "ctxweave/chat";
import type { ChatFormat, Diagnostic, FitOptions, FitReport } from "ctxweave/chat";
import { keepAddress, linkParams, numberIn, paramsOf, wordIn } from "../../shell/route.js";
import { andThen, attempt, type Attempt } from "../../ui/attempt.js";
import { isWorker, Mirror } from "../../ui/mirror.js";
import { PersistedDocument } from "../../ui/own.js";
import { loadVocabulary } from "../../ui/vocabularies.js";
import type { Compared, Snapshot } from "./compare.js";
import { countRequest, itemsOf, type Item } from "./items.js";
import { applyMarks, keptMarks, NO_MARKS, type Edit, type Marked, type Marks } from "./marks.js";
import { isExact, knownModel } from "./models.js";
import { textOf } from "./parts.js";
import { countChat, fitChat, type Counted, type Counting } from "./resident.js";
import { fieldsOf, messagesOf, modelOf, readRequest, withMessages, type Request } from "./request.js";
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

/** The choices of the comparison. */
export const compared = signal<Compared>({ left: undefined, right: "now", asJson: false, onlyChanges: true });

/** Pinned results; kept until the page is closed. */
export const pins = signal<readonly Snapshot[]>([]);

/** The worker for large chats. Each value below that needs the messages is one of its results. */
export const remote = new Mirror(own.value, { settings, tab, compared, pins });

export const opened = computed<OpenChat>(() => remote.document.value ?? chatOfText(SAMPLES[0].text));
export const text = computed(() => opened.value.text);
export const marks = computed(() => opened.value.marks);
export const session = computed(() => opened.value.session);

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

type Failure = Extract<Attempt<never>, { ok: false }>;

/** A large chat whose results are not there yet. */
const PENDING: Failure = { ok: false, code: "pending", message: "the chat is being read" };

// Receiving ten thousand messages blocks the page for longer than a frame: the worker keeps them.
const withoutMessages = (request: Request): Request => withMessages(request, []);
const withoutRows = (report: FitReport): FitReport => ({ ...report, messages: [] });

const parsed = remote.result<Attempt<Request>>(
  "parsed",
  PENDING,
  () => attempt(() => (session.value ? requestAt(session.value) : readRequest(text.value))),
  (request) => andThen(request, withoutMessages),
);

/** The name of the model: the chosen one, otherwise that of the request. */
export const modelName = computed(
  () => (settings.value.model ?? (parsed.value.ok ? modelOf(parsed.value.value) : undefined)) || undefined,
);

/** The model that determines the window and counts, if the package knows it. */
export const model = computed(() => knownModel(modelName.value));

/** Loads the vocabulary of a model when it is chosen; returns a function that stops it. */
export const loadVocabularies = (): (() => void) =>
  effect(() => {
    const { vocabulary } = model.value ?? {};
    if (vocabulary) void loadVocabulary(vocabulary);
  });

/** How tokens are recounted: by the model's tokenizer, if it needs no vocabulary or that is loaded. */
const counting = computed<Counting>(() => {
  const known = model.value;
  if (!known) return {};
  return known.vocabulary && !isExact(known) ? { model: known.name, tokenizer: "heuristic" } : { model: known.name };
});

/** The request, with its token costs. */
export const counted = remote.result<Attempt<Counted>>(
  "counted",
  PENDING,
  () => andThen(parsed.value, (request) => countChat(request, counting.value)),
  (all) =>
    andThen(all, ({ request, report }) => ({
      request: withoutMessages(request),
      read: [],
      report: withoutRows(report),
    })),
);

/** The length of an item's text that the view shows. */
const SHOWN_LENGTH = 4001;

/** The items in the window. */
export const items = remote.result<readonly Item[]>(
  "items",
  [],
  () => {
    if (!counted.value.ok) return [];
    const { request, read, report } = counted.value.value;
    return itemsOf(request, read, report.tokens.total, { ...counting.value, format: report.format });
  },
  (all) => all.map((item) => ({ ...item, text: item.text.slice(0, SHOWN_LENGTH) })),
);

export const whole = computed(() => (counted.value.ok ? counted.value.value.report.tokens.total : undefined));

/** Whether there is a limit: a chosen one, that of the model, or that of a sample. */
export const isLimited = computed(
  () =>
    settings.value.limit !== undefined || model.value !== undefined || sample.value !== undefined || !own.isOwn.value,
);

export const limit = computed(() => {
  const all = whole.value ?? 0;
  const free = (isWorker || own.isOwn.value) && !sample.value ? all : Math.ceil(all / 2);
  return settings.value.limit ?? model.value?.limit ?? Math.max(free, 16);
});

/** The options of the fit, without format and pins. */
const options = computed((): FitOptions => {
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

/** The request after the user's edits. This, the call, its outcome and `sent` exist only where the messages are. */
const marked = computed(() =>
  andThen(counted.value, ({ request, read, report: { format } }) => ({
    format,
    ...applyMarks(request, read, marks.value, { ...counting.value, format }),
  })),
);

/** The arguments of `fitMessages`. */
export interface FitCall extends Marked {
  format: ChatFormat;
  /** The pinned messages among the remaining ones. */
  pinned: readonly number[];
  options: FitOptions;
}

export const fitCall = computed(() =>
  andThen(marked.value, (edited): FitCall => {
    const { format, places } = edited;
    const pinned = marks.value.pinned.map((place) => places.indexOf(place)).filter((place) => place >= 0);
    const all = { ...options.value, format, ...(pinned.length > 0 ? { pinned } : {}) };
    return { ...edited, pinned, options: all };
  }),
);

/** A fitted request. */
export interface Fitted {
  fitted: Request;
  report: FitReport;
  /** The first message changed by the user's edits. */
  firstChanged: number | undefined;
  /** Why nothing fits; the request is then the one with the user's edits. */
  problem?: Failure;
}

export const outcome = computed(() =>
  andThen(fitCall.value, ({ request, options: all, firstChanged }): Fitted => {
    const { messages, report } = fitChat(request, all);
    return { fitted: messages, report, firstChanged };
  }),
);

/** What the view shows: the result, or, if nothing fits, the request with the user's edits and the reason. */
export const shown = remote.result<Attempt<Fitted>>(
  "shown",
  PENDING,
  () => {
    const [call, result] = [fitCall.value, outcome.value];
    if (result.ok || !call.ok) return result;
    const { request: fitted, firstChanged, format } = call.value;
    const recounted = attempt(() => countRequest(fitted, { ...counting.value, format }));
    // Only the request with the edits cannot be recounted; without them it was.
    if (!recounted.ok) return result;
    const report = { ...recounted.value, limit: limit.value };
    return { ok: true, value: { fitted, report, firstChanged, problem: result } };
  },
  (all) => andThen(all, (now) => ({ ...now, fitted: [], report: withoutRows(now.report) })),
);

/** The length of a message's text that the view shows. */
const EXCERPT_LENGTH = 421;

/** A row: a message with its fate, a message excluded by the user, or an added message. */
export type Row =
  | { kind: "message"; role: string; text: string; row: FitReport["messages"][number]; isExcluded: boolean }
  | { kind: "added"; added: NonNullable<FitReport["added"]> };

/** The messages in input order; an added message comes before the first of those that it replaces. */
export const rows = remote.result<readonly Row[]>(
  "rows",
  [],
  () => {
    const [all, call, now] = [counted.value, fitCall.value, shown.value];
    return all.ok && call.ok && now.ok ? rowsOf(all.value, call.value, now.value) : [];
  },
  (all) => all.map((row) => (row.kind === "message" ? { ...row, text: row.text.slice(0, EXCERPT_LENGTH) } : row)),
);

function rowsOf({ read }: Counted, { places }: Marked, { fitted, report }: Fitted): Row[] {
  const after = messagesOf(fitted);
  const { added } = report;
  const fates = new Map(places.map((place, index) => [place, report.messages[index]]));
  const list: Row[] = [];
  let out = 0;
  const insertAdded = (): void => {
    if (!added || out !== added.index) return;
    list.push({ kind: "added", added });
    out += 1;
  };
  for (const [index, { message, role, tokens }] of read.entries()) {
    const found = fates.get(index);
    if (found) insertAdded();
    const stays = found?.fate === "kept" || found?.fate === "changed";
    const row = { ...(found ?? { fate: "cut", tokens }), index };
    list.push({ kind: "message", role, text: textOf(stays ? after[out] : message), row, isExcluded: !found });
    if (stays) out += 1;
  }
  insertAdded();
  return list;
}

/** The result as sent: in its format, or converted. */
export const sent = computed((): { request: Request; diagnostics: readonly Diagnostic[] } | undefined => {
  if (!outcome.value.ok) return undefined;
  const { fitted: request, report } = outcome.value.value;
  const to = settings.value.as;
  if (to === undefined || to === report.format) return { request, diagnostics: [] };
  const converted = attempt(() => convertMessages(request, { from: report.format, to }));
  if (!converted.ok) {
    const { code, message } = converted;
    return { request, diagnostics: [{ code: code as Diagnostic["code"], severity: "error", message }] };
  }
  const { system, messages, diagnostics } = converted.value;
  return { request: system === undefined ? messages : withSystem(to, system, messages), diagnostics };
});

/** Messages next to a system context, in the vendor's format. */
function withSystem(to: ChatFormat, system: string, messages: unknown[]): Request {
  switch (to) {
    case "gemini":
      return { systemInstruction: { parts: [{ text: system }] }, contents: messages };
    case "gemini-interactions":
      return { system_instruction: system, input: messages };
    default:
      return { system, messages };
  }
}

/** The result and its report as JSON. */
interface Texts {
  messages: string;
  report: string;
  diagnostics: readonly Diagnostic[];
}

export const texts = remote.result<Texts | undefined>("texts", undefined, () => {
  if (tab.value !== "json" || !outcome.value.ok || !sent.value) return undefined;
  const json = (value: unknown): string => JSON.stringify(value, null, 2);
  const { request, diagnostics } = sent.value;
  return { messages: json(request), report: json(outcome.value.value.report), diagnostics };
});
