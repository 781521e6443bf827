/** Runs an example like a new user: its folder, copied, and the commands of its README, with the packed package. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pack, root } from "../packaging/packed.mjs";

// Keeps next from asking about telemetry at its first start.
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", npm_config_prefer_offline: "true", NO_COLOR: "1" };
delete env.FORCE_COLOR;

/**
 * Installs the example by the first command of its README; returns the second one: `{ dir, command, readme, remove }`.
 */
export function installedExample(name) {
  const readme = readFileSync(join(root, "examples", name, "README.md"), "utf8");
  const commands = /^```sh\n([\s\S]*?)^```/m.exec(readme)[1].trim().split("\n");
  assert.equal(commands.length, 2, "one command installs, one runs");
  const [install, command] = commands;
  const scratch = join(root, "target/examples");
  mkdirSync(scratch, { recursive: true });
  const dir = mkdtempSync(join(scratch, `${name}-`));
  const isOurs = (path) => !["node_modules", ".next", "dist", "package-lock.json"].includes(basename(path));
  cpSync(join(root, "examples", name), dir, { recursive: true, filter: isOurs });
  const packed = pack();
  const manifest = join(dir, "package.json");
  const text = readFileSync(manifest, "utf8");
  assert.match(text, /"ctxweave": "file:\.\.\/\.\.\/pkg"/, "in a clone it uses the package built there");
  writeFileSync(manifest, text.replace("file:../../pkg", `file:${packed.tarball}`));
  const { status, stdout, stderr } = spawnSync(install, { cwd: dir, env, shell: true, encoding: "utf8" });
  packed.remove();
  assert.equal(status, 0, stdout + stderr);
  return {
    dir,
    command,
    readme,
    remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  };
}

/** Runs the example to its end; returns its output. */
export function output({ dir, command }) {
  const { status, stdout, stderr } = spawnSync(command, {
    cwd: dir,
    env,
    shell: true,
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

/** Starts a server, calls `action` with the address that it prints, and stops it. */
export async function served({ dir, command }, action) {
  // A separate process group, so that processes started by npm end, too.
  const server = spawn(command, { cwd: dir, env, shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const address = await new Promise((found, failed) => {
      let said = "";
      const hear = (chunk) => {
        said += chunk;
        const address = /https?:\/\/localhost:\d+\/?/.exec(said)?.[0];
        if (address) found(address);
      };
      server.stdout.on("data", hear);
      server.stderr.on("data", hear);
      server.on("exit", (code) => failed(new Error(`it exited with ${code}:\n${said}`)));
    });
    return await action(address);
  } finally {
    await endGroup(server.pid);
  }
}

/** Ends all processes of a group. Those that npm started may outlive it, and still write. */
async function endGroup(group) {
  const signal = (name) => {
    try {
      return process.kill(-group, name);
    } catch {
      return false;
    }
  };
  signal("SIGTERM");
  for (let waited = 0; waited < 20_000 && signal(0); waited += 50) {
    if (waited === 10_000) signal("SIGKILL");
    await setTimeout(50);
  }
}
