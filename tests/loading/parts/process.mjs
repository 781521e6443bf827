/** Programs: run to the end, or until something has been asked of them. */

import { spawn } from "node:child_process";
import { createServer } from "node:net";

/** An environment in which nothing asks the network, shows a bar or hears of other tests. */
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

/** Runs a program; gives what it prints, or throws with that. */
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
          new Error(`${[program.split("/").at(-1), ...args].join(" ")} ended with ${code}:\n${printed.slice(-3000)}`),
        );
    });
  });
}

/** Starts a server, waits until it answers, calls `use` with its address, and ends all of it. */
export async function served(program, args, { cwd, env, port, path = "/", timeout = 120_000 }, use) {
  // A group of its own: servers start programs that outlive them.
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
    throw new Error(`${error.message}\n--- the server said:\n${printed.slice(-3000)}`, { cause: error });
  } finally {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

/** A port that nobody listens to. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
