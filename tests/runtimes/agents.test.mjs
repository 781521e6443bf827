/**
 * Agents of many steps through each drop-in, 100, or 200 with `CTXWEAVE_CASES=1x`, with a model that enforces the vendors'
 * rules, including the binding of signed thinking.
 */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { AIMessage } from "@langchain/core/messages";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { installed } from "../packaging/packed.mjs";

const load = (path) => import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist", path)));

const STEPS = process.env.CTXWEAVE_CASES === "1x" ? 200 : 100;
const MAX_TOKENS = 8_000;
const words = (of, length) => Array.from({ length }, (_, at) => `${of}${at}`).join(" ");
const MARKER = /earlier messages? omitted/;

/**
 * A vendor's endpoint. A request is a list of messages, each a role and blocks: `{ text }`, `{ call }`, `{ result }`,
 * `{ thought, signature }` with their other content. It rejects what Anthropic rejects.
 */
class Endpoint {
  steps = 0;
  thoughts = 0;
  stable = 0;
  last = [];

  static signed(prefix) {
    return createHmac("sha256", "key").update(JSON.stringify(prefix)).digest("base64");
  }

  /** The content that a thought is bound to: the messages without thoughts. */
  static prefix(messages) {
    const kept = messages.map(({ role, blocks }) => ({
      role,
      blocks: blocks.filter((block) => !("thought" in block)),
    }));
    return kept.filter(({ blocks }) => blocks.length > 0);
  }

  request(messages) {
    assert.equal(messages.find(({ role }) => role !== "system")?.role, "user", "the first turn");
    let open = [];
    for (const [at, { role, blocks }] of messages.entries()) {
      assert.ok(blocks.length > 0, `message ${at} is empty`);
      const results = blocks.flatMap(({ result }) => result ?? []);
      if (open.length > 0) assert.deepEqual(results, open, `the results in message ${at}`);
      else assert.deepEqual(results, [], `message ${at} has results without their calls`);
      open = blocks.flatMap(({ call }) => call ?? []);
      assert.ok(role === "assistant" || open.length === 0);
      for (const [place, { signature }] of blocks.entries()) {
        if (signature === undefined) continue;
        const before = [...messages.slice(0, at), { role, blocks: blocks.slice(0, place) }];
        assert.equal(
          signature,
          Endpoint.signed(Endpoint.prefix(before)),
          `the thought in message ${at} of ${messages.length}`,
        );
        this.thoughts += 1;
      }
    }
    assert.deepEqual(open, [], "calls without results");
    const texts = messages.map((message) => JSON.stringify(message));
    this.stable += Number(this.last.length > 0 && this.last.every((text, index) => text === texts[index]));
    this.last = texts;
    this.steps += 1;
    const markers = texts.filter((text) => MARKER.test(text)).length;
    assert.ok(markers <= 1, `${markers} markers`);
    return Endpoint.signed(Endpoint.prefix(messages));
  }

  /** Expectations for every run. */
  check() {
    assert.equal(this.steps, STEPS + 1);
    assert.ok(this.thoughts > STEPS, `${this.thoughts} thoughts came back`);
    assert.ok(this.stable > STEPS * 0.75, `${this.stable} requests began with the previous one`);
  }
}

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

describe("AI SDK", async () => {
  const { generateText, jsonSchema, stepCountIs, tool, wrapLanguageModel } = await import("ai");

  /** Converts a prompt of the SDK for the endpoint. */
  const read = (prompt) => {
    const messages = [];
    for (const { role, content } of prompt) {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const blocks = parts.map((part) => {
        if (part.type === "reasoning")
          return { thought: part.text, signature: part.providerOptions?.anthropic?.signature };
        if (part.type === "tool-call") return { call: part.toolCallId, input: part.input };
        if (part.type === "tool-result") return { result: part.toolCallId, output: asText(part.output) };
        return { text: part.text };
      });
      // Results are blocks of a user message.
      messages.push({ role: role === "tool" ? "user" : role, blocks });
    }
    return messages;
  };

  const model = (endpoint) => ({
    specificationVersion: "v4",
    provider: "test",
    modelId: "claude-opus-5-5",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const signature = endpoint.request(read(prompt));
      const reasoning = { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature } } };
      const isDone = endpoint.steps > STEPS;
      const call = { type: "tool-call", toolCallId: `c${endpoint.steps}`, toolName: "read", input: '{"path":"a"}' };
      return {
        content: isDone ? [{ type: "text", text: "Done." }] : [reasoning, call],
        finishReason: { unified: isDone ? "stop" : "tool-calls", raw: undefined },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
      };
    },
  });
  let reads = 0;
  const tools = {
    read: tool({
      inputSchema: jsonSchema({ type: "object", properties: { path: { type: "string" } } }),
      execute: () => words("line", 40 + ((reads += 37) % 150)),
    }),
  };
  const run = (model, more) =>
    generateText({
      model,
      system: "You are brief.",
      prompt: "Read all files.",
      tools,
      stopWhen: stepCountIs(STEPS + 1),
      ...more,
    });

  test("middleware", async () => {
    const { fitMiddleware } = await load("dropins/ai-sdk.js");
    const endpoint = new Endpoint();
    const reports = [];
    const middleware = fitMiddleware({ maxTokens: MAX_TOKENS, onReport: (report) => reports.push(report) });
    const { text } = await run(wrapLanguageModel({ model: model(endpoint), middleware }));
    assert.equal(text, "Done.");
    endpoint.check();
    for (const { tokens } of reports) assert.ok(tokens.total <= MAX_TOKENS);
  });

  test("prepareStep, with whose messages the next steps begin", async () => {
    const { fitPrepareStep } = await load("dropins/ai-sdk.js");
    const endpoint = new Endpoint();
    const { text } = await run(model(endpoint), { prepareStep: fitPrepareStep({ maxTokens: MAX_TOKENS }) });
    assert.equal(text, "Done.");
    endpoint.check();
  });

  test("a host decides the request after `context_too_long`", async () => {
    const { fitMiddleware } = await load("dropins/ai-sdk.js");
    const prompt = [
      { role: "system", content: words("rule", 300) },
      { role: "user", content: [{ type: "text", text: "Go." }] },
    ];
    const transform = (options) =>
      fitMiddleware({ maxTokens: 100, ...options }).transformParams({ params: { prompt } });
    await assert.rejects(transform({}), { name: "CtxweaveError", code: "system_context_too_long" });
    const seen = [];
    const onTooLong = async (error, messages) => {
      seen.push([error.code, messages]);
      return messages.slice(1);
    };
    assert.deepEqual((await transform({ onTooLong })).prompt, prompt.slice(1));
    assert.deepEqual(seen, [["system_context_too_long", prompt]]);
    // Other errors reach the host.
    await assert.rejects(transform({ onTooLong, keepLast: -1 }), { code: "invalid_budget" });
    assert.equal(seen.length, 1);
  });

  test("concurrent runs, and states in the host's store", async () => {
    const { fitMiddleware } = await load("dropins/ai-sdk.js");
    const stored = new Map();
    const states = {
      get: async (key) => (stored.has(key) ? JSON.parse(stored.get(key)) : undefined),
      set: async (key, state) => void stored.set(key, JSON.stringify(state)),
    };
    for (const options of [{}, { states }]) {
      const middleware = fitMiddleware({ maxTokens: MAX_TOKENS, ...options });
      const endpoints = [new Endpoint(), new Endpoint(), new Endpoint()];
      await Promise.all(endpoints.map((endpoint) => run(wrapLanguageModel({ model: model(endpoint), middleware }))));
      for (const endpoint of endpoints) endpoint.check();
    }
    assert.ok(stored.size > STEPS);
  });
});

describe("LangChain", () => {
  const read = (messages) =>
    messages.reduce((list, message) => {
      const type = message.getType();
      if (type === "tool") {
        list.push({ role: "user", blocks: [{ result: message.tool_call_id, output: asText(message.content) }] });
        return list;
      }
      const content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
      const blocks = content.map((block) =>
        block.type === "thinking" ? { thought: block.thinking, signature: block.signature } : { text: block.text },
      );
      blocks.push(...(message.tool_calls ?? []).map(({ id, args }) => ({ call: id, args })));
      list.push({ role: { human: "user", ai: "assistant" }[type] ?? type, blocks });
      return list;
    }, []);

  class Model extends BaseChatModel {
    endpoint = new Endpoint();
    modelName = "claude-opus-5-5";

    _llmType() {
      return "test";
    }

    bindTools() {
      return this;
    }

    async _generate(messages) {
      const signature = this.endpoint.request(read(messages));
      const isDone = this.endpoint.steps > STEPS;
      const thinking = { type: "thinking", thinking: "hm", signature };
      const message = isDone
        ? new AIMessage("Done.")
        : new AIMessage({
            content: [thinking, { type: "text", text: "I read." }],
            tool_calls: [{ id: `c${this.endpoint.steps}`, name: "read", args: { path: "a" } }],
          });
      return { generations: [{ text: "", message }] };
    }
  }

  /** A tool that returns texts of several lengths. */
  const reader = async () => {
    const { tool } = await import("langchain");
    const { z } = await import("zod");
    let reads = 0;
    const schema = z.object({ path: z.string() });
    return tool(() => words("line", 40 + ((reads += 37) % 150)), { name: "read", description: "reads", schema });
  };

  test("middleware of createAgent, with a summary of removed messages", async () => {
    const { fitMiddleware } = await load("dropins/langchain.js");
    const { createAgent, createMiddleware } = await import("langchain");
    const readTool = await reader();
    const inputs = [];
    const summarize = (input) => {
      inputs.push(input);
      return `Summary ${inputs.length}.`;
    };
    for (const options of [{}, { summarize, edits: false }]) {
      const model = new Model({});
      const middleware = [createMiddleware(fitMiddleware({ maxTokens: MAX_TOKENS, ...options }))];
      const agent = createAgent({ model, tools: [readTool], systemPrompt: "You are brief.", middleware });
      const input = { messages: [{ role: "user", content: "Read all files." }] };
      const { messages } = await agent.invoke(input, { recursionLimit: 10 * STEPS });
      assert.equal(messages.at(-1).content, "Done.");
      model.endpoint.check();
    }
    assert.ok(inputs.length > 1 && inputs.length < STEPS / 8, `${inputs.length} summaries`);
    inputs.slice(1).forEach(({ previousSummary }, at) => assert.equal(previousSummary, `Summary ${at + 1}.`));
    // Each message is summarized once.
    const summarized = inputs.flatMap(({ messages }) => messages);
    assert.equal(new Set(summarized).size, summarized.length);
  });

  test("preModelHook of createReactAgent", async () => {
    const { preModelHook } = await load("dropins/langchain.js");
    const { createReactAgent } = await import("@langchain/langgraph/prebuilt");
    const readTool = await reader();
    const llm = new Model({});
    const agent = createReactAgent({ llm, tools: [readTool], preModelHook: preModelHook({ maxTokens: MAX_TOKENS }) });
    const input = { messages: [{ role: "user", content: "Read all files." }] };
    const { messages } = await agent.invoke(input, { recursionLimit: 10 * STEPS });
    assert.equal(messages.at(-1).content, "Done.");
    llm.endpoint.check();
  });
});

describe("OpenAI Agents", () => {
  test("fitModelInput", async () => {
    const { fitModelInput } = await load("dropins/openai-agents.js");
    const { Agent, run, setTracingDisabled, tool, Usage } = await import("@openai/agents");
    setTracingDisabled(true);
    let [steps, stable, reads, last] = [0, 0, 0, []];
    const fake = {
      async getResponse({ input }) {
        const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
        const texts = items.map((item) => JSON.stringify(item));
        stable += Number(last.length > 0 && last.every((text, index) => text === texts[index]));
        last = texts;
        const calls = items.flatMap(({ type, callId }) => (type === "function_call" ? callId : []));
        const results = items.flatMap(({ type, callId }) => (type === "function_call_result" ? callId : []));
        assert.deepEqual(results, calls);
        steps += 1;
        const text = [{ type: "output_text", text: "Done." }];
        const output =
          steps > STEPS
            ? [{ type: "message", role: "assistant", status: "completed", content: text }]
            : [{ type: "function_call", callId: `c${steps}`, name: "read", arguments: "{}", status: "completed" }];
        return { output, usage: new Usage() };
      },
      getStreamedResponse() {
        throw new Error("not used");
      },
    };
    const readTool = tool({
      name: "read",
      description: "reads",
      parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
      strict: false,
      execute: async () => words("line", 40 + ((reads += 37) % 150)),
    });
    const agent = new Agent({ name: "a", instructions: "You are brief.", model: fake, tools: [readTool] });
    const callModelInputFilter = fitModelInput({ maxTokens: MAX_TOKENS });
    const result = await run(agent, "Read all files.", { callModelInputFilter, maxTurns: STEPS + 2 });
    assert.equal(result.finalOutput, "Done.");
    assert.equal(steps, STEPS + 1);
    assert.ok(stable > STEPS * 0.75, `${stable} requests began with the previous one`);
  });
});
