// Tokens, cuts, pieces and streams beside the other packages one can install: through the built package, in one process, in turn,
// each of them warm. Prints a table for each.
//
//   node benches/tokens/tokenizer.mjs [--quick] [--rounds 5]
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

const ours = await import("ctxweave");
await ours.init();
ours.loadVocabulary(tokenizer, readFileSync(fileURLToPath(import.meta.resolve("ctxweave/vocab/o200k_base.bin"))));
const gpt = await import("gpt-tokenizer/encoding/o200k_base");
const { get_encoding } = await import("tiktoken");
const tiktoken = get_encoding(tokenizer);
const { getEncoding } = await import("js-tiktoken");
const js = getEncoding(tokenizer);
const { default: Ai } = await import("ai-tokenizer");
const ai = new Ai(await import("ai-tokenizer/encoding/o200k_base"));

const none = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
const peers = {
  ctxweave: {
    encode: (text) => ours.encodeTokens(text, { tokenizer }),
    decode: (ids) => ours.decodeTokens(ids, { tokenizer }),
  },
  "gpt-tokenizer": { encode: (text) => gpt.encode(text, none), decode: (ids) => gpt.decode(ids) },
  "ai-tokenizer": { encode: (text) => ai.encode(text, [], []), decode: (ids) => ai.decode(ids) },
  tiktoken: {
    encode: (text) => tiktoken.encode_ordinary(text),
    decode: (ids) => new TextDecoder().decode(tiktoken.decode(ids)),
  },
  "js-tiktoken": { encode: (text) => js.encode(text, [], []), decode: (ids) => js.decode(ids) },
};

const deltas = (text) => text.match(/[^]{1,4}/gu) ?? [];
const most = 2000;

/** What is done: by us with a call, by others with the tokens of it all, as one does. */
const jobs = {
  encode: ({ encode }, { text }) => encode(text).length,
  decode: ({ decode }, { ids }) => decode(ids).length,
  truncate: (peer, { text }) =>
    peer === peers.ctxweave
      ? ours.truncateText(text, most, { tokenizer }).text.length
      : peer.decode(peer.encode(text).slice(0, most)).length,
  split: (peer, { text }) => {
    if (peer === peers.ctxweave) return ours.splitText(text, { tokenizer, maxTokens: 500, overlap: 50 }).length;
    const ids = peer.encode(text);
    let pieces = 0;
    for (let at = 0; at < ids.length; at += 450) pieces += peer.decode(ids.slice(at, at + 500)).length > 0;
    return pieces;
  },
  // So much of a reply, in deltas of four characters.
  stream: (peer, { reply }) => {
    let tokens = 0;
    if (peer === peers.ctxweave) {
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
for (const [job, run] of Object.entries(jobs)) {
  console.log(`\n| ${job}, ms | ${Object.keys(peers).join(" | ")} | times the fastest other |`);
  console.log(`| --- |${" --: |".repeat(Object.keys(peers).length + 1)}`);
  for (const { name, text } of all) {
    const times = new Map();
    for (let round = 0; round < rounds; round += 1) {
      for (const [who, peer] of Object.entries(peers)) {
        const input = {
          text,
          ids: job === "decode" ? peer.encode(text) : [],
          reply: deltas(text.slice(0, quick ? 400 : 4000)),
        };
        const start = performance.now();
        if (run(peer, input) < 1) throw new Error(`${who} gives nothing`);
        times.set(who, [...(times.get(who) ?? []), performance.now() - start]);
      }
    }
    const [first, ...others] = [...times.values()].map(median);
    const shown = [first, ...others].map((time) => (time < 10 ? time.toFixed(1) : time.toFixed(0)));
    console.log(`| ${name} | ${shown.join(" | ")} | ${(Math.min(...others) / first).toFixed(1)} |`);
  }
}
