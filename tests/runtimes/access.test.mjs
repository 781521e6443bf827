/**
 * Who may do what in examples/cloudflare-worker and examples/deno-edge: every route as nobody, with a forged token, as
 * another principal and as the owner, in this process, in workerd with D1 and in Deno with Deno KV.
 */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, root } from "../packaging/packed.mjs";

const example = join(root, "examples/cloudflare-worker");
const require = createRequire(join(example, "worker.mjs"));
const load = (name) => import(pathToFileURL(require.resolve(name).replace(/\.cjs$/, ".js")));
const stores = await load("ctxweave/stores");
const { answer, routeOf, ROUTES } = await import(pathToFileURL(join(example, "routes.mjs")));
const { hashOf, isLocal } = await import(pathToFileURL(join(example, "access.mjs")));

const TOKENS = { iris: "token-of-iris", mallory: "token-of-mallory" };
const OPERATOR = "token-of-the-operator";
const entries = await Promise.all(
  Object.entries(TOKENS).map(async ([name, token]) => [
    await hashOf(token),
    { principal: `@${name}`, heads: [`${name}/`] },
  ]),
);

const line = (content) => `${JSON.stringify({ role: "user", content })}\n`;
const tree = readFileSync(join(root, "examples/trees/story.json"));
const bodyOptions = JSON.stringify({
  tip: JSON.parse(tree).nodes.at(-1).id,
  contextWindow: 4096,
  target: { provider: "openai", model: "gpt-4o" },
});
const commitOf = (head, more = {}) =>
  `/heads/${encodeURIComponent(head)}/commits?${new URLSearchParams({ format: "generic-v1", created_at: "2026-03-01T09:00:00Z", ...more })}`;

/** A request for each route, about something of Iris. */
function requests(commit) {
  const main = `/heads/${encodeURIComponent("iris/main")}`;
  const story = `/trees/${encodeURIComponent("iris/story")}`;
  return {
    "GET /heads": { path: "/heads", lists: true },
    "GET /heads/:head": { path: main },
    "PUT /heads/:head": { path: `/heads/${encodeURIComponent("iris/fork")}`, body: JSON.stringify({ commit }) },
    "POST /heads/:head/commits": {
      path: commitOf("iris/main", { created_at: "2026-03-02T09:00:00Z" }),
      body: line("b"),
    },
    "GET /commits/:id": { path: `/commits/${commit}` },
    "PATCH /commits/:id": { path: `/commits/${commit}`, body: JSON.stringify({ summary: "s" }) },
    "GET /commits/:id/history": { path: `/commits/${commit}/history` },
    "GET /commits/:id/conversation": { path: `/commits/${commit}/conversation` },
    "GET /unsummarized": { path: "/unsummarized", lists: true },
    "GET /tickets/:ticket": { path: "/tickets/T-1", lists: true },
    "GET /resolve": { path: "/resolve?principal=@iris&time=2027-01-01T00:00:00Z" },
    "POST /fit": { path: "/fit", body: JSON.stringify({ messages: [], options: { maxTokens: 10 } }), isShared: true },
    "PUT /trees/:tree": { path: story, body: tree },
    "POST /trees/:tree/body": { path: story + "/body", body: bodyOptions },
    "DELETE /heads/:head": { path: `/heads/${encodeURIComponent("iris/fork")}` },
  };
}

/** Every route as everyone. `ask` sends a request with a token. */
async function everyRoute(ask) {
  const first = await ask("POST", commitOf("iris/main", { ticket_id: "T-1" }), TOKENS.iris, line("a"));
  assert.equal(first.status, 201, first.text);
  const { id } = JSON.parse(first.text);
  const all = requests(id);
  const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(Object.keys(all).sort(), names.sort(), "a request for each route");
  for (const [name, { path, body, lists, isShared }] of Object.entries(all)) {
    const [method] = name.split(" ");
    const as = (token) => ask(method, path, token, body);
    for (const token of [undefined, "", "forged", `${TOKENS.iris}x`, TOKENS.iris.slice(0, -1)]) {
      assert.equal((await as(token)).status, 401, `${name} with ${token}`);
    }
    const other = await as(TOKENS.mallory);
    if (lists) assert.doesNotMatch(other.text, /iris|[0-9a-f]{64}/, name);
    assert.equal(other.status, lists || isShared ? 200 : 403, `${name}: ${other.text}`);
    const own = await as(TOKENS.iris);
    assert.ok(own.status < 300, `${name}: ${own.text}`);
    if (lists) assert.match(own.text, /iris/, name);
  }
  await noWayAround(ask, id);
}

/** The ways to another's commit that do not name its head. */
async function noWayAround(ask, id) {
  const mine = encodeURIComponent("mallory/main");
  const before = await ask("GET", `/heads/${encodeURIComponent("iris/main")}`, TOKENS.iris);
  const tries = [
    ["PUT", `/heads/${mine}`, JSON.stringify({ commit: id })],
    ["POST", commitOf("mallory/main", { parent: id }), line("c")],
    ["POST", commitOf("mallory/main", { principal: "@iris" }), line("c")],
    ["POST", commitOf("iris", {}), line("c")],
    ["POST", commitOf("mallory", {}), line("c")],
    ["PUT", "/trees/story", tree],
    ["GET", "/resolve?principal=@iris&time=2027-01-01T00:00:00Z"],
  ];
  for (const [method, path, body] of tries) {
    const { status, text } = await ask(method, path, TOKENS.mallory, body);
    assert.equal(status, 403, `${method} ${path}: ${text}`);
  }
  for (const [one, two] of [
    ["@mallory", "@iris"],
    ["@iris", "@mallory"],
  ]) {
    const { status, text } = await ask(
      "GET",
      `/resolve?principal=${one}&principal=${two}&time=2027-01-01T00:00:00Z`,
      TOKENS.mallory,
    );
    assert.equal(status, 400, `a parameter given twice: ${text}`);
  }
  const own = await ask("POST", commitOf("mallory/main"), TOKENS.mallory, line("d"));
  assert.equal(own.status, 201, own.text);
  assert.equal((await ask("GET", `/commits/${JSON.parse(own.text).id}`, TOKENS.iris)).status, 403);
  assert.equal((await ask("GET", `/commits/${id}`, OPERATOR)).status, 200);
  // A commit that the operator gave it is readable, not changeable.
  assert.equal(
    (await ask("PUT", `/heads/${encodeURIComponent("mallory/given")}`, OPERATOR, JSON.stringify({ commit: id })))
      .status,
    201,
  );
  assert.equal((await ask("GET", `/commits/${id}/conversation`, TOKENS.mallory)).status, 200);
  assert.equal((await ask("PATCH", `/commits/${id}`, TOKENS.mallory, JSON.stringify({ summary: "x" }))).status, 403);
  const after = await ask("GET", `/heads/${encodeURIComponent("iris/main")}`, TOKENS.iris);
  assert.equal(after.text, before.text);
}

const asker = (base) => async (method, path, token, body) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const send = () => fetch(new URL(path, base), { method, headers, body });
  // A kept connection may be closed just as it is used again; nothing was read from it then.
  const response = await send().catch((error) => (error.cause?.code === "ECONNRESET" ? send() : Promise.reject(error)));
  return { status: response.status, text: await response.text() };
};

/** Waits until the service answers. */
async function answering(ask, isRunning = () => true) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask("GET", "/heads");
    } catch (error) {
      if (tries > 600 || !isRunning()) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function inProcess(access, table = new Map(entries)) {
  const store = stores.memoryStore();
  const context = { commits: new stores.CommitStore(store), blobs: store };
  return async (method, path, token, body, address = "https://service.example") => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = new Request(new URL(path, address), { method, headers, body });
    const response = await answer(request, {
      ...context,
      access: { find: async (hash) => table.get(hash), isLocal: isLocal(request), ...access },
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
}

test("every route, in this process", () => everyRoute(inProcess({ token: OPERATOR })));

test("without the operator's token only this machine is served", async () => {
  const ask = inProcess({});
  assert.equal((await ask("GET", "/heads", undefined, undefined, "http://127.0.0.1:8787")).status, 200);
  assert.equal((await ask("GET", "/heads")).status, 401);
  assert.equal((await ask("GET", "/heads", TOKENS.iris)).status, 200);
  assert.equal((await ask("GET", "/heads", "forged", undefined, "http://127.0.0.1:8787")).status, 401);
  const local = (url, address, headers) => isLocal(new Request(url, { headers }), address);
  assert.ok(local("http://localhost:1/", "127.0.0.1"));
  assert.ok(local("http://[::1]:1/", "::1"));
  assert.ok(!local("http://localhost:1/", "10.0.0.7"));
  assert.ok(!local("http://service.example/", "127.0.0.1"), "a proxy, or another name for this machine");
  assert.ok(!local("http://127.0.0.1/", "127.0.0.1", { "x-forwarded-for": "10.0.0.7" }));
  assert.ok(!local("http://127.0.0.1.service.example/", "127.0.0.1"));
  assert.ok(local("http://127.0.0.1:1/", "127.0.0.1", { origin: "http://127.0.0.1:1" }));
  for (const origin of ["https://other.example", "null", "http://127.0.0.1:2"])
    assert.ok(!local("http://127.0.0.1:1/", "127.0.0.1", { origin }), `a page of ${origin} in a browser`);
});

test("an incomplete entry of the table is an unknown token", async () => {
  const wrong = [
    { principal: "@iris" },
    { heads: ["iris/"] },
    { principal: "", heads: ["iris/"] },
    { principal: "@iris", heads: "iris/" },
    { principal: "@iris", heads: [""] },
    { principal: "@iris", heads: [7] },
    {},
  ];
  for (const entry of wrong) {
    const ask = inProcess({ token: OPERATOR }, new Map([[await hashOf("wrong"), entry]]));
    assert.equal((await ask("GET", "/heads", "wrong")).status, 401, JSON.stringify(entry));
  }
});

test("agents with a common prefix read and continue what its heads lead to", async () => {
  const shared = new Map(entries.map(([hash, entry]) => [hash, { ...entry, heads: [...entry.heads, "shared/"] }]));
  const ask = inProcess({ token: OPERATOR }, shared);
  const stored = async (token, head, more, content) => {
    const { status, text } = await ask("POST", commitOf(head, more), token, line(content));
    assert.equal(status, 201, text);
    return JSON.parse(text).id;
  };
  const first = await stored(TOKENS.mallory, "shared/a", {}, "one");
  const answered = { parent: first, created_at: "2026-03-01T09:01:00Z" };
  const second = await stored(TOKENS.iris, "shared/a", answered, "two");
  assert.equal(await stored(TOKENS.iris, "shared/a", answered, "two"), second, "the same request again");
  for (const path of [`/commits/${first}/history`, `/commits/${first}/conversation`]) {
    assert.equal((await ask("GET", path, TOKENS.iris)).status, 200, path);
  }
  // Mallory continues from the same commit at a head of its own.
  const forked = await ask(
    "PUT",
    `/heads/${encodeURIComponent("mallory/a")}`,
    TOKENS.mallory,
    JSON.stringify({ commit: first }),
  );
  assert.equal(forked.status, 201, forked.text);
  const secret = await stored(
    TOKENS.mallory,
    "mallory/a",
    { parent: first, created_at: "2026-03-01T09:02:00Z" },
    "three",
  );
  assert.equal((await ask("GET", `/commits/${secret}`, TOKENS.iris)).status, 403);
  assert.equal((await ask("PATCH", `/commits/${first}`, TOKENS.iris, JSON.stringify({ summary: "s" }))).status, 403);
  assert.equal((await ask("DELETE", `/heads/${encodeURIComponent("shared/a")}`, TOKENS.iris)).status, 204);
  assert.equal((await ask("GET", `/commits/${first}`, TOKENS.iris)).status, 403, "no head leads to it any more");
});

test("a route without a rule is refused when the service starts", () => {
  const handler = async () => Response.json({});
  assert.throws(() => routeOf(["GET", "/new", handler]), /`GET \/new` has no rule/);
  assert.throws(() => routeOf(["GET", "/new", handler, handler]), /`GET \/new` has no rule/);
});

test("a caller over its rate is asked to wait", async () => {
  const asked = [];
  const limit = async (name) => asked.push(name) < 3;
  const ask = inProcess({ token: OPERATOR, limit });
  const statuses = [];
  for (let at = 0; at < 3; at += 1) statuses.push((await ask("GET", "/heads", TOKENS.iris)).status);
  assert.deepEqual(statuses, [200, 200, 429]);
  assert.deepEqual(asked, ["@iris", "@iris", "@iris"]);
  assert.equal((await ask("GET", "/heads", "forged")).status, 401, "before the limit");
});

/** Without a token: requests of this machine only, and none that a page or a proxy passes on. */
async function onlyThisMachine(url) {
  const status = async (headers) => {
    const response = await fetch(new URL("/heads", url), { headers });
    await response.text();
    return response.status;
  };
  assert.equal(await status({}), 200);
  for (const headers of [
    { origin: "https://other.example" },
    { "x-forwarded-for": "10.0.0.7" },
    { authorization: "Bearer x" },
  ])
    assert.equal(await status(headers), 401, JSON.stringify(headers));
}

test("without a token, and with Cloudflare's limit, in workerd", { timeout: 300_000 }, async () => {
  const { serve } = await import(pathToFileURL(join(example, "serve.mjs")));
  const ratelimits = { LIMITER: { simple: { limit: 5, period: 60 } } };
  const { miniflare, url } = await serve({ data: folder("access-local"), ratelimits });
  try {
    const ask = asker(url);
    await answering(ask);
    await onlyThisMachine(url);
    const statuses = [];
    // A minute may end in between, once.
    for (let at = 0; at < 12; at += 1) statuses.push((await ask("GET", "/heads")).status);
    assert.ok(statuses.includes(429), String(statuses));
    assert.deepEqual(
      statuses.filter((status) => status !== 200 && status !== 429),
      [],
    );
  } finally {
    await miniflare.dispose();
  }
});

test("every route, in workerd", { timeout: 300_000 }, async () => {
  const { serve } = await import(pathToFileURL(join(example, "serve.mjs")));
  const { miniflare, url } = await serve({ data: folder("access-worker"), bindings: { TOKEN: OPERATOR } });
  try {
    const database = await miniflare.getD1Database("COMMITS");
    for (const [hash, { principal, heads }] of entries) {
      const insert = database.prepare("INSERT INTO tokens (hash, principal, heads) VALUES (?, ?, ?)");
      await insert.bind(hash, principal, JSON.stringify(heads)).run();
    }
    const ask = asker(url);
    await answering(ask);
    await everyRoute(ask);
  } finally {
    await miniflare.dispose();
  }
});

/** The service in Deno, with the table in its database. */
async function inDeno(more, action) {
  const platform = `${process.platform}-${process.arch}`;
  const places = [platform, `${platform}-glibc`].map((name) => join(root, `node_modules/@deno/${name}/deno`));
  const deno = places.find((path) => existsSync(path));
  assert.ok(deno, "the binary of Deno");
  const port = await new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
  const KV = join(folder("access-deno"), "kv.sqlite");
  const { TOKEN: _, ...outer } = process.env;
  const env = { ...outer, PORT: `${port}`, KV, NO_COLOR: "1", ...more };
  const script = `const kv = await Deno.openKv(Deno.env.get("KV"));
for (const [hash, entry] of ${JSON.stringify(entries)}) await kv.set(["tokens", hash], entry);
kv.close();`;
  execFileSync(deno, ["eval", "--unstable-kv", script], { cwd: root, env });
  const words = ["--unstable-kv", "--unstable-cron", "--allow-net", "--allow-env", "--allow-read", "--allow-write"];
  const child = spawn(deno, ["run", "--quiet", "--no-prompt", ...words, "examples/deno-edge/main.mjs"], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  try {
    const url = `http://127.0.0.1:${port}`;
    await answering(asker(url), () => child.exitCode === null);
    await action(url);
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}

test("every route, in Deno", { timeout: 300_000 }, () => inDeno({ TOKEN: OPERATOR }, (url) => everyRoute(asker(url))));

test("without a token, in Deno", { timeout: 300_000 }, () => inDeno({}, onlyThisMachine));
