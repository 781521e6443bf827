import { batch, computed, signal } from "@preact/signals";
import { convertMessages, fitMessages } from "ctxweave/chat";
import type { ChatFormat, CtxweaveError, Diagnostic, FitOptions, FitReport } from "ctxweave/chat";
import { linkParams, writeAddress } from "../../shell/route.js";
import { Own } from "../../ui/own.js";
import { countRequest, itemsOf, readMessages, type Read } from "./items.js";
import { applyMarks, keptMarks, NO_MARKS, type Edit, type Marks } from "./marks.js";
import { isExact, knownModel } from "./models.js";
import { roleOf, textOf } from "./parts.js";
import { chatOf, fieldsOf, messagesOf, modelOf, readRequest, requestOf, systemOf } from "./request.js";
import { SAMPLES } from "./samples.js";

type Strategy = NonNullable<FitOptions["truncationStrategy"]>;

/** The request as JSON, and what was done to it. */
export interface OpenChat {
  text: string;
  marks: Marks;
}

export const own = new Own<OpenChat>("chats");

const opened = computed<OpenChat>(() => own.value.value ?? chatOfText(SAMPLES[0].json));
export const text = computed(() => opened.value.text);
export const marks = computed(() => opened.value.marks);
/** The limit that was chosen. Without one it is the model's; without a model, of a sample half of what it costs, else all. */
export const chosenLimit = signal<number | undefined>(undefined);
export const strategy = signal<Strategy>("truncateMiddle");
/** How many tool results are never cleared; all of them where it is not given. */
export const keptResults = signal<number | undefined>(undefined);
/** Whether old results are cleared however few the tokens. */
export const clearsAlways = signal(false);
/** What is cut is rounded up to multiples of so many tokens, so that a prompt cache holds for many turns. */
export const cutQuantum = signal(0);
/** The model that was chosen, `""` for none; undefined for that which the request names. */
export const chosenModel = signal<string | undefined>(undefined);
/** The format that the result is wanted in; undefined for its own. */
export const target = signal<ChatFormat | undefined>(undefined);

export const chatOfText = (json: string): OpenChat => ({ text: json, marks: NO_MARKS });

/** What a link carries: the text alone, as links did before there were marks, or both. */
export function linked(content: unknown): OpenChat {
  const { text: json, marks: done } = fieldsOf(content) as Partial<OpenChat>;
  return typeof json === "string" ? { text: json, marks: done ?? NO_MARKS } : chatOfText(String(content));
}

/** A sample replaces what is one's own only when that was agreed to. */
export async function open(json: string, isOwn: boolean): Promise<void> {
  if (!(await own.offer(chatOfText(json), isOwn))) return;
  batch(() => {
    chosenLimit.value = undefined;
    chosenModel.value = undefined;
  });
}

/** What a link carries, the sample that it names, what was open last, or the first sample. */
export async function begin(): Promise<void> {
  await own.begin(linked);
  const link = linkParams("chats");
  const sample = SAMPLES.find(({ id }) => id === link.get("sample"));
  if (sample) {
    const asked = Number(link.get("limit"));
    link.delete("sample");
    link.delete("limit");
    writeAddress("chats", link);
    if (await own.offer(chatOfText(sample.json), false)) chosenLimit.value = asked >= 1 ? asked : undefined;
  }
  const now = own.value.peek();
  if (now === undefined) own.show(chatOfText(SAMPLES[0].json), false);
  // Before there were marks, what was kept was the text alone.
  else if (typeof now === "string") own.note(chatOfText(now));
}

export function edit(json: string): void {
  const before = marks.peek();
  const isMarked = Object.keys(before.edits).length + before.pinned.length > 0;
  let kept = before;
  if (isMarked) {
    try {
      kept = keptMarks(before, messagesOf(readRequest(text.peek())), messagesOf(readRequest(json)));
    } catch {
      // Half typed: which messages are the same is seen when it is whole again.
    }
  }
  own.edit({ text: json, marks: kept });
}

/** Does something to one of the things in the window, or, given nothing, takes it back. */
export function mark(id: string, what: Edit | undefined): void {
  const { [id]: _, ...rest } = marks.peek().edits;
  const edits = what === undefined ? rest : { ...rest, [id]: what };
  own.show({ text: text.peek(), marks: { ...marks.peek(), edits } }, true);
}

export function togglePin(message: number): void {
  const { pinned, edits } = marks.peek();
  const next = pinned.includes(message) ? pinned.filter((one) => one !== message) : [...pinned, message];
  own.show({ text: text.peek(), marks: { edits, pinned: next } }, true);
}

export function clearMarks(): void {
  own.show({ text: text.peek(), marks: NO_MARKS }, true);
}

interface Problem {
  kind: "error";
  code: string;
  message: string;
}

const problemOf = (error: unknown): Problem => {
  const { code = "invalid_json", message } = error as CtxweaveError;
  return { kind: "error", code, message };
};

const parsed = computed<{ kind: "request"; request: unknown } | Problem>(() => {
  try {
    return { kind: "request", request: readRequest(text.value) };
  } catch (error) {
    return { kind: "error", code: "invalid_json", message: `this is not JSON: ${(error as Error).message}` };
  }
});

/** The model whose window, counts and prices hold. */
export const model = computed(() => {
  const now = parsed.value;
  return knownModel(chosenModel.value ?? (now.kind === "request" ? modelOf(now.request) : undefined));
});

/** How is counted: by the model's tokenizer, where that needs no vocabulary, or the vocabulary is there. */
export const counting = computed<Pick<FitOptions, "model" | "tokenizer">>(() => {
  const known = model.value;
  if (!known) return {};
  return known.vocabulary && !isExact(known) ? { model: known.name, tokenizer: "heuristic" } : { model: known.name };
});

/** The request, with what all of it costs. */
export const given = computed<{ kind: "chat"; request: unknown; read: Read[]; report: FitReport } | Problem>(() => {
  const now = parsed.value;
  if (now.kind === "error") return now;
  try {
    const report = countRequest(now.request, counting.value);
    return { kind: "chat", request: now.request, read: readMessages(now.request), report };
  } catch (error) {
    return problemOf(error);
  }
});

/** What fills the window. */
export const items = computed(() => {
  const now = given.value;
  if (now.kind === "error") return [];
  return itemsOf(now.request, now.read, now.report, { ...counting.value, format: now.report.format });
});

export const whole = computed(() => (given.value.kind === "chat" ? given.value.report.tokens.total : undefined));

export const limit = computed(() => {
  const all = whole.value ?? 0;
  const free = own.isOwn.value && !SAMPLES.some(({ json }) => json === text.value) ? all : Math.ceil(all / 2);
  return chosenLimit.value ?? model.value?.limit ?? Math.max(free, 16);
});

export interface Fitted {
  kind: "fitted";
  given: unknown;
  fitted: unknown;
  report: FitReport;
  rows: readonly Row[];
  /** The first message that is not as it was given, because somebody changed it. */
  firstChanged?: number;
}

export type Outcome = Fitted | Problem;

/** The options of the fit, but for what is pinned. */
export const options = computed((): FitOptions => ({
  maxTokens: limit.value,
  truncationStrategy: strategy.value,
  ...(cutQuantum.value > 0 ? { cutQuantum: cutQuantum.value } : {}),
  ...counting.value,
  ...(keptResults.value === undefined
    ? {}
    : {
        edits: {
          ...(clearsAlways.value ? { when: "always" as const } : {}),
          toolResults: { keepLast: keptResults.value },
        },
      }),
}));

/** The request with what was done to it, before it is fitted. */
export const marked = computed(() => {
  const now = given.value;
  if (now.kind === "error") return undefined;
  return applyMarks(now.request, now.read, marks.value, { ...counting.value, format: now.report.format });
});

/** What `fitMessages` is given. */
export const fitCall = computed<{ chat: unknown[]; options: FitOptions } | undefined>(() => {
  const now = given.value;
  if (now.kind === "error") return undefined;
  const { request, places } = marked.value ?? { request: now.request, places: [] };
  const pinned = marks.value.pinned.map((place) => places.indexOf(place)).filter((place) => place >= 0);
  const { chat, beside } = chatOf(request);
  return {
    chat: chat as unknown[],
    options: {
      ...options.value,
      ...beside,
      format: now.report.format,
      ...(pinned.length > 0 ? { pinned } : {}),
    } as FitOptions,
  };
});

export const outcome = computed<Outcome>(() => {
  const now = given.value;
  if (now.kind === "error") return now;
  try {
    const { request, places, firstChanged } = marked.value ?? { request: now.request, places: [] };
    const call = fitCall.value as { chat: unknown[]; options: FitOptions };
    const { messages, report } = fitMessages(call.chat, call.options);
    const fitted = requestOf(request, messages);
    const rows = rowsOf(now.read, places, fitted, report, now.report);
    return {
      kind: "fitted",
      given: now.request,
      fitted,
      report,
      rows,
      ...(firstChanged === undefined ? {} : { firstChanged }),
    };
  } catch (error) {
    return problemOf(error);
  }
});

/** The result as it would be sent: in its own format, or in the one that is wanted. */
export const sent = computed<{ request: unknown; diagnostics: readonly Diagnostic[] } | undefined>(() => {
  const now = outcome.value;
  if (now.kind === "error") return undefined;
  const to = target.value;
  if (to === undefined || to === now.report.format) return { request: now.fitted, diagnostics: [] };
  try {
    const { system, messages, diagnostics } = convertMessages(containerOf(now.fitted), { from: now.report.format, to });
    const field = to === "gemini" ? "contents" : "messages";
    const beside =
      system === undefined ? {} : to === "gemini" ? { systemInstruction: { parts: [{ text: system }] } } : { system };
    return { request: system === undefined ? messages : { ...beside, [field]: messages }, diagnostics };
  } catch (error) {
    const { code, message } = problemOf(error);
    return { request: now.fitted, diagnostics: [{ code: code as Diagnostic["code"], severity: "error", message }] };
  }
});

/** What `convertMessages` reads: the messages with the system context beside them. */
function containerOf(request: unknown): unknown[] {
  const { chat } = chatOf(request);
  const system = systemOf(request);
  if (chat === request || system === undefined) return chat as unknown[];
  return { system, messages: chat } as unknown as unknown[];
}

/** What is shown: a message with its fate, what somebody left out, or what was added. */
export type Row =
  | { kind: "message"; role: string; text: string; row: FitReport["messages"][number]; excluded?: true }
  | { kind: "added"; added: NonNullable<FitReport["added"]> };

/** The messages in the order in which they were given, and what was added before the first of those that made room for it. */
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
