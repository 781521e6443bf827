/**
 * One finding about the input: something damaged, replaced or left out, reported as data and never thrown.
 */
export interface Diagnostic {
  /** Stable snake_case identifier; the list is in docs/errors.md. */
  code: DiagnosticCode;
  severity: "error" | "warning" | "info";
  /** A sentence fragment in lower case that says what was found and what was done about it. */
  message: string;
  /** Where in the request it was found (`tree.nodes[3].content`), or the file it was found in. */
  path?: string;
  /** The node it is about. */
  nodeId?: string;
  /** Line in the text it is about, from 1. */
  line?: number;
  /** Column in that line, from 1, in UTF-16 code units. */
  column?: number;
}

/** Every diagnostic code there is. */
export type DiagnosticCode =
  | "annotation_not_found"
  | "body_arguments_wrapped"
  | "body_cache_capped"
  | "body_ends_with_assistant"
  | "body_error_as_text"
  | "body_field_unused"
  | "body_id_changed"
  | "body_max_tokens_assumed"
  | "body_message_inserted"
  | "body_part_moved"
  | "body_part_replaced"
  | "body_reasoning_changed"
  | "body_reasoning_left_out"
  | "edge_missing_on_path"
  | "empty_path"
  | "file_unreadable"
  | "glued_records"
  | "invalid_utf8"
  | "local_id_not_unique"
  | "lone_surrogate_replaced"
  | "loom_aware_left_out"
  | "malformed_line"
  | "media_missing"
  | "memory_left_out"
  | "no_messages"
  | "non_text_left_out"
  | "start_on_user_unmet"
  | "taste_missing"
  | "taste_not_declared"
  | "taste_refused"
  | "timestamp_unreadable"
  | "tool_pair_broken"
  | "torn_line"
  | "versions_not_linked";

/** Every error code there is; {@link CtxweaveError.code} is one of these. */
export type ErrorCode =
  | "ambiguous_path"
  | "context_too_long"
  | "duplicate_id"
  | "edge_node_not_found"
  | "edge_not_found"
  | "edge_without_source"
  | "handle_busy"
  | "handle_freed"
  | "handle_lost"
  | "internal_error"
  | "invalid_budget"
  | "invalid_choice"
  | "invalid_input"
  | "invalid_vocabulary"
  | "limit_exceeded"
  | "loom_context_too_long"
  | "node_not_found"
  | "not_initialized"
  | "path_cycle"
  | "system_context_too_long"
  | "tokenizer_failed"
  | "unknown_value"
  | "vocabulary_not_loaded"
  | "wasm_load_failed";

/** Bounds on the input, each of which can be overridden. Going past one is the error `limit_exceeded`. */
export interface Limits {
  /** Bytes of text in one request, as UTF-8. Default 268435456 (256 MiB). */
  inputBytes?: number;
  /** Nodes in one tree. Default 1000000. */
  nodes?: number;
  /** Edges in one tree. Default 2000000. */
  edges?: number;
  /** Nodes on one path, sources and annotations included. Default 200000. */
  pathNodes?: number;
  /** Sources of one edge. Default 1000. */
  edgeSources?: number;
  /** Blocks in the content of one node, nested ones included. Default 10000. */
  contentBlocks?: number;
  /** Depth of the JSON of a node's content, tool arguments included. Default 64, at most 100. */
  jsonDepth?: number;
}

/** An exact tokenizer, by the name of its vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";

/** How tokens are counted: estimated, or exactly once the vocabulary is loaded. */
export type Tokenizer = "heuristic" | Encoding;

/** A tokenizer of one's own. */
export interface OwnTokenizer {
  /** The name that reports carry. Default `own`. */
  name?: string;
  /** Tokens of a text: a whole number, 0 or more, always the same for the same text. */
  count(text: string): number;
}
