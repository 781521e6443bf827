// Exact counting beside the other counters one can install, in Node: fresh processes, taken in turn, counts compared.
//
//   node benches/tokens/tokens.mjs [--rounds 3] [--text FILE]...
//
// Each process loads one counter, counts one text once ("cold") and then again and again ("warm"). Times are of the
// processor, for the main thread, where Linux tells them: other load on the machine disturbs them less.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const encodings = ["o200k_base", "cl100k_base"];

/** Milliseconds of processor time of this thread; of the clock, where the system does not say. */
function now() {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** How each counter is loaded: imports, and then whatever makes it ready for the encoding. */
const counters = {
  ctxweave: async (encoding) => {
    const { init, loadVocabulary, countTokens } = await import("ctxweave");
    await init();
    const vocabulary = readFileSync(join(root, `pkg/dist/vocab/${encoding}.bin`));
    return () => {
      loadVocabulary(encoding, vocabulary);
      return (text) => countTokens(text, { tokenizer: encoding });
    };
  },
  "ctxweave/tiktoken": async (encoding) => {
    const { init, countTokens } = await import("ctxweave/tiktoken");
    await init();
    return () => (text) => countTokens(text, { tokenizer: encoding });
  },
  "gpt-tokenizer": async (encoding) => {
    const { countTokens } = await import(`gpt-tokenizer/encoding/${encoding}`);
    const plain = { disallowedSpecial: new Set() };
    return () => (text) => countTokens(text, plain);
  },
  "ai-tokenizer": async (encoding) => {
    const { default: Tokenizer } = await import("ai-tokenizer");
    const ranks = await import(`ai-tokenizer/encoding/${encoding}`);
    return () => {
      const tokenizer = new Tokenizer(ranks);
      return (text) => tokenizer.encode(text, [], []).length;
    };
  },
  tiktoken: async (encoding) => {
    const { get_encoding } = await import("tiktoken");
    return () => {
      const tokenizer = get_encoding(encoding);
      return (text) => tokenizer.encode_ordinary(text).length;
    };
  },
  "js-tiktoken": async (encoding) => {
    const { Tiktoken } = await import("js-tiktoken/lite");
    const { default: ranks } = await import(`js-tiktoken/ranks/${encoding}`);
    return () => {
      const tokenizer = new Tiktoken(ranks);
      return (text) => tokenizer.encode(text, [], []).length;
    };
  },
};

/** One measurement, in this process. */
async function measure(name, encoding, file) {
  const text = readFileSync(file, "utf8");
  const start = now();
  const ready = await counters[name](encoding);
  const loaded = now();
  const count = ready();
  count("a");
  const first = now();
  const tokens = count(text);
  const cold = now() - first;
  const again = now();
  let passes = 0;
  while (passes < 20 && now() - again < 600) {
    count(text);
    passes += 1;
  }
  const warm = (now() - again) / passes;
  const megabytes = Buffer.byteLength(text) / 1e6;
  return {
    load: loaded - start,
    ready: first - loaded,
    cold: (megabytes / cold) * 1e3,
    warm: (megabytes / warm) * 1e3,
    tokens,
  };
}

function* filesIn(folder, pattern) {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== ".bin") yield* filesIn(path, pattern);
    else if (pattern.test(path)) yield path;
  }
}

/** The first megabytes of the files, each paragraph once. */
function gather(paths, bytes, keep = () => true) {
  const seen = new Set();
  let size = 0;
  for (const path of paths) {
    for (const part of readFileSync(path, "utf8").split(/\n\s*\n/)) {
      if (seen.has(part) || !keep(part)) continue;
      seen.add(part);
      size += Buffer.byteLength(part) + 2;
      if (size > bytes) return [...seen].join("\n\n");
    }
  }
  return [...seen].join("\n\n");
}

/** Writes the texts: all of them are in the packages that are installed here anyway. */
function texts() {
  const folder = join(root, "target/bench-texts");
  mkdirSync(folder, { recursive: true });
  const modules = [join(root, "node_modules"), join(here, "node_modules")];
  const all = (pattern) => modules.flatMap((path) => [...filesIn(path, pattern)]).sort();
  const markdown = all(/\.md$/i);
  const isProse = (part) =>
    part.length > 120 && !part.includes("|") && (part.match(/[A-Za-z ,.'\n]/g) ?? []).length > part.length * 0.95;
  const messages = all(/\/typescript\/lib\/(zh-cn|zh-tw|ja|ko)\/.*\.json$/);
  const sentences = messages.map((path) => Object.values(JSON.parse(readFileSync(path, "utf8"))).join("\n\n"));
  const written = {
    prose: gather(markdown, 3e6, isProse),
    markdown: gather(markdown, 3e6),
    code: gather(all(/(\.d\.ts|\/src\/.*\.[jt]s|\.mjs)$/), 3e6),
    cjk: sentences.join("\n\n"),
  };
  return Object.entries(written).map(([name, text]) => {
    const path = join(folder, `${name}.txt`);
    writeFileSync(path, text);
    return path;
  });
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function compare(rounds, files) {
  for (const encoding of encodings) {
    console.log(`\n## ${encoding}\n`);
    console.log(
      "| text | counter | load ms | ready ms | cold MB/s | warm MB/s | tokens |\n|---|---|--:|--:|--:|--:|--:|",
    );
    for (const file of files) {
      const results = new Map();
      for (let round = 0; round < rounds; round += 1) {
        for (const name of Object.keys(counters)) {
          const child = spawnSync(
            process.execPath,
            [fileURLToPath(import.meta.url), "--measure", name, encoding, file],
            {
              encoding: "utf8",
              timeout: 300_000,
            },
          );
          if (child.status === 0) results.set(name, [...(results.get(name) ?? []), JSON.parse(child.stdout)]);
          else if (round === 0) console.error(`${name}: ${child.stderr.trim().split("\n").at(-1) || "took too long"}`);
        }
      }
      const rows = [...results].map(([name, runs]) => {
        const of = (key) => median(runs.map((run) => run[key]));
        return { name, load: of("load"), ready: of("ready"), cold: of("cold"), warm: of("warm"), tokens: of("tokens") };
      });
      const ours = rows.find((row) => row.name === "ctxweave");
      for (const row of rows) {
        const speed = ["load", "ready", "cold", "warm"].map((key) => row[key].toFixed(1)).join(" | ");
        const differs = ours && row.tokens !== ours.tokens ? " (differs)" : "";
        console.log(`| ${basename(file, ".txt")} | ${row.name} | ${speed} | ${row.tokens}${differs} |`);
      }
      const reference = rows.find((row) => row.name === "tiktoken");
      if (ours && reference && ours.tokens !== reference.tokens) {
        console.error(`${encoding}, ${basename(file)}: ctxweave counts otherwise than tiktoken`);
        process.exitCode = 1;
      }
      const peers = rows.filter((row) => row.name !== "ctxweave");
      if (ours && peers.length) {
        const ratio = (key) => (ours[key] / Math.max(...peers.map((row) => row[key]))).toFixed(1);
        console.log(
          `| ${basename(file, ".txt")} | *times the fastest other* | | | ${ratio("cold")} | ${ratio("warm")} | |`,
        );
      }
    }
  }
}

const args = process.argv.slice(2);
if (args[0] === "--measure") {
  console.log(JSON.stringify(await measure(...args.slice(1))));
} else {
  if (!existsSync(join(here, "node_modules"))) spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });
  const value = (flag) => args.flatMap((arg, i) => (arg === flag ? [args[i + 1]] : []));
  const files = value("--text");
  compare(Number(value("--rounds")[0] ?? 3), files.length ? files : texts());
}
