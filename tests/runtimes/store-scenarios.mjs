/**
 * The scenarios of a context service: a review that is discussed later, by another machine, and summaries in batches. With
 * nothing but the language and the package, because it runs in all runtimes with a store.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function same(actual, expected, what) {
  const [one, other] = [actual, expected].map((value) => JSON.stringify(value) ?? "undefined");
  if (one !== other) throw new Error(`${what}: ${one.slice(0, 600)} and not ${other.slice(0, 600)}`);
}

async function collected(generator) {
  const found = [];
  for await (const item of generator) found.push(item);
  return found;
}

/** A store, and how many blobs were read from it. */
function counting(store) {
  const counts = { blobs: 0 };
  const counted = Object.create(store);
  for (const name of ["put", "compareAndSet", "list", "ancestors"]) {
    if (store[name]) counted[name] = (...given) => store[name](...given);
  }
  counted.get = (key) => {
    if (key.startsWith("blobs/")) counts.blobs += 1;
    return store.get(key);
  };
  return { counts, store: counted };
}

const FORMAT = "bureau-agent-v1";
const at = (minute) => new Date(Date.UTC(2026, 2, 1, 9, minute)).toISOString();

/** An agent that stores commits on a head. Its conversation continues a commit or is new. */
function agent({ ctxweave, commits, head, parent, ...provenance }) {
  const session = new ctxweave.Checkpointer({ format: FORMAT, ...(parent && { parent }), ...provenance });
  const save = async (offered) => {
    for (const { id, record, blob } of offered) session.stored(id, (await commits.checkpoint(head, record, blob)).id);
    return session.head;
  };
  return {
    async turn(minute, ...messages) {
      for (const [role, content] of messages) session.push({ role, content });
      return save(session.checkpoint("turn_boundary", { created_at: at(minute) }));
    },
    compact: (minute, content) => save(session.compact({ role: "user", content }, { created_at: at(minute) })),
    free: () => session.free(),
  };
}

/** The texts of a conversation, as the agent that resumes it gets them. */
async function conversation({ ctxweave, commits, commit, ...more }) {
  const { bytes, format } = await commits.materialize({ commit, format: FORMAT, ...more });
  const { messages } = ctxweave.transcriptToMessages(format, bytes, { target: "openai" });
  return messages.map(({ content }) =>
    typeof content === "string" ? content : content.map(({ text }) => text).join(""),
  );
}

/** A reviewer writes findings; each is discussed by an instance that remembers the review, and the fix is verified. */
export async function reviewDiscussion(ctxweave, stores, given) {
  const { counts, store } = counting(given);
  const on = () => new stores.CommitStore(store, { delay: 1, cache: true });
  const commits = on();
  const provenance = { template: "reviewer", session_id: "review", principal: "@reviewer:one", machine: "one" };
  const review = agent({ ctxweave, commits, head: "review/T-1", ...provenance, ticket_id: "T-1" });
  const author = agent({
    ctxweave,
    commits,
    head: "author/T-1",
    template: "author",
    principal: "@author:one",
    ticket_id: "T-1",
  });
  await author.turn(0, ["user", "Write the parser."], ["assistant", "Written."]);
  await review.turn(1, ["user", "Review the parser."], ["assistant", "I read it."]);
  await review.turn(2, ["user", "And the tests?"], ["assistant", "I read them."]);
  const context_id = await review.turn(3, ["user", "So?"], ["assistant", "Two findings: F-1 and F-2."]);
  // Later messages of the reviewer are not part of the findings' context.
  const later = await review.turn(4, ["user", "Anything else?"], ["assistant", "No."]);
  review.free();
  const remembered = [
    "Review the parser.",
    "I read it.",
    "And the tests?",
    "I read them.",
    "So?",
    "Two findings: F-1 and F-2.",
  ];

  /** On another machine, from the finding alone. */
  const discuss = async (finding, minute, turns) => {
    const there = on();
    const head = `discussion/${finding}`;
    await there.fork(context_id, head);
    same(await conversation({ ctxweave, commits: there, commit: context_id }), remembered, "the reviewer's memory");
    const { template } = await there.show(context_id);
    const discussed = agent({
      ctxweave,
      commits: there,
      head,
      parent: context_id,
      template,
      principal: `@reviewer:${finding}`,
      machine: "two",
      thread_id: `thread of ${finding}`,
      ticket_id: finding,
    });
    let tip;
    for (const [index, messages] of turns.entries()) tip = await discussed.turn(minute + index, ...messages);
    discussed.free();
    return tip;
  };
  const turns = (finding) => [
    [
      ["user", `What do you mean by ${finding}?`],
      ["assistant", `${finding}: it reads past the end.`],
    ],
    [
      ["user", `How do I fix ${finding}?`],
      ["assistant", `${finding}: check the length.`],
    ],
  ];
  // Both at once: they are independent.
  const [one, two] = await Promise.all([discuss("F-1", 10, turns("F-1")), discuss("F-2", 10, turns("F-2"))]);
  for (const [finding, tip] of [
    ["F-1", one],
    ["F-2", two],
  ]) {
    const said = turns(finding).flatMap((messages) => messages.map(([, content]) => content));
    same(
      await conversation({ ctxweave, commits, commit: tip }),
      [...remembered, ...said],
      `the discussion of ${finding}`,
    );
    const listed = await collected(commits.byThread(`thread of ${finding}`));
    same(listed.length, 2, "one commit for each message of the thread");
    same(listed.at(-1).id, tip, "the last one");
    same(await collected(commits.byTicket(finding)), listed, "by ticket");
    const ids = (await collected(commits.history(tip))).map(({ id }) => id);
    same(ids.slice(0, 3), [tip, listed[0].id, context_id], "the discussion follows the review");
    same(ids.includes(later), false, "and nothing that came later");
  }
  const children = (await collected(commits.children(context_id))).map(({ thread_id }) => thread_id ?? "the review");
  same(children.sort(), ["the review", "thread of F-1", "thread of F-2"], "branches");

  // The author compacts and continues; the fix is verified by a reviewer with the memory of the discussion.
  await author.turn(20, ["user", "Fix F-1."], ["assistant", "The length is checked."]);
  await author.compact(21, "The parser is written, and F-1 is fixed.");
  const fixed = await author.turn(22, ["user", "Done?"], ["assistant", "Done."]);
  author.free();
  // Two messages of the user in a row become one.
  const short = ["The parser is written, and F-1 is fixed.\n\nDone?", "Done."];
  same(await conversation({ ctxweave, commits, commit: fixed }), short, "after the compaction");
  const whole = ["Write the parser.", "Written.", "Fix F-1.", "The length is checked.", "Done?", "Done."];
  same(await conversation({ ctxweave, commits, commit: fixed, stop: "root" }), whole, "the whole");
  same((await commits.resolve("@author:one", at(21)))?.commit_type, "compaction", "what the author knew then");
  const verifier = agent({
    ctxweave,
    commits,
    head: "discussion/F-1",
    parent: one,
    template: "reviewer",
    ticket_id: "F-1",
  });
  const verified = await verifier.turn(30, ["user", "Is F-1 fixed?"], ["assistant", "Yes."]);
  verifier.free();
  same(
    (await conversation({ ctxweave, commits, commit: verified })).slice(-2),
    ["Is F-1 fixed?", "Yes."],
    "the review",
  );
  same((await collected(commits.tips())).map(({ id }) => id).sort(), [fixed, later, two, verified].sort(), "tips");
  // Another agent's runtime gets the same conversation; the second time from the cache.
  const asked = { commit: verified, format: "claude-code-v1", crossFamily: "transcode" };
  counts.blobs = 0;
  const first = await commits.materialize(asked);
  const blobs = counts.blobs;
  const again = await on().materialize(asked);
  same([first.tier, again.artifactRef], ["transcode", first.artifactRef], "in another format");
  same([blobs > 1, counts.blobs - blobs], [true, 1], "the second time reads one blob, the stored result");
}

/** A service gives old commits their summaries: in batches, several at once, and again after it failed. */
export async function batchSummaries(ctxweave, stores, given) {
  const { counts, store } = counting(given);
  const commits = new stores.CommitStore(store, { delay: 1 });
  const blob = (text) => encoder.encode(`${JSON.stringify({ role: "user", content: text })}\n`);
  const add = (head, number, more) =>
    commits.checkpoint(
      head,
      { format: "generic-v1", created_at: at(number), ticket_id: "T", ...more },
      blob(`${head} ${number}`),
    );
  for (let number = 0; number < 12; number += 1) await add(number % 3 === 0 ? "b" : "a", number, {});
  await add("a", 12, { summary: "what the agent wrote itself" });
  const lacking = async () => (await collected(commits.lackingSummary())).map(({ id }) => id);
  const before = await lacking();
  same(before.length, 12, "commits without a summary");
  const refs = async () =>
    (await collected(commits.byTicket("T"))).map(({ id, artifact_ref }) => `${id} ${artifact_ref}`);
  const kept = await refs();
  const said = (bytes) => JSON.parse(decoder.decode(bytes)).content;
  const summarize = (record, bytes) => `said ${said(bytes)}`;

  // A batch; then a model that fails in the middle; then two services at once, while an agent continues.
  const { summarized } = await stores.summarizeMissing(commits, summarize, { limit: 3 });
  same(summarized, before.slice(0, 3), "the oldest first");
  let left = 2;
  const failing = (record, bytes) => {
    if ((left -= 1) < 0) throw new Error("the model is gone");
    return summarize(record, bytes);
  };
  const { message } = await stores.summarizeMissing(commits, failing).catch((error) => error);
  same([message, (await lacking()).length], ["the model is gone", 7], "what was done stays");
  const [one, other] = await Promise.all([
    stores.summarizeMissing(new stores.CommitStore(store, { delay: 1 }), summarize),
    stores.summarizeMissing(new stores.CommitStore(store, { delay: 1 }), summarize),
    add("a", 13, {}),
  ]);
  const both = new Set([...one.summarized, ...other.summarized]);
  same(
    before.slice(5).every((id) => both.has(id)),
    true,
    "all are summarized",
  );
  await stores.summarizeMissing(commits, summarize);
  same(await lacking(), [], "nothing is left");
  same((await refs()).slice(0, kept.length), kept, "the contents are as they were");

  // The history is readable without any conversation.
  counts.blobs = 0;
  const log = (await collected(commits.history(await commits.head("a")))).map(({ summary }) => summary);
  const numbers = Array.from({ length: 12 }, (_, number) => 11 - number).filter((number) => number % 3 !== 0);
  const texts = numbers.map((number) => `said a ${number}`);
  same(log, ["said a 13", "what the agent wrote itself", ...texts], "the log");
  same(counts.blobs, 0, "blobs read for it");
}
