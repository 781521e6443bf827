// Requests to providers: one run of a coding agent with tools, an image and reasoning, in the format of each body.

const SYSTEM = "You are a coding agent in the repository of a tide table. Read before you write. Run the tests.";

const lines = (of, many, from = 1) =>
  Array.from({ length: many }, (_, at) => `${String(from + at).padStart(4)}  ${of(from + at)}`).join("\n");

const source = lines(
  (n) => `export const height${n} = (hour) => base + amplitude * Math.cos(hour / ${n} - phase);`,
  60,
);
const log = lines((n) => `not ok ${n} - tide at hour ${n} (expected ${n * 3}, got ${n * 3 + 1})`, 40);

/** A png of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Each turn: the question, the call, the result, and the answer. */
const TURNS = [
  [
    "The test of the tides fails since yesterday. Why?",
    "run_tests",
    { path: "test" },
    log,
    "Each height is one too many.",
  ],
  ["Look at the source.", "read_file", { path: "src/tide.js" }, source, "The phase is taken off twice."],
  ["And the chart?", "read_file", { path: "src/chart.js" }, lines((n) => `draw(${n});`, 30), "The chart only draws."],
  [
    "Mend it.",
    "edit_file",
    { path: "src/tide.js", old: "hour / 1", new: "hour" },
    "1 edit made",
    "The phase is mended.",
  ],
  ["Run the tests again.", "run_tests", { path: "test" }, "ok, 40 tests", "All forty pass."],
];

const TOOLS = [
  ["run_tests", "Runs the tests below a path and gives what they print.", { path: { type: "string" } }],
  ["read_file", "Reads a file of the repository.", { path: { type: "string", description: "From the root." } }],
  [
    "edit_file",
    "Puts a text in the place of another one in a file.",
    { path: { type: "string" }, old: { type: "string" }, new: { type: "string" } },
  ],
];

const schema = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

export const LAST = "Write the note for the release, in two sentences.";

export const anthropic = () => ({
  model: "claude-sonnet-4-5",
  max_tokens: 4096,
  system: [{ type: "text", text: SYSTEM, cache_control: { type: "ephemeral" } }],
  tools: TOOLS.map(([name, description, properties]) => ({ name, description, input_schema: schema(properties) })),
  messages: [
    ...TURNS.flatMap(([ask, name, input, result, answer], at) => [
      {
        role: "user",
        content:
          at === 2
            ? [
                { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
                { type: "text", text: ask },
              ]
            : ask,
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: `toolu_${at}`, name, input },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: result }] },
      { role: "assistant", content: [{ type: "text", text: answer }] },
    ]),
    { role: "user", content: LAST },
  ],
});

export const openai = () => ({
  model: "gpt-4o",
  messages: [
    { role: "system", content: SYSTEM },
    ...TURNS.flatMap(([ask, name, input, result, answer], at) => [
      { role: "user", content: ask },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: `call_${at}`, type: "function", function: { name, arguments: JSON.stringify(input) } }],
      },
      { role: "tool", tool_call_id: `call_${at}`, content: result },
      { role: "assistant", content: answer },
    ]),
    { role: "user", content: LAST },
  ],
  tools: TOOLS.map(([name, description, properties]) => ({
    type: "function",
    function: { name, description, parameters: schema(properties) },
  })),
});

export const responses = () => ({
  model: "gpt-5-mini",
  instructions: SYSTEM,
  input: [
    ...TURNS.flatMap(([ask, name, input, result, answer], at) => [
      { role: "user", content: [{ type: "input_text", text: ask }] },
      { type: "reasoning", id: `rs_${at}`, summary: [{ type: "summary_text", text: `I call ${name}.` }] },
      { type: "function_call", call_id: `call_${at}`, name, arguments: JSON.stringify(input) },
      { type: "function_call_output", call_id: `call_${at}`, output: result },
      { role: "assistant", content: [{ type: "output_text", text: answer, annotations: [] }] },
    ]),
    { role: "user", content: [{ type: "input_text", text: LAST }] },
  ],
  tools: TOOLS.map(([name, description, properties]) => ({
    type: "function",
    name,
    description,
    parameters: schema(properties),
  })),
});

export const gemini = () => ({
  systemInstruction: { parts: [{ text: SYSTEM }] },
  contents: [
    ...TURNS.flatMap(([ask, name, args, result, answer]) => [
      { role: "user", parts: [{ text: ask }] },
      { role: "model", parts: [{ functionCall: { name, args } }] },
      { role: "user", parts: [{ functionResponse: { name, response: { output: result } } }] },
      { role: "model", parts: [{ text: answer }] },
    ]),
    { role: "user", parts: [{ text: LAST }] },
  ],
  tools: [
    {
      functionDeclarations: TOOLS.map(([name, description, properties]) => ({
        name,
        description,
        parameters: schema(properties),
      })),
    },
  ],
});
