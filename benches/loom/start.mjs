// From process start to the first result: a new process imports the package, starts its module and assembles a dialogue
// of twenty nodes.
//
//   node benches/loom/start.mjs [--quick] [--rounds 21]
//
// Medians, without the start of Node before the first line of the program.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "./parts/prose.mjs";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, rounds: { type: "string" } } });
const rounds = Number(values.rounds ?? (values.quick ? 1 : 21));

const program = (entry) => `
  const start = performance.now();
  const { assembleDialogue, init } = await import("${entry}");
  await init();
  const nodes = Array.from({ length: 20 }, (_, at) => {
    const content = "Which whale does Ahab hunt? ".repeat(14);
    return { id: "node-" + at, authorType: at % 2 === 0 ? "human" : "model", content };
  });
  const edges = nodes.slice(1).map(({ id }, at) => ({ id: "to-" + id, sources: [{ nodeId: nodes[at].id }], targetNodeId: id }));
  const { messages } = assembleDialogue({ tree: { nodes, edges }, tip: "node-19", contextWindow: 8000 });
  if (messages.length !== 20) throw new Error("not all of it");
  console.log(performance.now() - start);`;

console.log("| | ms to the first dialogue |\n| --- | --: |");
for (const entry of ["ctxweave", "ctxweave/loom"]) {
  const times = Array.from({ length: rounds }, () => {
    const args = ["--input-type=module", "--eval", program(entry)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  });
  console.log(`| \`${entry}\` | ${median(times).toFixed(1)} |`);
}
