/** The stateful chat, through the packed package: results are the caller's objects, and streaming counts are exact. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { HumanMessage } from "@langchain/core/messages";
import { installed } from "../packaging/packed.mjs";

let chat;
let memory;
let slots;

before(async () => {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (...args) {
    const { exports } = new Instance(...args);
    memory = exports.memory;
    // As in leak.test.mjs: enough simultaneous texts to occupy all free slots reveal the number of slots.
    const countTokensBatch = (result, at, count, ...more) => {
      slots = Math.max(...new Uint32Array(memory.buffer, at, count));
      return exports.countTokensBatch(result, at, count, ...more);
    };
    return { exports: { ...exports, countTokensBatch } };
  };
  chat = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/chat/node.js")));
  await chat.init();
  WebAssembly.Instance = Instance;
});

const said = (at, length = 30) => Array.from({ length }, (_, word) => `word${at}.${word}`).join(" ");
const message = (at) => Object.freeze({ role: at % 2 ? "assistant" : "user", content: said(at), extra: at });
const messages = (count) => Array.from({ length: count }, (_, at) => message(at));

/** The result of `fitMessages` for the same list, after the last fit of a chat. */
function continued(kept, list, options) {
  const { state, ...fitted } = chat.fitMessages(list, { ...options, previous: kept.state ?? null });
  return [fitted, state];
}

/** Fits, and asserts that the result equals that of `fitMessages` for the same list. */
function checked(kept, list, options) {
  const [expected, state] = continued(kept, list, options);
  const fitted = kept.fit();
  assert.deepEqual(fitted, expected);
  assert.equal(JSON.stringify(fitted), JSON.stringify(expected));
  assert.deepEqual(kept.state, state);
  return fitted;
}

describe("Chat", () => {
  it("updates the costs of messages that a later one changes", () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed".repeat(200) };
    const text = { type: "output_text", text: "Yes." };
    const answer = { type: "message", role: "assistant", content: [text] };
    const options = { format: "openai-responses", model: "gpt-5", tokenizer: "heuristic", maxTokens: 9000 };
    const kept = new chat.Chat(options);
    const list = [{ role: "user", content: "One?" }, thought, answer];
    kept.append(...list);
    const before = checked(kept, list, options).report.messages[1].tokens;
    list.push({ role: "user", content: "Two?" });
    kept.append(list[3]);
    const { report } = checked(kept, list, options);
    assert.ok(before > 100);
    assert.equal(report.messages[1].tokens, 0);
    kept.free();
  });

  it("measures everything for a preview with `maxBytes`", () => {
    const list = messages(4);
    const kept = new chat.Chat({ maxTokens: 9000 });
    kept.append(...list);
    const bytes = Buffer.byteLength(JSON.stringify(list));
    assert.equal(kept.fit({ maxBytes: bytes }).messages.length, 4);
    assert.throws(() => kept.fit({ maxBytes: bytes - 1 }), { code: "request_too_large" });
    kept.free();
  });

  it("returns messages by reference", () => {
    const options = { maxTokens: 1500 };
    const kept = new chat.Chat(options);
    const list = [];
    for (const more of [messages(1), messages(9), messages(40)]) {
      list.push(...more);
      kept.append(...more);
      const { messages: fitted, report } = checked(kept, list, options);
      assert.notEqual(fitted, list);
      const rows = report.messages.filter(({ fate }) => fate !== "cut");
      const own = fitted.filter((_, index) => index !== report.added?.index);
      assert.equal(own.length, rows.length);
      assert.ok(rows.filter(({ fate }) => fate === "changed").length <= 2);
      // A shortened message is a copy.
      own.forEach((it, at) => assert.equal(it === list[rows[at].index], rows[at].fate === "kept"));
    }
    assert.equal(kept.length, 50);
    kept.free();
  });

  it("streams, exactly at each delta, and mutates no input", () => {
    const options = { maxTokens: 400, truncationStrategy: "rollingWindow" };
    const kept = new chat.Chat(options);
    const reply = Object.freeze({ role: "assistant", content: "", extra: {} });
    kept.append(...messages(20), reply);
    let text = "";
    let last;
    for (const delta of [
      "The",
      " answer",
      " is",
      "\n\n",
      "4",
      "2",
      ".",
      " 👍",
      " \ud83d",
      "\udc4d",
      " fine\r",
      "\n",
      "中文",
    ]) {
      text += delta;
      kept.appendText(delta);
      const list = [...messages(20), { ...reply, content: text }];
      const { messages: fitted } = checked(kept, list, options);
      assert.equal(fitted.at(-1).content, text);
      assert.equal(fitted.at(-1).extra, reply.extra);
      // Earlier results are unchanged.
      assert.notEqual(fitted.at(-1), last);
      if (last) assert.notEqual(last.content, text);
      last = fitted.at(-1);
      assert.equal(kept.fit().messages.at(-1), last);
      const whole = chat.fitMessages(list, { maxTokens: 1e6 });
      assert.equal(kept.tokens, whole.report.tokens.total);
    }
    assert.equal(reply.content, "");
    kept.append(message(0));
    assert.equal(kept.fit().messages.at(-2), last);
  });

  it("appends a text in every format", () => {
    for (const [given, where] of [
      [{ role: "assistant", content: null, tool_calls: [] }, ({ content }) => content],
      [
        { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] },
        ({ content }) => content[1].text,
      ],
      [
        { role: "model", parts: [{ text: "a" }, { functionCall: { name: "f", args: {} } }] },
        ({ parts }) => parts[2].text,
      ],
      [
        { role: "model", parts: [{ functionCall: { name: "f", args: {} } }, { text: "a" }] },
        ({ parts }) => parts[1].text.slice(1),
      ],
      [{ id: "1", role: "assistant", parts: [] }, ({ parts }) => parts[0].text],
      [
        { id: "1", role: "assistant", parts: [{ type: "text", text: "a" }, { type: "step-start" }] },
        ({ parts }) => parts[2].text,
      ],
      [{ type: "message", role: "assistant", content: [], id: "m" }, ({ content }) => content[0].text],
    ]) {
      const kept = new chat.Chat({ maxTokens: 4000 });
      kept.append(given);
      for (const delta of ["x", "y z", "!"]) kept.appendText(delta);
      assert.equal(where(kept.fit().messages[0]), "xy z!", JSON.stringify(given));
    }
    const kept = new chat.Chat({ maxTokens: 4000 });
    assert.throws(() => kept.appendText("x"), { code: "invalid_input" });
    kept.append({ role: "tool", tool_call_id: "1", content: "r" });
    assert.throws(() => kept.appendText("x"), { code: "invalid_input" });
    assert.throws(() => kept.appendText(7), { code: "invalid_input" });
  });

  it("handles lone surrogates like fitMessages", () => {
    const options = { maxTokens: 4000 };
    const made = new chat.Chat(options);
    made.append({ role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "f", input: {} }] });
    for (const delta of ["\ud83d", "\ude00", " x", "\ud83d"]) made.appendText(delta);
    assert.deepEqual(made.fit().messages[0].content.slice(1), [{ type: "text", text: "\ud83d\ude00 x\ud83d" }]);
    const kept = new chat.Chat(options);
    kept.append({ role: "assistant", content: "a" });
    let content = "a";
    for (const delta of ["\ud83d", "b", "\udc4d", "c"]) {
      kept.appendText(delta);
      content += delta;
      checked(kept, [{ role: "assistant", content }], options);
    }
  });

  it("accepts messages whose format is determined by later ones, replaces and truncates", () => {
    const options = { maxTokens: 300, pinned: [1] };
    const kept = new chat.Chat(options);
    const list = messages(8);
    kept.append(...list);
    assert.equal(kept.fit().report.format, "generic");
    const calls = [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: said(1, 90) },
    ];
    list.push(...calls);
    kept.append(...calls);
    assert.equal(checked(kept, list, options).report.format, "openai");
    list[3] = message(77);
    kept.replace(3, list[3]);
    checked(kept, list, options);
    assert.throws(() => kept.append(message(5), { parts: [{ text: "other" }] }), { code: "invalid_input" });
    assert.throws(() => kept.replace(10, message(5)), { code: "invalid_input" });
    assert.throws(() => kept.truncate(-1), { code: "invalid_input" });
    checked(kept, list, options);
    kept.truncate(5);
    list.length = 5;
    assert.equal(checked(kept, list, options).report.format, "generic");
  });

  it("takes options for a single fit", () => {
    const options = { maxTokens: 300, system: "Be brief.", tools: [{ name: "f" }] };
    const kept = new chat.Chat(options);
    const list = messages(30);
    kept.append(...list);
    for (const other of [
      { maxTokens: 500 },
      { truncationMarker: "" },
      { pinned: (_, at) => at === 3 },
      { system: "x" },
      { format: "openai" },
    ]) {
      const [expected] = continued(kept, list, { ...options, ...other });
      assert.deepEqual(kept.fit(other), expected);
    }
    checked(kept, list, options);
  });

  it("calls the pin function once for each message", () => {
    const asked = [];
    const pinned = ({ extra }, at) => (asked.push(at), extra === 2);
    const kept = new chat.Chat({ maxTokens: 300, pinned });
    const list = messages(30);
    for (const one of list) {
      kept.append(one);
      kept.fit();
    }
    assert.deepEqual(asked, Array.from(list.keys()));
    checked(kept, list, { maxTokens: 300, pinned: [2] });
  });

  it("keeps LangChain's instances", () => {
    const options = { maxTokens: 200 };
    const kept = new chat.Chat(options);
    const list = messages(20).map(({ content }) => new HumanMessage(content));
    kept.append(...list);
    const { messages: fitted, report } = kept.fit();
    assert.ok(fitted.every((it) => it instanceof HumanMessage));
    assert.equal(fitted.at(-1), list.at(-1));
    assert.deepEqual(report, chat.fitMessages(list, { ...options, previous: null }).report);
  });

  it("returns rows that later changes do not affect", () => {
    const kept = new chat.Chat({ maxTokens: 4000 });
    kept.append(...messages(3));
    const { report } = kept.fit();
    const afresh = chat.fitMessages(messages(3), { maxTokens: 4000, previous: null }).report;
    kept.appendText(" and more");
    kept.truncate(1);
    assert.deepEqual(report, afresh);
    assert.deepEqual(structuredClone(report), afresh);
  });

  it("writes bodies in its format", () => {
    const body = (options, list) => {
      const kept = new chat.Chat({ maxTokens: 9000, ...options });
      kept.append(...list);
      return JSON.parse(new TextDecoder().decode(kept.requestBody()));
    };
    const user = [{ role: "user", content: "hi" }];
    assert.deepEqual(body({ target: { provider: "openai", model: "m", maxTokens: 9, top_p: 1 }, system: "s" }, user), {
      top_p: 1,
      model: "m",
      messages: [{ role: "system", content: "s" }, ...user],
      max_completion_tokens: 9,
    });
    const blocks = [{ role: "user", content: [{ type: "image", source: { type: "url", url: "x" } }] }];
    assert.deepEqual(
      body({ format: "anthropic", target: { provider: "anthropic", model: "m" }, system: "s" }, blocks),
      {
        model: "m",
        messages: blocks,
        system: "s",
        max_tokens: 1024,
      },
    );
    const contents = [{ role: "user", parts: [{ text: "hi" }] }];
    assert.deepEqual(body({ target: { provider: "gemini", maxTokens: 5 }, system: "s" }, contents), {
      contents,
      systemInstruction: { parts: [{ text: "s" }] },
      generationConfig: { maxOutputTokens: 5 },
    });
    const input = [{ type: "user_input", content: [{ type: "text", text: "hi" }] }];
    assert.deepEqual(
      body(
        {
          target: { provider: "gemini-interactions", model: "m", maxTokens: 5, temperature: 1, stream: true },
          system: "s",
        },
        input,
      ),
      {
        model: "m",
        input,
        stream: true,
        system_instruction: "s",
        generation_config: { max_output_tokens: 5, temperature: 1 },
      },
    );
    // Messages stored by the provider are not required.
    const results = [{ type: "function_result", call_id: "c", name: "look", result: "r" }, ...input];
    for (const [stored, kept] of [
      [{ previous_interaction_id: "v1_" }, results],
      [{}, input],
    ]) {
      const target = { provider: "gemini-interactions", model: "m", ...stored };
      assert.deepEqual(body({ target }, results), { ...stored, model: "m", input: kept });
    }
    // The limit of the answer gets the provider's name, whichever name was used; fields that would override the chat
    // are reported.
    for (const [target, expected, found] of [
      [
        { provider: "openai", model: "gpt-5", max_tokens: 9 },
        { model: "gpt-5", messages: user, max_completion_tokens: 9 },
        ["body_field_renamed", "target.max_tokens"],
      ],
      [
        { provider: "openai", model: "gpt-4o", max_tokens: 9 },
        { model: "gpt-4o", messages: user, max_tokens: 9 },
        undefined,
      ],
      [
        { provider: "anthropic", model: "m", max_completion_tokens: 9, system: "own" },
        { model: "m", messages: user, max_tokens: 9, system: "own" },
        ["body_field_renamed", "target.max_completion_tokens"],
      ],
      [
        { provider: "openai-responses", model: "m", maxTokens: 9, max_tokens: 5 },
        { model: "m", input: user, max_output_tokens: 9 },
        ["body_field_unused", "target.max_tokens"],
      ],
      [
        { provider: "anthropic", model: "m", maxTokens: 9, messages: [] },
        { model: "m", messages: user, max_tokens: 9 },
        ["body_field_unused", "target.messages"],
      ],
      [
        { provider: "gemini", max_tokens: 9 },
        { contents: [{ role: "user", parts: [{ text: "hi" }] }], generationConfig: { maxOutputTokens: 9 } },
        ["body_field_renamed", "target.max_tokens"],
      ],
      [
        { provider: "gemini-interactions", agent: "a", max_output_tokens: 9 },
        { agent: "a", input, generation_config: { max_output_tokens: 9 } },
        ["body_field_renamed", "target.max_output_tokens"],
      ],
    ]) {
      const kept = new chat.Chat({ maxTokens: 900, target });
      kept.append(...user);
      const { body: bytes, report } = kept.requestBodyWithReport();
      assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), expected);
      const told = report.diagnostics.map(({ code, path }) => [code, path]);
      assert.deepEqual(told, found ? [found] : []);
    }
    // Servers compatible with OpenAI require `max_tokens`, and the reasoning of calls sent back.
    for (const [model, field, value] of [
      ["deepseek-v4", "reasoning_content", "R"],
      ["zai/glm-4.7", "reasoning_content", "R"],
      ["minimax-m3", "reasoning_details", [{ type: "reasoning.text", text: "R" }]],
    ]) {
      const run = [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "R" },
            { type: "tool-call", toolCallId: "c", toolName: "t", input: {} },
          ],
        },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output: { type: "text", value: "x" } }],
        },
      ];
      const sent = body({ target: { provider: "openai", model, maxTokens: 5 } }, run);
      assert.deepEqual(sent.messages[1][field], value, model);
      assert.equal(sent.max_tokens, 5, model);
      assert.ok(!("max_completion_tokens" in sent), model);
      const renamed = body({ target: { provider: "openai", model, max_completion_tokens: 77 } }, user);
      assert.deepEqual([renamed.max_tokens, "max_completion_tokens" in renamed], [77, false], model);
    }
    assert.throws(() => body({}, user), { code: "invalid_input" });
    assert.throws(() => body({ target: { provider: "completion", model: "m" } }, user), { code: "invalid_input" });
  });

  it("a body tells the provider to drop invalid thinking, next to the target's thinking", () => {
    const long = "word ".repeat(300);
    const thought = { type: "thinking", thinking: "r", signature: "S" };
    const messages = [
      { role: "user", content: long },
      { role: "assistant", content: [thought, { type: "text", text: "x" }] },
      { role: "user", content: "y" },
    ];
    const thinking = { type: "between_tools" };
    const target = { provider: "anthropic", model: "claude-opus-5-5", maxTokens: 5, thinking };
    const kept = new chat.Chat({ maxTokens: 90, preservedThinking: "dropBlock", target });
    kept.append(...messages);
    const { body: bytes, report } = kept.requestBodyWithReport();
    const expected = { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } };
    assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)).thinking, expected);
    assert.deepEqual(report.body, { thinking: expected });
    assert.deepEqual(Object.keys(report.headers), ["anthropic-beta"]);
    // Manual thinking is not part of the prefix: nothing is dropped, for this target or another one.
    const manual = { ...target, model: "claude-sonnet-4-5", thinking: { type: "enabled", budget_tokens: 1024 } };
    const other = kept.requestBodyWithReport({ target: manual });
    assert.deepEqual(JSON.parse(new TextDecoder().decode(other.body)).thinking, manual.thinking);
    assert.equal(other.report.headers, undefined);
  });

  it("a body in another provider's format reports what it cannot express", () => {
    const kept = new chat.Chat({ maxTokens: 900, format: "openai" });
    kept.append(
      { role: "system", content: "Be brief." },
      { role: "user", name: "iris", content: "How much wool?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "stock", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "12 spools" },
    );
    const { body, report } = kept.requestBodyWithReport({
      target: { provider: "anthropic", model: "m", maxTokens: 9 },
    });
    assert.deepEqual(JSON.parse(new TextDecoder().decode(body)), {
      model: "m",
      max_tokens: 9,
      system: "Be brief.",
      messages: [
        { role: "user", content: "How much wool?" },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "stock", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "12 spools" }] },
      ],
    });
    assert.deepEqual(
      report.diagnostics.map(({ code, path }) => [code, path]),
      [["field_left_out", "messages[1]"]],
    );
  });

  it("a chat becomes a tree, with streamed text", () => {
    const kept = new chat.Chat({ maxTokens: 900 });
    kept.append({ role: "user", content: "How much wool?" }, { role: "assistant", content: "Twelve" });
    kept.appendText(" spools.");
    const { tree, tip } = kept.toTree();
    assert.deepEqual(
      tree.nodes.map(({ content }) => content),
      ["How much wool?", "Twelve spools."],
    );
    assert.equal(tip, tree.nodes[1].id);
    assert.deepEqual({ tree, tip }, (({ tree, tip }) => ({ tree, tip }))(chat.chatToLoomTree(kept.fit().messages)));
  });

  it("throws after it was freed, and on re-entrant calls of its tokenizer", () => {
    const kept = new chat.Chat({ maxTokens: 300 });
    kept.append(message(0));
    kept.free();
    kept.free();
    for (const use of [
      () => kept.fit(),
      () => kept.tokens,
      () => kept.append(message(1)),
      () => kept.appendText("x"),
    ]) {
      assert.throws(use, { name: "CtxweaveError", code: "handle_freed" });
    }
    let inner;
    const busy = new chat.Chat({ maxTokens: 300, tokenizer: { count: (text) => (inner?.tokens, text.length) } });
    inner = busy;
    assert.throws(() => busy.append(message(0)), { code: "tokenizer_failed" });
    inner = undefined;
    assert.equal(busy.length, 0);
    busy.append(message(0));
    assert.equal(busy.length, 1);
  });

  it("leaks no memory", () => {
    assert.equal(typeof globalThis.gc, "function", "node runs with --expose-gc");
    const tokenizer = { count: (text) => text.length };
    const rounds = (count) => {
      for (let at = 0; at < count; at += 1) {
        const kept = new chat.Chat({ maxTokens: 500, ...(at % 2 && { tokenizer }) });
        kept.append(...messages(10));
        for (let delta = 0; delta < 10; delta += 1) kept.appendText(" more");
        kept.fit();
        assert.throws(() => kept.append(7), { code: "invalid_input" });
        kept.free();
      }
      chat.countTokensBatch(Array(5000).fill(""));
      globalThis.gc();
      return { wasm: memory.buffer.byteLength, slots, heap: process.memoryUsage().heapUsed };
    };
    rounds(200);
    const before = rounds(200);
    const after = rounds(2000);
    assert.equal(after.wasm, before.wasm, "wasm memory");
    assert.ok(after.slots <= before.slots, `the list of JavaScript objects: ${before.slots}, then ${after.slots}`);
    assert.ok(after.heap - before.heap < 2 << 20, `the heap grew by ${after.heap - before.heap} bytes`);
  });
});
