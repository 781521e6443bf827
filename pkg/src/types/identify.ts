/** What files and values are. */

import type { ChatFormat } from "./chat.js";
import type { ImportFormat } from "./import.js";
import type { TranscriptFormat } from "./transcripts.js";

/** How to identify a file. */
export interface IdentifyOptions {
  /** The path or the name of the file: context files and the files of a workspace are known by their names. */
  path?: string;
}

/** Something that speaks for an identification. */
export interface Evidence {
  /** What was found, for people. */
  found: string;
  /** Where in the value, or in which file. */
  path?: string;
  /** In which line of the file. */
  line?: number;
}

/** A list of messages, or an object with one. */
export interface ChatIdentification {
  kind: "chat";
  /** The format that it is taken for. */
  format: ChatFormat;
  /** All formats that its messages can be in. */
  formats: ChatFormat[];
  /** The field that has the messages; empty for a list of them. */
  field: "" | "messages" | "contents" | "input";
  /** How many messages there are. */
  count: number;
  /** Whose request body it is, if it is one. */
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
  /** The field that has it, as in a request; empty for the tree itself. */
  field: "" | "tree";
  evidence: Evidence[];
}

/** The vocabulary of a tokenizer: a `tokenizer.json` for `vocabularyOf`, or an asset for `loadVocabulary`. */
export interface TokenizerIdentification {
  kind: "tokenizer";
  format: "huggingface" | "ctxweave";
  evidence: Evidence[];
}

/** Something without formats. Of `unknown` the evidence tells why. */
export interface PlainIdentification {
  kind: "template" | "contextFile" | "workspace" | "text" | "unknown";
  evidence: Evidence[];
}

/** What a file or a value is. */
export type Identification =
  | ChatIdentification
  | SessionIdentification
  | LoomFileIdentification
  | TreeIdentification
  | TokenizerIdentification
  | PlainIdentification;
