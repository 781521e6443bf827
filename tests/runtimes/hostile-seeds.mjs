/**
 * Valid arguments for every function and method that the packages export, to be spoiled: those of the goldens, and those
 * below for functions without goldens. Made anew for each call.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";
import { readGoldens } from "./goldens.mjs";
import { copyOf } from "./hostile-values.mjs";
import { file as tokenizerJson } from "./tokenizer-json.mjs";

const { goldens, trees, media: allMedia } = readGoldens();

function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.$text === "string") return new TextEncoder().encode(value.$text);
  if (typeof value.$hex === "string") return Uint8Array.from(Buffer.from(value.$hex, "hex"));
  if (Array.isArray(value.$map)) return new Map(revived(value.$map));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revived(inner)]));
}

function argsOf({ request, args = [request], tree, media }) {
  const [first, ...others] = revived(args);
  if (!tree && !media) return [first, ...others];
  return [
    { ...first, ...(tree && { tree: copyOf(trees[tree]) }), ...(media && { media: copyOf(allMedia) }) },
    ...others,
  ];
}

const chat = () => [
  { role: "system", content: "Be brief." },
  { role: "user", content: "What is the weather in Paris?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: "18 degrees ".repeat(40) },
  { role: "assistant", content: "18 degrees." },
  { role: "user", content: "And in Rome?" },
];
const uiChat = () => [
  { id: "1", role: "user", parts: [{ type: "text", text: "What is the weather? ".repeat(20) }] },
  { id: "2", role: "assistant", parts: [{ type: "text", text: "18 degrees." }] },
  { id: "3", role: "user", parts: [{ type: "text", text: "And in Rome?" }] },
];
const fitOptions = () => ({ maxTokens: 60, format: "openai", pinned: (message, at) => at === 0 });
const tree = () => ({
  nodes: [
    { id: "a", authorType: "human", content: "hello" },
    { id: "b", authorType: "model", content: "hi there" },
  ],
  edges: [{ id: "e", sources: [{ nodeId: "a" }], targetNodeId: "b" }],
});
const task = `<task type="reduce"><description>d</description><inner_task><task type="atomic"><description>i</description></task></inner_task><reduction_task><task type="atomic"><description>r</description></task></reduction_task></task>`;
const atomic = `<task type="atomic"><description>d</description><context_management><inherit_context>none</inherit_context><accumulate_data>false</accumulate_data><fresh_context>enabled</fresh_context></context_management></task>`;
const line = (content) => `${JSON.stringify({ role: "user", content })}\n`;
const blob = () => new TextEncoder().encode(line("hello"));
const commit = (more) => ({
  format: "generic-v1",
  created_at: "2026-01-01T00:00:00Z",
  message_count: 1,
  principal: "p",
  ...more,
});
const signal = () => new AbortController().signal;

/** An empty module: it compiles, and is not that of the package. */
const emptyModule = () => Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

const r2 = () => {
  const map = new Map();
  return {
    get: async (key) => map.has(key) && { arrayBuffer: async () => map.get(key).slice().buffer },
    put: async (key, bytes) => void map.set(key, bytes),
    delete: async (key) => void map.delete(key),
    list: async () => ({ objects: [...map.keys()].map((key) => ({ key })), truncated: false }),
  };
};

/** The arguments of functions without goldens, by name. `context` has the loaded entry point. */
const FUNCTIONS = {
  agentPresets: () => [],
  assembleContextForTask: ({ module }) => [
    { task: module.parseTask(atomic).task },
    () => ({ context: "c", matches: ["notes.md"] }),
    { signal: signal() },
  ],
  bytes: () => [{ source: new Uint8Array(9), onProgress: () => undefined }],
  calibrate: () => [
    [
      { text: "hello there, general", tokens: 4 },
      { text: "second 123", tokens: 3 },
    ],
  ],
  cloudflareStore: () => [
    r2(),
    {
      prepare: () => ({ bind: () => ({ first: async () => null, all: async () => ({ results: [] }) }) }),
      batch: async () => [],
    },
  ],
  countChatTokens: () => [chat(), { model: "gpt-4o", perMessage: 3 }],
  countTokensBatch: () => [["a", "b c", "d"], { tokenizer: "heuristic" }],
  createVocabulary: () => ["o200k_base", { file: () => new Uint8Array(4), packed: undefined }],
  decodeTokenBytes: () => [[1, 2, 300], { tokenizer: "o200k_base" }],
  decodeTokens: () => [[1, 2, 300], { tokenizer: "o200k_base" }],
  denoKvStore: () => [
    {
      get: async () => ({ value: null }),
      set: async () => undefined,
      list: async function* () {},
      delete: async () => undefined,
      atomic: () => ({}),
    },
    ["a"],
  ],
  encodeTokens: () => ["hello <|endoftext|>", { tokenizer: "o200k_base", allowedSpecial: "all" }],
  fileSystemStore: () => [
    {
      readFile: async () => new Uint8Array(),
      writeFile: async () => undefined,
      mkdir: async () => undefined,
      readdir: async () => [],
    },
    "folder",
  ],
  finishFit: ({ module }) => {
    const planned = module.planFit(chat(), { maxTokens: 60, format: "openai" });
    return [planned.plan, planned.status === "ready" ? "a" : "In short: the weather."];
  },
  fitMessages: () => [chat(), fitOptions()],
  fitMessagesWith: () => [chat(), fitOptions(), () => "in short", { signal: signal() }],
  fitMiddleware: () => [{ maxTokens: 60, onReport: () => undefined, summarize: () => "in short", signal: signal() }],
  fitModelInput: () => [{ maxTokens: 60, states: { get: () => undefined, set: () => undefined } }],
  fitModelMessages: () => [
    [
      { role: "user", content: "hello there ".repeat(30) },
      { role: "user", content: "so?" },
    ],
    { maxTokens: 30 },
  ],
  fitPrepareStep: () => [{ maxTokens: 60, onTooLong: (error, messages) => messages.slice(-1) }],
  fitUIMessages: () => [uiChat(), { maxTokens: 40 }],
  indexedDbStore: () => ["name"],
  init: () => [emptyModule()],
  initSync: () => [emptyModule()],
  isWithinTokenLimit: () => ["hello there", 5, { tokenizer: "heuristic" }],
  joinFork: () => [blob(), blob()],
  load: () => [{ source: new Uint8Array(9), onProgress: () => undefined }],
  loadAgentFiles: () => [
    { agent: "codex", cwd: "/repo/a", root: "/repo", home: "/users/u" },
    (path) => (path.endsWith("AGENTS.md") ? "# Rules\n@other.md\n" : undefined),
    { signal: signal() },
  ],
  loadContext: () => [
    async (path) => (path.endsWith("brief.md") ? "# Brief\nTastes: a, b\n" : undefined),
    { limits: { logEntries: 3 }, tokenizer: "heuristic", genres: ["a"], signal: signal() },
  ],
  loadVocabulary: () => ["o200k_base", new Uint8Array(64)],
  materializeStream: ({ module }) => [...graphWith(module), async () => blob(), { signal: signal(), concurrency: 2 }],
  materializeWith: ({ module }) => [
    ...graphWith(module),
    async () => blob(),
    { signal: signal(), concurrency: 2, retries: 0, onProgress: () => undefined },
  ],
  memoryStore: () => [new Map()],
  planFit: () => [chat(), fitOptions()],
  postgresStore: () => [{ query: async () => ({ rows: [] }) }],
  preModelHook: () => [{ maxTokens: 60, onReport: () => undefined }],
  pruneMessages: () => [
    {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "t", input: {} }] },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output: { type: "text", value: "r" } }],
        },
        { role: "user", content: "b" },
      ],
      reasoning: "all",
      toolCalls: [{ type: "before-last-message", tools: ["t"] }],
      emptyMessages: "remove",
    },
  ],
  reset: () => [],
  contextAt: () => [
    "codex-v1",
    JSON.stringify({ type: "response_item", payload: { type: "message", role: "user", content: [] } }),
    { turn: 0, limits: {} },
  ],
  s3Store: () => [
    {
      endpoint: "https://s3.example.org",
      bucket: "commits",
      region: "eu-central-1",
      prefix: "ctxweave/",
      credentials: { accessKeyId: "key", secretAccessKey: "secret", sessionToken: "token" },
      fetch: async () => ({ status: 404, headers: new Map(), arrayBuffer: async () => new ArrayBuffer(0) }),
    },
  ],
  summarizeMissing: ({ module }) => [new module.CommitStore(module.memoryStore()), async () => "s", { limit: 2 }],
  runTask: ({ module }) => [
    { task: module.parseTask(task).task, inputs: ["one", "two"] },
    {
      memory: () => ({ context: "c", matches: [] }),
      model: async () => ({ output: "done", notes: "n" }),
      onEvent: () => undefined,
      inputs: () => ["a"],
      concurrency: 2,
      maxTokens: 5000,
      tokenizer: "heuristic",
      signal: signal(),
    },
  ],
  tokenSpans: () => ["hello there", { tokenizer: "o200k_base", allowedSpecial: ["<|endoftext|>"] }],
  trimMessages: ({ langchain: { HumanMessage, AIMessage } }) => [
    [new HumanMessage("hello there ".repeat(20)), new AIMessage("hi"), new HumanMessage("so?")],
    {
      maxTokens: 20,
      tokenCounter: (messages) => messages.length * 8,
      strategy: "last",
      allowPartial: true,
      startOn: "human",
      includeSystem: false,
    },
  ],
  vocabularyOf: () => [copyOf(tokenizerJson)],
};

function graphWith({ artifactRef, CommitGraph }) {
  const graph = new CommitGraph();
  const { record } = graph.checkpoint(commit({ artifact_ref: artifactRef(blob()) }));
  return [graph, { commit: record.id, stop: "root" }];
}

/** Instances and the arguments of their methods; goldens with steps add to these. */
const CLASSES = {
  Chat: {
    new: () => [{ ...fitOptions(), target: { provider: "openai", model: "gpt-4o", temperature: 0.5 } }],
    prepare: (instance) => instance.append(...chat()),
    methods: {
      append: () => [
        { role: "assistant", content: "a" },
        { role: "user", content: "b" },
      ],
      appendText: () => ["more"],
      replace: () => [5, { role: "user", content: "b" }],
      truncate: () => [2],
      fit: () => [{ maxTokens: 30, protect: ["system"] }],
      requestBody: () => [
        { maxTokens: 80, target: { provider: "anthropic", model: "claude-sonnet-4-5", max_tokens: 9 } },
      ],
      requestBodyWithReport: () => [{ maxTokens: 90 }],
      toTree: () => [],
      free: () => [],
    },
  },
  TokenCounter: {
    new: () => [{ tokenizer: "heuristic" }],
    methods: { append: () => ["text"], reset: () => [], free: () => [] },
  },
  ChainWalk: { new: () => [{ commit: "c" }], methods: { free: () => [] } },
  Checkpointer: {
    new: () => [{ principal: "p", format: "generic-v1", session_id: "s" }],
    prepare: (instance) => instance.push({ role: "user", content: "a" }),
    methods: {
      push: () => [{ role: "user", content: "a" }],
      checkpoint: () => ["turn_end", { created_at: "2026-01-01T00:00:00Z" }],
      compact: () => [
        { role: "user", content: "s" },
        { created_at: "2026-01-01T00:00:00Z", covers: 1 },
      ],
      stored: () => ["ctx-1", "ctx-2"],
      free: () => [],
    },
  },
  CommitGraph: {
    new: () => [{ limits: { jsonDepth: 64 } }],
    prepare: (instance, { all }) => instance.checkpoint(commit({ artifact_ref: all.artifactRef(blob()) })),
    methods: { free: () => [] },
  },
  CommitStore: {
    new: ({ module }) => [module.memoryStore(), { retries: 0, delay: 1, timeout: 300, pageSize: 2 }],
    prepare: (instance) => instance.checkpoint("main", commit(), blob()),
    methods: {
      head: () => ["main", { signal: signal() }],
      heads: () => [{ signal: signal() }],
      checkpoint: () => ["main", commit({ message_count: 1 }), blob(), { onConflict: "rebase", signal: signal() }],
      fork: () => ["ctx-1", "other", { signal: signal(), verifyArtifact: () => true }],
      dropHead: () => ["main", { signal: signal() }],
      show: () => ["ctx-1", { signal: signal() }],
      history: () => ["ctx-1", { depth: 2, signal: signal() }],
      resolve: () => ["p", "2027-01-01T00:00:00Z", { signal: signal() }],
      updateMetadata: () => ["ctx-1", { summary: "s", tags: ["t"] }, { signal: signal() }],
      planMaterialization: () => [{ commit: "ctx-1", stop: "root" }, { signal: signal() }],
      materialize: () => [{ commit: "ctx-1" }, { concurrency: 2, retries: 0, signal: signal() }],
      materializeStream: () => [{ commit: "ctx-1" }, { concurrency: 2, retries: 0, signal: signal() }],
      blob: () => ["ctx-1", { signal: signal(), verifyArtifact: () => true }],
      garbage: () => [{ batch: 2, patience: 5, signal: signal() }],
      byTicket: () => ["T-1", { signal: signal() }],
      byThread: () => ["thread", { signal: signal() }],
      bySession: () => ["session", { signal: signal() }],
      lackingSummary: () => [{ signal: signal() }],
      children: () => ["ctx-1", { signal: signal() }],
      tips: () => [{ signal: signal() }],
      snapshot: () => ["main", { created_at: "2026-03-02T09:00:00Z" }, { signal: signal(), concurrency: 2 }],
    },
  },
  CtxweaveError: { new: () => ["invalid_input", "text", { path: "a" }, {}], methods: { toJSON: () => [] } },
  LoomTree: {
    new: () => [tree(), {}],
    methods: {
      free: () => [],
      requestBodies: () => [{ tip: "b", n: 2, contextWindow: 4096, target: { provider: "openai", model: "gpt-4o" } }],
      requestBodyWithReport: () => [{ tip: "b", contextWindow: 4096, target: { provider: "openai", model: "gpt-4o" } }],
    },
  },
};

/** Arguments of what hooks return. */
const HOOKS = {
  fitMiddleware: (hook) =>
    "wrapModelCall" in hook
      ? {
          wrapModelCall: ({ langchain }) => [
            {
              messages: [new langchain.HumanMessage("hello ".repeat(60)), new langchain.HumanMessage("so?")],
              tools: [],
              systemPrompt: "s",
            },
            (request) => request,
          ],
        }
      : {
          transformParams: () => [
            {
              params: {
                prompt: [
                  { role: "user", content: [{ type: "text", text: "hello ".repeat(60) }] },
                  { role: "user", content: [{ type: "text", text: "so?" }] },
                ],
                tools: [{ type: "function", name: "t", inputSchema: {} }],
              },
              model: { modelId: "gpt-4o" },
            },
          ],
        },
  fitModelInput: () => ({
    "": () => [
      {
        modelData: {
          input: [
            { role: "user", content: "hello ".repeat(60) },
            { role: "user", content: "so?" },
          ],
          instructions: "s",
        },
        agent: { model: "gpt-4o", tools: [{ type: "function", name: "t" }] },
      },
    ],
  }),
  fitPrepareStep: () => ({
    "": () => [
      {
        messages: [
          { role: "user", content: "hello ".repeat(60) },
          { role: "user", content: "so?" },
        ],
        model: { modelId: "gpt-4o" },
        instructions: "s",
      },
    ],
  }),
  preModelHook: () => ({
    "": ({ langchain }) => [
      { messages: [new langchain.HumanMessage("hello ".repeat(60)), new langchain.HumanMessage("so?")] },
    ],
  }),
};

const isResult = (expected) => !expected.startsWith('{\n  "error": {');

/** Makers of arguments, by function name or `Class.method`; `Class.new` for constructors. */
export function seedsOf(name) {
  const own = FUNCTIONS[name];
  const fromGoldens = goldens.filter(({ call, steps, expected }) => call === name && !steps && isResult(expected));
  return [...(own ? [own, own] : []), ...fromGoldens.map((golden) => () => argsOf(golden))];
}

/** The ways to make an instance, with the arguments of its methods. */
export function classSeedsOf(name) {
  const { new: construct, prepare = () => undefined, methods } = CLASSES[name] ?? { methods: {} };
  const own = construct ? [{ construct, prepare, methods }] : [];
  const fromGoldens = goldens
    .filter(({ call, steps, expected }) => call === name && steps && isResult(expected))
    .map((golden) => ({
      construct: () => argsOf(golden),
      prepare: (instance) => {
        for (const [method, ...args] of golden.steps) {
          try {
            instance[method](...revived(args));
          } catch {
            // Some steps of goldens are mistakes.
          }
        }
      },
      methods: Object.fromEntries(golden.steps.map(([method, ...args]) => [method, () => revived(args)])),
    }));
  return [...own, ...fromGoldens];
}

export const hooksOf = (name) => HOOKS[name];
export const moduleOfVocabulary = (name) => readFileSync(join(root, `pkg/dist/vocab/${name}.bin`));
