/** Converted chats: each library accepts the result. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { coerceMessageLikeToMessage, HumanMessage, isAIMessage, ToolMessage } from "@langchain/core/messages";
import { convertToModelMessages, modelMessageSchema, validateUIMessages } from "ai";
import { installed } from "../packaging/packed.mjs";

let chat;
let all;

const load = (path) => import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist", path)));

before(async () => {
  [chat, all] = await Promise.all([load("chat/node.js"), load("node.js")]);
  await Promise.all([chat.init(), all.init()]);
});

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const base64 = Buffer.from(png).toString("base64");

const openai = () => [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: "a cat" },
  { role: "assistant", content: "A cat." },
];

describe("each library accepts it", () => {
  test("the AI SDK's messages satisfy its schema", async () => {
    const { messages, diagnostics } = chat.convertMessages(openai(), { to: "ai-sdk" });
    assert.deepEqual(diagnostics, []);
    assert.equal(messages.length, 5);
    for (const message of messages) {
      const { success, error } = await modelMessageSchema.safeParseAsync(message);
      assert.ok(success, error?.message);
    }
  });

  test("UIMessages are valid, and become the same model messages", async () => {
    const { messages } = chat.convertMessages(openai(), { to: "ai-sdk-ui" });
    await validateUIMessages({ messages });
    const model = await convertToModelMessages(messages);
    assert.deepEqual(
      model.map(({ role }) => role),
      ["system", "user", "assistant", "tool", "assistant"],
    );
    const { messages: back } = chat.convertMessages(model, { from: "ai-sdk", to: "openai" });
    assert.deepEqual(back, openai());
  });

  test("LangChain converts them into instances", () => {
    const { messages } = chat.convertMessages(openai(), { to: "langchain" });
    const instances = messages.map((message) => coerceMessageLikeToMessage(message));
    assert.deepEqual(
      instances.map((message) => message.getType()),
      ["system", "human", "ai", "tool", "ai"],
    );
    assert.ok(isAIMessage(instances[2]));
    assert.equal(instances[2].tool_calls[0].name, "look");
    assert.deepEqual(instances[2].tool_calls[0].args, { at: 1 });
    assert.ok(ToolMessage.isInstance(instances[3]));
    assert.equal(instances[3].tool_call_id, "c1");
    const { messages: back } = chat.convertMessages(instances, { to: "openai" });
    assert.deepEqual(back, openai());
  });
});

describe("input", () => {
  test("bytes and addresses become texts", () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", data: png },
          { type: "file", mediaType: "image/png", data: new URL("https://example.com/a.png") },
        ],
      },
    ];
    const { messages: there } = chat.convertMessages(messages, { from: "ai-sdk", to: "anthropic" });
    assert.deepEqual(
      there[0].content.map(({ source }) => source),
      [
        { type: "base64", media_type: "image/png", data: base64 },
        { type: "url", url: "https://example.com/a.png" },
      ],
    );
    assert.equal(messages[0].content[0].data, png);
  });

  test("the same format returns the messages by reference", () => {
    const messages = [new HumanMessage("a"), new HumanMessage("b")];
    const { messages: same, diagnostics } = chat.convertMessages(messages, { to: "langchain" });
    assert.notEqual(same, messages);
    same.forEach((message, at) => assert.equal(message, messages[at]));
    assert.deepEqual(diagnostics, []);
    const container = { system: "Be brief.", messages: openai().slice(4) };
    const there = chat.convertMessages(container, { to: "anthropic" });
    assert.equal(there.messages[0], container.messages[0]);
    assert.equal(there.system, "Be brief.");
  });

  test("an unknown format is an error, an unknown option a diagnostic", () => {
    assert.throws(() => chat.convertMessages(openai(), { to: "claude" }), { code: "unknown_value" });
    assert.throws(() => chat.convertMessages(openai()), { code: "invalid_input" });
    const { diagnostics } = chat.convertMessages(openai(), { to: "gemini", form: "openai" });
    assert.equal(diagnostics[0].code, "unknown_option");
  });
});

describe("trees", () => {
  test("a chat is a tree, and its path a chat", () => {
    const { tree, tip, media, diagnostics } = all.chatToLoomTree(openai());
    assert.deepEqual(diagnostics, []);
    assert.equal(tree.nodes.length, 4);
    assert.equal(tree.systemContext, "Be brief.");
    const { messages } = all.loomTreeToChat(tree, { tip, media, format: "openai" });
    assert.deepEqual(messages, openai());
    assert.equal(chat.loomTreeToChat, undefined);
    assert.deepEqual(chat.chatToLoomTree(openai()), { tree, tip, media, diagnostics });
  });

  test("a chat is a session file, and the blob of a commit", () => {
    const { messages } = all.convertMessages(openai(), { to: "generic" });
    const bytes = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    const { records, diagnostics } = all.importTranscript("generic-v1", bytes, { createdAt: "2026-03-02T10:00:00Z" });
    assert.deepEqual(diagnostics, []);
    assert.ok(records.length > 0);
    const { system, messages: read } = all.transcriptToMessages("generic-v1", bytes);
    const { messages: back } = all.convertMessages({ system, messages: read }, { from: "generic", to: "openai" });
    assert.deepEqual(back, openai());
  });
});
