/** Files of other looms and chat exports. */

import { callJson } from "../call.js";
import type { ReadonlyData, WithUnknownFields } from "../types/common.js";
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
 * Imports a file of another loom or a chat export: its bytes, its text, or its parsed JSON. The format is detected from
 * its shape. Fields without a place in a Loom tree are kept under `imported`, with a diagnostic; API keys are left out.
 * The input is never mutated. See docs/import.md.
 *
 * @throws {CtxweaveError} `unsupported_format` for an unknown shape, `invalid_input` for invalid JSON and for a
 *   `select` without a match, `limit_exceeded`
 */
export function importLoom(file: LoomFile, options?: ReadonlyData<ImportLoomOptions>): ImportedFile {
  // Some looms nest children deeper than requests may be.
  return asTextIfDeep(file, (file) => callJson("importLoom", { file, options }) as ImportedFile);
}

/**
 * Exports a tree as a file of another loom, or as Markdown. Fields without a place in the format are written under
 * `ctxweave`, so that `importLoom` restores the same tree.
 *
 * @throws {CtxweaveError} `invalid_input` for an invalid tree, `node_not_found` for a missing `tip`
 */
export function exportLoom(
  tree: ReadonlyData<WithUnknownFields<LoomTreeData | ImportedTreeData>>,
  format: ExportFormat,
  options?: ReadonlyData<ExportOptions>,
): string {
  return callJson("exportLoom", { tree, format, options }) as string;
}
