/** docs/quick-start.md, followed in an empty folder with the package as it is packed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pack, root } from "../packaging/packed.mjs";

const page = readFileSync(join(root, "docs/quick-start.md"), "utf8");
const env = { ...process.env, npm_config_prefer_offline: "true", NO_COLOR: "1" };
const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

test("the quick start leads from an empty folder to what it prints", () => {
  const scratch = join(root, "target/examples");
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "quick-start-"));
  const packed = pack();
  const run = (command, cwd) => {
    const { status, stdout, stderr } = spawnSync(command, {
      cwd,
      env,
      shell: true,
      encoding: "utf8",
      timeout: 120_000,
    });
    assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
    return stdout;
  };
  try {
    const [, setup] = /^```sh\n([^]*?)^```/m.exec(page);
    // The package of this clone, and the version of TypeScript that is installed here.
    const commands = setup
      .replace("npm install ctxweave", `npm install --no-audit --no-fund ${packed.tarball}`)
      .replace("--save-dev typescript", `--save-dev --no-audit --no-fund typescript@${devDependencies.typescript}`);
    assert.match(commands, /install.*\.tgz\n.*typescript@/);
    run(commands.trim().split("\n").join(" && "), folder);
    const dir = join(folder, /^mkdir (\w+)$/m.exec(setup)[1]);
    const files = [...page.matchAll(/`([\w.]+)`:\n\n```(?:json|ts)\n([^]*?)^```/gm)];
    for (const [, name, text] of files) writeFileSync(join(dir, name), text);
    const shown = [...page.matchAll(/^`([^`]+)` prints:\n\n```text\n([^]*?)^```/gm)];
    assert.deepEqual([files.length, shown.length], [4, 3]);
    for (const [, command, printed] of shown) assert.equal(run(command, dir), printed, command);
  } finally {
    packed.remove();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
});
