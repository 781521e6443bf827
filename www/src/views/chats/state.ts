import { computed, signal } from "@preact/signals";
import { fitMessages } from "ctxweave/chat";
import type { CtxweaveError, FitOptions, FitReport } from "ctxweave/chat";
import { Own } from "../../ui/own.js";
import { SAMPLES } from "./samples.js";

type Strategy = NonNullable<FitOptions["truncationStrategy"]>;

/** The chat, as JSON. */
export const own = new Own<string>("chats");
export const text = computed(() => own.value.value ?? SAMPLES[0].json);
/** The limit that was chosen; without one it is half of what the chat costs, of a tiny one all. */
export const chosenLimit = signal<number | undefined>(undefined);
export const strategy = signal<Strategy>("truncateMiddle");
/** How many tool results are never cleared; all of them where it is not given. */
export const keptResults = signal<number | undefined>(undefined);

/** A sample replaces what is one's own only when that was agreed to. */
export async function open(json: string, isOwn: boolean): Promise<void> {
  if (await own.offer(json, isOwn)) chosenLimit.value = undefined;
}

/** What a link carries, what was open last, or the first sample. */
export async function begin(): Promise<void> {
  if (!(await own.begin(String)) && own.value.peek() === undefined) own.show(SAMPLES[0].json, false);
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

/** The chat, with what all of it costs. */
const given = computed<{ kind: "chat"; chat: unknown[]; report: FitReport } | Problem>(() => {
  let chat: unknown[];
  try {
    chat = JSON.parse(text.value) as unknown[];
  } catch (error) {
    return { kind: "error", code: "invalid_json", message: `this is not JSON: ${(error as Error).message}` };
  }
  try {
    return { kind: "chat", chat, report: fitMessages(chat, { maxTokens: 1e9 }).report };
  } catch (error) {
    return problemOf(error);
  }
});

export const whole = computed(() => (given.value.kind === "chat" ? given.value.report.tokens.total : undefined));

export const limit = computed(() => chosenLimit.value ?? Math.max(Math.ceil((whole.value ?? 0) / 2), 16));

export type Outcome =
  { kind: "fitted"; given: unknown; fitted: unknown; report: FitReport; rows: readonly Row[] } | Problem;

export const outcome = computed<Outcome>(() => {
  const now = given.value;
  if (now.kind === "error") return now;
  const edits = keptResults.value === undefined ? {} : { edits: { toolResults: { keepLast: keptResults.value } } };
  try {
    const options = { maxTokens: limit.value, truncationStrategy: strategy.value, ...edits };
    const { messages: fitted, report } = fitMessages(now.chat, options);
    return { kind: "fitted", given: now.chat, fitted, report, rows: rowsOf(now.chat, fitted, report) };
  } catch (error) {
    return problemOf(error);
  }
});

/** What is shown: a message with its fate, or what was added. */
export type Row =
  | { kind: "message"; role: string; text: string; row: FitReport["messages"][number] }
  | { kind: "added"; added: NonNullable<FitReport["added"]> };

/** The messages in the order in which they were given, and what was added before the first of those that made room for it. */
function rowsOf(given: unknown, fitted: unknown, report: FitReport): Row[] {
  const [before, after] = [listOf(given), listOf(fitted)];
  const rows: Row[] = [];
  const { added } = report;
  let out = 0;
  for (const row of report.messages) {
    if (out === added?.index) {
      rows.push({ kind: "added", added });
      out += 1;
    }
    const stays = row.fate === "kept" || row.fate === "changed";
    const message = stays ? after[out] : before[row.index];
    if (stays) out += 1;
    rows.push({ kind: "message", role: roleOf(message), text: textOf(message), row });
  }
  if (out === added?.index) rows.push({ kind: "added", added });
  return rows;
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

function listOf(chat: unknown): unknown[] {
  const { messages, contents } = fieldsOf(chat);
  return (Array.isArray(chat) ? chat : (messages ?? contents)) as unknown[];
}

/** The system prompt that stands beside the messages. */
export const systemOf = (chat: unknown): string =>
  textOf(fieldsOf(chat)["system"] ?? fieldsOf(chat)["systemInstruction"] ?? "");

function roleOf(message: unknown): string {
  const { role, type } = fieldsOf(message);
  return String(role ?? type ?? "message").replaceAll("_", " ");
}

/** Where the formats have what a message says, in the order in which it is read. */
const TEXTS = (
  "text thinking reasoning refusal content parts summary output value result response arguments args input " +
  "data kwargs tool_calls functionCall functionResponse function"
).split(" ");

/** What a message says, whatever its format: its texts, and its calls by name. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join("\n");
  if (typeof value !== "object" || value === null) return String(value ?? "");
  const fields = fieldsOf(value);
  const name = fields["toolName"] ?? fields["name"];
  const input = fields["arguments"] ?? fields["args"] ?? fields["input"];
  if (typeof name === "string" && input !== undefined) {
    return `${name}(${typeof input === "string" ? input : JSON.stringify(input)})`;
  }
  const found = TEXTS.filter((field) => field in fields);
  if (found.length === 0) return JSON.stringify(value);
  return found
    .map((field) => textOf(fields[field]))
    .filter(Boolean)
    .join("\n");
}
