/** The turns of a coding agent: tool results fill its window. */
const AGENT_TURNS = [
  [
    "The build fails since this morning. Find out why.",
    "run",
    "npm run build",
    buildLog(46),
    "Two types disagree in `src/warp/plan.ts`. I look at it.",
  ],
  [
    "",
    "read_file",
    "src/warp/plan.ts",
    source("plan", 90),
    "`PlanOptions.width` became optional, and `layout` needs it.",
  ],
  [
    "",
    "read_file",
    "src/warp/layout.ts",
    source("layout", 120),
    "`layout` divides by the width. Before I change it I look who calls it.",
  ],
  ["", "search", "layout(", hits(40), "Six callers give a width, and two do not."],
  [
    "Which two?",
    "read_file",
    "src/loom/export.ts",
    source("export", 70),
    "`exportPlan` and `preview`. Both could take the width of the reed.",
  ],
  [
    "Do that, and run the tests.",
    "edit_file",
    "src/loom/export.ts",
    "2 edits made",
    "Both give the width now. I run the tests.",
  ],
  ["", "run", "npm test", testLog(80), "One test of the preview still expects the old default of 12."],
  [
    "",
    "read_file",
    "test/preview.test.ts",
    source("preview", 60),
    "It was written for the old default. With the reed's width it has to be 16.",
  ],
  ["Then change the test.", "edit_file", "test/preview.test.ts", "1 edit made", "Changed. I run them again."],
  ["", "run", "npm test", testLog(80, true), "All 80 pass, and the build is whole again."],
] as const;

const AGENT_FIELDS = { run: "command", read_file: "path", search: "text", edit_file: "path" } as const;

function buildLog(many: number): string {
  const line = (at: number): string =>
    `src/warp/plan.ts(${at * 3 + 11},${(at * 7) % 40}): error TS2322: number | undefined is no number`;
  return ["> build", "> tsc -p .", ...Array.from({ length: many }, (_, at) => line(at)), "exit status 2"].join("\n");
}

function source(of: string, many: number): string {
  const line = (at: number): string =>
    `${at + 1}  export const ${of}${at} = (warp: Warp) => warp.threads[${at}] ?? spare(warp, ${(at * 37) % 90});`;
  return Array.from({ length: many }, (_, at) => line(at)).join("\n");
}

function hits(many: number): string {
  return Array.from(
    { length: many },
    (_, at) => `src/loom/part${at}.ts:${at * 9 + 4}: const cloth = layout(plan, ${at % 7});`,
  ).join("\n");
}

function testLog(many: number, whole = false): string {
  const line = (at: number): string =>
    `${whole || at !== 52 ? "ok" : "not ok"} ${at + 1} - cloth ${at} has ${(at * 13) % 64} ends`;
  return Array.from({ length: many }, (_, at) => line(at)).join("\n");
}

const agentTool = (name: string, description: string, of: string) => ({
  name,
  description,
  input_schema: { type: "object", properties: { [of]: { type: "string" } }, required: [of] },
});

/** The request of a coding agent at its eleventh turn: over the window of a small model. */
export const AGENT = {
  system:
    "You are a coding agent in a repository for weaving software. Read before you write. Run the tests after each change.",
  tools: [
    agentTool("run", "Runs a command in the repository and gives what it prints.", "command"),
    agentTool("read_file", "Reads a file of the repository, with line numbers.", "path"),
    agentTool("search", "Finds a text in all files of the repository.", "text"),
    agentTool("edit_file", "Puts a text in the place of another one in a file.", "path"),
  ],
  messages: [
    ...AGENT_TURNS.flatMap(([ask, name, of, result, answer], at) => [
      ...(ask ? [{ role: "user", content: ask }] : []),
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `toolu_${at}`, name, input: { [AGENT_FIELDS[name]]: of } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: result }] },
      { role: "assistant", content: answer },
    ]),
    { role: "user", content: "Good. Write the message of the commit, one line and two sentences." },
  ],
};
