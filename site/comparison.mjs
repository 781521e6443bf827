/**
 * Fits the same chats with LangChain, the AI SDK, LlamaIndex and ctxweave. `node site/comparison.mjs` writes docs/comparison.md, with
 * `--print` to standard output. Every cell of its tables is computed from the results of the libraries.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { Memory } from "@llamaindex/core/memory";
import { pruneMessages } from "ai";
import { countChatTokens, fitMessages, init } from "ctxweave/chat";
import { load } from "ctxweave/vocab/o200k_base";

await Promise.all([init(), load()]);

const page = fileURLToPath(new URL("../docs/comparison.md", import.meta.url));
const tokenizer = "o200k_base";
const tokensOf = (messages) =>
  countChatTokens(
    messages.filter(({ role }) => role !== "`undefined`"),
    { format: "openai", tokenizer },
  );

/** A tool call in the format of OpenAI's API. */
const call = (id, name, args) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } });

const log = (lines) =>
  Array.from({ length: lines }, (_, at) => `line ${at}: the shuttle went ${at % 2 ? "back" : "forth"}`).join("\n");

const agent = [
  { role: "system", content: "You are a weaver's assistant. Never guess a measurement." },
  { role: "user", content: "How wide is the cloth on the loom?" },
  { role: "assistant", content: null, tool_calls: [call("c1", "measure", { of: "cloth" })] },
  { role: "tool", tool_call_id: "c1", content: "140 cm" },
  { role: "assistant", content: "It is 140 cm wide." },
  { role: "user", content: "And what happened last night?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [call("c2", "log", { of: "night" }), call("c3", "measure", { of: "warp" })],
  },
  { role: "tool", tool_call_id: "c2", content: log(8) },
  { role: "tool", tool_call_id: "c3", content: "12 m" },
  { role: "assistant", content: "The shuttle went back and forth eight times, and 12 m of warp are left." },
  { role: "user", content: "Is that enough for two more?" },
];

const cases = [
  {
    title: "An agent's chat with tool calls, limit 150 tokens",
    about: "Eleven messages, with one call in the first turn and two parallel calls in the second. One result is long.",
    messages: agent,
    limit: 150,
  },
  {
    title: "The same in the middle of a turn, limit 130 tokens",
    about: "The last messages are calls and their results, from which the model continues.",
    messages: agent.slice(0, 9),
    limit: 130,
  },
  {
    title: "A last message over the limit of 60 tokens",
    about: "The user has pasted a log.",
    messages: [agent[0], agent[1], agent[4], { role: "user", content: `Look at this:\n${log(40)}` }],
    limit: 60,
  },
];

/** Each library with its options for a chat with tools. `run` returns the library's result, and its messages in OpenAI's format. */
const libraries = [
  {
    name: "LangChain",
    of: "@langchain/core",
    call: '`trimMessages(messages, { strategy: "last", startOn: "human", includeSystem: true, maxTokens, tokenCounter })`, with our counter',
    async run(messages, maxTokens) {
      const counter = (list) => tokensOf(list.map(fromLangChain));
      const options = { strategy: "last", startOn: "human", includeSystem: true, maxTokens, tokenCounter: counter };
      const given = await trimMessages(messages.map(toLangChain), options);
      return { given, messages: given.map(fromLangChain) };
    },
  },
  {
    name: "AI SDK",
    of: "ai",
    call: '`pruneMessages({ messages, reasoning: "all", toolCalls: "before-last-2-messages", emptyMessages: "remove" })`; it has no token limit',
    run(messages) {
      const options = { reasoning: "all", toolCalls: "before-last-2-messages", emptyMessages: "remove" };
      const given = pruneMessages({ messages: messages.flatMap(toAiSdk), ...options });
      return { given, messages: given.map(fromAiSdk) };
    },
  },
  {
    name: "LlamaIndex",
    of: "@llamaindex/core",
    call: "`new Memory([], { tokenLimit, shortTermTokenLimitRatio: 1 })`, `add` and `getLLM()`; it counts the texts of messages only",
    async run(messages, tokenLimit) {
      const memory = new Memory([], { tokenLimit, shortTermTokenLimitRatio: 1 });
      for (const message of messages) await memory.add(toLlamaIndex(message));
      const given = await memory.getLLM();
      return { given, messages: given.map(fromLlamaIndex) };
    },
  },
  {
    name: "ctxweave",
    of: "ctxweave",
    call: "`fitMessages(messages, { maxTokens, tokenizer })`",
    run(messages, maxTokens) {
      const given = fitMessages(messages, { maxTokens, tokenizer });
      return { given, messages: given.messages };
    },
  },
];

function toLangChain({ role, content, tool_calls: calls = [], tool_call_id: id }) {
  if (role === "system") return new SystemMessage(content);
  if (role === "user") return new HumanMessage(content);
  if (role === "tool") return new ToolMessage({ content, tool_call_id: id });
  const toolCalls = calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, args: JSON.parse(args) }));
  return new AIMessage({ content: content ?? "", tool_calls: toolCalls });
}

function fromLangChain(message) {
  // If nothing fits it returns a list with this element.
  if (message === undefined) return { role: "`undefined`" };
  const type = message.getType();
  if (type === "system") return { role: "system", content: message.content };
  if (type === "human") return { role: "user", content: message.content };
  if (type === "tool") return { role: "tool", tool_call_id: message.tool_call_id, content: message.content };
  return assistant(
    message.content,
    message.tool_calls?.map(({ id, name, args }) => call(id, name, args)),
  );
}

const assistant = (content, calls = []) =>
  calls.length ? { role: "assistant", content: content || null, tool_calls: calls } : { role: "assistant", content };

function toAiSdk({ role, content, tool_calls: calls = [], tool_call_id: id }) {
  if (role === "system" || role === "user") return [{ role, content }];
  if (role === "tool") {
    const result = { type: "tool-result", toolCallId: id, toolName: "tool", output: { type: "text", value: content } };
    return [{ role, content: [result] }];
  }
  const parts = calls.map(({ id, function: { name, arguments: args } }) => {
    return { type: "tool-call", toolCallId: id, toolName: name, input: JSON.parse(args) };
  });
  return [{ role, content: content === null ? parts : [{ type: "text", text: content }, ...parts] }];
}

function fromAiSdk({ role, content }) {
  if (typeof content === "string") return { role, content };
  if (role === "tool") return { role, tool_call_id: content[0].toolCallId, content: content[0].output.value };
  const text = content.filter(({ type }) => type === "text").map((part) => part.text);
  const calls = content.filter(({ type }) => type === "tool-call");
  return assistant(
    text.join(""),
    calls.map(({ toolCallId, toolName, input }) => call(toolCallId, toolName, input)),
  );
}

function toLlamaIndex({ role, content, tool_calls: calls = [], tool_call_id: id }) {
  if (role === "tool")
    return { role: "user", content, options: { toolResult: { id, result: content, isError: false } } };
  const toolCall = calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, input: JSON.parse(args) }));
  return { role, content: content ?? "", ...(toolCall.length > 0 && { options: { toolCall } }) };
}

function fromLlamaIndex({ role, content, options }) {
  if (options?.toolResult) return { role: "tool", tool_call_id: options.toolResult.id, content };
  if (role !== "assistant") return { role, content };
  return assistant(
    content,
    options?.toolCall?.map(({ id, name, input }) => call(id, name, input)),
  );
}

const roles = (messages) =>
  messages.map(({ role, tool_calls: calls }) => (calls ? "calls" : role)).join(", ") || "nothing";

/** Properties of a result that a provider would reject or the model would miss. */
function facts(before, after, limit) {
  const asked = new Set(after.flatMap(({ tool_calls: calls }) => calls ?? []).map(({ id }) => id));
  const answered = new Set(after.flatMap(({ tool_call_id: id }) => id ?? []));
  const lacking = [...asked].filter((id) => !answered.has(id)).length;
  const orphans = [...answered].filter((id) => !asked.has(id)).length;
  const tokens = tokensOf(after);
  const last = before.at(-1);
  const end = after.at(-1);
  const kept =
    end && end.role === last.role && end.content === last.content
      ? "whole"
      : end?.role === last.role
        ? "shortened"
        : "gone";
  return [
    roles(after),
    tokens > limit ? `**${tokens}, over**` : String(tokens),
    after.some(({ role }) => role === "system") ? "yes" : "**no**",
    orphans || lacking
      ? `**${[orphans && `${orphans} results`, lacking && `${lacking} calls`].filter(Boolean).join(", ")}**`
      : "none",
    kept === "gone" ? "**gone**" : kept,
  ];
}

/** The report next to the messages. */
function reportOf(given) {
  if (Array.isArray(given)) return "none";
  return `fate and reason of ${given.report.messages.length} messages`;
}

async function table({ messages, limit }) {
  const rows = await Promise.all(
    libraries.map(async (library) => {
      try {
        const { given, messages: left } = await library.run(structuredClone(messages), limit);
        return [library.name, ...facts(messages, left, limit), reportOf(given)];
      } catch (error) {
        return [library.name, `an error: ${String(error.code ?? error.message).split("\n")[0]}`, "", "", "", "", ""];
      }
    }),
  );
  const head = ["", "messages left", "tokens", "system message", "orphaned calls or results", "last message", "report"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const require = createRequire(import.meta.url);
const lock = JSON.parse(readFileSync(new URL("package-lock.json", import.meta.url), "utf8"));

/** The installed version of a package, and whether npm marks it as deprecated. */
const versionOf = (name) => {
  for (const folder of require.resolve.paths(name)) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
      return lock.packages[`node_modules/${name}`]?.deprecated ? `${version}, deprecated` : version;
    } catch {
      // Not there; the next one up.
    }
  }
  throw new Error(name);
};

const sections = [];
for (const one of cases) {
  const input = `Input: ${roles(one.messages)}; ${tokensOf(one.messages)} tokens.`;
  sections.push(`## ${one.title}\n\n${one.about}\n${input}\n\n${await table(one)}\n`);
}

const text = `# Compared with other libraries

Several libraries shorten a chat to a limit. They differ in which messages survive, whether tool calls keep their results, and how much they
report. This page fits the same three chats with four of them.

This page is generated by running the libraries, and tests check that it is current. Each library runs with its options for chats
with tools. Tokens are counted in the result with \`o200k_base\` by OpenAI's published rules; an empty chat has 3. Speed is in
[benchmarks](benchmarks.md).

| library | version | call |
| --- | --- | --- |
${libraries.map(({ name, of, call }) => `| ${name} | ${versionOf(of)} | ${call} |`).join("\n")}

${sections.join("\n")}`;

if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(page, text);
