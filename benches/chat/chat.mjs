// Fits a chat to half of its tokens, next to LangChain's trimMessages with the same counter, the AI SDK's pruneMessages
// and a loop that counts each message once: in one process and in turn.
//
//   node benches/chat/chat.mjs [--quick] [--rounds 7]
//
// On Linux times are CPU time of the main thread: other load on the machine disturbs them less.

import { readFileSync } from "node:fs";
import { AIMessage, HumanMessage, ToolMessage, trimMessages as theirs } from "@langchain/core/messages";
import { pruneMessages } from "ai";
import { countTokens, fitMessages, init } from "ctxweave/chat";
import { trimMessages } from "ctxweave/langchain";
import { load } from "ctxweave/vocab/o200k_base";
import { now } from "../clock.mjs";

await Promise.all([init(), load()]);

const args = process.argv.slice(2);
const quick = args.includes("--quick");
const rounds = args.includes("--rounds") ? Number(args[args.indexOf("--rounds") + 1]) : quick ? 1 : 7;
const sizes = quick ? [100] : [1_000, 10_000];

const words = readFileSync(new URL("../../README.md", import.meta.url), "utf8").split(/\s+/);
const text = (at) => Array.from({ length: 40 }, (_, word) => words[(at * 7 + word * 3) % words.length]).join(" ");

/** Questions and answers; with tools every other answer is a call with its result. */
function chat(count, withTools) {
  return Array.from({ length: count }, (_, at) => {
    if (!withTools || at % 4 < 2) return { role: at % 2 ? "assistant" : "user", content: text(at) };
    const id = `c${at - (at % 4)}`;
    const call = { id, type: "function", function: { name: "find", arguments: `{"at":${at}}` } };
    if (at % 4 === 2) return { role: "assistant", content: null, tool_calls: [call] };
    return { role: "tool", tool_call_id: id, content: text(at) };
  });
}

function instance({ role, content, tool_calls: calls, tool_call_id: id }) {
  if (role === "user") return new HumanMessage(content);
  if (role === "tool") return new ToolMessage({ content, tool_call_id: id });
  const toolCalls = (calls ?? []).map(({ id, function: { name } }) => ({ id, name, args: {} }));
  return new AIMessage({ content: content ?? "", tool_calls: toolCalls });
}

/** The best of the rounds; the runs of one round alternate. CPU clocks have steps of up to 4 ms. */
async function measure(runs, repeats) {
  const best = runs.map(() => Infinity);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, [, run, once]] of runs.entries()) {
      if (once && round > 1) continue;
      const times = once ? 1 : repeats;
      const start = now();
      for (let time = 0; time < times; time += 1) await run();
      if (round > 0) best[at] = Math.min(best[at], (now() - start) / times);
    }
  }
  return runs.map(([name], at) => [name, best[at]]);
}

console.log("| messages | tools | tokenizer | | ms |\n| --: | --- | --- | --- | --: |");
for (const count of sizes) {
  for (const withTools of [false, true]) {
    const messages = chat(count, withTools);
    const instances = messages.map(instance);
    const prompt = messages
      .filter(({ tool_calls: calls, role }) => !calls && role !== "tool")
      .map(({ role, content }) => ({ role, content }));
    for (const tokenizer of ["heuristic", "o200k_base"]) {
      const ofText = (content) => (content ? countTokens(content, { tokenizer }) : 0);
      const total = messages.reduce((sum, { content }) => sum + ofText(content) + 4, 0);
      const maxTokens = Math.floor(total / 2);
      const tokenCounter = (list) => list.reduce((sum, { content }) => sum + ofText(content) + 4, 0);
      const loop = () => {
        const kept = [];
        let sum = 0;
        for (let at = messages.length - 1; at >= 0; at -= 1) {
          sum += ofText(messages[at].content) + 4;
          if (sum > maxTokens) break;
          kept.push(messages[at]);
        }
        return kept.reverse();
      };
      const options = { tokenizer, maxTokens };
      const runs = [
        ["`fitMessages`", () => fitMessages(messages, options)],
        [
          "`fitMessages`, rolling window",
          () => fitMessages(messages, { ...options, truncationStrategy: "rollingWindow" }),
        ],
        ["`fitMessages`, LangChain's instances", () => fitMessages(instances, options)],
        ["`trimMessages` of `ctxweave/langchain`", () => trimMessages(instances, { maxTokens, tokenCounter })],
        ["a loop that counts each message once", loop],
      ];
      // Quadratic: 10,000 messages would take minutes.
      if (count <= 1_000)
        runs.push(["`trimMessages` of LangChain", () => theirs(instances, { maxTokens, tokenCounter }), true]);
      if (tokenizer === "heuristic") {
        const prune = { messages: prompt, toolCalls: "before-last-2-messages", reasoning: "all" };
        runs.push(["`pruneMessages` of the AI SDK, which does not count", () => pruneMessages(prune)]);
      }
      for (const [name, ms] of await measure(runs, quick ? 1 : 50_000 / count)) {
        console.log(`| ${count} | ${withTools ? "yes" : "no"} | ${tokenizer} | ${name} | ${ms.toFixed(1)} |`);
      }
    }
  }
}
