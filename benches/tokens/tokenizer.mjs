// Tokens, cuts, pieces and streams beside the other packages one can install: through the built package, in one process, in turn,
// each of them warm; with `--cold` each time the first thing that a fresh process does once it has loaded. Prints a table for each.
//
//   node benches/tokens/tokenizer.mjs [--quick] [--cold] [--rounds 5]
//
// Times are of the clock, so the machine should have nothing else to do.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
// Before the modules below, which import what this installs.
if (!existsSync(join(here, "node_modules/tiktoken"))) spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });

const { texts } = await import("./parts/texts.mjs");
const quick = process.argv.includes("--quick");
const asked = process.argv.indexOf("--rounds");
const rounds = asked > 0 ? Number(process.argv[asked + 1]) : quick ? 1 : 5;
const tokenizer = "o200k_base";
const cold = process.argv.includes("--cold");
/** In a fresh process: who does what to which text. */
const only = process.argv.includes("--only") ? process.argv.slice(process.argv.indexOf("--only") + 1) : undefined;

const ours = await import("ctxweave");
await ours.init();
ours.loadVocabulary(tokenizer, readFileSync(fileURLToPath(import.meta.resolve("ctxweave/vocab/o200k_base.bin"))));
const none = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
const load = {
  ctxweave: () => ({
    encode: (text) => ours.encodeTokens(text, { tokenizer }),
    decode: (ids) => ours.decodeTokens(ids, { tokenizer }),
    isOurs: true,
  }),
  "gpt-tokenizer": async () => {
    const gpt = await import("gpt-tokenizer/encoding/o200k_base");
    return { encode: (text) => gpt.encode(text, none), decode: (ids) => gpt.decode(ids) };
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

/** What is done: by us with a call, by others with the tokens of it all, as one does. */
const jobs = {
  encode: ({ encode }, { text }) => encode(text).length,
  decode: ({ decode }, { ids }) => decode(ids).length,
  // What is put together of parts is made one text only when somebody reads it.
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
  // So much of a reply, in deltas of four characters.
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

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const all = texts(quick ? 20_000 : 1_000_000);
const part = (text, at) => text.slice((text.length >> 2) * at, (text.length >> 2) * (at + 1));
all.push({ name: "mixed", text: [0, 1, 2, 3].flatMap((at) => all.map(({ text }) => part(text, at))).join("\n") });
for (const one of all) one.text = one.text.slice(0, 1_000_000);

/** How long a job takes; the tokens are there before. */
function timed(peer, job, text) {
  const ids = job.startsWith("decode") ? Array.from(ours.encodeTokens(text, { tokenizer })) : [];
  const input = {
    text,
    // Each gets them as it gives them.
    ids: peer.isOurs || peer.isNative ? Uint32Array.from(ids) : ids,
    reply: deltas(text.slice(0, quick ? 400 : 4000)),
  };
  const start = performance.now();
  if (jobs[job](peer, input) < 1) throw new Error("it gives nothing");
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

const peers = {};
if (!cold) for (const [who, run] of Object.entries(load)) peers[who] = await run();
const file = fileURLToPath(import.meta.url);
for (const job of Object.keys(jobs)) {
  console.log(`\n| ${job}, ${cold ? "cold, " : ""}ms | ${Object.keys(load).join(" | ")} | times the fastest other |`);
  console.log(`| --- |${" --: |".repeat(Object.keys(load).length + 1)}`);
  for (const { name, text } of all) {
    const times = new Map(Object.keys(load).map((who) => [who, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [who, found] of times) {
        if (!cold) {
          found.push(timed(peers[who], job, text));
          continue;
        }
        const args = [file, ...(quick ? ["--quick"] : []), "--only", who, job, name];
        found.push(Number(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout));
      }
    }
    const [first, ...others] = [...times.values()].map(median);
    const shown = [first, ...others].map((time) => (time < 10 ? time.toFixed(1) : time.toFixed(0)));
    console.log(`| ${name} | ${shown.join(" | ")} | ${(Math.min(...others) / first).toFixed(1)} |`);
  }
}
