// Content of real agent conversations kept by a fit, next to LangChain's trimMessages and its context editing.
//
//   node benches/kept/kept.mjs [--quick]
//
// tests/corpus/conversations.json has the structure and sizes of real conversations; their texts are filled with words.
// Each is fitted at 10, 25, 50, 75 and 90 % of its tokens. A fit that throws is an error and counts in no other column.

import { trimMessages as theirs } from "@langchain/core/messages";
import { ClearToolUsesEdit } from "langchain";
import { countChatTokens, fitMessages, init, measureMessages } from "ctxweave/chat";
import { conversations, instanceOf } from "../conversations.mjs";

await init();

const quick = process.argv.includes("--quick");
const percents = quick ? [50] : [10, 25, 50, 75, 90];
const PLAN_TOOLS = new Set(["TodoWrite", "update_plan", "todo_write", "write_todos"]);

const callIds = (messages) => messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id));

/** The content that a list keeps of another. A user message is kept if its number is present. */
function keptOf(messages, fitted, limit, tokens) {
  const users = messages.filter(({ role }) => role === "user");
  const contents = fitted.filter(({ role }) => role === "user").map(({ content }) => String(content));
  const isKept = ({ content }) => contents.some((kept) => kept.includes(content.match(/^<\d+>/)[0]));
  const plans = messages
    .flatMap(({ tool_calls: calls }) => calls ?? [])
    .filter((call) => PLAN_TOOLS.has(call.function.name));
  const ids = new Set(callIds(fitted));
  return {
    used: tokens / limit,
    first: isKept(users[0]),
    last: isKept(users.at(-1)),
    plan: plans.length === 0 ? undefined : ids.has(plans.at(-1).id),
    calls: [ids.size, callIds(messages).length],
  };
}

/** A row of the table: means over all fits of one method. */
async function row(name, fit) {
  const kept = [];
  let errors = 0;
  for (const { chat, total } of chats) {
    for (const percent of percents) {
      const limit = Math.floor((total * percent) / 100);
      try {
        kept.push(await fit(chat, limit));
      } catch (error) {
        if (!/too_long|context/.test(String(error.code ?? error))) throw error;
        errors += 1;
      }
    }
  }
  const used = kept.map((fit) => fit.used).sort((a, b) => a - b);
  const lost = (of) => {
    const known = kept.map(of).filter((is) => is !== undefined);
    return `${((100 * known.filter((is) => !is).length) / Math.max(1, known.length)).toFixed(1)} %`;
  };
  const calls = kept.reduce((sum, fit) => [sum[0] + fit.calls[0], sum[1] + fit.calls[1]], [0, 0]);
  const mean = used.reduce((sum, one) => sum + one, 0) / used.length;
  const over = used.filter((one) => one > 1).length;
  const cells = [
    mean.toFixed(3),
    used[Math.floor(used.length / 10)].toFixed(3),
    lost((fit) => fit.first),
    lost((fit) => fit.last),
  ];
  cells.push(
    lost((fit) => fit.plan),
    `${((100 * calls[0]) / calls[1]).toFixed(1)} %`,
    over,
    errors,
  );
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}

const chats = conversations(quick).map((chat) => ({ chat, total: countChatTokens(chat) }));

console.log(`${chats.length} conversations, ${chats.length * percents.length} fits each\n`);
console.log(
  "| | used, mean | 10th percentile | first user lost | last lost | plan lost | calls visible | over the limit | errors |",
);
console.log("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");

const ours = (options) => (chat, limit) => {
  const { messages, report } = fitMessages(chat, { maxTokens: limit, ...options });
  return keptOf(chat, messages, limit, report.tokens.total);
};
for (const truncationStrategy of ["truncateMiddle", "rollingWindow", "keepStart"]) {
  await row(`\`${truncationStrategy}\``, ours({ truncationStrategy }));
  await row(`\`${truncationStrategy}\`, \`edits: false\``, ours({ truncationStrategy, edits: false }));
}
await row("plain", ours({ edits: false, protect: [], protectTools: [], fill: "off" }));

/** The fitted messages of LangChain in OpenAI's format, counted by the same rule. */
function theirsOf(chat, fitted, limit) {
  const back = fitted.map((message) => {
    const role = { system: "system", human: "user", ai: "assistant", tool: "tool" }[message.getType()];
    const calls = (message.tool_calls ?? []).map(({ id, name, args }) => {
      return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
    });
    return {
      role,
      content: message.content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(role === "tool" && { tool_call_id: message.tool_call_id }),
    };
  });
  return keptOf(chat, back, limit, countChatTokens(back, { format: "openai" }));
}
const costs = new WeakMap();
const tokenCounter = (list) =>
  list.reduce((sum, message) => sum + (costs.get(message) ?? Math.ceil(String(message.content).length / 4)), 3);
function instances(chat) {
  const list = chat.map(instanceOf);
  measureMessages(chat).messages.forEach(({ tokens }, at) => costs.set(list[at], tokens));
  return list;
}
await row("LangChain `trimMessages`, `allowPartial`", async (chat, limit) => {
  const options = { maxTokens: limit, tokenCounter, strategy: "last", allowPartial: true, includeSystem: true };
  const trimmed = await theirs(instances(chat), options);
  // For a system message over the limit it returns a list that contains undefined.
  if (trimmed.includes(undefined)) throw new Error("context_too_long");
  return theirsOf(chat, trimmed, limit);
});
await row("LangChain `ClearToolUsesEdit`", async (chat, limit) => {
  const list = instances(chat);
  await new ClearToolUsesEdit({ trigger: { tokens: limit }, keep: { messages: 3 } }).apply({
    messages: list,
    countTokens: tokenCounter,
  });
  return theirsOf(chat, list, limit);
});
