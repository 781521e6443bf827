/** A folder with all files named in the help's examples, and the installed command `ctxweave`. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { folder, installed, root } from "../../packaging/packed.mjs";
import { file as tokenizer } from "../tokenizer-json.mjs";

/** Creates the folder; `.git` marks it as a separate repository. */
export function playground(name) {
  const dir = folder(name);
  const write = (path, content) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  mkdirSync(join(dir, ".git"));
  write("AGENTS.md", "# Loom\n\n- Run the tests before you commit.\n- Keep files short.\n");
  write("src/AGENTS.md", "---\nwatch: ../docs\n---\n# The compiler\n\n- Errors have a code.\n- No panics.\n");
  write("docs/CLAUDE.md", "# Docs\n\n- Plain English.\n");
  write(
    ".cursor/rules/errors.mdc",
    "---\ndescription: Errors\nglobs: src/**\nalwaysApply: false\n---\nReturn errors.\n",
  );
  write("notes.md", "# Notes\n\nThe lamp is lit at dusk. The keeper keeps a log.\n");
  write("chat.json", chat);
  write("run.json", run);
  write("tree.json", tree);
  write("task.xml", task);
  write("tokenizer.json", tokenizer);
  cpSync(join(root, "examples/workspace/manta"), join(dir, "manta"), { recursive: true });
  cpSync(join(root, "examples/workspace/tastes"), join(dir, "tastes"), { recursive: true });
  cpSync(join(root, "examples/sessions/claude-code.jsonl"), join(dir, "claude.jsonl"));
  return {
    dir,
    write,
    read: (path) => readFileSync(join(dir, path), "utf8"),
    sh: (line, options) => sh(dir, line, options),
  };
}

const bin = join(installed(), "node_modules/.bin");

/** Runs a line in a shell in which `ctxweave` is the installed command; returns stdout, stderr and the exit code. */
function sh(cwd, line, { input = "", env = {} } = {}) {
  const { status, stdout, stderr, error } = spawnSync("bash", ["-o", "pipefail", "-c", line], {
    cwd,
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 60_000,
    env: { ...process.env, NO_COLOR: "", FORCE_COLOR: "", PATH: bin + delimiter + process.env.PATH, ...env },
  });
  assert.ifError(error);
  return { exit: status, stdout, stderr };
}

/** OpenAI's, with a call. */
export const chat = [
  { role: "system", content: "You are a weaver." },
  { role: "user", content: "Which threads do I need? ".repeat(40) },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "stock", arguments: '{"of":"wool"}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: "12 spools of wool" },
  { role: "assistant", content: "Twelve spools of wool are there." },
  { role: "user", content: "Take six." },
];

/** A run of an agent with long results. */
const run = [
  { role: "user", content: "Read all files." },
  ...["a", "b", "c"].flatMap((id) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: id, content: "line of a file\n".repeat(60) },
  ]),
];

export const tree = {
  nodes: [
    { id: "q1", authorType: "human", content: "Tell me about the loom." },
    { id: "a1", authorType: "model", content: "A loom holds threads under tension." },
    { id: "q2", authorType: "human", content: "And the shuttle?" },
  ],
  edges: [
    { id: "e1", sources: [{ nodeId: "q1" }], targetNodeId: "a1" },
    { id: "e2", sources: [{ nodeId: "a1" }], targetNodeId: "q2" },
  ],
};

const task = `<task type="sequential">
  <steps>
    <task type="atomic" id="read"/>
    <task type="atomic" id="write">
      <context_management>
        <inherit_context>none</inherit_context>
        <fresh_context>disabled</fresh_context>
      </context_management>
    </task>
  </steps>
</task>
`;
