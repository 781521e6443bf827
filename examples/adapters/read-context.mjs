/**
 * `read_context` of a photo editing agent: tastes, brief, notes, recent log and gaps of one image, in this order.
 *
 * As a module: `readContext(imageId, { workspaces, tastes })`. As a program, for hosts in other languages:
 * `node read-context.mjs WORKSPACES TASTES IMAGE_ID`; the response is written to stdout, diagnostics to stderr.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { init, loadContext, readFullNotes } from "ctxweave/workspace";

/** An image is a folder; a name that leaves the folder of workspaces is rejected. */
function workspaceOf(workspaces, imageId) {
  if (!/^[\w-][\w.-]*$/.test(imageId)) throw new Error(`\`${imageId}\` is not an image id`);
  return join(workspaces, imageId);
}

/** The response of the tool. Missing and damaged files are no errors: a first turn without any context works. */
export async function readContext(imageId, { workspaces, tastes, onDiagnostic = () => undefined }) {
  await init();
  const workspaceDir = workspaceOf(workspaces, imageId);
  const { context, diagnostics } = await loadContext((path) => readFile(path), { tastesDir: tastes, workspaceDir });
  diagnostics.forEach(onDiagnostic);
  return context;
}

/** The response of `read_full_notes`, for notes that `read_context` returned truncated. */
export async function fullNotes(imageId, { workspaces }) {
  await init();
  const notes = await readFile(join(workspaceOf(workspaces, imageId), "notes.md")).catch(() => undefined);
  return readFullNotes({ notes });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [workspaces, tastes, imageId] = process.argv.slice(2);
  const onDiagnostic = ({ code, path, line, message }) => console.error([path, line, code, message].join(" "));
  console.log(JSON.stringify(await readContext(imageId, { workspaces, tastes, onDiagnostic })));
}
