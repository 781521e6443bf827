/** Files of other looms through the package: in every input form, and passed to the trees of other entry points. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "../packaging/packed.mjs";
import { readGoldens } from "./goldens.mjs";

const require = createRequire(join(folder("import"), "x.js"));
let looms, loom;
before(async () => {
  const load = (entry) => import(pathToFileURL(require.resolve(entry)).href);
  [looms, loom] = await Promise.all([load("ctxweave/import"), load("ctxweave/loom")]);
  await Promise.all([looms.init(), loom.init()]);
});

const imports = readGoldens().goldens.filter(({ name, call }) => name.startsWith("import") && call === "importLoom");
const objects = imports.filter(
  ({ args: [file] }) => file !== null && file.$text === undefined && file.$hex === undefined,
);

test("an object, its text, its bytes and its ArrayBuffer give the same result", () => {
  assert.ok(objects.length > 40);
  for (const { name, args, expected } of objects) {
    const [file, options] = args;
    if (JSON.parse(expected).error) continue;
    const text = JSON.stringify(file);
    const bytes = new TextEncoder().encode(text);
    for (const given of [file, text, bytes, bytes.buffer])
      assert.deepEqual(looms.importLoom(given, options), JSON.parse(expected), name);
  }
});

test("CommonJS has it, too", async () => {
  const common = require("ctxweave/import");
  await common.init();
  const { trees } = common.importLoom('{"text":"a","children":[]}');
  assert.equal(trees[0].tree.nodes[0].content, "a");
  assert.throws(() => common.importLoom("{}"), { name: "CtxweaveError", code: "unsupported_format" });
});

test("LoomTree accepts every imported tree", () => {
  for (const { name, expected } of imports) {
    for (const { tree, tip, media = {} } of JSON.parse(expected).trees ?? []) {
      if (tip === undefined) continue;
      const resident = new loom.LoomTree(tree);
      assert.equal(resident.size.nodes, tree.nodes.length, name);
      const options = { tip, contextWindow: 1e6, media };
      const once = loom.assembleDialogue({ tree, ...options });
      assert.deepEqual(resident.assembleDialogue(options).messages, once.messages, name);
      if (tree.mode === "buffer") assert.equal(typeof resident.assembleBuffer(options).document, "string");
      resident.free();
    }
  }
});

test("an export can be imported again, and passed to LoomTree", () => {
  for (const { name, expected } of imports) {
    for (const { tree, tip } of JSON.parse(expected).trees ?? []) {
      for (const format of ["pyloom", "loomsidian"]) {
        const again = looms.importLoom(looms.exportLoom(tree, format, tip === undefined ? {} : { tip })).trees[0];
        const byId = (list) => Object.fromEntries(list.map((item) => [item.id, item]));
        assert.deepEqual(byId(again.tree.nodes), byId(tree.nodes), `${name} as ${format}`);
        assert.deepEqual(byId(again.tree.edges), byId(tree.edges), `${name} as ${format}`);
        assert.equal(again.tip, tip);
      }
    }
  }
});

test("a tree deeper than requests may be is imported as an object and as text", () => {
  const depth = 1500;
  let root = { text: "last", children: [] };
  for (let at = 1; at < depth; at += 1) root = { text: "a", children: [root] };
  for (const file of [{ root }, JSON.stringify({ root })]) {
    const { trees, format } = looms.importLoom(file);
    assert.equal(format, "pyloom");
    assert.equal(trees[0].tree.nodes.length, depth);
    const resident = new loom.LoomTree(trees[0].tree);
    assert.equal(resident.path(trees[0].tip).length, depth);
    resident.free();
    const again = looms.importLoom(looms.exportLoom(trees[0].tree, "pyloom"));
    assert.equal(again.trees[0].tree.nodes.length, depth);
  }
  assert.throws(() => looms.importLoom({ root }, { limits: { fileDepth: 100 } }), { code: "limit_exceeded" });
});

test("other values are rejected", () => {
  const circle = {};
  circle.root = circle;
  for (const [file, code] of [
    [undefined, "invalid_input"],
    [null, "invalid_input"],
    [5, "unsupported_format"],
    ["", "invalid_input"],
    [new Uint8Array(), "invalid_input"],
    [[], "unsupported_format"],
    [circle, "unsupported_format"],
    [{ nodes: { a: { text: 1n } }, current: "a" }, undefined],
    [new Map(), "unsupported_format"],
  ]) {
    if (code) assert.throws(() => looms.importLoom(file), { name: "CtxweaveError", code }, String(file));
    else looms.importLoom(file);
  }
});

test("counts no tokens, and rejects a vocabulary", async () => {
  assert.equal(looms.countTokens, undefined);
  const program = `import { init } from "ctxweave/import";
    import { load } from "ctxweave/vocab/cl100k_base";
    await init();
    await load().catch(({ code, message }) => console.log(code, message));
    const loom = await import("ctxweave/loom");
    await loom.init();
    await load();
    console.log(loom.countTokens("warp and weft", { tokenizer: "cl100k_base" }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: new URL("../../pkg", import.meta.url),
    encoding: "utf8",
  });
  assert.equal(stdout, "unknown_value `ctxweave/import` counts no tokens and takes no vocabulary\n5\n", stderr);
});

test("imports a file of 20 MB", () => {
  const text = "warp and weft ".repeat(10);
  const mapping = {};
  for (let at = 0; at < 65_000; at += 1) {
    const message = {
      author: { role: at % 2 ? "assistant" : "user" },
      content: { content_type: "text", parts: [text] },
    };
    mapping[`n${at}`] = { id: `n${at}`, parent: at ? `n${at - 1}` : null, children: [`n${at + 1}`], message };
  }
  const bytes = new TextEncoder().encode(JSON.stringify([{ title: "long", mapping, current_node: "n64999" }]));
  assert.ok(bytes.length > 17e6);
  const { trees, diagnostics } = looms.importLoom(bytes);
  assert.equal(trees[0].tree.edges.length, 64_999);
  assert.equal(trees[0].tip, "n64999");
  assert.deepEqual(diagnostics, []);
});

test("imported fields keep the order of their keys, in and out", () => {
  const a = { text: "A", parentId: null, zeta: 1, alpha: { y: 1, x: 2 }, collapsed: true };
  const file = JSON.stringify({ current: "a", zoom: 2, area: 1, nodes: { a } });
  const [{ tree }] = looms.importLoom(file).trees;
  const expected = '{"zeta":1,"alpha":{"y":1,"x":2},"collapsed":true}';
  assert.equal(JSON.stringify(tree.nodes[0].metadata.imported), expected);
  assert.equal(JSON.stringify(tree.imported.fields), '{"zoom":2,"area":1}');
  const again = looms.importLoom(looms.exportLoom(tree, "loomsidian")).trees[0].tree;
  assert.equal(JSON.stringify(again.nodes[0].metadata.imported), expected);
  assert.equal(JSON.stringify(again.imported.fields), '{"zoom":2,"area":1}');
});
