/**
 * The vendors' types check the bodies: every body in a golden must satisfy the types in the vendor's package, and wrong
 * ones must not.
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readGoldens } from "../runtimes/goldens.mjs";
import { root } from "./packed.mjs";
import { tsc } from "./tsc.mjs";

// Inside the workspace, so that the vendors' packages resolve.
const dir = join(root, "target/xtask/bodies");
mkdirSync(dir, { recursive: true });

/**
 * The type of a body in each provider's package. Gemini's types name the parts; the body is that of its REST reference.
 */
const types = {
  anthropic: "Anthropic.MessageCreateParams",
  openai: "OpenAI.ChatCompletionCreateParams",
  "openai-responses": "OpenAI.Responses.ResponseCreateParams",
  gemini: "GenerateContentBody",
  "gemini-interactions": "Interactions.InteractionCreateParams.CreateModelInteractionParams",
  completion: "OpenAI.CompletionCreateParams",
};

const header = `import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import type { Content, GenerationConfig, Interactions, SafetySetting, Tool, ToolConfig } from "@google/genai";
type GenerateContentBody = { contents: Required<Content>[]; systemInstruction?: Pick<Required<Content>, "parts">; tools?: Tool[];
  toolConfig?: ToolConfig; safetySettings?: SafetySetting[]; generationConfig?: GenerationConfig; cachedContent?: string };
type Reasoned = OpenAI.ChatCompletionAssistantMessageParam &
  { reasoning?: string; reasoning_content?: string; reasoning_details?: object[] };
type CompatibleBody = Omit<OpenAI.ChatCompletionCreateParams, "messages"> &
  { messages: (OpenAI.ChatCompletionMessageParam | Reasoned)[] };
`;

/**
 * The type of a body. Beta fields are in the vendor's beta types; compatible servers accept reasoning in fields that
 * OpenAI lacks.
 */
function typeOf({ provider, body }) {
  if (provider === "anthropic" && body.includes('"block_binding"')) return "Anthropic.Beta.MessageCreateParams";
  if (provider === "gemini-interactions" && body.includes('"agent"'))
    return "Interactions.InteractionCreateParams.CreateAgentInteractionParams";
  if (provider === "openai" && /"reasoning(_content|_details)?":/.test(body)) return "CompatibleBody";
  return types[provider];
}

/** The lines of a file with TypeScript errors, and all its messages. */
function check(name, lines) {
  const path = join(dir, name);
  writeFileSync(path, `${header}${lines.join("\n")}\n`);
  const { stdout } = tsc(dir, [path]);
  const offset = header.split("\n").length;
  const found = stdout.matchAll(/\.mts\((\d+),/g);
  return { wrong: new Set(Array.from(found, ([, line]) => Number(line) - offset)), stdout };
}

/** As source text on one line: to TypeScript, U+2028 ends a line. */
const source = (value) =>
  JSON.stringify(value).replace(/[\u2028\u2029]/g, (ch) => `\\u${ch.charCodeAt(0).toString(16)}`);

/** The bodies in the goldens, one per line, with its name in a comment. */
function bodies() {
  const found = [];
  for (const { name, call, request, expected } of readGoldens().goldens) {
    if (!["requestBody", "requestBodyWithReport"].includes(call)) continue;
    const result = JSON.parse(expected);
    const text = (result.body ?? result).$text;
    if (text === undefined) continue;
    const { target } = request.$text === undefined ? request : JSON.parse(request.$text);
    found.push({ name, provider: target.provider, body: source(JSON.parse(text)) });
  }
  return found;
}

test("every body satisfies the vendor's types", () => {
  const all = bodies();
  for (const provider of Object.keys(types)) {
    const count = all.filter((body) => body.provider === provider).length;
    assert.ok(count >= (provider === "completion" ? 2 : 6), `only ${count} bodies for ${provider}`);
  }
  const lines = all.map((one) => `(${one.body}) satisfies ${typeOf(one)}; // ${one.name}`);
  const { wrong, stdout } = check("right.mts", lines);
  assert.deepEqual(
    Array.from(wrong, (line) => all[line]?.name ?? line),
    [],
    stdout,
  );
});

test("wrong bodies do not", () => {
  const lines = [
    '({ model: "m", messages: [] }) satisfies Anthropic.MessageCreateParams;',
    '({ model: "m", max_tokens: 1, messages: [{ role: "tool", content: "x" }] }) satisfies Anthropic.MessageCreateParams;',
    '({ model: "m", max_tokens: 1, messages: [{ role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/tiff", data: "" } }] }] }) satisfies Anthropic.MessageCreateParams;',
    '({ model: "m", max_tokens: 1, messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "x" }] }] }) satisfies Anthropic.MessageCreateParams;',
    '({ model: "m", messages: [{ role: "tool", content: "x" }] }) satisfies OpenAI.ChatCompletionCreateParams;',
    '({ model: "m", messages: [{ role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: {} } }] }] }) satisfies OpenAI.ChatCompletionCreateParams;',
    '({ model: "m", input: [{ type: "function_call_output", call_id: "c" }] }) satisfies OpenAI.Responses.ResponseCreateParams;',
    '({ model: "m", input: [{ role: "user", content: [{ type: "text", text: "x" }] }] }) satisfies OpenAI.Responses.ResponseCreateParams;',
    '({ contents: [{ role: "user", parts: [{ txt: "x" }] }] }) satisfies GenerateContentBody;',
    '({ contents: [{ role: "user", parts: [{ functionResponse: { name: "f", response: "x" } }] }] }) satisfies GenerateContentBody;',
    '({ model: "m", input: [{ type: "function_call", id: "c", name: "f", arguments: "{}" }] }) satisfies Interactions.InteractionCreateParams.CreateModelInteractionParams;',
    '({ model: "m", input: [{ type: "function_result", id: "c", result: "r" }] }) satisfies Interactions.InteractionCreateParams.CreateModelInteractionParams;',
    '({ model: "m", promt: "x" }) satisfies OpenAI.CompletionCreateParams;',
  ];
  const { wrong, stdout } = check("wrong.mts", lines);
  assert.deepEqual([...wrong], [...lines.keys()], stdout);
});
