/** Wires the page: clicks and input become edits and view changes, after which the page is drawn again. */

import { init, LoomTree } from "ctxweave/loom";
import { readFile, replacement, saveFile } from "./files.js";
import { generate } from "./generate.js";
import { firstView, following, newNode, openLoom } from "./loom.js";
import { counted, inWords, marking, otherVersion, rewrite, shownVersion, textOf } from "./nodes.js";
import { openOutline } from "./outline.js";
import { drawPath, readPath } from "./reading.js";
import { sample, sampleTip } from "./sample.js";
import { openStorage } from "./storage.js";

const page = Object.fromEntries(Array.from(document.querySelectorAll("[id]"), (part) => [part.id, part]));

const [storage] = await Promise.all([openStorage(), init()]);
const stored = await storage.read();
const tree = new LoomTree(stored.snapshot ?? sample);
for (const change of stored.changes) tree.apply(change);
const loom = openLoom(tree, { ...firstView, tip: sampleTip, ...stored.view }, changed);
const outline = openOutline(page.branches, loom, { look: (tip) => loom.look({ tip }), point: compareWith });
let replying, frame, saving;

wire();
changed();

// ---- Drawing and saving ----

/** Draws at the next frame, and saves after a pause. */
function changed() {
  frame ??= requestAnimationFrame(() => {
    frame = undefined;
    draw();
  });
  page.saved.textContent = "…";
  clearTimeout(saving);
  saving = setTimeout(save, 250);
}

async function save() {
  const { revision } = tree;
  await attempt(() => storage.write(tree, loom.view));
  if (tree.revision === revision) page.saved.textContent = "Saved";
}

function draw() {
  const { view } = loom;
  const changes = loom.news();
  const read = attemptNow(() => readPath(loom, page.draft.value)) ?? {
    parts: [],
    fates: new Map(),
    notes: new Map(),
    path: [],
  };
  outline.draw(changes, read.path);
  drawPath(page.path, read);
  if (replying) page.path.lastElementChild?.scrollIntoView({ block: "nearest" });
  const { total = 0, limit = 0 } = read;
  page.tokens.textContent = `${total} of ${limit} tokens${total > limit ? ", cut" : ""}`;
  page.meter.max = Math.max(limit, total);
  page.meter.high = limit;
  page.meter.optimum = 0;
  page.meter.value = total;
  page.title.textContent = loom.title ?? "Loom";
  drawTools(view);
}

function drawTools(view) {
  const versions = view.tip === undefined ? [] : tree.versions(view.tip);
  const shown = view.tip && shownVersion(loom);
  const at = versions.findIndex(({ id }) => id === shown);
  const { pruned, excluded } = versions[at] ?? {};
  page.version.textContent = `${at + 1} of ${versions.length}`;
  page["version-before"].disabled = page["version-behind"].disabled = versions.length < 2;
  page.prune.textContent = pruned ? "Restore" : "Prune";
  page.exclude.textContent = excluded ? "Include" : "Leave out";
  page.hide.textContent = view.hidden.includes(view.tip) ? "Unhide" : "Hide";
  page.lower.hidden = view.hoist === undefined;
  for (const id of ["edit", "prune", "exclude", "hide", "hoist"]) page[id].disabled = view.tip === undefined;
  page.undo.disabled = !loom.canUndo;
  page.redo.disabled = !loom.canRedo;
  page.stop.disabled = !replying;
  page.send.disabled = Boolean(replying);
  page.heat.value = view.heat;
  page["show-pruned"].checked = view.showPruned;
  page["show-hidden"].checked = view.showHidden;
  if (document.activeElement !== page.window) page.window.value = view.contextWindow;
}

// ---- Previews ----

/** The prompt of another branch, compared with that of the current one. */
function compareWith(id) {
  const { tip } = loom.view;
  if (id === undefined || id === tip || tip === undefined) return say("");
  attemptNow(() => say(`There: ${inWords(tree.compare({ tip }, { tip: id }))}`));
}

function preview(mark) {
  const { tip } = loom.view;
  attemptNow(() => {
    const marked = marking(loom, mark);
    say(
      `${page[mark === "pruned" ? "prune" : "exclude"].textContent}: ${inWords(tree.preview({ ...marked.change, options: { tip: marked.tip } }, { tip }))}`,
    );
  });
}

function say(words) {
  page.preview.textContent = words;
}

// ---- Actions ----

function wire() {
  on("undo", "click", () => stepped(loom.undo));
  on("redo", "click", () => stepped(loom.redo));
  on("open", "click", () => page.file.click());
  on("file", "change", openFile);
  on("export", "change", async () => {
    const format = page.export.value;
    page.export.value = "";
    await saveFile(tree, format, loom.view.tip);
  });
  on("heat", "change", () => loom.look({ heat: page.heat.value }));
  on("show-pruned", "change", () => loom.look({ showPruned: page["show-pruned"].checked }));
  on("show-hidden", "change", () => loom.look({ showHidden: page["show-hidden"].checked }));
  on("window", "change", () => loom.look({ contextWindow: page.window.valueAsNumber || firstView.contextWindow }));
  on("lower", "click", () => loom.look({ hoist: undefined }));
  on("hoist", "click", () => loom.look({ hoist: loom.view.tip }));
  on("hide", "click", () => {
    const { tip, hidden } = loom.view;
    loom.look({ hidden: hidden.includes(tip) ? hidden.filter((id) => id !== tip) : [...hidden, tip] });
  });
  on("version-before", "click", () => otherVersion(loom, -1));
  on("version-behind", "click", () => otherVersion(loom, 1));
  for (const [button, mark] of Object.entries({ prune: "pruned", exclude: "excluded" })) {
    for (const event of ["mouseenter", "focus"]) on(button, event, () => preview(mark));
    for (const event of ["mouseleave", "blur"]) on(button, event, () => say(""));
    on(button, "click", () => {
      const { change, tip } = marking(loom, mark);
      loom.edit(change, { tip });
      say("");
    });
  }
  on("edit", "click", () => {
    const text = textOf(loom);
    if (text === undefined) return tell("Only texts can be edited here");
    page.rewritten.value = text;
    page.rewrite.returnValue = "";
    page.rewrite.showModal();
  });
  on("rewrite", "close", () => page.rewrite.returnValue === "save" && rewrite(loom, page.rewritten.value));
  on("draft", "input", changed);
  on("draft", "keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) page.composer.requestSubmit();
  });
  on("composer", "submit", (event) => {
    event.preventDefault();
    return send();
  });
  on("stop", "click", () => replying?.abort());
  document.addEventListener("visibilitychange", save);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") replying?.abort();
    const isTyping = event.target.closest("textarea, input, dialog");
    if (isTyping || event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    stepped(event.shiftKey ? loom.redo : loom.undo);
  });
}

/** An undo or redo step, blocked while a reply streams. */
async function stepped(step) {
  replying?.abort();
  await replying?.finished;
  await attempt(step);
}

async function send() {
  if (replying) return;
  const text = page.draft.value;
  if (text.trim() !== "") {
    const node = newNode("human", text);
    loom.edit({ upsert: following(loom.view.tip, node) }, { tip: node.id });
    page.draft.value = "";
  }
  if (loom.view.tip === undefined) return;
  const n = Math.min(Math.max(page.n.valueAsNumber || 1, 1), 5);
  const aborter = new AbortController();
  replying = { abort: () => aborter.abort() };
  replying.finished = attempt(async () => {
    await generate(loom, n, aborter.signal, changed);
    tell(aborter.signal.aborted ? "Stopped" : `${n === 1 ? "The reply is" : `${n} replies are`} there`);
  });
  await replying.finished;
  replying = undefined;
  changed();
}

async function openFile() {
  const [file] = page.file.files;
  page.file.value = "";
  if (!file) return;
  replying?.abort();
  await replying?.finished;
  const { trees, format, diagnostics } = await readFile(file);
  const chosen = trees.length > 1 ? await choose(trees) : trees[0];
  if (!chosen) return;
  loom.edit(replacement(chosen), { tip: chosen.tip, hoist: undefined, versions: {} });
  tell(`${format}: ${counted(chosen.tree.nodes.length, "node")}, ${counted(diagnostics.length, "remark")}`);
  for (const { message } of diagnostics) console.debug(message);
  say("");
}

function choose(trees) {
  const buttons = trees.map(({ title }, at) => {
    const button = document.createElement("button");
    button.value = String(at);
    button.textContent = title ?? `Tree ${at + 1}`;
    return button;
  });
  page.trees.replaceChildren(...buttons);
  page.choice.returnValue = "";
  page.choice.showModal();
  return new Promise((done) => {
    const close = () => done(page.choice.returnValue === "" ? undefined : trees[Number(page.choice.returnValue)]);
    page.choice.addEventListener("close", close, { once: true });
  });
}

function on(id, event, action) {
  page[id].addEventListener(event, (given) => attempt(() => action(given)));
}

async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    tell(error.message);
  }
}

function attemptNow(action) {
  try {
    return action();
  } catch (error) {
    tell(error.message);
  }
}

function tell(words) {
  page.message.textContent = words;
}
