/** Files of other looms and chat exports: input and output types. */

import type { Diagnostic, JsonValue, Limits } from "./common.js";
import type { LoomNode, LoomTreeData, Media, NodeMetadata } from "./loom.js";

/** A file: its bytes, its text, or its parsed JSON. */
export type LoomFile = string | Uint8Array | ArrayBuffer | object;

/** Format of a file. `messages` is a list of messages as vendors accept it, or a request body. */
export type ImportFormat =
  | "athanor"
  | "chatbot-ui"
  | "chatgpt"
  | "claude"
  | "coloom"
  | "ctxweave"
  | "exoloom"
  | "koboldai"
  | "librechat"
  | "llama-cpp"
  | "loomsidian"
  | "messages"
  | "miniloom"
  | "nextchat"
  | "open-webui"
  | "pyloom"
  | "sillytavern";

/** How to read a file. */
export interface ImportLoomOptions {
  /** Its format. Default: detected from its shape. */
  format?: ImportFormat | undefined;
  /** The trees to import: by position in the file (from 0), id or title. Default: all. */
  select?: number | string | (number | string)[] | undefined;
  /** Offset of times without a zone: `Z` (the default), or for example `+02:00`. */
  utcOffset?: string | undefined;
  /**
   * In a coloom file with several cursors, the cursor whose node becomes the tip. Defaults to the one that moved last.
   */
  cursor?: string | undefined;
  limits?: Limits | undefined;
}

/** The contents of a file. */
export interface ImportedFile {
  /** In file order. */
  trees: ImportedTree[];
  format: ImportFormat;
  /** Content that a Loom tree cannot express, damage, and assumptions. */
  diagnostics: Diagnostic[];
}

/** One tree of a file. */
export interface ImportedTree {
  /** The id from the file; for Loomsidian the path of its note. */
  id?: string;
  title?: string;
  /** Input for `new LoomTree(tree)`, `assembleDialogue` and `assembleBuffer`. */
  tree: ImportedTreeData;
  /** The current node if the file records one, otherwise the newest leaf. Absent if the tree has no nodes. */
  tip?: string;
  /** Images whose bytes or addresses the file contains, by `ref`, ready for an assembly. */
  media?: Record<string, Media>;
}

/** A tree, with the other fields of the file. */
export interface ImportedTreeData extends LoomTreeData {
  /** Text before the document of a buffer, neither joined nor trimmed: the memory of pyloom and KoboldAI. */
  bufferPrefix?: string;
  /** Fields of the file that have no place in a Loom tree, unchanged. */
  imported?: { format: ImportFormat; fields: Record<string, JsonValue> };
  nodes: ImportedNode[];
}

/** A node, with its other fields from the file. */
export interface ImportedNode extends LoomNode {
  metadata?: NodeMetadata & {
    /** Fields that have no place in a node, unchanged. */
    imported?: Record<string, JsonValue>;
  };
}

/** Format for export. */
export type ExportFormat = "pyloom" | "loomsidian" | "markdown";

/** How to write a tree. */
export interface ExportOptions {
  /**
   * The current node. Markdown then contains only the path to it; without it the whole tree, with a heading for each
   * branch.
   */
  tip?: string | undefined;
  limits?: Limits | undefined;
}
