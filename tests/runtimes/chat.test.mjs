/** Chats: results are the caller's objects, and each drop-in runs in the package that it is for. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { folder, installed } from "../packaging/packed.mjs";
import { tsc } from "../packaging/tsc.mjs";

let chat;

const load = (path) => import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist", path)));

before(async () => {
  chat = await load("chat/node.js");
  await chat.init();
});

/** Inputs are never mutated. */
function frozen(value) {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof URL) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

const long = (of, length = 40) => Array.from({ length }, (_, at) => `${of}${at}`).join(" ");

const conversation = (count = 12) => [
  { role: "system", content: "You are brief." },
  ...Array.from({ length: count }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: long(`word${at}.`),
    extra: { at },
  })),
];

const withTools = () => [
  { role: "system", content: "You are brief." },
  { role: "user", content: long("question") },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "a", type: "function", function: { name: "find", arguments: '{"q":"x"}' } },
      { id: "b", type: "function", function: { name: "find", arguments: '{"q":"y"}' } },
    ],
  },
  { role: "tool", tool_call_id: "a", content: long("first") },
  { role: "tool", tool_call_id: "b", content: long("second") },
  { role: "assistant", content: "Found." },
  { role: "user", content: "And now?" },
];

const codeOf = (run) => {
  try {
    run();
  } catch (error) {
    return error.code;
  }
};

describe("results", () => {
  test("under the limit a new list of the same objects", () => {
    const messages = frozen(conversation());
    const { messages: fitted, report } = chat.fitMessages(messages, { maxTokens: 100_000 });
    assert.notEqual(fitted, messages);
    assert.equal(fitted.length, messages.length);
    fitted.forEach((message, at) => assert.equal(message, messages[at]));
    assert.equal(report.truncated, false);
    assert.equal(report.added, undefined);
  });

  test("over the limit the same objects, in their order, and a marker", () => {
    const messages = frozen(conversation());
    const { messages: fitted, report } = chat.fitMessages(messages, { maxTokens: 500, fill: "off", protect: [] });
    assert.ok(report.tokens.total <= 500);
    const added = fitted.filter((message) => !messages.includes(message));
    assert.equal(added.length, 1);
    assert.equal(fitted[report.added.index], added[0]);
    assert.deepEqual(added[0], { role: "user", content: report.added.text });
    const kept = report.messages.filter(({ fate }) => fate === "kept").map(({ index }) => messages[index]);
    assert.deepEqual(
      fitted.filter((message) => message !== added[0]),
      kept,
    );
    assert.equal(fitted[0], messages[0]);
    assert.equal(report.messages.length, messages.length);
  });

  test("calls and their results stay together, and a changed message is a copy", () => {
    const messages = frozen(withTools());
    for (let maxTokens = 60; maxTokens < 600; maxTokens += 20) {
      let fitted;
      try {
        fitted = chat.fitMessages(messages, { maxTokens, truncationStrategy: "rollingWindow" }).messages;
      } catch (error) {
        assert.match(error.code, /context_too_long/);
        continue;
      }
      const calls = fitted.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
      const results = fitted.flatMap(({ tool_call_id: id }) => id ?? []);
      assert.deepEqual(results, calls, String(maxTokens));
    }
  });

  test("a cleared result is in a copy with all other fields unchanged", () => {
    const messages = frozen(withTools());
    const { messages: fitted, report } = chat.fitMessages(messages, {
      maxTokens: 100_000,
      edits: { when: "always", toolResults: { keepLast: 1, placeholder: "gone" } },
    });
    assert.deepEqual(fitted[3], { ...messages[3], content: "gone" });
    assert.notEqual(fitted[3], messages[3]);
    for (const at of [0, 1, 2, 4, 5, 6]) assert.equal(fitted[at], messages[at]);
    assert.deepEqual(
      report.edits.map(({ edit, count }) => [edit, count]),
      [["toolResults", 1]],
    );
    // The copy belongs to the caller.
    fitted[3].content = "mine";
    assert.equal(fitted[3].content, "mine");
  });

  test("prototype, getters, symbols and values outside JSON are preserved", () => {
    const tag = Symbol("tag");
    class Result {
      role = "tool";
      tool_call_id = "a";
      content = long("first");
      handle = () => 1;
      big = 2n;
      constructor() {
        this[tag] = new Map();
        Object.defineProperty(this, "size", { enumerable: false, get: () => this.content.length });
      }
      hello() {
        return "hello";
      }
    }
    const messages = withTools();
    messages[3] = new Result();
    const { messages: fitted } = chat.fitMessages(messages, {
      format: "openai",
      maxTokens: 100_000,
      edits: { when: "always", toolResults: { keepLast: 1 } },
    });
    assert.notEqual(fitted[3], messages[3]);
    assert.ok(fitted[3] instanceof Result);
    assert.equal(fitted[3].hello(), "hello");
    for (const key of ["handle", "big", tag]) assert.equal(fitted[3][key], messages[3][key]);
    assert.equal(typeof Object.getOwnPropertyDescriptor(fitted[3], "size").get, "function");
    assert.notEqual(fitted[3].content, messages[3].content);
  });

  test("a container comes back with all its fields", () => {
    const messages = frozen(conversation().slice(1));
    for (const [container, key] of [
      [{ model: "m", system: "Be brief.", messages, max_tokens: 3 }, "messages"],
      [{ systemInstruction: { parts: [{ text: "Be brief." }] }, contents: gemini(), config: new Map() }, "contents"],
      [{ model: "m", system_instruction: "Be brief.", input: steps(), store: false }, "input"],
    ]) {
      for (const maxTokens of [400, 100_000]) {
        Object.freeze(container);
        const { messages: fitted, report } = chat.fitMessages(container, { maxTokens });
        assert.notEqual(fitted, container);
        assert.deepEqual(Object.keys(fitted), Object.keys(container));
        for (const name of Object.keys(container)) if (name !== key) assert.equal(fitted[name], container[name]);
        assert.ok(report.tokens.total <= maxTokens);
        assert.ok(report.tokens.system > 0);
        assert.equal(fitted[key].at(-1), container[key].at(-1));
        assert.equal(fitted[key].length === container[key].length, maxTokens === 100_000);
      }
    }
  });

  test("bytes, addresses and files come back unchanged, and their bytes do not cross", () => {
    const image = new Uint8Array(3_000_000);
    const address = new URL("https://example.org/a.png");
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image", image },
          { type: "image", image: address },
          { type: "file", data: Buffer.alloc(3_000_000), mediaType: "application/pdf" },
          { type: "file", data: new Blob(["text"]), mediaType: "text/plain" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Seen." }] },
      { role: "user", content: [{ type: "text", text: "So?" }] },
    ];
    const { messages: fitted, report } = chat.fitMessages(messages, { maxTokens: 400_000 });
    assert.equal(report.format, "ai-sdk");
    assert.equal(fitted[0], messages[0]);
    const { tokens } = report.messages[0];
    assert.ok(tokens > 150_000 && tokens < 250_000, `its size counts, and not the bytes as text: ${tokens}`);
    const without = chat.fitMessages(messages, {
      format: "ai-sdk",
      maxTokens: 400_000,
      edits: { when: "always", images: { keepLast: 1 } },
    });
    assert.notEqual(without.messages[0], messages[0]);
    assert.equal(without.messages[0].content[2], messages[0].content[2]);
    assert.equal(without.messages[0].content[1].type, "text");
  });

  test("`maxBytes` is the length of `JSON.stringify`, with bytes as base64", () => {
    const pdf = (data) => ({ type: "file", mediaType: "application/pdf", data });
    const chatWith = (data) => [{ role: "user", content: [{ type: "text", text: 'Ä "quoted" \ud83d\n' }, pdf(data)] }];
    for (const size of [0, 1, 2, 3, 1000, 70_001]) {
      const bytes = new Uint8Array(size).fill(7);
      const whole = Buffer.byteLength(JSON.stringify(chatWith(Buffer.from(bytes).toString("base64"))));
      for (const data of [bytes, bytes.buffer, new Blob([bytes])]) {
        const fit = (maxBytes) => chat.fitMessages(chatWith(data), { format: "ai-sdk", maxTokens: 90_000, maxBytes });
        assert.doesNotThrow(() => fit(whole));
        assert.throws(
          () => fit(whole - 1),
          (error) => error.code === "request_too_large" && error.details.required === whole,
        );
      }
    }
  });

  test("an image in bytes costs the same as in base64, by its size", () => {
    const size = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAMgAAADICAIAAAA=", "base64");
    const jpeg = Buffer.from("/9j/4AAEAAD/wAALCADIAMgBAREA", "base64");
    const unknown = new Uint8Array(20);
    const cost = (data) => {
      const content = [{ type: "file", mediaType: "image/png", data }];
      return chat.fitMessages([{ role: "user", content }], { model: "claude-sonnet-4-5" }).report.tokens.total;
    };
    for (const bytes of [size, jpeg]) assert.equal(cost(new Uint8Array(bytes)), cost(bytes.toString("base64")));
    assert.ok(cost(size) < cost(unknown) / 10, `${cost(size)} and ${cost(unknown)}`);
    const image = [{ role: "user", content: [{ type: "image", image: size }] }];
    assert.equal(chat.fitMessages(image, { maxTokens: 9000 }).report.format, "ai-sdk");
  });

  test("an exception in a getter becomes the cause", () => {
    const cause = new Error("no");
    const message = {
      role: "user",
      get content() {
        throw cause;
      },
    };
    assert.throws(
      () => chat.fitMessages([message], { maxTokens: 100 }),
      (error) => error.code === "invalid_input" && error.cause === cause && /messages\[0\]/.test(error.message),
    );
    const container = {
      get messages() {
        throw cause;
      },
    };
    assert.throws(
      () => chat.fitMessages(container, { maxTokens: 100 }),
      (error) => error.code === "invalid_input" && error.cause === cause,
    );
  });
});

const steps = () =>
  Array.from({ length: 8 }, (_, at) => ({
    type: at % 2 ? "model_output" : "user_input",
    content: [{ type: "text", text: long(`step${at}`) }],
  }));
const gemini = () =>
  Array.from({ length: 12 }, (_, at) => ({ role: at % 2 ? "model" : "user", parts: [{ text: long(`word${at}.`) }] }));

describe("options", () => {
  test("a function pins messages, and is called once for each", () => {
    const messages = conversation();
    const asked = [];
    const pinned = (message, index) => {
      asked.push([message, index]);
      return message.content.startsWith("word3.");
    };
    const { messages: fitted } = chat.fitMessages(messages, { maxTokens: 500, pinned });
    assert.ok(fitted.includes(messages[4]));
    assert.deepEqual(
      asked,
      messages.map((message, index) => [message, index]),
    );
    const byIndex = chat.fitMessages(messages, { maxTokens: 500, pinned: [4] });
    assert.deepEqual(byIndex.messages, fitted);
    const cause = new Error("no");
    const throwing = () => {
      throw cause;
    };
    assert.throws(
      () => chat.fitMessages(messages, { maxTokens: 500, pinned: throwing }),
      (error) => error.code === "invalid_input" && error.cause === cause && error.details.path === "options.pinned",
    );
  });

  test("a custom tokenizer counts", () => {
    const messages = conversation();
    const { report } = chat.fitMessages(messages, {
      maxTokens: 2000,
      tokenizer: { name: "letters", count: (text) => text.length },
    });
    assert.equal(report.tokens.tokenizer, "letters");
    assert.ok(report.tokens.total <= 2000 && report.truncated);
    const count = () => {
      throw new Error("no");
    };
    assert.throws(() => chat.fitMessages(messages, { maxTokens: 2000, tokenizer: { count } }), {
      code: "tokenizer_failed",
      message: /no$/,
    });
  });

  test("errors for invalid input", () => {
    const messages = conversation();
    assert.equal(
      codeOf(() => chat.fitMessages(messages, {})),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.fitMessages(messages)),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.fitMessages("text", { maxTokens: 5 })),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.fitMessages(null, { maxTokens: 5 })),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.fitMessages([{ content: "x" }], { maxTokens: 5 })),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.fitMessages(messages, { model: "no such model" })),
      "unknown_value",
    );
    assert.equal(
      codeOf(() => chat.fitMessages(messages, { maxTokens: 500, truncationStrategy: "none" })),
      "unknown_value",
    );
    const { report } = chat.fitMessages(messages, { maxTokens: 500, keepfirst: 1 });
    assert.deepEqual(
      report.diagnostics.map(({ code }) => code),
      ["unknown_option"],
    );
    assert.match(report.diagnostics[0].message, /keepFirst/);
    // Internal fields between the package and the module are not options.
    const own = chat.fitMessages(messages, { maxTokens: 500, phase: "plan", summaryText: "x" }).report.diagnostics;
    assert.deepEqual(
      own.map(({ code, path }) => [code, path]),
      [
        ["unknown_option", "options.phase"],
        ["unknown_option", "options.summaryText"],
      ],
    );
    assert.ok(!own.some(({ message }) => /did you mean `(phase|summaryText)`/.test(message)));
    const near = chat.fitMessages(messages, { maxTokens: 500, fase: 1 }).report.diagnostics[0].message;
    assert.doesNotMatch(near, /phase|summaryText/);
  });

  test("a model has a window", () => {
    const { report } = chat.fitMessages(conversation(), { model: "gpt-4o" });
    assert.ok(report.limit > 100_000 && report.limit < 128_000);
  });
});

describe("summaries", () => {
  test("ready if it fits", () => {
    const messages = conversation();
    const planned = chat.planFit(messages, { maxTokens: 100_000 });
    assert.equal(planned.status, "ready");
    assert.equal(planned.result.messages[1], messages[1]);
  });

  test("the summary is in the gap, and the next one builds on it", () => {
    const messages = frozen(conversation());
    const options = { maxTokens: 500, summary: { maxTokens: 60 }, protect: [] };
    const planned = chat.planFit(messages, options);
    assert.equal(planned.status, "summarize");
    assert.ok(planned.input.messages.length > 0);
    for (const message of planned.input.messages) assert.ok(messages.includes(message));
    assert.match(planned.input.text, /word0\.0/);
    const { messages: fitted, report } = chat.finishFit(planned.plan, "They talked about words.");
    assert.ok(report.tokens.total <= 500);
    assert.equal(report.added.kind, "summary");
    assert.match(fitted[report.added.index].content, /They talked about words\.$/);
    assert.deepEqual(
      report.messages.filter(({ fate }) => fate === "summarized").map(({ index }) => messages[index]),
      planned.input.messages,
    );
    const longer = [...fitted, ...conversation(4).slice(1)];
    const again = chat.planFit(longer, options);
    assert.equal(again.status, "summarize");
    assert.equal(again.input.previousSummary, "They talked about words.");
    // The conversation continues meanwhile.
    longer.push(...conversation(6).slice(1));
    const second = chat.finishFit(again.plan, "More words.");
    assert.equal(second.report.messages.length, fitted.length + 4);
    const summaries = second.messages.filter(({ content }) => /\[Summary/.test(content));
    assert.equal(summaries.length, 1);
    assert.equal(
      codeOf(() => chat.finishFit(planned.plan, "  ")),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.finishFit({}, "text")),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.finishFit(planned.plan, 5)),
      "invalid_input",
    );
  });

  test("the driver asks, and continues without a summary if that fails", async () => {
    const messages = conversation();
    const options = { maxTokens: 500 };
    const asked = [];
    const good = await chat.fitMessagesWith(messages, options, async (input) => {
      asked.push(input);
      return "Short.";
    });
    assert.equal(asked.length, 1);
    assert.equal(good.report.added.kind, "summary");
    const bad = await chat.fitMessagesWith(messages, options, () => {
      throw new Error("the model is down");
    });
    assert.ok(bad.report.tokens.total <= 500);
    const [diagnostic] = bad.report.diagnostics;
    assert.equal(diagnostic.code, "summary_failed");
    assert.match(diagnostic.message, /the model is down/);
    await assert.rejects(chat.fitMessagesWith(messages, options, "no function"), { code: "invalid_input" });
  });
});

const instances = () => [
  new SystemMessage("You are brief."),
  ...Array.from({ length: 6 }, (_, at) => [
    new HumanMessage({ content: long(`question${at}.`), id: `h${at}` }),
    new AIMessage({ content: "", tool_calls: [{ id: `c${at}`, name: "find", args: { at } }], id: `c${at}` }),
    new ToolMessage({ content: long(`found${at}.`), tool_call_id: `c${at}`, artifact: { at } }),
    new AIMessage({ content: long(`answer${at}.`), id: `a${at}` }),
  ]).flat(),
];

describe("countChatTokens", () => {
  test("counts reasoning in DeepSeek's format", () => {
    const messages = [{ role: "assistant", content: "x", reasoning_content: "no ".repeat(100) }];
    assert.ok(chat.countChatTokens(messages) > 100);
  });

  test("a chat of any format costs the total of its report", () => {
    const text = long("word");
    const chats = {
      openai: withTools(),
      generic: conversation(),
      anthropic: { system: "You are brief.", messages: [{ role: "user", content: [{ type: "text", text }] }] },
      gemini: {
        contents: [{ role: "user", parts: [{ text }, { inlineData: { mimeType: "image/png", data: "aGVsbG8=" } }] }],
      },
      "gemini-interactions": {
        system_instruction: "You are brief.",
        input: [{ type: "user_input", content: [{ type: "text", text }] }],
      },
      "ai-sdk": [{ role: "user", content: [{ type: "file", mediaType: "image/png", data: new Uint8Array(900) }] }],
      langchain: [new SystemMessage("You are brief."), new HumanMessage(text), new AIMessage("So.")],
    };
    for (const [format, messages] of Object.entries(chats)) {
      const { report } = chat.fitMessages(messages, { maxTokens: 1e6 });
      assert.equal(report.format, format);
      assert.equal(chat.countChatTokens(frozen(messages)), report.tokens.total, format);
    }
  });

  test("counts tools and a system context by the tokenizer; rejects unknown content", () => {
    const messages = [{ role: "user", content: "a b" }];
    const tokenizer = { count: (text) => text.split(" ").length };
    assert.equal(chat.countChatTokens(messages, { tokenizer }), 3 + 3 + 1 + 2);
    assert.equal(chat.countChatTokens(messages, { tokenizer, system: "be brief" }), 3 + 3 + 1 + 2 + 2);
    assert.ok(chat.countChatTokens(messages, { tools: [{ name: "find" }] }) > chat.countChatTokens(messages) + 20);
    assert.equal(chat.countChatTokens(messages, { tokenizer, perMessage: 0, perRequest: 0 }), 3);
    for (const options of [{ maxTokens: 5 }, { tokeniser: "heuristic" }, null, 7]) {
      assert.equal(
        codeOf(() => chat.countChatTokens(messages, options)),
        "invalid_input",
        JSON.stringify(options),
      );
    }
    assert.equal(
      codeOf(() => chat.countChatTokens([{ text: "a" }])),
      "invalid_input",
    );
    assert.equal(
      codeOf(() => chat.countChatTokens(messages, { model: "gpt-4o" })),
      "vocabulary_not_loaded",
    );
  });
});

describe("LangChain", () => {
  test("returns instances, and adds one", () => {
    const messages = instances();
    const before = JSON.stringify(messages);
    const { messages: fitted, report } = chat.fitMessages(messages, { maxTokens: 700 });
    assert.equal(report.format, "langchain");
    for (const message of fitted) assert.ok(HumanMessage.isInstance(message) || messages.includes(message));
    const added = fitted[report.added.index];
    assert.ok(added instanceof HumanMessage && !messages.includes(added));
    assert.equal(added.content, report.added.text);
    assert.equal(added.id, undefined);
    assert.deepEqual(added.toJSON().kwargs, { content: added.content, additional_kwargs: {}, response_metadata: {} });
    assert.equal(JSON.stringify(messages), before);
  });

  test("a changed instance keeps its class, its symbol and all its fields", () => {
    const messages = instances();
    const { messages: fitted } = chat.fitMessages(messages, {
      maxTokens: 100_000,
      edits: { when: "always", toolResults: { keepLast: 1, placeholder: "gone" } },
    });
    const at = 3;
    assert.notEqual(fitted[at], messages[at]);
    assert.ok(fitted[at] instanceof ToolMessage && ToolMessage.isInstance(fitted[at]));
    assert.equal(fitted[at].content, "gone");
    assert.equal(fitted[at].artifact, messages[at].artifact);
    assert.equal(fitted[at].tool_call_id, messages[at].tool_call_id);
    assert.equal(fitted[at].toJSON().kwargs.content, "gone");
    assert.equal(fitted[1], messages[1]);
    fitted[at]._updateId("new");
    assert.equal(messages[at].lc_kwargs.id, undefined);
  });

  /** LangChain's cases, and those that break it: ten tokens per message. */
  const ten = (messages) => messages.length * 10;
  const letters = (messages) => messages.map((message) => message.text).join("|");

  test("trimMessages equals LangChain's where that is correct", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const { trimMessages: theirs } = await import("@langchain/core/messages");
    const messages = [
      new SystemMessage("S"),
      new HumanMessage("H1"),
      new AIMessage("A2"),
      new HumanMessage("H3"),
      new AIMessage("A4"),
    ];
    for (const fields of [
      { maxTokens: 30, strategy: "first" },
      { maxTokens: 30, strategy: "first", endOn: "human" },
      { maxTokens: 30, strategy: "last", includeSystem: true },
      { maxTokens: 40, strategy: "last", includeSystem: true, startOn: "human" },
      { maxTokens: 40, strategy: "last", startOn: [HumanMessage] },
      { maxTokens: 40, strategy: "last", endOn: [HumanMessage] },
      { maxTokens: 20, strategy: "last" },
      { maxTokens: 50 },
      { maxTokens: 1000 },
    ]) {
      const ours = await trimMessages(messages, { tokenCounter: ten, ...fields });
      const expected = await theirs(messages, { tokenCounter: ten, ...fields });
      assert.equal(letters(ours), letters(expected), JSON.stringify(fields));
      for (const message of ours) assert.ok(messages.includes(message), "by reference");
    }
  });

  test("LangChain's documented cases", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const { trimMessages: theirs } = await import("@langchain/core/messages");
    const block = (text) => ({ type: "text", text });
    const messages = () => [
      new SystemMessage("S"),
      new HumanMessage("H1"),
      new AIMessage({ content: [block("FIRST"), block("SECOND")] }),
      new HumanMessage("H3"),
      new AIMessage("A4"),
    ];
    const size = ({ content }) => (Array.isArray(content) ? 6 + 4 * content.length : 10);
    const tokenCounter = (list) => list.reduce((sum, message) => sum + size(message), 0);
    const said = (list) =>
      list.map(({ content }) => (Array.isArray(content) ? content.map(({ text }) => text) : content));
    const both = [
      [{ maxTokens: 30, strategy: "first" }, ["S", "H1"]],
      [{ maxTokens: 30, strategy: "first", allowPartial: true }, ["S", "H1", ["FIRST"]]],
      [{ maxTokens: 30, strategy: "first", allowPartial: true, endOn: "human" }, ["S", "H1"]],
      [{ maxTokens: 30, includeSystem: true }, ["S", "H3", "A4"]],
      [{ maxTokens: 40, includeSystem: true, allowPartial: true, startOn: "human" }, ["S", "H3", "A4"]],
      [{ maxTokens: 40, startOn: [HumanMessage] }, ["H3", "A4"]],
      [{ maxTokens: 40, endOn: [HumanMessage] }, ["H1", ["FIRST", "SECOND"], "H3"]],
    ];
    for (const [fields, expected] of both) {
      const all = { tokenCounter, ...fields };
      assert.deepEqual(said(await trimMessages(messages(), all)), expected, JSON.stringify(fields));
      assert.deepEqual(said(await theirs(messages(), all)), expected, JSON.stringify(fields));
    }
    // Of a cut message, the part next to the kept ones is kept.
    const differ = [
      [{ maxTokens: 40, includeSystem: true, allowPartial: true }, ["FIRST"], ["SECOND"]],
      [{ maxTokens: 30, includeSystem: true, allowPartial: true, endOn: "human" }, ["FIRST"], ["SECOND"]],
    ];
    for (const [fields, before, after] of differ) {
      const all = { tokenCounter, ...fields };
      assert.deepEqual(said(await theirs(messages(), all))[1], before);
      assert.deepEqual(said(await trimMessages(messages(), all))[1], after);
    }
    const hundred = { maxTokens: 14, allowPartial: true, tokenCounter: (list) => list.length * 100 };
    assert.deepEqual(await theirs(messages(), hundred), []);
    await assert.rejects(trimMessages(messages(), hundred), { code: "context_too_long" });
  });

  test("under the limit trimMessages changes nothing", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const messages = [new SystemMessage("S"), new AIMessage("A1"), new HumanMessage("H2")];
    const all = await trimMessages(messages, { maxTokens: 1000, tokenCounter: ten, startOn: "human" });
    assert.equal(letters(all), "S|A1|H2");
    const ended = await trimMessages(messages, { maxTokens: 1000, tokenCounter: ten, endOn: "ai" });
    assert.equal(letters(ended), "S|A1");
  });

  test("trimMessages splits no pair, and never exceeds the limit", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const messages = [
      new SystemMessage("S"),
      new HumanMessage("H"),
      new AIMessage({
        content: "A",
        tool_calls: [
          { id: "a", name: "f", args: {} },
          { id: "b", name: "f", args: {} },
        ],
      }),
      new ToolMessage({ content: "Ta", tool_call_id: "a" }),
      new ToolMessage({ content: "Tb", tool_call_id: "b" }),
      new AIMessage("A2"),
      new HumanMessage("H2"),
    ];
    const cases = [
      [{ maxTokens: 40, includeSystem: true }, "S|A2|H2"],
      [{ maxTokens: 50, includeSystem: true }, "S|A2|H2"],
      [{ maxTokens: 60, includeSystem: true }, "S|A|Ta|Tb|A2|H2"],
      [{ maxTokens: 30, strategy: "first" }, "S|H"],
      [{ maxTokens: 40, strategy: "first" }, "S|H"],
      [{ maxTokens: 50, includeSystem: true, startOn: "human" }, "S|H2"],
    ];
    for (const [fields, expected] of cases) {
      for (const tokenCounter of [ten, async (list) => ten(list), (list) => ten(list) + 3]) {
        const maxTokens = fields.maxTokens + (tokenCounter([]) === 3 ? 3 : 0);
        const kept = await trimMessages(messages, { tokenCounter, ...fields, maxTokens });
        assert.equal(letters(kept), expected, JSON.stringify(fields));
        for (const message of kept) assert.ok(messages.includes(message));
      }
    }
    // A message whose calls lost their results keeps its text and all its fields.
    const torn = [
      new HumanMessage("H"),
      new AIMessage({ content: "A", id: "a", name: "n", tool_calls: [{ id: "a", name: "f", args: {} }] }),
      new HumanMessage("H2"),
    ];
    const [, repaired] = await trimMessages(torn, { maxTokens: 100, tokenCounter: ten });
    assert.ok(AIMessage.isInstance(repaired) && Object.getPrototypeOf(repaired) === AIMessage.prototype);
    assert.deepEqual([repaired.text, repaired.id, repaired.name, repaired.tool_calls], ["A", "a", "n", []]);
    assert.deepEqual(repaired.toJSON().kwargs.tool_calls, []);
    assert.equal(torn[1].tool_calls.length, 1);
    const none = trimMessages(messages, { maxTokens: 5, tokenCounter: ten, includeSystem: true });
    await assert.rejects(none, (error) => error.code.endsWith("context_too_long") && error.details.limit === 5);
    for (const fields of [
      { maxTokens: 0, tokenCounter: ten },
      { maxTokens: 10, tokenCounter: "no" },
      { maxTokens: 10, tokenCounter: ten, strategy: "middle" },
      { maxTokens: 10, tokenCounter: ten, strategy: "first", startOn: "human" },
    ])
      await assert.rejects(async () => trimMessages(messages, fields), { code: "invalid_input" });
    assert.deepEqual(await trimMessages([], { maxTokens: 10, tokenCounter: ten }), []);
  });

  test("trimMessages calls its counter once for each message, and for few lists", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const messages = Array.from({ length: 200 }, (_, at) =>
      at % 2 ? new AIMessage(`${at}`) : new HumanMessage(`${at}`),
    );
    let seen = 0;
    const tokenCounter = (list) => {
      seen += list.length;
      return list.length * 10;
    };
    const kept = await trimMessages(messages, { maxTokens: 995, tokenCounter });
    assert.equal(kept.length, 99);
    assert.ok(seen <= 200 + 200 + 99, String(seen));
  });

  test("trimMessages with allowPartial keeps the part of the message at the edge that fits", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const words = (list) => list.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0);
    const lines = Array.from({ length: 10 }, (_, at) => `line ${at}\n`);
    const messages = [new HumanMessage(lines.join("")), new AIMessage("short answer"), new HumanMessage("next")];
    const before = JSON.stringify(messages);
    const last = await trimMessages(messages, { maxTokens: 9, tokenCounter: words, allowPartial: true });
    assert.deepEqual(
      last.map(({ text }) => text),
      ["line 7\nline 8\nline 9\n", "short answer", "next"],
    );
    assert.ok(last[0] instanceof HumanMessage);
    const first = await trimMessages(messages, {
      maxTokens: 9,
      strategy: "first",
      tokenCounter: words,
      allowPartial: true,
      textSplitter: { splitText: async (text) => text.split(/(?<= )/) },
    });
    assert.deepEqual(
      first.map(({ text }) => text),
      ["line 0\nline 1\nline 2\nline 3\nline "],
    );
    const blocks = [
      new HumanMessage("q"),
      new AIMessage({
        content: [
          { type: "text", text: "one two" },
          { type: "text", text: "three four" },
        ],
      }),
      new HumanMessage("next one"),
    ];
    const some = await trimMessages(blocks, { maxTokens: 4, tokenCounter: words, allowPartial: true });
    assert.deepEqual(
      some.map(({ content }) => content),
      [[{ type: "text", text: "three four" }], "next one"],
    );
    assert.equal(JSON.stringify(messages), before);
  });

  test("a misspelt field of trimMessages is rejected", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    assert.throws(
      () => trimMessages([], { maxTokens: 9, tokenCounter: () => 1, stratgy: "first" }),
      ({ code, details }) => code === "invalid_input" && details.path === "fields.stratgy",
    );
  });

  test("trimMessages is a runnable, and accepts a model as counter", async () => {
    const { trimMessages } = await load("dropins/langchain.js");
    const { RunnableLambda } = await import("@langchain/core/runnables");
    const model = { getNumTokens: async (content) => content.length };
    const trimmer = trimMessages({ maxTokens: 10, tokenCounter: model, startOn: "human" });
    const messages = [new HumanMessage("12345678"), new AIMessage("1234"), new HumanMessage("123456")];
    assert.deepEqual(await trimmer.invoke(messages), [messages[2]]);
    assert.deepEqual(await trimmer.batch([messages, messages.slice(2)]), [[messages[2]], [messages[2]]]);
    const chain = trimmer.pipe(RunnableLambda.from((list) => list.length));
    assert.equal(await chain.invoke(messages), 1);
  });

  test("middleware of an agent fits each call and does not change the state", async () => {
    const { fitMiddleware } = await load("dropins/langchain.js");
    const { createAgent, createMiddleware, FakeToolCallingModel, tool } = await import("langchain");
    const { z } = await import("zod");
    const calls = [];
    const spy = createMiddleware({
      name: "spy",
      wrapModelCall: (request, next) => {
        calls.push(request.messages);
        return next(request);
      },
    });
    const find = tool(() => "found", { name: "find", description: "finds", schema: z.object({ q: z.string() }) });
    const reports = [];
    const agent = createAgent({
      model: new FakeToolCallingModel({ toolCalls: [[{ name: "find", args: { q: "x" }, id: "x1" }], []] }),
      tools: [find],
      systemPrompt: "You are brief.",
      middleware: [createMiddleware(fitMiddleware({ maxTokens: 900, onReport: (it) => reports.push(it) })), spy],
    });
    const history = instances();
    const { messages } = await agent.invoke({ messages: [...history.slice(1), new HumanMessage("Go on.")] });
    assert.ok(messages.length >= history.length + 3);
    assert.equal(calls.length, 2);
    for (const [at, list] of calls.entries()) {
      assert.ok(list.length < history.length);
      assert.ok(
        list.every(
          (message) =>
            HumanMessage.isInstance(message) || AIMessage.isInstance(message) || ToolMessage.isInstance(message),
        ),
      );
      assert.ok(reports[at].tokens.total <= 900);
      assert.ok(reports[at].tokens.tools > 0 && reports[at].tokens.system > 0);
    }
    assert.equal(calls[1].at(-1).content, "found");
  });

  test("a preModelHook fits the input of the model", async () => {
    const { preModelHook } = await load("dropins/langchain.js");
    const { createReactAgent } = await import("@langchain/langgraph/prebuilt");
    const { FakeToolCallingModel } = await import("langchain");
    const seen = [];
    const hook = preModelHook({ maxTokens: 700 });
    const agent = createReactAgent({
      llm: new FakeToolCallingModel({}),
      tools: [],
      preModelHook: async (state) => {
        const out = await hook(state);
        seen.push(out.llmInputMessages);
        return out;
      },
    });
    const history = [...instances(), new HumanMessage("Go on.")];
    const { messages } = await agent.invoke({ messages: history });
    assert.equal(messages.length, history.length + 1);
    assert.ok(seen[0].length < history.length);
  });
});

describe("AI SDK", () => {
  const model = (prompts, results = []) => ({
    specificationVersion: "v4",
    provider: "test",
    modelId: "gpt-4o",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      prompts.push(prompt);
      const content = results.shift() ?? [{ type: "text", text: "Done." }];
      const calls = content.some(({ type }) => type === "tool-call");
      return {
        content,
        finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
      };
    },
  });
  const history = () =>
    [
      ...conversation(12).slice(1),
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image", image: new Uint8Array(8) },
        ],
      },
    ].map(({ extra, ...message }) => message);

  test("middleware fits the prompt with the tools counted, and bytes come back", async () => {
    const { fitMiddleware } = await load("dropins/ai-sdk.js");
    const { generateText, jsonSchema, tool, wrapLanguageModel } = await import("ai");
    const prompts = [];
    const reports = [];
    const wrapped = wrapLanguageModel({
      model: model(prompts),
      middleware: fitMiddleware({ maxTokens: 6000, onReport: (it) => reports.push(it) }),
    });
    const tools = { find: tool({ description: "finds", inputSchema: jsonSchema({ type: "object", properties: {} }) }) };
    const { text } = await generateText({ model: wrapped, system: "You are brief.", messages: history(), tools });
    assert.equal(text, "Done.");
    const [prompt] = prompts;
    assert.equal(prompt[0].role, "system");
    assert.ok(reports[0].tokens.tools > 0 && reports[0].tokens.total <= 6000);
    assert.ok(reports[0].truncated, JSON.stringify(reports[0]));
    const { data } = prompt.at(-1).content[1];
    assert.ok((data.data ?? data) instanceof Uint8Array);
    for (const { role, content } of prompt.slice(1)) assert.ok(Array.isArray(content), role);
  });

  test("the limit defaults to the model's", async () => {
    const { fitMiddleware } = await load("dropins/ai-sdk.js");
    const { generateText, wrapLanguageModel } = await import("ai");
    const reports = [];
    const middleware = fitMiddleware({ onReport: (it) => reports.push(it) });
    await generateText({ model: wrapLanguageModel({ model: model([]), middleware }), prompt: "Hi." });
    assert.ok(reports[0].limit > 100_000);
  });

  test("prepareStep fits each step, and its marker is not stacked", async () => {
    const { fitPrepareStep } = await load("dropins/ai-sdk.js");
    const { generateText, jsonSchema, stepCountIs, tool } = await import("ai");
    const prompts = [];
    const call = (id) => [{ type: "tool-call", toolCallId: id, toolName: "find", input: "{}" }];
    const tools = {
      find: tool({ inputSchema: jsonSchema({ type: "object", properties: {} }), execute: () => long("found", 60) }),
    };
    const { steps } = await generateText({
      model: model(prompts, [call("a"), call("b"), call("c"), call("d")]),
      system: "You are brief.",
      messages: history().slice(0, -1).concat({ role: "user", content: "Go on." }),
      tools,
      stopWhen: stepCountIs(6),
      prepareStep: fitPrepareStep({ maxTokens: 900 }),
    });
    assert.equal(steps.length, 5);
    for (const prompt of prompts) {
      const texts = prompt.slice(1).flatMap(({ content }) => content);
      assert.ok(texts.filter(({ text }) => /earlier messages? omitted/.test(text)).length <= 1);
      const calls = texts.filter(({ type }) => type === "tool-call").map((part) => part.toolCallId);
      const results = texts.filter(({ type }) => type === "tool-result").map((part) => part.toolCallId);
      assert.deepEqual(results, calls);
    }
    assert.ok(prompts[0].length < history().length);
  });

  test("clears arguments of old calls before calls are removed, if no edits are given", async () => {
    const { fitPrepareStep } = await load("dropins/ai-sdk.js");
    const part = (id) => ({ toolCallId: `call-${id}`, toolName: "write" });
    const step = (_, id) => [
      { role: "assistant", content: [{ type: "tool-call", ...part(id), input: { text: long("line", 40) } }] },
      { role: "tool", content: [{ type: "tool-result", ...part(id), output: { type: "text", value: "done" } }] },
    ];
    const messages = frozen([{ role: "user", content: "Go on." }, ...Array.from({ length: 12 }, step).flat()]);
    const fitted = async (options) => {
      const { messages: sent } = await fitPrepareStep({ maxTokens: 900, ...options })({ messages, model: "gpt-4o" });
      const parts = sent.flatMap(({ content }) => content);
      const calls = parts.filter(({ type }) => type === "tool-call");
      const cleared = calls.filter(({ input }) => Object.keys(input).length === 0).length;
      const hasMarker = sent.some(
        ({ role, content }) => role === "user" && JSON.stringify(content).includes("omitted"),
      );
      return { calls: calls.length, cleared, hasMarker };
    };
    const standard = await fitted({});
    assert.equal(standard.calls, 12);
    assert.ok(standard.cleared > 0 && standard.cleared <= 9, JSON.stringify(standard));
    assert.deepEqual(await fitted({ edits: undefined, model: undefined }), standard);
    const plain = await fitted({ edits: false });
    assert.ok(plain.cleared === 0 && plain.calls < 12 && plain.hasMarker, JSON.stringify(plain));
    assert.equal((await fitted({ edits: false, truncationMarker: "" })).hasMarker, false);
    await assert.rejects(fitted({ truncationStrategy: "stopAtLimit" }), { code: "context_too_long" });
  });

  test("pruneMessages edits messages, and returns unchanged ones by reference", async () => {
    const { fitModelMessages } = await load("dropins/ai-sdk.js");
    const { pruneMessages } = await import("ai");
    const turn = (id) => [
      { role: "user", content: `Question ${id}.` },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "I look." },
          { type: "tool-call", toolCallId: id, toolName: "find", input: {} },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: id, toolName: "find", output: { type: "text", value: "found" } }],
      },
      { role: "assistant", content: [{ type: "text", text: "There." }] },
    ];
    const messages = frozen([...turn("a"), ...turn("b"), { role: "user", content: "And?" }]);
    for (const [edits, options] of [
      [{ reasoning: { remove: "all" } }, { reasoning: "all" }],
      [{ toolCalls: { keepLast: 0 } }, { toolCalls: "all" }],
      [{ toolCalls: { keepLast: 1 } }, { toolCalls: "before-last-4-messages" }],
      [
        { toolCalls: { keepLast: 0 }, reasoning: { remove: "all" } },
        { toolCalls: "all", reasoning: "all" },
      ],
    ]) {
      const ours = fitModelMessages(messages, { maxTokens: 100_000, edits: { when: "always", ...edits } }).messages;
      assert.deepEqual(ours, pruneMessages({ messages: structuredClone(messages), ...options }), JSON.stringify(edits));
      assert.equal(ours[0], messages[0]);
      assert.equal(ours.at(-1), messages.at(-1));
    }
  });

  test("a misspelt option of pruneMessages is rejected", async () => {
    const { pruneMessages } = await load("dropins/ai-sdk.js");
    for (const [options, path] of [
      [{ messages: [], toolCall: "all" }, "toolCall"],
      [{ messages: [], toolCalls: [{ type: "all", tool: ["f"] }] }, "toolCalls[0].tool"],
    ]) {
      assert.throws(
        () => pruneMessages(options),
        ({ code, details }) => code === "invalid_input" && details.path === path,
      );
    }
  });

  test("pruneMessages equals the SDK's, but keeps pairs together and messages by reference", async () => {
    const { pruneMessages, init } = await load("dropins/ai-sdk.js");
    const theirs = (await import("ai")).pruneMessages;
    await init();
    const turn = (id, toolName) => [
      { role: "user", content: `Question ${id}.` },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "I look." },
          { type: "tool-call", toolCallId: id, toolName, input: {} },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: id, toolName, output: { type: "text", value: id } }],
      },
    ];
    const turns = [...turn("a", "find"), ...turn("b", "read"), ...turn("c", "find")];
    const messages = frozen([...turns, { role: "assistant", content: [{ type: "text", text: "Found." }] }]);
    const calls = ["none", "all", "before-last-message", "before-last-2-messages", "before-last-4-messages"];
    const some = ["all", "before-last-message", "before-last-6-messages"];
    const lists = some.map((type) => [
      { type, tools: ["find"] },
      { type: "before-last-3-messages", tools: ["read"] },
    ]);
    for (const reasoning of [undefined, "none", "all", "before-last-message"]) {
      for (const toolCalls of [undefined, ...calls, ...lists]) {
        const options = { ...(reasoning && { reasoning }), ...(toolCalls && { toolCalls }) };
        const ours = pruneMessages({ messages, ...options });
        assert.deepEqual(ours, theirs({ messages: structuredClone(messages), ...options }), JSON.stringify(options));
        assert.ok(messages.includes(ours[0]) && ours.every((it) => it.role === "assistant" || messages.includes(it)));
      }
    }
    // Theirs removes a result that the model has not read; ours keeps it.
    const unread = pruneMessages({ messages: turns, toolCalls: "all" });
    assert.deepEqual(unread.at(-1), turns.at(-1));
    assert.ok(!JSON.stringify(unread).includes('"toolCallId":"b"'));
    // Theirs orphans a call that waits for approval; ours keeps it open.
    const open = messages.slice(0, 2);
    assert.deepEqual(pruneMessages({ messages: open, toolCalls: "all" }), open);
    assert.equal(theirs({ messages: open, toolCalls: "all" })[1].content.length, 2);
    for (const wrong of [{ reasoning: "some" }, { toolCalls: "last" }, { emptyMessages: "keep" }, { tools: [] }]) {
      assert.equal(
        codeOf(() => pruneMessages({ messages, ...wrong })),
        "invalid_input",
        JSON.stringify(wrong),
      );
    }
  });

  test("ModelMessage and UIMessage lists are fitted, a run within its message", async () => {
    const { fitModelMessages, fitUIMessages } = await load("dropins/ai-sdk.js");
    const messages = frozen(history().slice(0, -1));
    const fitted = fitModelMessages(messages, { maxTokens: 500 });
    assert.equal(fitted.report.format, "ai-sdk");
    assert.ok(fitted.report.truncated && fitted.messages.at(-1) === messages.at(-1));
    const step = (at) => [
      { type: "step-start" },
      {
        type: "tool-find",
        toolCallId: `c${at}`,
        state: "output-available",
        input: { at },
        output: long(`found${at}.`),
      },
      { type: "text", text: `Step ${at}.` },
    ];
    const run = frozen([
      { id: "1", role: "user", parts: [{ type: "text", text: "Do it." }] },
      { id: "2", role: "assistant", parts: [0, 1, 2, 3, 4, 5].flatMap(step) },
    ]);
    const ui = fitUIMessages(run, { maxTokens: 700, edits: false, fill: "off" });
    assert.equal(ui.report.format, "ai-sdk-ui");
    assert.ok(ui.report.truncated && ui.report.tokens.total <= 700);
    const kept = ui.messages.at(-1);
    assert.equal(kept.id, "2");
    assert.ok(kept.parts.length < run[1].parts.length);
    for (const part of kept.parts) assert.ok(run[1].parts.includes(part));
  });
});

describe("OpenAI Agents", () => {
  test("a filter fits the input of each call, and the session keeps all items", async () => {
    const { fitModelInput } = await load("dropins/openai-agents.js");
    const { Agent, MemorySession, run, setTracingDisabled, tool, Usage } = await import("@openai/agents");
    setTracingDisabled(true);
    const requests = [];
    const answers = [
      [{ type: "function_call", callId: "c1", name: "find", arguments: "{}", status: "completed" }],
      [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] }],
    ];
    const fake = {
      async getResponse(request) {
        requests.push(request);
        return { output: answers.shift(), usage: new Usage() };
      },
      getStreamedResponse() {
        throw new Error("no");
      },
    };
    const find = tool({
      name: "find",
      description: "finds",
      parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
      strict: false,
      execute: async () => long("found"),
    });
    const agent = new Agent({ name: "a", instructions: "You are brief.", model: fake, tools: [find] });
    const items = conversation(12)
      .slice(1)
      .map(({ role, content }) =>
        role === "user"
          ? { type: "message", role, content }
          : { type: "message", role, status: "completed", content: [{ type: "output_text", text: content }] },
      );
    const session = new MemorySession({ initialItems: items });
    const reports = [];
    const filter = fitModelInput({ maxTokens: 900, onReport: (it) => reports.push(it) });
    assert.equal(filter.preserveInputIdentity, true);
    const result = await run(agent, "Go on.", { session, callModelInputFilter: filter });
    assert.equal(result.finalOutput, "Done.");
    assert.equal(requests.length, 2);
    for (const [at, { input }] of requests.entries()) {
      assert.ok(input.length < items.length, String(input.length));
      assert.ok(reports[at].tokens.total <= 900);
      assert.ok(reports[at].tokens.system > 0 && reports[at].tokens.tools > 0);
    }
    const types = requests[1].input.map(({ type }) => type);
    assert.ok(types.includes("function_call") && types.includes("function_call_result"));
    const stored = await session.getItems();
    for (const [at, item] of items.entries()) assert.deepEqual(stored[at].content, item.content);
  });
});

test("the drop-ins can be required, and load the module themselves", () => {
  const path = join(folder("chat-require"), "required.cjs");
  writeFileSync(
    path,
    `const { trimMessages } = require("ctxweave/langchain");
const { fitMiddleware } = require("ctxweave/ai-sdk");
const { fitModelInput } = require("ctxweave/openai-agents");
const { HumanMessage } = require("@langchain/core/messages");
(async () => {
  const [kept] = await trimMessages([new HumanMessage("a"), new HumanMessage("b")], { maxTokens: 1, tokenCounter: (list) => list.length });
  const params = { prompt: [{ role: "user", content: [{ type: "text", text: "Hi." }] }] };
  const fitted = await fitMiddleware({ maxTokens: 50 }).transformParams({ params });
  const modelData = { input: [{ role: "user", content: "Hi." }] };
  const { input } = await fitModelInput({ maxTokens: 50 })({ modelData });
  console.log(kept.content, fitted.prompt[0] === params.prompt[0], input[0] === modelData.input[0]);
})();
`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, [path], { encoding: "utf8" });
  assert.equal(stdout + stderr, "b true true\n");
});

test("the drop-ins satisfy the types of their hosts, without casts", () => {
  const dir = folder("chat-types");
  const path = join(dir, "hosts.mts");
  writeFileSync(
    path,
    `import { generateText, wrapLanguageModel, type LanguageModel, type LanguageModelMiddleware, type ModelMessage, type UIMessage } from "ai";
import { createAgent, createMiddleware } from "langchain";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { run, type Agent, type CallModelInputFilter } from "@openai/agents";
import type OpenAI from "openai";
import type Anthropic from "@anthropic-ai/sdk";
import type { Content, Interactions } from "@google/genai";
import { fitMessages } from "ctxweave/chat";
import * as ai from "ctxweave/ai-sdk";
import * as lc from "ctxweave/langchain";
import { fitModelInput } from "ctxweave/openai-agents";

declare const params: OpenAI.ChatCompletionMessageParam[];
export const chat: OpenAI.ChatCompletionMessageParam[] = fitMessages(params, { model: "gpt-4o", pinned: (m) => m.role === "user" }).messages;
declare const input: OpenAI.Responses.ResponseInputItem[];
export const items: OpenAI.Responses.ResponseInputItem[] = fitMessages(input, { maxTokens: 5 }).messages;
declare const body: Anthropic.MessageCreateParamsNonStreaming;
export const fitted: Anthropic.MessageCreateParamsNonStreaming = fitMessages(body, { contextWindow: 200_000 }).messages;
declare const contents: Content[];
export const gemini: Content[] = fitMessages({ systemInstruction: "s", contents }, { maxTokens: 5 }).messages.contents;
declare const steps: Interactions.Step[];
export const fittedSteps: Interactions.Step[] = fitMessages({ model: "m", input: steps }, { maxTokens: 5 }).messages.input;

declare const messages: ModelMessage[];
declare const ui: UIMessage[];
export const m: ModelMessage[] = ai.fitModelMessages(messages, { maxTokens: 5 }).messages;
export const u: UIMessage[] = ai.fitUIMessages(ui, { maxTokens: 5, pinned: ({ id }) => id === "a" }).messages;
declare const model: Exclude<Parameters<typeof wrapLanguageModel>[0]["model"], string>;
const middleware: LanguageModelMiddleware = ai.fitMiddleware({ maxTokens: 5 });
export const wrapped: LanguageModel = wrapLanguageModel({ model, middleware: [middleware, ai.fitMiddleware()] });
void generateText({ model: wrapped, messages, prepareStep: ai.fitPrepareStep({ maxTokens: 5 }) });

declare const list: BaseMessage[];
export const l: BaseMessage[] = fitMessages(list, { maxTokens: 5 }).messages;
export const t: Promise<BaseMessage[]> = lc.trimMessages(list, { maxTokens: 5, tokenCounter: (some) => some.length, startOn: [HumanMessage] });
export const trimmer = lc.trimMessages({ maxTokens: 5, tokenCounter: async (some) => some.length });
export const trimmed: Promise<BaseMessage[]> = trimmer.invoke(list);
createAgent({ model: "openai:gpt-4o", middleware: [createMiddleware(lc.fitMiddleware({ maxTokens: 5 })), lc.fitMiddleware()] });
declare const llm: Parameters<typeof createReactAgent>[0]["llm"];
createReactAgent({ llm, tools: [], preModelHook: lc.preModelHook({ maxTokens: 5 }) });

declare const agent: Agent;
const filter: CallModelInputFilter = fitModelInput({ maxTokens: 5 });
void run(agent, "text", { callModelInputFilter: filter });
`,
  );
  const { stdout, status } = tsc(dir, [path]);
  assert.equal(status, 0, stdout);
});
