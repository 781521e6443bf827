// Tokens, cuts, splits and streams next to other installable packages: through the built package, in one process, in
// turn, each of them warm; with `--cold` each time as the first operation of a new process after loading. Then worst
// cases, for ctxweave only. Prints the tables of benches/tokens/results.md, and then the summary of docs/benchmarks.md.
// `--into` writes either into a file, between the markers `tokenizer` or `tokenizer-summary`.
//
//   node benches/tokens/tokenizer.mjs [--quick] [--cold] [--rounds 5] [--open FOLDER] [--into benches/tokens/results.md] [--into docs/benchmarks.md]
//
// `--open` compares the vocabularies of open models that benches/tokens/reference.py has put into a folder with the
// package `tokenizers` of PyPI. Times are the shortest of all rounds, of the clock, so the machine should have little
// else to do.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
// Before the imports below, which need the installed packages.
if (!existsSync(join(here, "node_modules/tiktoken"))) spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });

const { texts } = await import("./parts/texts.mjs");
const quick = process.argv.includes("--quick");
const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const rounds = Number(option("--rounds") ?? (quick ? 1 : 5));
const tokenizer = "o200k_base";
const cold = process.argv.includes("--cold");
/** In a new process: which package does which job on which text. */
const only = process.argv.includes("--only") ? process.argv.slice(process.argv.indexOf("--only") + 1) : undefined;

const ours = await import("ctxweave/tokens");
await ours.init();
ours.loadVocabulary(tokenizer, readFileSync(fileURLToPath(import.meta.resolve("ctxweave/vocab/o200k_base.bin"))));
const none = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
const load = {
  ctxweave: () => ({
    count: (text) => ours.countTokens(text, { tokenizer }),
    encode: (text) => ours.encodeTokens(text, { tokenizer }),
    decode: (ids) => ours.decodeTokens(ids, { tokenizer }),
    isOurs: true,
  }),
  "gpt-tokenizer": async () => {
    const gpt = await import("gpt-tokenizer/encoding/o200k_base");
    const count = (text) => gpt.countTokens(text, none);
    return { count, encode: (text) => gpt.encode(text, none), decode: (ids) => gpt.decode(ids) };
  },
  "ai-tokenizer": async () => {
    const { default: Ai } = await import("ai-tokenizer");
    const ai = new Ai(await import("ai-tokenizer/encoding/o200k_base"));
    return { encode: (text) => ai.encode(text, [], []), decode: (ids) => ai.decode(ids) };
  },
  tiktoken: async () => {
    const tiktoken = (await import("tiktoken")).get_encoding(tokenizer);
    const decoder = new TextDecoder();
    return {
      encode: (text) => tiktoken.encode_ordinary(text),
      decode: (ids) => decoder.decode(tiktoken.decode(ids)),
      isNative: true,
    };
  },
  "js-tiktoken": async () => {
    const js = (await import("js-tiktoken")).getEncoding(tokenizer);
    return { encode: (text) => js.encode(text, [], []), decode: (ids) => js.decode(ids) };
  },
};

const deltas = (text) => text.match(/[^]{1,4}/gu) ?? [];
const most = 2000;

/** The jobs: one call of ctxweave; for others that lack it, the usual code over their tokens. */
const jobs = {
  encode: ({ encode }, { text }) => encode(text).length,
  count: (peer, { text }) => peer.count?.(text) ?? peer.encode(text).length,
  decode: ({ decode }, { ids }) => decode(ids).length,
  // A concatenated string is flattened only when it is read.
  "decode and read": ({ decode }, { ids }) => {
    const text = decode(ids);
    return text.charCodeAt(text.length >> 1);
  },
  truncate: (peer, { text }) =>
    peer.isOurs
      ? ours.truncateText(text, most, { tokenizer }).text.length
      : peer.decode(peer.encode(text).slice(0, most)).length,
  split: (peer, { text }) => {
    if (peer.isOurs) return ours.splitText(text, { tokenizer, maxTokens: 500, overlap: 50 }).length;
    const ids = peer.encode(text);
    let pieces = 0;
    for (let at = 0; at < ids.length; at += 450) pieces += peer.decode(ids.slice(at, at + 500)).length > 0;
    return pieces;
  },
  // The beginning of a reply, in deltas of four characters.
  stream: (peer, { reply }) => {
    let tokens = 0;
    if (peer.isOurs) {
      const counter = new ours.TokenCounter({ tokenizer });
      for (const delta of reply) tokens = counter.append(delta);
      counter.free();
      return tokens;
    }
    let text = "";
    for (const delta of reply) tokens = peer.encode((text += delta)).length;
    return tokens;
  },
};

const all = texts(quick ? 20_000 : 1_000_000);
const part = (text, at) => text.slice((text.length >> 2) * at, (text.length >> 2) * (at + 1));
all.push({ name: "mixed", text: [0, 1, 2, 3].flatMap((at) => all.map(({ text }) => part(text, at))).join("\n") });
for (const one of all) one.text = one.text.slice(0, 1_000_000);

/** The time of a job; its tokens are computed before. */
function timed(peer, job, text) {
  const ids = job.startsWith("decode") ? Array.from(ours.encodeTokens(text, { tokenizer })) : [];
  const input = {
    text,
    // In the type that each package returns.
    ids: peer.isOurs || peer.isNative ? Uint32Array.from(ids) : ids,
    reply: deltas(text.slice(0, quick ? 400 : 4000)),
  };
  const start = performance.now();
  if (jobs[job](peer, input) < 1) throw new Error("it returns nothing");
  return performance.now() - start;
}

if (only) {
  const [who, job, name] = only;
  const { text } = all.find((one) => one.name === name);
  const peer = await load[who]();
  peer.encode("a");
  console.log(timed(peer, job, text));
  process.exit();
}

const lines = [];
const say = (line) => {
  lines.push(line);
  console.log(line);
};
/** Of each job its name and its cells: the time of ctxweave, that of the fastest other, and their ratio. */
const summary = [];
const shown = (time) => (time < 10 ? time.toFixed(1) : time.toFixed(0));
/** A table of the shortest time of each, by text, ctxweave first. */
function table(title, whos, rows) {
  say(`\n| ${title} | ${whos.join(" | ")} | times the fastest other |`);
  say(`| --- |${" --: |".repeat(whos.length + 1)}`);
  return rows.map(([name, times]) => {
    const [first, ...others] = times.map((all) => Math.min(...all));
    const fastest = Math.min(...others);
    const ratio = (fastest / first).toFixed(1);
    say(`| ${name} | ${[first, ...others].map(shown).join(" | ")} | ${ratio} |`);
    return `${shown(first)} / ${shown(fastest)} (${ratio})`;
  });
}

const peers = {};
if (!cold) for (const [who, run] of Object.entries(load)) peers[who] = await run();
const file = fileURLToPath(import.meta.url);
for (const job of Object.keys(jobs)) {
  const rows = all.map(({ name, text }) => {
    const times = new Map(Object.keys(load).map((who) => [who, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [who, found] of times) {
        if (!cold) {
          // ctxweave takes a few milliseconds, which random delays distort: several attempts.
          for (let turn = peers[who].isOurs ? 3 : 1; turn > 0; turn -= 1) found.push(timed(peers[who], job, text));
          continue;
        }
        const args = [file, ...(quick ? ["--quick"] : []), "--only", who, job, name];
        found.push(Number(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout));
      }
    }
    return [name, [...times.values()]];
  });
  summary.push([job, ...table(`${job}, ${cold ? "cold, " : ""}ms`, Object.keys(load), rows)]);
}

if (option("--open")) open(option("--open"));
if (!cold) worst();
const row = (cells) => `| ${cells.join(" | ")} |`;
const summarized = [
  row(["ms: ctxweave / fastest other (times)", ...all.map(({ name }) => name)]),
  row(["---", ...all.map(() => "--:")]),
  ...summary.map(row),
].join("\n");
console.log(`\n${summarized}`);
const files = process.argv.flatMap((arg, at) => (arg === "--into" ? [process.argv[at + 1]] : []));
for (const file of files) {
  let text = readFileSync(file, "utf8");
  let found = false;
  for (const [name, tables] of [
    ["tokenizer", lines.join("\n").trim()],
    ["tokenizer-summary", summarized],
  ]) {
    const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from < 0 || to < from) continue;
    found = true;
    text = `${text.slice(0, from)}${start}\n\n${tables}\n\n${text.slice(to)}`;
  }
  if (!found) throw new Error(`${file} has no markers for the tables`);
  writeFileSync(file, text);
}

/** Open models, next to the package `tokenizers` of PyPI. */
function open(folder) {
  const models = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const input = join(mkdtempSync(join(tmpdir(), "ctxweave-")), "texts.json");
  writeFileSync(input, JSON.stringify(all.map(({ text }) => text)));
  const script = `
import json, sys, time
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1])
def timed(run):
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000
found = []
for text in json.load(open(sys.argv[2])):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    encode = min(timed(lambda: tokenizer.encode(text, add_special_tokens=False).ids) for _ in range(2))
    found.append([encode, min(timed(lambda: tokenizer.decode(ids)) for _ in range(2))])
print(json.dumps(found))`;
  const rows = { encode: [], decode: [] };
  for (const model of models) {
    const name = model.replace(".json", "");
    ours.loadVocabulary(name, ours.vocabularyOf(readFileSync(join(folder, model))));
    const times = all.map(() => ({ encode: [[], []], decode: [[], []] }));
    for (let round = 0; round < Math.min(rounds, 2); round += 1) {
      const python = spawnSync("python3", ["-c", script, join(folder, model), input], { encoding: "utf8" });
      if (python.status !== 0) throw new Error(python.stderr);
      JSON.parse(python.stdout).forEach(([encode, decode], at) => {
        times[at].encode[1].push(encode);
        times[at].decode[1].push(decode);
      });
      for (const [at, { text }] of all.entries()) {
        for (let turn = 0; turn < 5; turn += 1) {
          let start = performance.now();
          const ids = ours.encodeTokens(text, { tokenizer: name });
          times[at].encode[0].push(performance.now() - start);
          start = performance.now();
          ours.decodeTokens(ids, { tokenizer: name });
          times[at].decode[0].push(performance.now() - start);
        }
      }
    }
    for (const job of ["encode", "decode"]) {
      all.forEach((text, at) => rows[job].push([`${name}, ${text.name}`, times[at][job]]));
    }
  }
  for (const job of ["encode", "decode"]) table(`${job}, open models, ms`, ["ctxweave", "tokenizers"], rows[job]);
}

/** A megabyte of each worst case, for ctxweave only: the slowest side and boundary of each. */
function worst() {
  let seed = 1;
  const below = (end) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return (seed >> 8) % end;
  };
  const bytes = quick ? 10_000 : 1_000_000;
  const random = (count, from, end) =>
    Array.from({ length: count }, () => String.fromCharCode(from + below(end - from))).join("");
  const kinds = {
    a: "a".repeat(bytes),
    spaces: " ".repeat(bytes),
    "line breaks": "\n".repeat(bytes),
    "random letters": random(bytes, 0x61, 0x7b),
    "random ideographs": random(Math.floor(bytes / 3), 0x4e00, 0x9f00),
    "random marks": random(bytes / 2, 0x300, 0x36f),
    emoji: "😀".repeat(bytes / 4),
  };
  const boundaries = ["token", "grapheme", "word", "line", "sentence"];
  const sides = ["end", "start", "middle"];
  const longest = (all) =>
    Math.max(
      ...all.map((run) => {
        const start = performance.now();
        try {
          run();
        } catch (error) {
          // One cluster may have more tokens than fit.
          if (error.code !== "invalid_input") throw error;
        }
        return performance.now() - start;
      }),
    );
  const cut = (text) => () =>
    longest(
      sides.flatMap((side) =>
        boundaries.flatMap((boundary) =>
          ["", "…"].map((marker) => () => ours.truncateText(text, 100_000, { tokenizer, side, boundary, marker })),
        ),
      ),
    );
  const split = (text) => () =>
    longest(
      boundaries.map((boundary) => () => ours.splitText(text, { tokenizer, maxTokens: 500, overlap: 50, boundary })),
    );
  const stream = (text) => () => {
    const counter = new ours.TokenCounter({ tokenizer });
    const start = performance.now();
    for (const character of text) counter.append(character);
    const time = performance.now() - start;
    if (counter.count !== ours.countTokens(text, { tokenizer })) throw new Error("another count");
    counter.free();
    return time;
  };
  const once = (run) => () => longest([run]);
  say(
    "\n| 1,000,000 bytes of one thing, ms | encode | count | truncate | split | stream, a character at a time | deltas |",
  );
  say("| --- | --: | --: | --: | --: | --: | --: |");
  for (const [name, text] of Object.entries(kinds)) {
    const jobs = [
      once(() => ours.encodeTokens(text, { tokenizer })),
      once(() => ours.countTokens(text, { tokenizer })),
      cut(text),
      split(text),
      stream(text),
    ];
    const times = jobs.map((job) => Math.min(...Array.from({ length: Math.min(rounds, 3) }, job)));
    say(`| ${name} | ${times.map((time) => time.toFixed(0)).join(" | ")} | ${[...text].length} |`);
  }
}
