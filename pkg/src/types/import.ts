/** Files of other looms and of chats: what goes in and what comes out. */

import type { Diagnostic, JsonValue, Limits } from "./common.js";
import type { LoomNode, LoomTreeData, Media, NodeMetadata } from "./loom.js";

/** A file: its bytes, its text, or the object or list that its JSON is. */
export type LoomFile = string | Uint8Array | ArrayBuffer | object;

/** What a file is of. `messages` is a list of messages as a vendor takes them, or the body of a request. */
export type ImportFormat =
  | "athanor"
  | "chatbot-ui"
  | "chatgpt"
  | "claude"
  | "coloom"
  | "exoloom"
  | "koboldai"
  | "librechat"
  | "loomsidian"
  | "messages"
  | "miniloom"
  | "nextchat"
  | "open-webui"
  | "pyloom"
  | "sillytavern";

/** How a file is read. */
export interface ImportLoomOptions {
  /** What it is of. Found by its shape where this is not given. */
  format?: ImportFormat;
  /** Which of its trees are wanted: by their place in the file (from 0), their id or their title. All of them where this is not given. */
  select?: number | string | (number | string)[];
  /** What times without a zone are in: `Z`, the default, or an offset such as `+02:00`. */
  utcOffset?: string;
  /** Whose place is the tip, in a file of coloom's with several cursors. The one that moved last where this is not given. */
  cursor?: string;
  limits?: Limits;
}

/** What a file holds. */
export interface ImportedFile {
  /** In the order of the file. */
  trees: ImportedTree[];
  format: ImportFormat;
  /** What a Loom tree cannot say, what was damaged, and what was assumed. */
  diagnostics: Diagnostic[];
}

/** A tree of a file. */
export interface ImportedTree {
  /** The id that the file gives it; of one of Loomsidian's the path of its note. */
  id?: string;
  title?: string;
  /** Ready for `new LoomTree(tree)`, `assembleDialogue` and `assembleBuffer`. */
  tree: ImportedTreeData;
  /** The current node, where the file says which that is, else the newest leaf. Absent where there are no nodes. */
  tip?: string;
  /** Images whose bytes or addresses the file holds, by their `ref`s, as an assembly takes them. */
  media?: Record<string, Media>;
}

/** A tree with what the file says of it beyond that. */
export interface ImportedTreeData extends LoomTreeData {
  /** Stands before the document of a buffer, unjoined and untrimmed: the memory of pyloom and KoboldAI. */
  bufferPrefix?: string;
  /** The fields of the file that a Loom tree has no place for, as they stand there. */
  imported?: { format: ImportFormat; fields: Record<string, JsonValue> };
  nodes: ImportedNode[];
}

/** A node with what the file says of it beyond that. */
export interface ImportedNode extends LoomNode {
  metadata?: NodeMetadata & {
    /** The fields of the file that a node has no place for, as they stand there. */
    imported?: Record<string, JsonValue>;
  };
}

/** What a tree can be written as. */
export type ExportFormat = "pyloom" | "loomsidian" | "markdown";

/** How a tree is written. */
export interface ExportOptions {
  /** The current node. Markdown has the path to it alone; without it the whole tree, with a heading for each branch. */
  tip?: string;
  limits?: Limits;
}
