/**
 * The examples for the vendors' SDKs, from README.md and the docs as they stand there: they compile, and the requests that they send to a
 * stub of each endpoint keep the rules that the vendor answers 400 for.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { transform } from "esbuild";
import { folder, root } from "../packaging/packed.mjs";
import { tsc } from "../packaging/tsc.mjs";

const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const files = ["README.md", ...pages.map((name) => `docs/${name}`)];

/** The blocks in TypeScript that import a package. */
function blocks(name) {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const found = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code);
    return found.filter((code) => code.includes(`from "${name}"`)).map((code) => ({ file, code }));
  });
}

const vendors = ["openai", "@anthropic-ai/sdk", "@google/genai", "ai", "langchain", "@openai/agents"];
const dir = folder("vendors");

async function example(name, file) {
  const [found] = blocks(name).filter((block) => block.file === file);
  const { code } = await transform(found.code, { loader: "ts", format: "esm", target: "es2022" });
  const path = join(dir, `${file}-${name}`.replaceAll(/\W/g, "-") + ".mjs");
  writeFileSync(path, code);
  return import(pathToFileURL(path));
}

/** The requests, by endpoint. */
const sent = [];
let server;

before(async () => {
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const body = JSON.parse(text);
      const [, check, answer] = endpoints.find(([path]) => request.url.includes(path));
      sent.push(body);
      const wrong = check(body);
      response.writeHead(wrong ? 400 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(wrong ? { error: { message: wrong } } : answer));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  Object.assign(process.env, {
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: url,
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: url,
  });
});

after(() => server.close());

const endpoints = [
  [
    "/chat/completions",
    checkOpenAi,
    { id: "1", object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", content: "Done." } }] },
  ],
  [
    "/v1/messages",
    checkAnthropic,
    { id: "1", type: "message", role: "assistant", content: [{ type: "text", text: "Done." }] },
  ],
  [":generateContent", checkGemini, { candidates: [{ content: { role: "model", parts: [{ text: "Done." }] } }] }],
];

/** A call without its results, a result without its call. */
function checkOpenAi({ messages }) {
  if (messages.length === 0) return "no messages";
  let open = [];
  for (const { role, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === "tool") {
      if (!open.includes(id)) return `no tool call found for ${id}`;
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) return `no tool output found for ${open}`;
    if (calls?.length === 0) return "empty tool_calls";
    open = (calls ?? []).map((call) => call.id);
  }
  return open.length > 0 ? `no tool output found for ${open}` : undefined;
}

function checkAnthropic({ messages, system }) {
  if (messages[0]?.role !== "user") return "the first message must be of the user";
  if (system === undefined) return "the system prompt is missing";
  let open = [];
  for (const { content } of messages) {
    const parts = typeof content === "string" ? [] : content;
    if (content.length === 0) return "empty content";
    const results = parts.filter(({ type }) => type === "tool_result").map(({ tool_use_id: id }) => id);
    if (String(results.sort()) !== String(open.sort())) return `results ${results}, calls ${open}`;
    open = parts.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  }
  return open.length > 0 ? `no results for ${open}` : undefined;
}

function checkGemini({ contents, systemInstruction }) {
  if (contents[0]?.role !== "user") return "the first content must be of the user";
  if (systemInstruction === undefined) return "the system instruction is missing";
  let open = 0;
  for (const [at, { parts }] of contents.entries()) {
    const responses = parts.filter(({ functionResponse }) => functionResponse).length;
    if (responses !== open) return `${responses} responses for ${open} calls`;
    open = parts.filter(({ functionCall }) => functionCall).length;
    if (open > 0 && contents[at - 1]?.role !== "user") return "a call has to follow a turn of the user";
  }
  return open > 0 ? "a call without a response" : undefined;
}

/** A chat that is far over any window, in turns of a question, a call, its result and an answer. */
const turns = Array.from({ length: 60 }, (_, at) => ({
  at,
  question: `Question ${at}: ${"and what of it? ".repeat(900)}`,
  result: `Result ${at}: ${"a line of it\n".repeat(900)}`,
  answer: `Answer ${at}.`,
}));

test("every example compiles with its vendor's types", () => {
  const paths = vendors.flatMap((name) => {
    const found = blocks(name);
    assert.ok(found.length > 0, name);
    return found.map(({ code }, at) => {
      const path = join(dir, `${name.replaceAll(/\W/g, "-")}-${at}.mts`);
      writeFileSync(path, code);
      return path;
    });
  });
  const { status, stdout } = tsc(dir, paths);
  assert.equal(status, 0, stdout);
});

for (const file of ["README.md", "docs/chat-formats.md"]) {
  test(`OpenAI accepts the request of the example in ${file}`, async () => {
    const { ask } = await example("openai", file);
    const history = [
      { role: "system", content: "You are brief." },
      ...turns.flatMap(({ at, question, result, answer }) => [
        { role: "user", content: question },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: `c${at}`, type: "function", function: { name: "find", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: `c${at}`, content: result },
        { role: "assistant", content: answer },
      ]),
      { role: "user", content: "Go on." },
    ];
    const tools = [{ type: "function", function: { name: "find", description: "finds", parameters: {} } }];
    const { choices } = await ask(history, tools);
    assert.equal(choices[0].message.content, "Done.");
    const { messages } = sent.at(-1);
    assert.ok(messages.length > 10 && messages.length < history.length);
    assert.deepEqual([messages[0], messages.at(-1)], [history[0], history.at(-1)]);
  });

  test(`Anthropic accepts the request of the example in ${file}`, async () => {
    const { ask } = await example("@anthropic-ai/sdk", file);
    const messages = [
      ...turns.flatMap(({ at, question, result, answer }) => [
        { role: "user", content: question },
        { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "find", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: result }] },
        { role: "assistant", content: answer },
      ]),
      { role: "user", content: "Go on." },
    ];
    const { content } = await ask({ model: "claude-sonnet-4-5", max_tokens: 1000, system: "You are brief.", messages });
    assert.equal(content[0].text, "Done.");
    const request = sent.at(-1);
    assert.ok(request.messages.length > 10 && JSON.stringify(request).length < JSON.stringify(messages).length);
    assert.deepEqual(request.messages.at(-1), messages.at(-1));
  });
}

test("Gemini accepts the request of the example in docs/chat-formats.md", async () => {
  const { ask } = await example("@google/genai", "docs/chat-formats.md");
  const history = Array.from({ length: 8 }, () => turns)
    .flat()
    .flatMap(({ at, question, result, answer }) => [
      { role: "user", parts: [{ text: question }] },
      { role: "model", parts: [{ functionCall: { name: "find", args: { at } } }] },
      { role: "user", parts: [{ functionResponse: { name: "find", response: { result } } }] },
      { role: "model", parts: [{ text: answer }] },
    ]);
  history.push({ role: "user", parts: [{ text: "Go on." }] });
  const tools = [{ functionDeclarations: [{ name: "find", description: "finds" }] }];
  const { text } = await ask(history, "You are brief.", tools);
  assert.equal(text, "Done.");
  assert.ok(sent.at(-1).contents.length > 10 && sent.at(-1).contents.length < history.length);
});

test("the stubs reject what the vendors reject", () => {
  const call = { role: "assistant", tool_calls: [{ id: "a" }] };
  assert.match(checkOpenAi({ messages: [{ role: "tool", tool_call_id: "a" }] }), /no tool call/);
  assert.match(checkOpenAi({ messages: [call, { role: "user" }] }), /no tool output/);
  const use = { role: "assistant", content: [{ type: "tool_use", id: "a" }] };
  assert.match(checkAnthropic({ system: "", messages: [use] }), /first message/);
  assert.match(checkAnthropic({ system: "", messages: [{ role: "user", content: "x" }, use] }), /no results/);
  const asked = { role: "user", parts: [{ text: "x" }] };
  const called = { role: "model", parts: [{ functionCall: {} }] };
  assert.match(checkGemini({ systemInstruction: "", contents: [asked, called, asked] }), /0 responses for 1/);
});
