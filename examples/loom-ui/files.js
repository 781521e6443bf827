/** Files: those of other looms are opened by `ctxweave/import`, which is loaded on first use. */

/** The trees of a file, and its format. A file saved here also has the selected node. */
export async function readFile(file) {
  const { importLoom, init } = await import("ctxweave/import");
  await init();
  const read = importLoom(new Uint8Array(await file.arrayBuffer()));
  const [first] = read.trees;
  const isOurs = read.format === "ctxweave" && first?.tree.nodes.some(({ id }) => id === first.tree.tip);
  return isOurs ? { ...read, trees: [{ ...first, tip: first.tree.tip }] } : read;
}

/** The change that replaces the open tree by an imported one. Some formats have the title outside the tree. */
export function replacement({ tree: { nodes, edges, tip: _, ...given }, title: name }) {
  const { title = name, mode, systemContext, bufferModeSystemContext, bufferPrefix, preferences, ...fields } = given;
  const settings = { title, mode, systemContext, bufferModeSystemContext, bufferPrefix, preferences, fields };
  const all = Object.entries(settings).map(([name, value]) => [name, value ?? null]);
  return { replace: true, upsert: { nodes, edges }, settings: Object.fromEntries(all) };
}

const FORMATS = { pyloom: "json", loomsidian: "json", markdown: "md" };

/** Saves the tree: for another loom, as Markdown, or unchanged with the selected node. */
export async function saveFile(tree, format, tip) {
  const text = format === "json" ? JSON.stringify({ ...tree.toJSON(), tip }) : await exported(tree, format, tip);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = `loom-${format}.${FORMATS[format] ?? "json"}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function exported(tree, format, tip) {
  const { exportLoom, init } = await import("ctxweave/import");
  await init();
  return exportLoom(tree.toJSON(), format, { tip });
}
