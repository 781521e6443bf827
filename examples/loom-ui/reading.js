/** The whole path for reading, with marks on what the prompt leaves out. */

/** Larger than any path, so that nothing is cut. */
const WHOLE = 1e9;

/** The texts of the path, and its cost: `{ parts, fates, notes, path, tokens, limit }`. */
export function readPath({ tree, view, mode }, draft) {
  const { tip } = view;
  if (tip === undefined) return { parts: [], fates: new Map(), notes: new Map(), path: [] };
  const read = mode === "buffer" ? readDocument(tree, tip, draft) : readDialogue(tree, tip, draft);
  const fates = new Map(read.left);
  for (const { nodeId, as, fate, reason } of read.report.nodes) {
    // An empty reply is blank, which needs no mark.
    if (as === "path" && fate === "excluded" && reason !== "blank") fates.set(nodeId, reason);
  }
  const { path } = read.report;
  return { ...read, fates, notes: notesOn(tree, path), path };
}

/** The annotations of each node of the path. They are no part of the prompt. */
function notesOn(tree, path) {
  const isNote = ({ id, annotation, pruned }) => annotation && !pruned && !path.includes(id);
  const found = tree.children(path).map((children) => children.filter(isNote).map(({ id }) => tree.node(id)));
  return new Map(path.map((id, at) => [id, found[at]]));
}

function readDialogue(tree, tip, draft) {
  const { system, messages, report } = tree.assembleDialogue({ tip, contextWindow: WHOLE });
  const parts = system === undefined ? [] : [{ author: "system", text: system }];
  for (const { role, content, spans } of messages) {
    for (const { nodeId, part, start, end } of spans) {
      const said = part === undefined ? content : content[part];
      const text = typeof said === "string" ? said : (said.text ?? `[${said.name ?? said.type}]`);
      parts.push({
        nodeId,
        author: role === "user" ? "human" : "model",
        text: end > start ? text.slice(start, end) : text,
      });
    }
  }
  const cut = tree.wouldCut({ tip });
  const left = truncated(cut);
  const { tokens, limit } = tree.measurePath({ tip });
  const total = draft ? tree.preview(pending(tip, draft), { tip }).after.total : tokens.total;
  return { parts, left, report, total, limit };
}

/** The removed and the shortened nodes, each with its fate. */
function truncated({ nodeIds, partialNodeIds } = { nodeIds: [], partialNodeIds: [] }) {
  return [...nodeIds.map((id) => [id, "cut"]), ...partialNodeIds.map((id) => [id, "changed"])];
}

/** The draft as a change for previews. */
function pending(tip, draft) {
  const node = { id: "draft", authorType: "human", content: draft };
  const edge = { id: "draft", sources: [{ nodeId: tip }], targetNodeId: "draft" };
  return { upsert: { nodes: [node], edges: [edge] }, options: { tip: "draft" } };
}

function readDocument(tree, tip, draft) {
  const { document, spans, report } = tree.assembleBuffer({ tip, contextWindow: WHOLE, workingBuffer: draft });
  const prefix = document.slice(0, spans[0]?.start ?? 0);
  const parts = prefix === "" ? [] : [{ author: "system", text: prefix }];
  for (const { nodeId, start, end } of spans) parts.push({ nodeId, author: "text", text: document.slice(start, end) });
  const sent = tree.assembleBuffer({ tip, workingBuffer: draft });
  const left = truncated(sent.report.cut);
  return { parts, left, report, total: report.tokens.total, limit: sent.report.limit };
}

/** The text of a node, or its kind. */
function textIn({ content }) {
  return typeof content === "string" ? content : (content.text ?? `[${content.type}]`);
}

/** Draws it into `list`; elements of unchanged parts are kept, so that a reply streams in place. */
export function drawPath(list, { parts, fates, notes, path }) {
  const texts = new Map(parts.map((part) => [part.nodeId ?? part.author, []]));
  for (const part of parts) texts.get(part.nodeId ?? part.author).push(part);
  const order = [...parts.filter(({ nodeId }) => nodeId === undefined).map(({ author }) => author), ...path];
  const noteOf = new Map([...notes.values()].flat().map((note) => [note.id, note]));
  const all = order.flatMap((id) => [id, ...(notes.get(id) ?? []).map((note) => note.id)]);
  const old = new Map(Array.from(list.children, (item) => [item.dataset.id, item]));
  const items = all.map((id) => {
    const item = old.get(id) ?? document.createElement("li");
    const said = texts.get(id) ?? [];
    const note = noteOf.get(id);
    const text = note ? textIn(note) : said.map((part) => part.text).join("\n");
    item.dataset.id = id;
    item.dataset.author = note ? "remark" : (said[0]?.author ?? "model");
    item.dataset.fate = fates.get(id) ?? "";
    if (item.textContent !== text) item.textContent = text;
    return item;
  });
  list.replaceChildren(...items);
}
