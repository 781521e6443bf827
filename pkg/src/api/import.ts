/** Files of other looms, and of chats. */

import { callJson } from "../call.js";
import type { ReadonlyData } from "../types/common.js";
import type {
  ExportFormat,
  ExportOptions,
  ImportedFile,
  ImportedTreeData,
  ImportLoomOptions,
  LoomFile,
} from "../types/import.js";
import type { LoomTreeData } from "../types/loom.js";
import { asTextIfDeep } from "./deep.js";

/**
 * Reads a file of another loom, or an export of chats: its bytes, its text, or the object that its JSON is. The format is found by
 * its shape. What a Loom tree has no field for stays under `imported`, and is told; keys to services are left out. The input is
 * never changed.
 *
 * @throws {CtxweaveError} `unsupported_format` for a shape that is not known, `invalid_input` for what is no JSON and for a `select`
 * that is not there, `limit_exceeded`
 */
export function importLoom(file: LoomFile, options?: ReadonlyData<ImportLoomOptions>): ImportedFile {
  // Some looms nest children deeper than requests may be.
  return asTextIfDeep(file, (file) => callJson("importLoom", { file, options }) as ImportedFile);
}

/**
 * Writes a tree as the text of a file of another loom, or as Markdown. What the format has no place for stands under `ctxweave` in
 * it, so that `importLoom` gives the same tree again.
 *
 * @throws {CtxweaveError} `invalid_input` for what is no tree, `node_not_found` for a `tip` that is not there
 */
export function exportLoom(
  tree: ReadonlyData<LoomTreeData | ImportedTreeData>,
  format: ExportFormat,
  options?: ReadonlyData<ExportOptions>,
): string {
  return callJson("exportLoom", { tree, format, options }) as string;
}
