import { computed, signal } from "@preact/signals";
import { fitMessages, measureMessages } from "ctxweave/chat";
import agent from "../../../../examples/chats/agent.json?raw";
import { textOf } from "../chats/parts.js";

/** The sample of Chats that is shown: the request of a coding agent after ten turns. */
export const SAMPLE = "agent";

const chat = JSON.parse(agent) as { messages: unknown[] };

/** The model that counts, and whose list price is shown. */
export const MODEL = "claude-sonnet-5-5";

/** Tokens of the window. The conversation has more. */
export const window = signal(6000);
/** Whether old tool results are cleared before messages are cut. */
export const clears = signal(false);

export const whole = computed(() => fitMessages(chat, { model: MODEL, maxTokens: 1e9 }).report.tokens.total);

const measured = computed(() => measureMessages(chat, { model: MODEL }).messages);
/** Names of messages by the kind of their largest part; others have their role. */
const NAMES: Record<string, string> = { result: "tool result", call: "tool call" };

export const fitted = computed(() => {
  const edits = clears.value ? ({ toolResults: { keepLast: 2 } } as const) : false;
  const { report } = fitMessages(chat, { model: MODEL, maxTokens: window.value, edits });
  const rows = report.messages.map((row) => {
    const { role, parts: [part] = [] } = measured.value[row.index] ?? {};
    return { ...row, text: textOf(chat.messages[row.index]), name: NAMES[part?.kind ?? ""] ?? role };
  });
  return { ...report, rows };
});
