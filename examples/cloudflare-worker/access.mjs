/**
 * Who may do what. The token of a request belongs to a principal and to prefixes of heads and trees. The service knows
 * hashes of tokens only.
 */

/** A rejected request, with its code. */
export class Refusal extends Error {
  constructor(code, message, details = {}) {
    super(message);
    Object.assign(this, { code, details });
  }
}

/** The operator, who may do everything. */
const OPERATOR = { name: "operator", isOperator: true };

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?|\[?::ffff:127(?:\.\d+){3}\]?)$/;

/** Headers with which proxies pass on a request of somebody else. */
const PROXIED = ["forwarded", "x-forwarded-for", "x-real-ip", "cf-ray"];

/**
 * Whether a request comes from this machine, and not from a page of somebody else in a browser on it; `address` is that
 * of the client, if the host knows it.
 */
export function isLocal(request, address) {
  const { hostname, origin } = new URL(request.url);
  return (
    [hostname, address ?? hostname].every((host) => LOOPBACK.test(host)) &&
    (request.headers.get("origin") ?? origin) === origin &&
    !PROXIED.some((name) => request.headers.has(name))
  );
}

/** The SHA-256 of a token in hexadecimal digits, under which a table has it. */
export async function hashOf(token) {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether two hashes are equal, in a time that does not depend on where they differ. */
function isEqual(one, other) {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

/**
 * The caller of a request. `token` is the operator's; `find` returns the `{ principal, heads }` of a hash, if the table
 * has it; `limit` reports whether a caller may send another request now. Without the operator's token, requests from this
 * machine are the operator's.
 */
export async function callerOf(request, { token, find, limit, isLocal: local }) {
  const [, given] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  const caller = given === undefined ? !token && local && OPERATOR : await known(given, token, find);
  if (!caller) throw new Refusal("unauthorized", "the request has no `authorization: Bearer …` with a known token");
  if (limit && !(await limit(caller.name))) throw new Refusal("rate_limited", "too many requests; try again later");
  return caller;
}

async function known(given, token, find) {
  const hash = await hashOf(given);
  if (token && isEqual(hash, await hashOf(token))) return OPERATOR;
  const { principal, heads } = (await find?.(hash)) ?? {};
  // An incomplete entry allows nothing.
  const isComplete = isName(principal) && Array.isArray(heads) && heads.every(isName);
  return isComplete && { name: principal, principal, prefixes: heads };
}

function isName(value) {
  return typeof value === "string" && value !== "";
}

/** Whether a caller may use a head or a tree of this name. */
export function mayUse({ isOperator, prefixes }, name) {
  return isOperator || prefixes.some((prefix) => name.startsWith(prefix));
}

/** Whether a commit is the caller's own. The operator owns all. */
export function isOwn({ isOperator, principal }, record) {
  return isOperator || record.principal === principal;
}

/** What the routes require of a caller. Each throws if it may not. */
export const allow = {
  everyone() {},
  name({ caller, head, tree }) {
    const name = head ?? tree;
    if (!mayUse(caller, name))
      throw new Refusal("forbidden", `\`${name}\` is not under a prefix of the token`, { name });
  },
  /** Reads: a caller's own commits, and those that its heads lead to. */
  reading: ({ caller, commits, id }) => mayRead(caller, commits, id),
  async changing({ caller, commits, id }) {
    if (!caller.isOperator && !isOwn(caller, await commits.show(id))) throw foreign(id);
  },
  principal({ caller, parameters }) {
    if (!isOwn(caller, parameters))
      throw new Refusal("forbidden", "the token belongs to another principal", { principal: parameters.principal });
  },
};

/** Walks the caller's heads only for a commit of another principal. */
export async function mayRead(caller, commits, id) {
  if (caller.isOperator || isOwn(caller, await commits.show(id))) return;
  const seen = new Set();
  for await (const { name, commit } of commits.heads()) {
    if (!mayUse(caller, name)) continue;
    for await (const record of commits.history(commit)) {
      if (record.id === id) return;
      // From here on the chain is that of an earlier head.
      if (seen.has(record.id)) break;
      seen.add(record.id);
    }
  }
  throw foreign(id);
}

function foreign(id) {
  return new Refusal("forbidden", `\`${id}\` is a commit of another principal`, { commit: id });
}
