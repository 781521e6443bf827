/** Kinds of files and values. */

import type { ChatFormat } from "./chat.js";
import type { ImportFormat } from "./import.js";
import type { TranscriptFormat } from "./transcripts.js";

/** How to identify a file. */
export interface IdentifyOptions {
  /** The path or name of the file: context files and workspace files are identified by name. */
  path?: string | undefined;
}

/** Evidence for an identification. */
export interface Evidence {
  /** The finding, for people. */
  found: string;
  /** Path in the value, or the file. */
  path?: string;
  /** Line of the file. */
  line?: number;
}

/** A list of messages, or an object with one. */
export interface ChatIdentification {
  kind: "chat";
  /** The most likely format. */
  format: ChatFormat;
  /** All formats that match the messages. */
  formats: ChatFormat[];
  /** The field with the messages; empty for a list of messages. */
  field: "" | "messages" | "contents" | "input";
  /** Number of messages. */
  count: number;
  /** The provider of the request body, if it is one. */
  body?: "anthropic" | "gemini" | "gemini-interactions" | "openai" | "openai-responses";
  evidence: Evidence[];
}

/** A session file of an agent, for `importTranscript`. */
export interface SessionIdentification {
  kind: "session";
  format: TranscriptFormat;
  evidence: Evidence[];
}

/** A file of another loom or an export of chats, for `importLoom`. */
export interface LoomFileIdentification {
  kind: "loomFile";
  format: ImportFormat;
  evidence: Evidence[];
}

/** A Loom tree. */
export interface TreeIdentification {
  kind: "tree";
  /** The field with the tree, as in a request; empty for the tree itself. */
  field: "" | "tree";
  evidence: Evidence[];
}

/** A tokenizer's vocabulary: a `tokenizer.json` for `vocabularyOf`, or an asset for `loadVocabulary`. */
export interface TokenizerIdentification {
  kind: "tokenizer";
  format: "huggingface" | "ctxweave";
  evidence: Evidence[];
}

/** A kind without formats. For `unknown`, the evidence is the reason. */
export interface PlainIdentification {
  kind: "template" | "contextFile" | "workspace" | "text" | "unknown";
  evidence: Evidence[];
}

/** Kind of a file or a value. */
export type Identification =
  | ChatIdentification
  | SessionIdentification
  | LoomFileIdentification
  | TreeIdentification
  | TokenizerIdentification
  | PlainIdentification;
