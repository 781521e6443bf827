// Conversations with the structure and sizes of real ones (tests/corpus/conversations.json); their texts are filled with words.

import { readFileSync } from "node:fs";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";

const corpus = JSON.parse(readFileSync(new URL("../tests/corpus/conversations.json", import.meta.url), "utf8"));
const words = ["the", "red", "house", "of", "a", "man", "who", "sold", "bread", "and", "wine"];

/** A text of about this many tokens. */
const text = (tokens) =>
  Array.from({ length: Math.max(1, tokens) }, (_, at) => words[(at * 7 + (at >> 3)) % words.length]).join(" ");

/** A text with the number of its message at both ends, which identifies it after shortening. */
const numbered = (tokens, at) => (tokens > 12 ? `<${at}> ${text(tokens - 8)} <${at}>` : `<${at}>`);

function chatOf(rows) {
  return rows.map(([kind, tokens, third, hasText], at) => {
    const content = kind === "u" ? numbered(tokens - 4, at) : text(tokens - 4);
    if (kind === "c") {
      const toolCalls = third.map(([id, name, cost]) => {
        const call = { name, arguments: JSON.stringify({ input: text(cost - 9) }) };
        return { id: `call_${id}`, type: "function", function: call };
      });
      const ofCalls = third.reduce((sum, [, , cost]) => sum + cost, 0);
      return { role: "assistant", content: hasText ? text(tokens - ofCalls - 4) : null, tool_calls: toolCalls };
    }
    if (kind === "t") return { role: "tool", tool_call_id: `call_${third}`, content };
    return { role: { s: "system", d: "developer", u: "user", a: "assistant" }[kind], content };
  });
}

/** The conversations in OpenAI's format. */
export const conversations = (quick) => (quick ? corpus.slice(0, 5) : corpus).map(({ m }) => chatOf(m));

/** A message as a LangChain instance. */
export function instanceOf({ role, content, tool_calls: calls, tool_call_id: id }) {
  if (role === "system" || role === "developer") return new SystemMessage(content);
  if (role === "user") return new HumanMessage(content);
  if (role === "tool") return new ToolMessage({ content, tool_call_id: id });
  const toolCalls = (calls ?? []).map(({ id, function: called }) => ({
    id,
    name: called.name,
    args: JSON.parse(called.arguments),
  }));
  return new AIMessage({ content: content ?? "", tool_calls: toolCalls });
}
