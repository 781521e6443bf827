// How time grows with the number of messages or nodes, from 1,000 to 200,000: the exponent between two sizes, and over
// all of them. 1 is linear.
//
//   node benches/growth/growth.mjs [--quick] [--rounds 3]
//
// Each size runs in a process of its own, the first call included, so that the growth of memory is measured, too. On
// Linux times are CPU time of the main thread.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { now } from "../clock.mjs";

const args = process.argv.slice(2);
const quick = args.includes("--quick");
const rounds = args.includes("--rounds") ? Number(args[args.indexOf("--rounds") + 1]) : quick ? 1 : 3;
const sizes = quick ? [200, 1_000] : [1_000, 10_000, 50_000, 200_000];
/** The highest exponent from the first to the last size. */
const LINEAR = 1.1;

const text = (at) => `message ${at} describes how the loom holds its threads, and which of them come next`;

/** A chat of questions and answers, every other answer a call with its result. */
function chat(count) {
  return Array.from({ length: count }, (_, at) => {
    if (at % 4 < 2) return { role: at % 2 ? "assistant" : "user", content: text(at) };
    const id = `c${at - (at % 2)}`;
    const call = { id, type: "function", function: { name: "find", arguments: `{"at":${at}}` } };
    if (at % 4 === 2) return { role: "assistant", content: null, tool_calls: [call] };
    return { role: "tool", tool_call_id: id, content: text(at) };
  });
}

/** A path of nodes. */
function path(count) {
  const nodes = Array.from({ length: count }, (_, at) => {
    return { id: `n${at}`, authorType: at % 2 ? "model" : "human", content: text(at) };
  });
  const edges = nodes
    .slice(1)
    .map(({ id }, at) => ({ id: `e${at}`, sources: [{ nodeId: `n${at}` }], targetNodeId: id }));
  return { nodes, edges };
}

const dialogue = (count, perNode) => {
  const preferences = { tokenBuffer: 100 };
  return { tree: path(count), tip: `n${count - 1}`, contextWindow: count * perNode + 1000, preferences };
};

/** Each prepares its input and returns the call. */
const runs = {
  countChatTokens: ({ countChatTokens }, count) => {
    const messages = chat(count);
    return () => countChatTokens(messages, {});
  },
  "fitMessages, all fits": ({ fitMessages }, count) => {
    const messages = chat(count);
    return () => fitMessages(messages, { maxTokens: count * 80 });
  },
  "fitMessages, to half": ({ fitMessages }, count) => {
    const messages = chat(count);
    return () => fitMessages(messages, { maxTokens: count * 8 });
  },
  "fitMessages, to 4,000 tokens": ({ fitMessages }, count) => {
    const messages = chat(count);
    return () => fitMessages(messages, { maxTokens: 4000 });
  },
  convertMessages: ({ convertMessages }, count) => {
    const messages = chat(count);
    return () => convertMessages(messages, { to: "anthropic" });
  },
  "assembleDialogue, all fits": ({ assembleDialogue }, count) => {
    const request = dialogue(count, 80);
    return () => assembleDialogue(request);
  },
  "assembleDialogue, to half": ({ assembleDialogue }, count) => {
    const request = dialogue(count, 8);
    return () => assembleDialogue(request);
  },
};

if (args[0] === "--one") {
  const [, name, count] = args;
  const ctxweave = await import("ctxweave");
  await ctxweave.init();
  // Compiles what every call needs.
  runs[name](ctxweave, 50)();
  const run = runs[name](ctxweave, Number(count));
  const start = now();
  run();
  console.log(now() - start);
} else {
  const one = (name, count) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [
      fileURLToPath(import.meta.url),
      "--one",
      name,
      count,
    ]);
    if (status !== 0) throw new Error(`${name}, ${count}: ${stderr}`);
    return Number(stdout);
  };
  const exponent = (from, to) => Math.log(to[1] / from[1]) / Math.log(to[0] / from[0]);
  console.log(`| ms of the first call | ${sizes.map((size) => size.toLocaleString("en")).join(" | ")} | exponent |`);
  console.log(`| --- | ${sizes.map(() => "--:").join(" | ")} | --: |`);
  for (const name of Object.keys(runs)) {
    const best = sizes.map((size) => [size, Math.min(...Array.from({ length: rounds }, () => one(name, size)))]);
    const whole = exponent(best[0], best.at(-1));
    console.log(`| ${name} | ${best.map(([, ms]) => ms.toFixed(1)).join(" | ")} | ${whole.toFixed(2)} |`);
    if (!quick && whole > LINEAR) {
      console.error(`${name} grows with the power of ${whole.toFixed(2)}, over ${LINEAR}`);
      process.exitCode = 1;
    }
  }
}
