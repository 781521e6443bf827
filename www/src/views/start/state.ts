import { computed, signal } from "@preact/signals";
import { fitMessages, measureMessages } from "ctxweave/chat";
import type { FitReport } from "ctxweave/chat";
import { roleOf, textOf } from "../chats/parts.js";
import { AGENT as chat } from "../chats/agent-sample.js";

/** The sample of Chats that is shown: the request of a coding agent after ten turns. */
export const SAMPLE = "agent";

/** The model that counts, and whose list price is shown. */
export const MODEL = "claude-sonnet-5-5";

/** Tokens of the window. The conversation has more. */
export const window = signal(6000);
/** Whether old tool results are cleared before messages are cut. */
export const clears = signal(false);

const kinds = computed(() => measureMessages(chat, { model: MODEL }).messages.map(({ parts }) => parts[0]?.kind));

export const whole = computed(() => fitMessages(chat, { model: MODEL, maxTokens: 1e9 }).report);

export interface Row {
  role: string;
  text: string;
  /** The kind of its largest part. */
  kind: string;
  row: FitReport["messages"][number];
}

export const fitted = computed(() => {
  const edits = clears.value ? { edits: { toolResults: { keepLast: 2 } } } : { edits: false as const };
  const { report } = fitMessages(chat, { model: MODEL, maxTokens: window.value, ...edits });
  const rows = report.messages.map((row): Row => {
    const message = chat.messages[row.index];
    return { role: roleOf(message), text: textOf(message), kind: kinds.value[row.index] ?? "text", row };
  });
  return { report, rows };
});
