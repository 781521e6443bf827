/**
 * Hostile names, ids and prefixes: nothing is read, listed or moved besides what was named. With nothing but the language
 * and the package, because it runs in all runtimes with a store.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function same(actual, expected, what) {
  const [one, other] = [actual, expected].map((value) => JSON.stringify(value) ?? "undefined");
  if (one !== other) throw new Error(`${what}: ${one.slice(0, 600)} and not ${other.slice(0, 600)}`);
}

const PIECES = [
  "'",
  '"',
  "`",
  "%",
  "_",
  "/",
  ".",
  "..",
  "../",
  "\\",
  "\0",
  "\n",
  " ",
  "*",
  "?",
  "#",
  "&",
  "<Key>",
  "&lt;",
  "~",
  "\u007f",
  "%00",
  "%2F",
  "%2e%2e",
  "heads/",
  "../records/",
  "' OR '1'='1",
  "'; DROP TABLE ctxweave; --",
  "$1",
  "\u00e9",
  "e\u0301",
  "\ufb01",
  "fi",
  "\u{1f600}",
  "\uffff",
  "a",
  "A",
  "=41",
];

/** Names that are easily taken for one another. */
function namesOf(random, count) {
  const pick = () => PIECES[Math.floor(random() * PIECES.length)];
  const names = new Set([
    ".",
    "..",
    "a",
    "A",
    "%2E",
    "a/b",
    "a%2Fb",
    "\u00e9",
    "e\u0301",
    "x".repeat(256),
    "\u754c".repeat(256),
  ]);
  while (names.size < count) names.add(Array.from({ length: 1 + Math.floor(random() * 3) }, pick).join(""));
  return [...names];
}

/** Names like a name, which are other names. */
function neighbors(name) {
  const forms = ["NFC", "NFD", "NFKC"].map((form) => name.normalize(form));
  const coded = [encodeURIComponent(name), name.toLowerCase(), name.toUpperCase(), `${name}/`, `/${name}`, `${name}\0`];
  return [...forms, ...coded, name.slice(0, -1), `${name}%`, `./${name}`].filter((other) => other !== name);
}

const attempt = async (action) => {
  try {
    return { value: await action() };
  } catch (error) {
    return { code: error.code ?? String(error) };
  }
};

async function collected(generator) {
  const found = [];
  for await (const item of generator) found.push(item);
  return found;
}

const byName = (one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);

/**
 * Heads, tickets, principals and ids with hostile names, compared with a map in memory. `longest` is the length of the
 * encoded names that the store must accept.
 */
export async function hostileNames(
  stores,
  store,
  random,
  { names: count = 16, others = 3, longest = Number.POSITIVE_INFINITY } = {},
) {
  const commits = new stores.CommitStore(store, { delay: 1, retries: 0 });
  const names = namesOf(random, count);
  // Some of them: servers take time.
  const some = (name) =>
    neighbors(name)
      .sort(() => random() - 0.5)
      .slice(0, others);
  const heads = new Map();
  const all = () => collected(commits.heads()).then((found) => found.sort(byName));
  const expected = () => [...heads].map(([name, commit]) => ({ name, commit })).sort(byName);
  for (const [at, name] of names.entries()) {
    const request = {
      format: "generic-v1",
      created_at: new Date(1_700_000_000_000 + at * 1000).toISOString(),
      principal: name,
      ticket_id: name,
      thread_id: `${name}/`,
      session_id: `${name}${"long ".repeat(500)}`,
    };
    const blob = encoder.encode(`${JSON.stringify({ role: "user", content: `${at}` })}\n`);
    const { value, code } = await attempt(() => commits.checkpoint(name, request, blob));
    if (value) heads.set(name, value.id);
    else {
      // Longer than the keys of this store: a host's limit, after which nothing has changed.
      same([code, encodeURIComponent(name).length > longest], ["store_failed", true], `checkpoint of ${name}`);
    }
  }
  same(await all(), expected(), "heads");
  for (const name of names) {
    for (const other of [name, ...some(name)]) {
      const { value, code } = await attempt(() => commits.head(other));
      if (code === undefined) same(value, heads.get(other), `the head ${JSON.stringify(other)}`);
      else
        same([heads.has(other), ["store_failed", "invalid_input"].includes(code)], [false, true], `${other}: ${code}`);
    }
  }
  const ids = async (generator) => (await collected(generator)).map(({ id }) => id);
  const of = (name) => (heads.has(name) ? [heads.get(name)] : []);
  for (const name of names.filter((name) => heads.has(name))) {
    for (const other of [name, ...some(name)]) {
      same(await ids(commits.byTicket(other)), of(other), `the ticket ${JSON.stringify(other)}`);
      same(
        (await commits.resolve(other, 1_800_000_000_000))?.id,
        of(other)[0],
        `the principal ${JSON.stringify(other)}`,
      );
    }
    same(await ids(commits.byThread(`${name}/`)), of(name), `the thread of ${JSON.stringify(name)}`);
    same(await ids(commits.bySession(`${name}${"long ".repeat(500)}`)), of(name), "a long session");
    same(await ids(commits.bySession(`${name}${"long ".repeat(499)}`)), [], "another long session");
  }
  await moved(commits, names, heads, { all, expected, some });
  await otherIds(commits, store, heads, { all, expected });
}

/** Each change moves the head that it names, and no other. */
async function moved(commits, names, heads, { all, expected, some }) {
  const there = names.filter((name) => heads.has(name));
  for (const [at, name] of there.entries()) {
    if (at % 3 === 0) {
      await commits.dropHead(name);
      heads.delete(name);
    } else if (at % 3 === 1) {
      for (const other of some(name)) if (!heads.has(other)) await attempt(() => commits.dropHead(other));
      const fork = `${name} fork`;
      const { code } = await attempt(() => commits.fork(heads.get(name), fork));
      if (code === undefined) heads.set(fork, heads.get(name));
    }
  }
  same(await all(), expected(), "heads after moves");
  for (const name of ["", "x".repeat(257), "\ud800", "a\udfff", 7, null, undefined, ["a"], {}]) {
    for (const action of [
      () => commits.head(name),
      () => commits.dropHead(name),
      () => commits.fork([...heads.values()][0], name),
      () => commits.checkpoint(name, { format: "generic-v1", created_at: 0 }, encoder.encode("{}\n")),
    ]) {
      same((await attempt(action)).code, "invalid_input", `the head ${JSON.stringify(name)}`);
    }
  }
  same(await all(), expected(), "heads after mistakes");
}

/** Ids and raw keys that name nothing find nothing, and change nothing. */
async function otherIds(commits, store, heads, { all, expected }) {
  const [id] = heads.values();
  const record = (await commits.show(id)).id;
  same(record, id, "show");
  const wrong = [
    `${id}'`,
    `${id}%`,
    `${id}/`,
    `./${id}`,
    `../records/${id}`,
    id.toUpperCase(),
    `${id}\0`,
    `ctx-%`,
    `ctx-_`,
    "ctx-' OR '1'='1",
    "ctx-..",
    "..",
    "",
    "\ud800",
    `ctx-${"9".repeat(5000)}`,
  ];
  for (const other of wrong) {
    for (const action of [
      () => commits.show(other),
      () => commits.blob(other),
      () => commits.fork(other, "elsewhere"),
      () => commits.updateMetadata(other, { summary: "x" }),
      () => commits.materialize({ commit: other || "ctx-" }),
      () => collected(commits.children(other)),
    ]) {
      const { value, code } = await attempt(action);
      const codes = ["commit_not_found", "invalid_input", "record_mismatch", "store_failed"];
      same([value, codes.includes(code)], [undefined, true], `${JSON.stringify(other)}: ${code}`);
    }
    const listed = await attempt(() => collected(commits.byTicket(other)));
    same(
      (listed.value ?? []).filter(({ ticket_id }) => ticket_id !== other),
      [],
      `the ticket ${other}`,
    );
  }
  same([(await commits.show(id)).summary, await all()], [undefined, expected()], "nothing has changed");
  await rawKeys(store);
}

/** The functions of a store with keys that `CommitStore` never passes: no other key is read, listed or changed. */
async function rawKeys(store) {
  const listed = async (prefix) => {
    const keys = [];
    for (let cursor; ;) {
      const page = await store.list(prefix, cursor, 1000);
      keys.push(...page.keys);
      if (page.cursor === undefined) return keys;
      cursor = page.cursor;
    }
  };
  const before = await listed("heads/");
  const texts = async () => Promise.all(before.map(async (key) => decoder.decode(await store.get(key))));
  const values = await texts();
  for (const piece of PIECES) {
    const prefix = `heads/${piece}`;
    const { value } = await attempt(() => listed(prefix));
    const found = (value ?? []).filter((key) => !before.includes(key) || !key.startsWith(prefix));
    same(found, [], `keys with the prefix ${JSON.stringify(prefix)}`);
    for (const key of [prefix, `heads/../${before[0]}`, `${before[0]}/../${piece}`, `${before[0]}${piece}`]) {
      if (before.includes(key)) continue;
      same((await attempt(() => store.get(key))).value, undefined, `the key ${JSON.stringify(key)}`);
      const { value: changed } = await attempt(() => store.compareAndSet(key, values[0], "changed"));
      same(changed ?? false, false, `the key ${JSON.stringify(key)}`);
      await attempt(() => store.delete(key));
    }
  }
  same([await listed("heads/"), await texts()], [before, values], "nothing has changed");
}
