/** Chats to begin with: one conversation of an agent with tools, in the form of three providers. */
export interface Sample {
  id: string;
  name: string;
  json: string;
}

const SYSTEM = "You keep a weaving mill running. Look things up before you answer.";

const log = (of: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${of}, entry ${at + 1}: thread ${(at * 37) % 90} held, no knots`).join(
    "\n",
  );

/** A question, the call that it leads to, the call's result and the answer. */
const TURNS = [
  ["Which looms stood still last night?", "read_log", "night", log("Loom 4", 24), "Loom 4 did, from two to five."],
  ["Why?", "read_log", "loom-4", log("Shuttle", 30), "Its shuttle was worn. It was replaced at five."],
  ["Do we have another shuttle?", "stock", "shuttle", "2 in store, 4 ordered", "Two are in store."],
  ["And wool for the week?", "stock", "wool", log("Bale", 18), "For six days. One bale is missing."],
  ["Who delivers wool?", "address", "wool", "Marsh & Daughters, on Mondays", "Marsh & Daughters, on Mondays."],
] as const;

const LAST = "Write them a short order for one bale.";

const turns = TURNS.map(([ask, name, of, result, answer], at) => ({ id: `c${at}`, ask, name, of, result, answer }));

const openai = [
  { role: "system", content: SYSTEM },
  ...turns.flatMap(({ id, ask, name, of, result, answer }) => [
    { role: "user", content: ask },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify({ of }) } }],
    },
    { role: "tool", tool_call_id: id, content: result },
    { role: "assistant", content: answer },
  ]),
  { role: "user", content: LAST },
];

const anthropic = {
  system: SYSTEM,
  messages: [
    ...turns.flatMap(({ id, ask, name, of, result, answer }) => [
      { role: "user", content: ask },
      { role: "assistant", content: [{ type: "tool_use", id, name, input: { of } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
      { role: "assistant", content: answer },
    ]),
    { role: "user", content: LAST },
  ],
};

const aiSdk = [
  { role: "system", content: SYSTEM },
  ...turns.flatMap(({ id: toolCallId, ask, name: toolName, of, result, answer }) => [
    { role: "user", content: ask },
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input: { of } }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: result } }] },
    { role: "assistant", content: [{ type: "text", text: answer }] },
  ]),
  { role: "user", content: LAST },
];

const json = (chat: unknown): string => JSON.stringify(chat, null, 2);

export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "openai", name: "OpenAI", json: json(openai) },
  { id: "anthropic", name: "Anthropic", json: json(anthropic) },
  { id: "ai-sdk", name: "AI SDK", json: json(aiSdk) },
];
