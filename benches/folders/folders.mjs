// Folders through the package, in Node, at two sizes, next to picomatch trying every pattern on the change.
//
//   node benches/folders/folders.mjs [--quick] [--files 10000]
//
// The watchers found by both are compared. "Rows" are those of the table `context_watches`, which a host has available
// when a file changes.

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import picomatch from "picomatch";
import {
  buildContextChain,
  bubble,
  contextWatchRecords,
  discoverContextFolders,
  init,
  planAgentFiles,
  watchersOf,
} from "ctxweave";
import { now } from "../clock.mjs";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, files: { type: "string" } } });
const most = Number(values.files ?? (values.quick ? 1000 : 10_000));
const sizes = [Math.round(most / 10), most];

function watchOf(at) {
  const area = at % 50;
  switch (at % 5) {
    case 0:
      return "../";
    case 1:
      return `area-${(at + 1) % 50}/*`;
    case 2:
      return `area-${area}/project-${(at + 7) % 500}`;
    case 3:
      return `area-${(at + 3) % 50}/**/part-${at}`;
    default:
      return `area-${area}/proj*-${(at + 11) % 500}/part-?${at % 10}`;
  }
}

function vault(size) {
  return Array.from({ length: size }, (_, at) => ({
    path: `area-${at % 50}/project-${at % 500}/part-${at}/AGENTS.md`,
    content: `---\nwatch:\n  - "${watchOf(at)}"\n---\n# Part ${at}\n\n> One of many\n\n## Facts\n- Fact ${at}\n- A fact that many have\n`,
  }));
}

/** What Claude Code reads in a repository with a context file or rule in every fiftieth file, after an access. */
function agentRequest(size) {
  const files = Array.from({ length: size }, (_, at) => {
    const folder = `/srv/repo/area-${at % 50}/project-${at % 500}`;
    if (at % 100 === 0) return { path: `${folder}/CLAUDE.md`, content: `# Project\n\nSee @notes-${at}.md\n` };
    if (at % 100 !== 50) return { path: `${folder}/notes-${at}.md`, content: `Notes ${at}\n` };
    return { path: `/srv/repo/.claude/rules/${at}.md`, content: `---\npaths: area-${at % 50}/**\n---\nRule ${at}\n` };
  });
  const access = [{ path: "/srv/repo/area-0/project-0/src/main.rs" }];
  const limits = { contextFiles: size };
  return { agent: "claude-code", cwd: "/srv/repo", root: "/srv/repo", files, access, limits };
}

/** The median of some runs, in milliseconds. */
function time(run, runs = 5) {
  run();
  const times = Array.from({ length: runs }, () => {
    const begun = now();
    run();
    return now() - begun;
  }).sort((a, b) => a - b);
  return times[Math.floor(runs / 2)];
}

/** A program without an index: tries every compiled pattern on the change. */
function naive(files) {
  const matchers = files.map(({ path }, at) => {
    const watch = watchOf(at);
    const folder = path.slice(0, path.lastIndexOf("/"));
    const pattern = watch === "../" ? folder.slice(0, folder.lastIndexOf("/")) : watch;
    return { path, matches: picomatch(`${pattern}/AGENTS.md`) };
  });
  return (changed) =>
    matchers
      .filter(({ path, matches }) => path !== changed && matches(changed))
      .map(({ path }) => path)
      .sort();
}

await init();
const changed = "area-7/project-107/part-607/AGENTS.md";
const rows = {};
for (const size of sizes) {
  const files = vault(size);
  const paths = files.map(({ path }) => path);
  const { records } = contextWatchRecords(files);
  const compiled = naive(files);
  assert.deepEqual(
    watchersOf(changed, files).map(({ path }) => path),
    compiled(changed),
  );
  assert.deepEqual(watchersOf(changed, records), watchersOf(changed, files));
  const selected = paths.slice(0, 20);
  const agent = agentRequest(size);
  assert.equal(planAgentFiles(agent).status, "ready");
  const runs = {
    discovery: () => discoverContextFolders(paths),
    "chain of 20": () => buildContextChain({ files, selected, parentChain: true, maxTokens: 500 }),
    "chain of all": () => buildContextChain({ files, selected: paths }),
    "rows of all watches": () => contextWatchRecords(files),
    "watchers of a change, from files": () => watchersOf(changed, files),
    "watchers of a change, from rows": () => watchersOf(changed, records),
    "plan and load of an agent": () => planAgentFiles(agent),
    "bubble, from rows": () => bubble([changed], records),
    "picomatch, compiling all patterns": () => naive(files),
    "picomatch, compiled, all patterns": () => compiled(changed),
  };
  for (const [name, run] of Object.entries(runs)) (rows[name] ??= []).push(time(run));
}
console.log(`${"milliseconds".padEnd(36)}${sizes.map((size) => `${size} files`.padStart(14)).join("")}     ratio`);
for (const [name, [small, large]] of Object.entries(rows)) {
  const shown = [small, large].map((ms) => ms.toFixed(2).padStart(14)).join("");
  console.log(`${name.padEnd(36)}${shown}${(large / small).toFixed(1).padStart(10)}`);
}
