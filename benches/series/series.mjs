// Replays agents with a request at each turn of the model, and measures the share of each request in a provider's
// cache, next to LangChain's context editing and a loop that removes the oldest messages.
//
//   node benches/series/series.mjs [--quick]
//
// The limit is half of a conversation's tokens. Steps whose messages are within the limit are not counted. A request is
// cached as far as it equals the previous one, message by message.

import { ClearToolUsesEdit } from "langchain";
import { countChatTokens, fitMessages, init, measureMessages } from "ctxweave/chat";
import { conversations, instanceOf } from "../conversations.mjs";

await init();

const quick = process.argv.includes("--quick");
const CUT_TO = 0.75;
/** The default of the hooks. */
const HOOK_EDITS = { toolResults: { keepLast: 3 }, toolInputs: { keepLast: 3 } };
const chats = conversations(quick).filter((chat) => chat.some(({ tool_calls: calls }) => calls));

/** Tokens of each message, and the overhead of the request. */
function costsOf(chat) {
  const { messages, total } = measureMessages(chat, { format: "openai" });
  const costs = messages.map(({ tokens }) => tokens);
  return { costs, total };
}

const callIds = (messages) => messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id));

/**
 * Whether the protected content fits into the target: the system context, first and last user message, and the last
 * three units.
 */
function isRoomy(messages, costs, limit) {
  const users = messages.flatMap(({ role }, at) => (role === "user" ? [at] : []));
  const kept = new Set([0, users[0], users.at(-1)]);
  let units = 0;
  for (let at = messages.length - 1; at >= 0 && units < 3; at -= 1) {
    kept.add(at);
    if (messages[at].role !== "tool") units += 1;
  }
  return [...kept].reduce((sum, at) => sum + (costs[at] ?? 0), 0) <= CUT_TO * limit;
}

/** Replays all conversations with one method. */
function row(name, start) {
  const sum = {
    steps: 0,
    changes: 0,
    roomy: 0,
    roomyChanges: 0,
    sent: 0,
    cached: 0,
    used: 0,
    seen: 0,
    calls: 0,
    errors: 0,
  };
  for (const chat of chats) {
    const { costs, total } = costsOf(chat);
    const limit = Math.floor(total / 2);
    const fit = start(limit);
    let last;
    for (const [at, { role }] of chat.entries()) {
      if (role !== "assistant" || at === 0) continue;
      const messages = chat.slice(0, at);
      const tokens = costs.slice(0, at).reduce((all, one) => all + one, 3);
      let sent;
      try {
        sent = fit(messages);
      } catch (error) {
        if (!/too_long/.test(error.code)) throw error;
        sum.errors += 1;
        last = undefined;
        continue;
      }
      const texts = sent.map((message) => JSON.stringify(message));
      if (tokens > limit) {
        const same = texts.findIndex((text, index) => text !== last?.[index]);
        const prefix = same < 0 ? texts.length : same;
        const isChanged = last !== undefined && prefix < last.length;
        const ofSent = measureMessages(sent, { format: "openai" });
        const cached = ofSent.messages.slice(0, prefix).reduce((all, { tokens }) => all + tokens, 0);
        const roomy = isRoomy(messages, costs, limit);
        sum.steps += 1;
        sum.changes += Number(isChanged);
        sum.roomy += Number(roomy);
        sum.roomyChanges += Number(roomy && isChanged);
        sum.sent += ofSent.total;
        sum.cached += cached;
        sum.used += ofSent.total / limit;
        const ids = new Set(callIds(sent));
        sum.seen += ids.size;
        sum.calls += callIds(messages).length;
      }
      last = texts;
    }
  }
  const percent = (part, all) => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;
  const cells = [
    percent(sum.roomyChanges, sum.roomy),
    percent(sum.changes, sum.steps),
    percent(sum.cached, sum.sent),
    Math.round((sum.sent - sum.cached) / sum.steps),
    (sum.used / sum.steps).toFixed(2),
    percent(sum.seen, sum.calls),
    sum.errors,
  ];
  console.log(`| ${name} | ${cells.join(" | ")} |`);
  return sum;
}

console.log(
  "| | prefix changes, roomy steps | all steps | cached | uncached tokens per step | limit used | calls visible | errors |",
);
console.log("| --- | --: | --: | --: | --: | --: | --: | --: |");

const series = (options) => (limit) => {
  let previous = null;
  return (messages) => {
    const fitted = fitMessages(messages, { maxTokens: limit, format: "openai", previous, ...options });
    previous = fitted.state;
    return fitted.messages;
  };
};
const single = (options) => (limit) => (messages) =>
  fitMessages(messages, { maxTokens: limit, format: "openai", ...options }).messages;

/** LangChain's context editing clears results in place, in the agent's state. */
const contextEditing = (limit) => {
  const list = [];
  return (messages) => {
    for (const message of messages.slice(list.length)) list.push(instanceOf(message));
    new ClearToolUsesEdit({ trigger: { tokens: limit }, keep: { messages: 3 } }).apply({
      messages: list,
      countTokens: (some) => some.reduce((sum, { content }) => sum + Math.ceil(String(content).length / 4), 0),
    });
    return list.map((message, at) => ({ ...messages[at], content: message.content === "" ? null : message.content }));
  };
};

/** The usual loop: removes the oldest messages after the system context until the rest fits. */
const loop = (limit) => (messages) => {
  const kept = messages.slice();
  while (kept.length > 2 && countChatTokens(kept, { format: "openai" }) > limit) {
    kept.splice(1, 1);
    while (kept[1]?.role === "tool") kept.splice(1, 1);
  }
  return kept;
};

const all = row("hooks: `previous`, `toolInputs`", series({ edits: HOOK_EDITS }));
row("`previous`", series({}));
row("`previous`, `edits: false`", series({ edits: false }));
row("`previous`, `cutTo: 0.6`", series({ cutTo: 0.6 }));
row("single fits", single({}));
row("single fits, `edits: false`", single({ edits: false }));
row("single fits, `cutStep` of a fifth", (limit) => single({ edits: false, cutStep: Math.floor(limit / 5) })(limit));
row("LangChain `ClearToolUsesEdit`", contextEditing);
row("a loop", loop);
console.log(`\n${chats.length} conversations, ${all.steps} steps over the limit, ${all.roomy} of them roomy`);
