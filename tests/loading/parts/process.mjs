/** Programs: run to completion, or while they are needed. */

import { spawn } from "node:child_process";
import { createServer } from "node:net";

/** An environment without network checks, progress bars or variables of other tests. */
export function quietly(more = {}) {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  return {
    ...env,
    CI: "1",
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    NEXT_TELEMETRY_DISABLED: "1",
    WRANGLER_SEND_METRICS: "false",
    DENO_NO_UPDATE_CHECK: "1",
    ...more,
  };
}

/** Runs a program; returns its output, or throws with it. */
export function run(program, args, { cwd, env, timeout = 300_000 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: quietly(env), stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (printed += data));
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(printed);
      else
        reject(
          new Error(`${[program.split("/").at(-1), ...args].join(" ")} exited with ${code}:\n${printed.slice(-3000)}`),
        );
    });
  });
}

/** Starts a server, waits until it answers, calls `use` with its address, and ends the process group. */
export async function served(program, args, { cwd, env, port, path = "/", timeout = 120_000 }, use) {
  // A separate group: servers start programs that outlive them.
  const child = spawn(program, args, { cwd, env: quietly(env), stdio: ["ignore", "pipe", "pipe"], detached: true });
  let printed = "";
  let ended = false;
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (printed += data));
  child.once("close", () => (ended = true));
  const address = `http://127.0.0.1:${port}`;
  try {
    const end = Date.now() + timeout;
    for (;;) {
      if (ended || Date.now() > end) throw new Error(`the server does not answer:\n${printed.slice(-3000)}`);
      const answered = await fetch(address + path, { signal: AbortSignal.timeout(60_000) }).then(
        (response) => response.arrayBuffer().then(() => true),
        () => false,
      );
      if (answered) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return await use(address);
  } catch (error) {
    throw new Error(`${error.message}\n--- output of the server:\n${printed.slice(-3000)}`, { cause: error });
  } finally {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

/** A free port. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
