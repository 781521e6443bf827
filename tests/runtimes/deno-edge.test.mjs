/**
 * The service of examples/deno-edge, started by the command in its README, in real Deno with Deno KV in a file: written
 * to, killed, restarted, read.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { folder, root } from "../packaging/packed.mjs";
import { serviceCommands } from "./readme.mjs";

const line = (content) => `${JSON.stringify({ role: "user", content })}\n`;

test("Deno: the service keeps everything that it acknowledged", { timeout: 300_000 }, async () => {
  const port = await new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
  const env = {
    ...process.env,
    PORT: `${port}`,
    KV: join(folder("deno-edge"), "kv.sqlite"),
    TOKEN: "secret",
    NO_COLOR: "1",
  };
  const { start: words, path, body } = serviceCommands("deno-edge");
  assert.deepEqual(words.splice(0, 3), ["npx", "deno", "run"]);
  // npm's launcher of Deno would be an extra process.
  const platform = `${process.platform}-${process.arch}`;
  const places = [platform, `${platform}-glibc`].map((name) => join(root, `node_modules/@deno/${name}/deno`));
  const executable = places.find((path) => existsSync(path));
  assert.ok(executable, "the binary of Deno");
  const ask = async (method, path, body, headers = { authorization: "Bearer secret" }) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body, headers });
    const text = await response.text();
    return {
      status: response.status,
      body: response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
    };
  };
  const start = async () => {
    const child = spawn(executable, ["run", "--quiet", "--no-prompt", ...words], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = new Promise((resolve) => child.on("exit", resolve));
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += text));
    for (let tries = 0; ; tries += 1) {
      try {
        await ask("GET", "/heads");
        break;
      } catch (error) {
        if (tries > 600 || child.exitCode !== null) throw new Error(printed, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    return { printed: () => printed, kill: async () => (child.kill("SIGKILL"), exited) };
  };
  const commit = (head, at, text, more = {}) => {
    const query = new URLSearchParams({
      format: "generic-v1",
      created_at: new Date(1_772_000_000_000 + at).toISOString(),
      principal: "@p",
      ...more,
    });
    return ask("POST", `/heads/${head}/commits?${query}`, text);
  };
  let service = await start();
  try {
    const large = line("a blob of several pieces ".repeat(10_000));
    const first = await commit("main", 0, large);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    const all = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        commit("main", at + 1, line(`m${at}`), { parent: first.body.id, ticket_id: "T/1" }),
      ),
    );
    assert.deepEqual([...new Set(all.map(({ status }) => status))], [201]);
    const summary = "a large question";
    assert.equal((await ask("PATCH", `/commits/${first.body.id}`, JSON.stringify({ summary }))).status, 200);
    assert.equal((await ask("PUT", "/heads/fork", JSON.stringify({ commit: all[7].body.id }))).status, 201);
    await service.kill();
    service = await start();
    const { commit: tip } = (await ask("GET", "/heads/main")).body;
    const { records } = (await ask("GET", `/commits/${tip}/history`)).body;
    assert.deepEqual(new Set(records.map(({ id }) => id)), new Set([first, ...all].map(({ body }) => body.id)));
    const said = new Set(all.map(({ body }) => body.id));
    for (const path of ["/tickets/T%2F1", "/unsummarized"]) {
      const listed = (await ask("GET", path)).body.records.map(({ id }) => id);
      assert.deepEqual([listed.length, new Set(listed)], [30, said], path);
    }
    assert.equal((await ask("GET", `/commits/${first.body.id}`)).body.summary, summary);
    const conversation = (await ask("GET", `/commits/${tip}/conversation`)).body;
    assert.ok(conversation.startsWith(large));
    assert.equal(conversation.length, large.length + all.reduce((sum, _, at) => sum + line(`m${at}`).length, 0));
    assert.equal((await ask("GET", "/heads/fork")).body.commit, all[7].body.id);
    assert.equal((await ask("GET", "/resolve?principal=@p&time=2027-01-01T00:00:00Z")).body.id, all[29].body.id);
    const tree = readFileSync(join(root, "examples/trees/story.json"));
    assert.equal((await ask("PUT", "/trees/story", tree)).status, 201);
    const options = {
      tip: JSON.parse(tree).nodes.at(-1).id,
      contextWindow: 4096,
      target: { provider: "openai", model: "gpt-4o" },
    };
    assert.ok((await ask("POST", "/trees/story/body", JSON.stringify(options))).body.messages.length > 0);
    const again = await commit("main", 0, large, { parent: "" });
    assert.equal(again.body.id, first.body.id, "asked again");
    assert.equal((await ask("POST", path, body)).status, 201, "the request of the README");
    assert.equal((await commit("main", 99, line("x"), { colour: "red" })).status, 400);
    assert.equal((await ask("GET", "/heads", undefined, {})).status, 401);
    assert.equal(service.printed().replace(/^Listening on .*\n/m, ""), "", "the console is silent");
  } finally {
    await service.kill();
  }
});
