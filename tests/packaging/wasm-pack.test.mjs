/**
 * Running wasm-pack by mistake must be safe: at the root it would write into pkg/, so it stops before it writes;
 * `wasm-pack build pkg` works and writes into pkg/pkg.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { root } from "./packed.mjs";

const tools = join(root, "target/tools/bin");
const env = { ...process.env, PATH: [tools, process.env.PATH].join(delimiter), CARGO_TARGET_DIR: join(root, "target") };
const skip = spawnSync("wasm-pack", ["--version"], { env }).status !== 0 && "wasm-pack is not installed";

/** A copy of the files in git, so that a failure does not damage the working tree. */
const copy = mkdtempSync(join(root, "target/wasm-pack-"));
after(() => rmSync(copy, { recursive: true }));
const listed = ["ls-files", "--cached", "--others", "--exclude-standard"];
const files = spawnSync("git", listed, { cwd: root, encoding: "utf8" }).stdout.trim().split("\n");
const present = files.filter((name) => existsSync(join(root, name)));

function prepare() {
  for (const name of present) cpSync(join(root, name), join(copy, name));
}

function assertUntouched() {
  for (const name of present) {
    assert.deepEqual(readFileSync(join(copy, name)), readFileSync(join(root, name)), name);
  }
}

test("the root crate is not a cdylib, which stops wasm-pack there", () => {
  const text = readFileSync(join(root, "Cargo.toml"), "utf8");
  assert.match(text, /^crate-type = \["rlib"\]$/m);
});

test("`wasm-pack build` at the root writes nothing", { skip }, () => {
  prepare();
  const { status, stderr } = spawnSync("wasm-pack", ["build"], { cwd: copy, env, encoding: "utf8" });
  assert.notEqual(status, 0);
  assert.match(stderr, /crate-type must be cdylib/);
  assertUntouched();
  assert.ok(!existsSync(join(copy, "pkg/.gitignore")));
});

test("`wasm-pack build pkg` writes a working package into pkg/pkg and nothing else", { skip }, () => {
  prepare();
  const { status, stderr } = spawnSync("wasm-pack", ["build", "pkg"], { cwd: copy, env, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assertUntouched();
  assert.equal(readFileSync(join(copy, "pkg/pkg/.gitignore"), "utf8"), "*");
  assert.match(readFileSync(join(copy, "pkg/pkg/ctxweave_wasm.d.ts"), "utf8"), /export function assembleDialogue/);
});
