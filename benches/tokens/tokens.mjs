// Exact counting next to other installable counters, through the built package: in Node, in Chromium and in workerd,
// from a new process each time, counters in turn, counts compared. Prints the tables of benches/tokens/results.md.
//
//   node benches/tokens/tokens.mjs [--quick] [--first] [--rounds 3] [--runtime node|chromium|workerd]... [--text FILE]...
//
// Times are of the clock, so the machine should have nothing else to do. A full run takes a quarter of an hour per
// runtime; `--rounds 1` takes a third of that. `--first` measures only the time to the first count. `--quick` checks
// that everything runs.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
// Before the imports below, which need the installed packages.
if (!existsSync(join(here, "node_modules/tiktoken"))) spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });

const { counters, startsAlone } = await import("./parts/counters.mjs");
const { runs, texts } = await import("./parts/texts.mjs");

const encodings = ["o200k_base", "cl100k_base"];
const ours = "ctxweave";
const reference = "ctxweave-tiktoken";

const args = process.argv.slice(2);
const values = (flag) => args.flatMap((arg, i) => (arg === flag ? [args[i + 1]] : []));
const quick = args.includes("--quick");
const onlyFirst = args.includes("--first");
const rounds = Number(values("--rounds")[0] ?? (quick ? 1 : onlyFirst ? 9 : 3));
const again = quick ? 1 : 600;
const given = values("--text").map((path) => {
  return { name: basename(path, extname(path)), path, text: readFileSync(path, "utf8") };
});
const all = given.length > 0 || onlyFirst ? given : texts(quick ? 20_000 : 3_000_000);
const long = onlyFirst ? [] : runs(quick ? 10_000 : 1_000_000);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const line = (cells) => console.log(`| ${cells.join(" | ")} |`);
const table = (heads) => {
  console.log();
  line(heads);
  line(heads.map((_, i) => (i === 0 ? "---" : "--:")));
};
const number = (value) => (value >= 99.5 ? value.toFixed(0) : value.toPrecision(2));

function complain(what) {
  console.error(what);
  process.exitCode = 1;
}

/** The medians of several measurements; undefined if one fails. */
async function measured(runtime, jobs) {
  const found = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const job of jobs) {
      const result = await runtime.measure(job).catch((error) => {
        const said = (error.stderr || error.message).trim().split("\n");
        complain(`${runtime.name}: ${job.counter}, ${job.encoding}, ${job.name}: ${said.slice(0, 3).join(" ")}`);
      });
      if (result) found.set(job, [...(found.get(job) ?? []), result]);
    }
  }
  return new Map(
    [...found].map(([job, results]) => {
      const of = (key) => [key, median(results.map((result) => result[key]))];
      return [job, Object.fromEntries(["first", "memory", "cold", "warm", "tokens"].map(of))];
    }),
  );
}

/** All counters on all texts: the table of speeds, and the times to the first count. */
async function speeds(runtime, encoding) {
  const names = Object.keys(counters).filter((name) => !startsAlone.includes(name));
  const starts = new Map(names.map((name) => [name, []]));
  table([`${encoding}, ${runtime.name}: cold / warm MB/s`, ...names, "times the fastest other"]);
  for (const { name, path, text } of all) {
    const jobs = names.map((counter) => ({ counter, encoding, name, path, again }));
    const results = await measured(runtime, jobs);
    const megabytes = Buffer.byteLength(text) / 1e6;
    const tokens = results.get(jobs[0])?.tokens;
    const speed = (job, key) => (results.has(job) ? (megabytes / results.get(job)[key]) * 1e3 : 0);
    const cells = jobs.map((job) => {
      const result = results.get(job);
      if (result === undefined) return "–";
      starts.get(job.counter).push(result);
      const same = result.tokens === tokens;
      if (!same && job.counter === reference) complain(`${encoding}, ${name}: ${ours} counts differ from tiktoken`);
      const both = `${number(speed(job, "cold"))} / ${number(speed(job, "warm"))}`;
      return (job.counter === ours ? `**${both}**` : both) + (same ? "" : ` (${result.tokens - tokens} tokens off)`);
    });
    const ratio = (key) => speed(jobs[0], key) / Math.max(...jobs.slice(1).map((job) => speed(job, key)));
    line([`${name}, ${megabytes.toFixed(1)} MB`, ...cells, `${number(ratio("cold"))} / ${number(ratio("warm"))}`]);
  }
  return starts;
}

/** The times to the first count only. */
async function startsOf(runtime, encoding, names) {
  const [{ name, path }] = all.length > 0 ? all : texts(1000);
  const jobs = names.map((counter) => ({ counter, encoding, name, path, again: 0 }));
  const results = await measured(runtime, jobs);
  return new Map(jobs.map((job) => [job.counter, results.has(job) ? [results.get(job)] : []]));
}

/** From import to the first count, and the WebAssembly memory at that point. */
function firsts(runtime, starts) {
  const kinds = encodings.flatMap((encoding) => [`${encoding}, ms`, "wasm memory, MB"]);
  table([`${runtime.name}: load to first count`, ...kinds]);
  for (const name of Object.keys(counters)) {
    const of = (encoding, key) => {
      const found = starts.get(encoding).get(name);
      return found.length > 0 ? median(found.map((result) => result[key])) : NaN;
    };
    const memory = (encoding) => (of(encoding, "memory") ? of(encoding, "memory").toFixed(1) : "–");
    line([name, ...encodings.flatMap((encoding) => [of(encoding, "first").toFixed(0), memory(encoding)])]);
  }
}

/** Long runs of one thing, cold, in both flavors. */
async function guards(runtime) {
  const columns = [ours, reference].flatMap((counter) => encodings.map((encoding) => ({ counter, encoding })));
  table([
    `${runtime.name}: ${long[0].length.toLocaleString("en")} of one thing, cold, ms`,
    ...columns.map(({ counter, encoding }) => `${counter}, ${encoding}`),
  ]);
  for (const { name, path } of long) {
    const jobs = columns.map((column) => ({ ...column, name, path, again: 0 }));
    const results = await measured(runtime, jobs);
    const [mine, theirs] = [jobs.slice(0, 2), jobs.slice(2)];
    mine.forEach((job, i) => {
      if (results.get(job)?.tokens !== results.get(theirs[i])?.tokens)
        complain(`${name}: ${job.encoding}: counts differ`);
    });
    line([name, ...jobs.map((job) => results.get(job)?.cold.toFixed(0) ?? "–")]);
  }
}

const asked = values("--runtime");
for (const name of asked.length > 0 ? asked : ["node", "chromium", "workerd"]) {
  const runtime = await (await import(`./parts/${name}.mjs`)).start();
  try {
    const starts = new Map();
    for (const encoding of encodings) {
      const before = onlyFirst ? [] : await speeds(runtime, encoding);
      const alone = await startsOf(runtime, encoding, onlyFirst ? Object.keys(counters) : startsAlone);
      starts.set(encoding, new Map([...before, ...alone]));
    }
    firsts(runtime, starts);
    if (!onlyFirst) await guards(runtime);
  } finally {
    await runtime.stop();
  }
}
