/** Workspaces through the package: the driver that reads files, with the sample and with failures. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, root } from "../packaging/packed.mjs";

const dir = folder("workspace");
let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(createRequire(join(dir, "x.js")).resolve("ctxweave")).href);
  await ctxweave.init();
});

const sample = join(root, "examples/workspace");

test("loadContext reads the sample from the disk", async () => {
  const place = { tastesDir: join(sample, "tastes"), workspaceDir: join(sample, "manta") };
  const asked = [];
  const { context, tokens, diagnostics } = await ctxweave.loadContext((path) => {
    asked.push(path);
    return readFile(path);
  }, place);
  assert.equal(asked[0], join(sample, "manta/brief.md"), "the brief is read first, and once");
  assert.equal(asked.length, 7);
  assert.ok(!asked.some((path) => path.endsWith("night.md")), "the brief does not name it");
  assert.deepEqual(Object.keys(context), ["tastes", "brief", "notes", "recent_log", "recent_gaps"]);
  assert.deepEqual(Object.keys(context.tastes.genres), ["underwater", "documentary"]);
  assert.deepEqual(
    context.tastes.conflicts.map(({ point, files }) => [point, files]),
    [
      ["- Keep the belly pattern readable.", ["underwater", "documentary"]],
      ["- Backscatter is cleaned by hand.", ["underwater", "documentary"]],
    ],
  );
  assert.ok(!context.brief.intent.includes("Tastes"));
  assert.equal(context.notes.truncated, true);
  assert.equal(context.recent_log.length, 10);
  assert.equal(context.recent_log[0].timestamp, "2026-04-14T08:52:00Z");
  assert.equal(context.recent_gaps.length, 3);
  for (const [section, key] of [
    ["tastes", "tastes"],
    ["notes", "notes"],
    ["recentLog", "recent_log"],
  ]) {
    assert.equal(tokens[section], ctxweave.countTokens(JSON.stringify(context[key])), section);
  }
  assert.deepEqual(
    diagnostics.map(({ code, path, line }) => [code, path.slice(sample.length + 1), line]),
    [
      ["torn_line", "manta/log.jsonl", 17],
      ["malformed_line", "manta/vocabulary_gaps.jsonl", 3],
    ],
  );
});

test("loadContext works in an empty workspace", async () => {
  const fresh = await ctxweave.loadContext(async () => undefined);
  assert.deepEqual(fresh, ctxweave.readContext({}));
  const onDisk = await ctxweave.loadContext((path) => readFile(join(dir, "nowhere", path)));
  assert.deepEqual(onDisk, fresh);
  const notFound = await ctxweave.loadContext(async () => {
    throw new DOMException("none", "NotFoundError");
  });
  assert.deepEqual(notFound, fresh);
});

test("loadContext treats an unreadable file as empty, and reports it", async () => {
  const { context, diagnostics } = await ctxweave.loadContext(async (path) => {
    if (path === "brief.md") return "Tastes: a, b\nIntent";
    if (path === "tastes/a.md") throw Object.assign(new Error("permission denied"), { code: "EACCES" });
    if (path === "log.jsonl") throw "odd";
    return undefined;
  });
  assert.equal(context.brief.intent, "Intent");
  assert.deepEqual(
    diagnostics.map(({ code, path }) => [code, path]),
    [
      ["file_unreadable", "tastes/a.md"],
      ["taste_missing", "tastes/b.md"],
      ["file_unreadable", "log.jsonl"],
    ],
  );
  assert.match(diagnostics[0].message, /permission denied/);
});

test("inputs may be text or bytes, and are never mutated", () => {
  const bytes = new TextEncoder().encode("Tastes: a\nIntent é");
  const text = ctxweave.readContext(
    Object.freeze({ brief: "Tastes: a\nIntent é", tastes: Object.freeze({ genres: Object.freeze({ a: "x" }) }) }),
  );
  assert.deepEqual(
    ctxweave.readContext({ brief: bytes, tastes: { genres: { a: new TextEncoder().encode("x").buffer } } }),
    text,
  );
  assert.deepEqual(ctxweave.parseBrief(bytes), {
    raw: "Tastes: a\nIntent é",
    intent: "Intent é",
    tastes: ["a"],
    diagnostics: [],
  });
  assert.deepEqual(ctxweave.parseBrief(undefined).tastes, []);
  const lone = ctxweave.readContext({ notes: "a\ud800" });
  assert.deepEqual(
    lone.diagnostics.map(({ code, path }) => [code, path]),
    [["lone_surrogate_replaced", "notes"]],
  );
  assert.equal(ctxweave.readFullNotes({ notes: "a\r\n".repeat(99) }), "a\r\n".repeat(99));
  assert.equal(ctxweave.readFullNotes({}), "");
});

test("the sizes of notes are those of the constants", () => {
  const { NOTES_HEAD_LINES, NOTES_TAIL_LINES, NOTES_TRUNCATION_THRESHOLD } = ctxweave;
  assert.deepEqual([NOTES_HEAD_LINES, NOTES_TAIL_LINES, NOTES_TRUNCATION_THRESHOLD], [10, 30, 40]);
  const notes = (count) => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
  const { notes: whole } = ctxweave.readContext({ notes: notes(NOTES_TRUNCATION_THRESHOLD).join("\n") }).context;
  assert.equal(whole.truncated, false);
  const lines = notes(NOTES_TRUNCATION_THRESHOLD + 1);
  const { notes: cut } = ctxweave.readContext({ notes: lines.join("\n") }).context;
  const [head, tail] = cut.summary.split("\n\n... [1 lines elided] ...\n\n");
  assert.equal(head, lines.slice(0, NOTES_HEAD_LINES).join("\n"));
  assert.equal(tail, lines.slice(-NOTES_TAIL_LINES).join("\n"));
});

test("genres are loaded in the order of the brief and of the list, empty ones too", async () => {
  const files = { "tastes/2024.md": "New.\n", "tastes/1999.md": "", "brief.md": "Tastes: 2024\n" };
  const asked = [];
  const read = async (path) => {
    asked.push(path);
    return files[path];
  };
  const { context, diagnostics } = await ctxweave.loadContext(read, { genres: ["1999", "2024"] });
  assert.deepEqual(context.tastes.genres, { 2024: "New.\n", 1999: "" });
  assert.deepEqual(context.brief.tastes, ["2024"]);
  assert.deepEqual(diagnostics, []);
  assert.ok(asked.indexOf("tastes/2024.md") < asked.indexOf("tastes/1999.md"));
});
