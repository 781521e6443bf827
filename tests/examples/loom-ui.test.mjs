/**
 * examples/loom-ui in Chromium: a user writes, branches, prunes, undoes and reloads, and the numbers are those of Node.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "../packaging/packed.mjs";
import { openPage, withBrowser } from "../runtimes/browser.mjs";
import { installedExample, served } from "./example.mjs";

test("examples/loom-ui is a loom on one LoomTree", { timeout: 240_000 }, async () => {
  const example = installedExample("loom-ui");
  const from = (path) => import(pathToFileURL(join(example.dir, path)));
  const { init, LoomTree } = await from("node_modules/ctxweave/dist/loom/node.js");
  const { importLoom, init: initImport } = await from("node_modules/ctxweave/dist/import/node.js");
  const { replyTo } = await from("stub.js");
  await Promise.all([init(), initImport()]);
  try {
    await served(example, (address) =>
      withBrowser(async (browser) => {
        const { page, said } = await openPage(browser, address);
        page.setDefaultTimeout(20_000);
        await use(page, { LoomTree, importLoom, replyTo });
        // The stopped reply.
        assert.deepEqual(said, [`request failed: ${new URL("/v1/chat/completions", address)}`]);
      }),
    );
  } finally {
    example.remove();
  }
});

async function use(page, { LoomTree, importLoom, replyTo }) {
  const button = (name) => page.getByRole("button", { name, exact: true });
  const row = (text) => page.getByRole("treeitem").filter({ hasText: text });
  const rows = () => page.getByRole("treeitem").locator(".label").allTextContents();
  const path = () => page.getByRole("list", { name: "Path" }).getByRole("listitem").allTextContents();
  const preview = page.locator("#preview");
  const isSaved = () => page.waitForFunction(() => document.getElementById("saved").textContent === "Saved");
  const said = (text) => page.getByRole("status").filter({ hasText: text }).waitFor();
  const eventually = async (ask, wanted) => {
    let given;
    for (let tries = 0; tries < 200; tries++) {
      given = await ask();
      if (JSON.stringify(given) === JSON.stringify(wanted)) return;
      await page.waitForTimeout(25);
    }
    assert.deepEqual(given, wanted);
  };
  const exported = async (format) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByLabel("Export").selectOption(format),
    ]);
    return readFileSync(await download.path(), "utf8");
  };
  /** The page's tree in Node, with the page's settings. */
  const inNode = async (contextWindow = 2000) => {
    const { tip: _, ...data } = JSON.parse(await exported("json"));
    const tree = new LoomTree(data);
    tree.configure({ contextWindow, appPreferences: { tokenBuffer: 256 } });
    return { tree, data, idOf: (text) => data.nodes.find(({ content }) => content.trim() === text).id };
  };
  const tokens = async () => {
    const [total, limit] = (await page.locator("#tokens").textContent()).match(/\d+/g).map(Number);
    return { total, limit };
  };

  // The tree of a first visit, with its costs as counted by Node.
  await row("Second night. Eleven").waitFor();
  const begun = await rows();
  assert.equal(begun.length, 7);
  assert.match(begun[0], /^Write the log/);
  const first = await inNode();
  const { tree: firstTree, data: sample } = first;
  const ids = await page.getByRole("treeitem").evaluateAll((all) => all.map(({ dataset }) => dataset.id));
  const costs = () => page.getByRole("treeitem").locator(".cost").allTextContents();
  assert.deepEqual(await costs(), Array.from(firstTree.pathTokens(ids), String));
  await page.getByLabel("Heat").selectOption("subtree");
  await eventually(costs, Array.from(firstTree.subtreeTokens(ids), String));
  await page.getByLabel("Heat").selectOption("node");
  await eventually(costs, Array.from(firstTree.tokensOf(ids), String));
  const measured = firstTree.measurePath({ tip: "oil" });
  assert.deepEqual(await tokens(), { total: measured.tokens.total, limit: measured.limit });

  // The draft counts before it is sent; the reply streams into the path.
  const asked = "Third night. Who took the oil?";
  await page.getByLabel("Message").fill(asked);
  const draft = { nodes: [{ id: "d", authorType: "human", content: asked }], edges: [edge("oil", "d")] };
  const pending = firstTree.preview({ upsert: draft, options: { tip: "d" } }, { tip: "oil" }).after.total;
  await eventually(tokens, { total: pending, limit: measured.limit });
  const tip = (await path()).at(-1);
  await button("Send").click();
  const reply = replyTo(asked, 0);
  const parts = new Set();
  for (;;) {
    const read = (await path()).at(-1);
    // The page may be a frame behind the click.
    const isBehind = read === tip && parts.size === 0;
    if (!isBehind) parts.add(read);
    if (read === reply) break;
    assert.ok(isBehind || read === asked || reply.startsWith(read), read);
    await page.waitForTimeout(20);
  }
  assert.ok(parts.size > 5, "it could be read while it streamed");
  await said("The reply is there");
  assert.deepEqual((await path()).slice(-2), [asked, reply]);

  // Several replies to one tip from one request; one of them is continued.
  const requests = [];
  page.on("request", (request) => request.method() === "POST" && requests.push(request.postDataJSON()));
  await row(asked).click();
  await page.getByLabel("Replies").fill("3");
  await button("Send").click();
  await said("3 replies are there");
  assert.deepEqual(
    requests.map(({ n, stream, messages }) => [n, stream, messages.at(-1).content]),
    [[3, true, asked]],
  );
  const wanted = [reply, ...[0, 1, 2].map((index) => replyTo(asked, index))];
  const branched = await inNode();
  const children = branched.tree.children(branched.idOf(asked)).map(({ id }) => id);
  assert.deepEqual(
    children.map((id) => branched.data.nodes.find((node) => node.id === id).content),
    wanted,
  );

  // Stopping keeps the partial reply, and nothing arrives afterwards.
  await page.getByLabel("Replies").fill("1");
  await row(wanted[2]).click();
  await button("Send").click();
  const isComing = (before) => {
    const read = document.querySelector("#path li:last-child").textContent;
    return read !== before && /\S \S/.test(read);
  };
  await page.waitForFunction(isComing, wanted[2]);
  await page.keyboard.press("Escape");
  await said("Stopped");
  const stopped = (await path()).at(-1);
  const whole = replyTo(wanted[2], 0);
  assert.ok(stopped.length > 0 && stopped.length < whole.length && whole.startsWith(stopped), stopped);
  await page.waitForTimeout(200);
  assert.equal((await path()).at(-1), stopped);

  // A prune shows its saving beforehand, and saves that; undo and redo.
  await row(asked).click();
  await button("Prune").hover();
  const before = await inNode();
  const id = before.idOf(asked);
  const branch = [id, ...before.tree.descendants(id).map((node) => node.id)];
  const marked = before.data.nodes
    .filter((node) => branch.includes(node.id))
    .map((node) => ({ ...node, metadata: { ...node.metadata, pruned: true } }));
  const change = { upsert: { nodes: marked } };
  const { difference, after } = before.tree.preview({ ...change, options: { tip: "oil" } }, { tip: id });
  await button("Prune").hover();
  await preview.filter({ hasText: "Prune:" }).waitFor();
  assert.match(await preview.textContent(), new RegExp(`^Prune: −${-difference.total} tokens, ${after.total} sent;`));
  await button("Prune").click();
  await eventually(rows, begun);
  assert.equal((await tokens()).total, after.total);
  before.tree.apply(change);
  assert.deepEqual((await inNode()).data, before.tree.toJSON());
  await page.getByLabel("pruned").check();
  await eventually(async () => (await rows()).length, before.data.nodes.length);
  assert.match(await row(asked).textContent(), /pruned/);
  await page.getByLabel("pruned").uncheck();
  await button("Undo").click();
  await eventually(async () => (await rows()).length, before.data.nodes.length);
  assert.deepEqual((await inNode()).data, before.data);
  await button("Redo").click();
  await eventually(rows, begun);
  for (let step = 0; step < 5; step++) await button("Undo").click();
  // Pruned, stopped, three, one and the question.
  await eventually(() => button("Undo").isDisabled(), true);
  assert.deepEqual((await inNode()).data, sample);
  for (let step = 0; step < 4; step++) await button("Redo").click();
  await eventually(async () => (await rows()).length, before.data.nodes.length);
  assert.deepEqual((await inNode()).data, before.data);

  // If the window is small, the prune shows where the cut moves.
  await page.getByLabel("Window").fill("330");
  await page.getByLabel("Window").press("Enter");
  await row(stopped).click();
  const cut = (await inNode(330)).tree.wouldCut({ tip: before.idOf(stopped) });
  assert.ok(cut.nodeIds.length > 0);
  await eventually(
    () => page.locator("#path li:is([data-fate=cut], [data-fate=changed])").count(),
    new Set([...cut.nodeIds, ...cut.partialNodeIds]).size,
  );
  await row(wanted[2]).click();
  const small = await inNode(330);
  const [middle] = small.data.nodes.filter(({ content }) => content === wanted[2]);
  const out = { upsert: { nodes: [{ ...middle, metadata: { excluded: true } }] } };
  const moves = small.tree.preview(out, { tip: middle.id });
  assert.ok(moves.cutMoved);
  const { nodes, position } = moves.cutBefore;
  await button("Leave out").hover();
  await preview.filter({ hasText: `the cut moves from ${nodes} nodes after the first ${position} to` }).waitFor();
  await preview.filter({ hasText: `; ${moves.cachedTokens} stay cached` }).waitFor();
  await page.getByLabel("Window").fill("2000");
  await page.getByLabel("Window").press("Enter");

  // Versions: an edit is next to its original, in every path through it.
  const edited = "Second night. Ten barrels, and a wet footprint.";
  await row("Second night. Eleven").click();
  await button("Edit…").click();
  await page.getByLabel("Text of the version").fill(edited);
  await button("Save version").click();
  await row(edited).waitFor();
  assert.match(await row(edited).textContent(), /version 2 of 2/);
  await row(stopped).click();
  await eventually(async () => (await path()).includes(edited), true);
  await row(edited).click();
  await button("Previous version").click();
  await row("Second night. Eleven").waitFor();
  await eventually(async () => (await path()).some((text) => text.includes("Eleven barrels")), true);
  await button("Next version").click();
  await row(edited).waitFor();

  // Hide and hoist only change the display, not the tree.
  const revisions = (await inNode()).data;
  await row("They told me").click();
  await button("Hide").click();
  await eventually(async () => (await rows()).some((text) => /They told me|Who had kept/.test(text)), false);
  await row("First night").click();
  await button("Hoist").click();
  await eventually(async () => (await rows())[0].slice(0, 11), "First night");
  await button("Whole tree").click();
  await eventually(async () => (await rows())[0].slice(0, 13), "Write the log");
  assert.deepEqual((await inNode()).data, revisions);

  // The keyboard: to the child, to a sibling, and comparing another branch with this one.
  await row("First night").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("n");
  await preview.filter({ hasText: "There:" }).waitFor();
  const { tree: now } = await inNode();
  await row("The long rope").focus();
  const there = now.compare({ tip: "first" }, { tip: "rope" });
  await preview.filter({ hasText: `There: +${there.difference.total} tokens, ${there.after.total} sent` }).waitFor();
  await page.keyboard.press("Enter");
  await eventually(async () => /The long rope/.test((await path()).at(-1)), true);

  // A reload restores everything, including the view state.
  await isSaved();
  const kept = [await rows(), await path(), await tokens(), (await inNode()).data];
  await page.reload();
  await row("The long rope").waitFor();
  assert.deepEqual([await rows(), await path(), await tokens(), (await inNode()).data], kept);

  // A file of pyloom replaces the tree; undo restores it.
  const [file] = JSON.parse(readFileSync(join(root, "tests/golden/import/pyloom.json"), "utf8")).args;
  const text = JSON.stringify(file);
  const loaded = importLoom(text).trees[0];
  const upload = { name: "story.json", mimeType: "application/json", buffer: Buffer.from(text) };
  await page.getByLabel("File of a loom").setInputFiles(upload);
  await said(`pyloom: ${loaded.tree.nodes.length} nodes`);
  const opened = await inNode();
  assert.deepEqual(opened.data, new LoomTree(loaded.tree).toJSON());
  const sent = opened.tree.assembleBuffer({ tip: loaded.tip });
  const story = opened.tree.assembleBuffer({ tip: loaded.tip, contextWindow: 1e9 });
  const { total } = story.report.tokens;
  await eventually(tokens, { total, limit: sent.report.limit });
  await eventually(async () => (await path()).join(""), story.document);
  await button("Send").click();
  await said("The reply is there");
  await eventually(async () => (await path()).at(-1), replyTo(sent.document, 0));
  assert.equal(requests.at(-1).prompt, sent.document);
  const markdown = await exported("markdown");
  assert.ok(markdown.includes(replyTo(sent.document, 0)));
  assert.equal(importLoom(await exported("pyloom")).trees[0].tree.nodes.length, loaded.tree.nodes.length + 1);
  await button("Undo").click();
  await button("Undo").click();
  await row("The long rope").waitFor();
  assert.deepEqual((await inNode()).data, kept[3]);
  await isSaved();
  await page.reload();
  await row("The long rope").waitFor();
  assert.deepEqual((await inNode()).data, kept[3]);

  // The page opens its own file at the node that was selected, which is not the newest.
  await row("First night").click();
  const mine = Buffer.from(await exported("json"));
  assert.equal(JSON.parse(mine).tip, "first");
  await row("The long rope").click();
  await eventually(async () => /The long rope/.test((await path()).at(-1)), true);
  await page.getByLabel("File of a loom").setInputFiles({ ...upload, name: "mine.json", buffer: mine });
  await said("ctxweave:");
  await eventually(async () => /^First night/.test((await path()).at(-1)), true);
  assert.deepEqual((await inNode()).data, kept[3]);

  // Title, selected node and annotations of an imported file.
  const noted = {
    title: "Noted",
    tip: "b",
    nodes: [
      { id: "a", content: "A question", authorType: "human" },
      { id: "b", content: "An answer", authorType: "model" },
      { id: "c", content: "A note in the margin", authorType: "human" },
      { id: "d", content: "Further", authorType: "human" },
    ],
    edges: [edge("a", "b"), { ...edge("b", "c"), edgeType: "annotation" }, edge("b", "d")],
  };
  await page.getByLabel("File of a loom").setInputFiles({ ...upload, buffer: Buffer.from(JSON.stringify(noted)) });
  await eventually(() => path(), ["A question", "An answer", "A note in the margin"]);
  assert.equal(await page.locator("#title").textContent(), "Noted");
  assert.equal(await page.locator('#path li[data-author="remark"]').count(), 1);
  const short = (await inNode()).tree.measurePath({ tip: "b" });
  assert.equal((await tokens()).total, short.tokens.total, "a note costs nothing");
}

function edge(from, to) {
  return { id: `${from}-${to}`, sources: [{ nodeId: from }], targetNodeId: to };
}
