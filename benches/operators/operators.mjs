// A task template of 10,000 steps, parsed and explained, next to fast-xml-parser with the same rules over its output,
// in one process and in turn. The results must be equal, and twice the steps must not take much more than twice the
// time.
//
//   node benches/operators/operators.mjs [--quick] [--steps 10000] [--rounds 15]
//
// On Linux times are CPU time of the main thread: other load on the machine disturbs them less.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { explainTask, init, parseTask } from "ctxweave";
import { now } from "../clock.mjs";

const here = dirname(fileURLToPath(import.meta.url));
if (!existsSync(join(here, "node_modules"))) spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });
const { XMLParser, XMLValidator } = await import("fast-xml-parser");

const args = process.argv.slice(2);
const option = (name, value) => (args.includes(name) ? Number(args[args.indexOf(name) + 1]) : value);
const quick = args.includes("--quick");
const steps = option("--steps", quick ? 200 : 10_000);
const rounds = option("--rounds", quick ? 1 : 15);

/** One step in four sets everything, one nothing, the others some of it. */
function template(steps) {
  const said = [
    "",
    "<context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>",
    "<context_management><inherit_context>subset</inherit_context></context_management>",
    "<context_management>\n        <inherit_context>full</inherit_context>\n        <fresh_context>disabled</fresh_context>\n      </context_management>",
  ];
  const step = (n) =>
    `    <task type="atomic" id="s${n}">\n      <description>Step ${n} &amp; its work</description>\n      ${said[n % 4]}\n    </task>\n`;
  const all = Array.from({ length: steps }, (_, n) => step(n)).join("");
  return `<task type="sequential">\n  <description>All of it</description>\n  <steps>\n${all}  </steps>\n</task>\n`;
}

/** The compared fields of both: id, description, inherit, fresh. */
const ours = (operators) =>
  operators
    .slice(1)
    .map(({ id, description, contextManagement }) => [
      id,
      description,
      contextManagement.inheritContext,
      contextManagement.freshContext,
    ]);

const parser = new XMLParser({ ignoreAttributes: false, isArray: (name, path) => path === "task.steps.task" });

function theirs(xml) {
  const valid = XMLValidator.validate(xml);
  if (valid !== true) throw new Error(valid.err.msg);
  return parser.parse(xml).task.steps.task.map((task) => {
    const said = task.context_management ?? {};
    return [task["@_id"], task.description, said.inherit_context ?? "full", said.fresh_context ?? "enabled"];
  });
}

await init();
const ways = {
  "parseTask + explainTask": (xml) => ours(explainTask(parseTask(xml).task)),
  "parseTask alone": (xml) => parseTask(xml).task,
  "fast-xml-parser, validated, with the rules over it": theirs,
};

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function measure(xml) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(ways)) {
      const start = now();
      run(xml);
      times[name].push(now() - start);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

const half = template(steps / 2);
const whole = template(steps);
const [first, , last] = Object.values(ways).map((run) => run(whole));
if (JSON.stringify(first) !== JSON.stringify(last)) {
  console.error("the two differ in the effective settings");
  process.exitCode = 1;
}
measure(half);
const [small, large] = [measure(half), measure(whole)];
const megabytes = Buffer.byteLength(whole) / 1e6;
const reference = large["fast-xml-parser, validated, with the rules over it"];
console.log(`\n${steps} steps, ${megabytes.toFixed(2)} MB\n`);
console.log("| | ms | MB/s | times as fast as fast-xml-parser | growth from half the steps |\n|---|--:|--:|--:|--:|");
for (const [name, ms] of Object.entries(large)) {
  const growth = ms / small[name];
  console.log(
    `| ${name} | ${ms.toFixed(1)} | ${((megabytes / ms) * 1e3).toFixed(1)} | ${(reference / ms).toFixed(2)} | ${growth.toFixed(2)} |`,
  );
  if (!quick && !name.startsWith("fast") && growth > 3.5) {
    console.error(`${name}: twice the steps take ${growth.toFixed(1)} times as long`);
    process.exitCode = 1;
  }
}
