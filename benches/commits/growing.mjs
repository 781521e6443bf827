// The memory cost of importing a long session: in one go, and incrementally. In Node, on Linux.
//
//   node benches/commits/growing.mjs [--quick] [--megabytes 100] [--piece 1]
//
// Each import runs in a separate process. The result is the peak memory of the process minus its memory after loading
// the module; for pieces also minus the piece read from the file. Both must give the same commits.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const quick = process.argv.includes("--quick");
const megabytes = option("megabytes", quick ? 2 : 100);
const piece = option("piece", 1) * 1e6;

const formats = {
  "claude-code-v1"(at) {
    const time = new Date(1_770_000_000_000 + at * 1000).toISOString();
    let parent = at === 0 ? null : `u${at - 1}-4`;
    return ["user", "assistant", "user", "assistant"].map((type, place) => {
      const uuid = `u${at}-${place + 1}`;
      const content = [
        [{ type: "text", text: `question ${at}` }],
        [{ type: "tool_use", id: `t${at}`, name: "read", input: { path: `src/${at}.rs` } }],
        [{ type: "tool_result", tool_use_id: `t${at}`, content: `line ${at}: "a" + b\n`.repeat(250) }],
        [{ type: "text", text: `The function ${at} adds them up, one by one. `.repeat(30) }],
      ][place];
      const message = { role: type, content, ...(type === "assistant" && { id: `m${at}-${place}` }) };
      const line = { type, uuid, parentUuid: parent, isSidechain: false, sessionId: "s", timestamp: time, message };
      parent = uuid;
      return line;
    });
  },
  "codex-v1"(at) {
    const timestamp = new Date(1_770_000_000_000 + at * 1000).toISOString();
    const item = (payload) => ({ timestamp, type: "response_item", payload });
    const lines = [
      item({ type: "message", role: "user", content: [{ type: "input_text", text: `question ${at}` }] }),
      item({ type: "function_call", name: "read", arguments: `{"path":"src/${at}.rs"}`, call_id: `c${at}` }),
      item({ type: "function_call_output", call_id: `c${at}`, output: `line ${at}: "a" + b\n`.repeat(250) }),
      item({
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: `They add up. `.repeat(100) }],
      }),
    ];
    return at === 0 ? [{ timestamp, type: "session_meta", payload: { id: "s", timestamp } }, ...lines] : lines;
  },
};

/** Writes a session file of about that size. */
function makeSession(path, format) {
  const file = openSync(path, "w");
  for (let at = 0, size = 0; size < megabytes * 1e6; at += 1) {
    size += writeSync(
      file,
      formats[format](at)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(""),
    );
  }
  closeSync(file);
}

/** Peak memory of the process, in MB. */
const peak = () => (process.resourceUsage().maxRSS * 1024) / 1e6;

async function measure(way, format, path) {
  const { importTranscript, init } = await import("ctxweave/commits");
  await init();
  const before = peak();
  const [commits, contents] = [createHash("sha256"), createHash("sha256")];
  let count = 0;
  let largest = 0;
  const keep = ({ records, blobs, tip, resume }) => {
    for (const { id } of records) commits.update(id);
    for (const { artifactRef, bytes } of blobs) contents.update(`${artifactRef} ${bytes.length}`);
    count += records.length;
    largest = Math.max(largest, JSON.stringify(resume).length);
    return tip;
  };
  let tip;
  const begun = performance.now();
  if (way === "one go") {
    tip = keep(importTranscript(format, readFileSync(path)));
  } else {
    const { size } = statSync(path);
    const file = openSync(path, "r");
    let resume;
    for (let end = 0; end < size;) {
      end = Math.min(size, end + piece);
      const offset = resume?.offset ?? 0;
      const bytes = new Uint8Array(end - offset);
      readSync(file, bytes, 0, bytes.length, offset);
      const imported = importTranscript(format, bytes, { growing: end < size, ...(resume && { resume }) });
      tip = keep(imported);
      resume = imported.resume;
    }
  }
  const seconds = (performance.now() - begun) / 1000;
  const hashes = [commits, contents].map((hash) => hash.digest("hex"));
  const result = { memory: peak() - before, total: peak(), seconds, count, largest, hashes, tip };
  process.stdout.write(JSON.stringify(result));
}

if (process.argv[2] === "measure") {
  await measure(...process.argv.slice(3, 6));
} else {
  const folder = mkdtempSync(join(tmpdir(), "ctxweave-growing-"));
  try {
    console.log(`a session of ${megabytes} MB, in one go and in pieces of ${piece / 1e6} MB\n`);
    console.log("| format | import | memory, MB | process, MB | s | commits | `resume`, bytes |");
    console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (const format of Object.keys(formats)) {
      const path = join(folder, `${format}.jsonl`);
      makeSession(path, format);
      const results = ["one go", "pieces"].map((way) => {
        const options = ["--piece", String(piece / 1e6)];
        const run = [fileURLToPath(import.meta.url), "measure", way, format, path, ...options];
        const result = JSON.parse(execFileSync(process.execPath, run, { encoding: "utf8", maxBuffer: 2 ** 26 }));
        const memory = way === "pieces" ? result.memory - piece / 1e6 : result.memory;
        const numbers = [memory, result.total].map((number) => number.toFixed(0));
        console.log(
          `| ${format} | ${way} | ${numbers.join(" | ")} | ${result.seconds.toFixed(1)} | ${result.count} | ${result.largest} |`,
        );
        if (!quick) assert.ok(memory < (way === "pieces" ? 64 : 300), `${way}: ${memory} MB`);
        return result;
      });
      const [once, pieces] = results.map(({ hashes, tip, count }) => ({ hashes, tip, count }));
      assert.deepEqual(pieces, once);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
