/**
 * An agent-context service over HTTP, for any host with `Request` and `Response`. It keeps commits in a `CommitStore`,
 * and Loom trees next to them; README.md lists the routes.
 */

import * as chat from "ctxweave/chat";
import { timeKey } from "ctxweave/commits";
import { CtxweaveError, init } from "ctxweave/stores";
import * as loom from "ctxweave/loom";
import { allow, callerOf, isOwn, mayRead, mayUse, Refusal } from "./access.mjs";

/** Maximum size of a request body. It is held in memory, in addition to the objects made from it. */
const MAX_BODY_BYTES = { blob: 8_000_000, tree: 4_000_000, json: 1_000_000 };

/** The paths that take a query. */
const WITH_QUERY = [
  "/heads/:head/commits",
  "/commits/:id/history",
  "/commits/:id/conversation",
  "/unsummarized",
  "/tickets/:ticket",
  "/resolve",
];

/** Number of records per page. */
const PAGE = 100;

const STATUS = {
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  ambiguous_commit: 409,
  ambiguous_ref: 409,
  artifact_not_found: 404,
  commit_not_found: 404,
  head_conflict: 409,
  id_collision: 409,
  node_not_found: 404,
  store_busy: 503,
  store_failed: 503,
  // Damaged data or a fault of the service: the client cannot fix it.
  blob_mismatch: 500,
  blob_missing: 500,
  chain_cycle: 500,
  internal_error: 500,
  record_mismatch: 500,
};

/** The fields of a commit that the address may contain, and their parsers. */
const FIELDS = {
  format: String,
  created_at: String,
  parent: String,
  commit_type: String,
  checkpoint: String,
  template: String,
  principal: String,
  machine: String,
  session_id: String,
  ticket_id: String,
  thread_id: String,
  summary: String,
  message_count: Number,
  token_count: Number,
};

/** The most recently used trees: a resident tree is assembled without being read again. */
const trees = new Map();
const TREES = 8;

const routes = [
  [
    "GET",
    "/heads",
    allow.everyone,
    async ({ commits, caller }) => {
      const heads = [];
      for await (const head of commits.heads()) if (mayUse(caller, head.name)) heads.push(head);
      return Response.json({ heads });
    },
  ],
  [
    "GET",
    "/heads/:head",
    allow.name,
    async ({ commits, head }) => {
      const commit = await commits.head(head);
      if (commit === undefined) throw new Refusal("not_found", `unknown head \`${head}\``, { head });
      return Response.json({ name: head, commit });
    },
  ],
  // A fork: a new head at an existing commit.
  [
    "PUT",
    "/heads/:head",
    allow.name,
    async ({ commits, caller, head, request }) => {
      const { commit } = fields(await json(request), ["commit"]);
      await mayRead(caller, commits, text(commit, "commit"));
      await commits.fork(commit, head);
      return Response.json({ name: head, commit }, { status: 201 });
    },
  ],
  [
    "DELETE",
    "/heads/:head",
    allow.name,
    async ({ commits, head }) => {
      await commits.dropHead(head);
      return new Response(null, { status: 204 });
    },
  ],
  // A checkpoint: the body holds the messages, the address the fields of the commit.
  [
    "POST",
    "/heads/:head/commits",
    allow.name,
    async ({ commits, caller, head, query, request }) => {
      const { on_conflict: onConflict, ...given } = query([...Object.keys(FIELDS), "on_conflict"]);
      if (!caller.isOperator) given.principal ??= caller.principal;
      allow.principal({ caller, parameters: given });
      if (given.parent) await mayRead(caller, commits, given.parent);
      const said = Object.entries(given).map(([name, value]) => [name, FIELDS[name](value)]);
      const blob = await body(request, MAX_BODY_BYTES.blob);
      const stored = await commits.checkpoint(
        head,
        Object.fromEntries(said),
        blob,
        onConflict === undefined ? {} : { onConflict },
      );
      return Response.json(stored, { status: 201 });
    },
  ],
  ["GET", "/commits/:id", allow.reading, async ({ commits, id }) => Response.json(await commits.show(id))],
  [
    "PATCH",
    "/commits/:id",
    allow.changing,
    async ({ commits, id, request }) => Response.json(await commits.updateMetadata(id, await json(request))),
  ],
  [
    "GET",
    "/commits/:id/history",
    allow.reading,
    async ({ commits, id, query }) => {
      const depth = Number(query(["depth"]).depth ?? 0);
      const records = [];
      // A store takes 0 for no limit.
      for await (const record of commits.history(id, { depth: depth === 0 ? PAGE : Math.min(depth, PAGE) }))
        records.push(record);
      // Where the next page begins, if there is one.
      return Response.json({ records, next: records.at(-1)?.parent });
    },
  ],
  [
    "GET",
    "/commits/:id/conversation",
    allow.reading,
    async ({ commits, id, query, request }) => {
      const { cross_family: crossFamily, ...rest } = query(["stop", "format", "cross_family"]);
      const asked = { commit: id, ...rest, ...(crossFamily !== undefined && { crossFamily }) };
      const { plan, stream } = await commits.materializeStream(asked);
      const headers = {
        etag: `"${plan.cacheKey}"`,
        "content-type": "application/octet-stream",
        "x-format": plan.format,
      };
      if (request.headers.get("if-none-match") !== headers.etag) return new Response(stream, { headers });
      await stream.cancel();
      return new Response(null, { status: 304, headers });
    },
  ],
  // For summaries in batches: what lacks one, and all of a ticket.
  [
    "GET",
    "/unsummarized",
    allow.everyone,
    async ({ commits, caller, query }) => page(caller, commits, commits.lackingSummary(), query),
  ],
  [
    "GET",
    "/tickets/:ticket",
    allow.everyone,
    async ({ commits, caller, ticket, query }) => page(caller, commits, commits.byTicket(ticket), query),
  ],
  [
    "GET",
    "/resolve",
    allow.principal,
    async ({ commits, query }) => {
      const { principal, time } = query(["principal", "time"]);
      const record = await commits.resolve(text(principal, "principal"), text(time, "time"));
      if (!record) throw new Refusal("not_found", "the principal had no commit at that time", { principal, time });
      return Response.json(record);
    },
  ],
  [
    "POST",
    "/fit",
    allow.everyone,
    async ({ request }) => {
      const { messages, options } = fields(await json(request), ["messages", "options"]);
      await chat.init();
      return Response.json(chat.fitMessages(messages, options));
    },
  ],
  [
    "PUT",
    "/trees/:tree",
    allow.name,
    async ({ blobs, tree, request }) => {
      const bytes = await body(request, MAX_BODY_BYTES.tree);
      await loom.init();
      // Validates the tree.
      new loom.LoomTree(bytes).free();
      await blobs.put(treeKey(tree), bytes);
      forget(tree);
      return Response.json({ tree }, { status: 201 });
    },
  ],
  // The body for a provider, from a stored tree.
  [
    "POST",
    "/trees/:tree/body",
    allow.name,
    async ({ blobs, tree, request }) => {
      const options = await json(request);
      await loom.init();
      const bytes = (await treeOf(blobs, tree)).requestBody(options);
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    },
  ],
].map(routeOf);

/** A route of the table, whose third column is the rule that a caller must pass. */
export function routeOf([method, path, allowed, answer]) {
  if (!Object.values(allow).includes(allowed)) throw new Error(`\`${method} ${path}\` has no rule of access`);
  return { method, path: path.split("/"), allowed, answer };
}

/** The methods and paths of all routes. */
export const ROUTES = routes.map(({ method, path }) => ({ method, path: path.join("/") }));

/**
 * A page of the caller's own records, after the commit `after`; `next` is that commit for the next page. It may have
 * left the list by then, so its place is that of its time and id.
 */
async function page(caller, commits, records, query) {
  const { after } = query(["after"]);
  const last = after === undefined ? undefined : await commits.show(after);
  if (last) await mayRead(caller, commits, after);
  const found = [];
  for await (const record of records) {
    if (isOwn(caller, record) && (!last || isAfter(record, last))) found.push(record);
    if (found.length > PAGE) break;
  }
  return Response.json({ records: found.slice(0, PAGE), next: found.length > PAGE ? found[PAGE - 1].id : undefined });
}

/** Whether a record of a list, which is by time, then id, comes after another one. */
function isAfter(record, other) {
  // Keys of later times sort first.
  const [key, otherKey] = [timeKey(record.created_at), timeKey(other.created_at)];
  return key === otherKey ? record.id > other.id : key < otherKey;
}

function treeKey(tree) {
  return `trees/${encodeURIComponent(tree)}`;
}

function forget(tree) {
  trees.get(tree)?.resident.free();
  trees.delete(tree);
}

/** The tree, from memory if the stored one is unchanged. */
async function treeOf(blobs, tree) {
  const bytes = await blobs.get(treeKey(tree));
  if (!bytes) throw new Refusal("not_found", `unknown tree \`${tree}\``, { tree });
  const known = trees.get(tree);
  if (known && known.bytes.length === bytes.length && known.bytes.every((byte, at) => byte === bytes[at]))
    return known.resident;
  forget(tree);
  for (const oldest of [...trees.keys()].slice(0, Math.max(0, trees.size - TREES + 1))) forget(oldest);
  const resident = new loom.LoomTree(bytes);
  trees.set(tree, { bytes, resident });
  return resident;
}

/**
 * Answers a request. `commits` is a `CommitStore`; `blobs` has `get` and `put` for the trees; `access` is what
 * `callerOf` takes.
 */
export async function answer(request, { commits, blobs, access = {} }) {
  try {
    const caller = await callerOf(request, access);
    await init();
    const url = new URL(request.url);
    const names = url.pathname.split("/").map((name) => decoded(name));
    const fitting = routes.filter(({ path }) => matches(path, names));
    if (fitting.length === 0) throw new Refusal("not_found", `unknown path \`${url.pathname}\``);
    const route = fitting.find(({ method }) => method === request.method);
    if (!route) throw new Refusal("method_not_allowed", `\`${url.pathname}\` does not support \`${request.method}\``);
    const given = Object.fromEntries(
      route.path.flatMap((name, at) => (name.startsWith(":") ? [[name.slice(1), names[at]]] : [])),
    );
    const parameters = parametersOf(url);
    const query = (known) => fields({ ...parameters }, known);
    if (!WITH_QUERY.includes(route.path.join("/"))) query([]);
    const context = { ...given, caller, parameters, query, request, commits, blobs };
    await route.allowed(context);
    return await route.answer(context);
  } catch (error) {
    return failed(error);
  }
}

function matches(path, names) {
  return (
    path.length === names.length &&
    path.every((name, at) => (name.startsWith(":") ? names[at] !== "" : name === names[at]))
  );
}

/** The parameters of the address. A rule and its route must not read different values, so none may be given twice. */
function parametersOf({ searchParams }) {
  const twice = [...searchParams.keys()].find((name) => searchParams.getAll(name).length > 1);
  if (twice !== undefined)
    throw new CtxweaveError("invalid_input", `\`${twice}\` is given twice; pass it once`, { path: twice });
  return Object.fromEntries(searchParams);
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new CtxweaveError("invalid_input", `\`${name}\` in the address is not correctly encoded`, {
      path: name,
    });
  }
}

/** The error as JSON, with its code: status 400 unless the client cannot fix it. */
function failed(error) {
  const known = error instanceof CtxweaveError || error instanceof Refusal;
  const { code, message, details } = known ? error : { code: "internal_error", message: "internal error", details: {} };
  if (!known) console.error(error);
  const status = STATUS[code] ?? 400;
  const headers = status === 503 || status === 429 ? { "retry-after": "1" } : {};
  return Response.json({ error: { code, message, details } }, { status, headers });
}

/** The body of a request, up to a maximum size. */
async function body(request, most) {
  const tooLarge = () => new Refusal("too_large", `the body may have at most ${most} bytes`, { most });
  if (Number(request.headers.get("content-length")) > most) throw tooLarge();
  const pieces = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > most) throw tooLarge();
    pieces.push(piece);
  }
  if (pieces.length === 1) return pieces[0];
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

async function json(request) {
  const bytes = await body(request, MAX_BODY_BYTES.json);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new CtxweaveError("invalid_input", `the body is not JSON: ${error.message}`, { path: "body" });
  }
}

/** An object with no other fields than these. */
function fields(object, known) {
  if (typeof object !== "object" || object === null)
    throw new CtxweaveError("invalid_input", "the body must be an object", { path: "body" });
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown === undefined) return object;
  const all = known.length > 0 ? `known are \`${known.join("`, `")}\`` : "none are known";
  throw new CtxweaveError("invalid_input", `\`${unknown}\` is unknown; ${all}`, { path: unknown });
}

function text(value, path) {
  if (typeof value !== "string" || value === "")
    throw new CtxweaveError("invalid_input", `\`${path}\` must be a text`, { path });
  return value;
}
