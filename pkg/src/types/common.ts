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
  | "accumulation_not_allowed"
  | "annotation_not_found"
  | "body_arguments_wrapped"
  | "body_cache_capped"
  | "body_ends_with_assistant"
  | "body_error_as_text"
  | "body_field_unused"
  | "body_field_renamed"
  | "body_id_changed"
  | "body_max_tokens_assumed"
  | "body_message_inserted"
  | "body_name_changed"
  | "body_part_moved"
  | "body_part_replaced"
  | "body_reasoning_changed"
  | "body_reasoning_left_out"
  | "broken_chain"
  | "commit_cycle"
  | "commit_id_mismatch"
  | "compaction_left_out"
  | "context_file_missing"
  | "context_near_limit"
  | "digest_mismatch"
  | "duplicate_element"
  | "duplicate_file"
  | "duplicate_step_id"
  | "edge_missing_on_path"
  | "empty_path"
  | "exclusive_conflict"
  | "file_unreadable"
  | "foreign_commit_ids"
  | "format_without_accumulation"
  | "front_matter_invalid"
  | "glued_records"
  | "invalid_record"
  | "invalid_time"
  | "invalid_utf8"
  | "invalid_value"
  | "legacy_context_unresolved"
  | "local_id_not_unique"
  | "lone_surrogate_replaced"
  | "loom_aware_left_out"
  | "malformed_line"
  | "media_missing"
  | "memory_left_out"
  | "metadata_conflict"
  | "misplaced_element"
  | "missing_element"
  | "missing_field"
  | "missing_format"
  | "newer_version"
  | "no_context"
  | "no_messages"
  | "non_text_left_out"
  | "not_a_context_file"
  | "not_expressible"
  | "notes_missing"
  | "parent_missing"
  | "path_outside_vault"
  | "prompt_delimiter_in_file"
  | "start_on_user_unmet"
  | "system_context_left_out"
  | "taste_missing"
  | "taste_not_declared"
  | "taste_refused"
  | "text_ignored"
  | "timestamp_unreadable"
  | "tool_pair_broken"
  | "torn_line"
  | "type_missing"
  | "unknown_format"
  | "unknown_option"
  | "unknown_record"
  | "unknown_setting"
  | "unknown_type"
  | "versions_not_linked"
  | "watch_invalid"
  | "watch_rewritten";

/** Every error code there is; {@link CtxweaveError.code} is one of these. */
export type ErrorCode =
  | "ambiguous_commit"
  | "ambiguous_path"
  | "ambiguous_ref"
  | "artifact_not_found"
  | "blob_mismatch"
  | "blob_missing"
  | "chain_cycle"
  | "commit_not_found"
  | "context_retrieval_failure"
  | "context_too_long"
  | "duplicate_id"
  | "edge_node_not_found"
  | "edge_not_found"
  | "edge_without_source"
  | "handle_busy"
  | "handle_freed"
  | "handle_lost"
  | "head_moved"
  | "id_collision"
  | "internal_error"
  | "invalid_blob"
  | "invalid_budget"
  | "invalid_choice"
  | "invalid_edit"
  | "invalid_input"
  | "invalid_vocabulary"
  | "invalid_xml"
  | "limit_exceeded"
  | "loom_context_too_long"
  | "missing_setting"
  | "node_not_found"
  | "not_initialized"
  | "path_cycle"
  | "path_outside_vault"
  | "plan_mismatch"
  | "run_out_of_order"
  | "section_not_found"
  | "stop_not_in_chain"
  | "system_context_too_long"
  | "tokenizer_failed"
  | "unknown_value"
  | "unsupported_version"
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
  /** Depth of a CBOR item of a `bureau-agent-v1` blob. Default 64. */
  cborDepth?: number;
  /** Depth of the JSON of a node's content, tool arguments included. Default 64, at most 100. */
  jsonDepth?: number;
  /** Commits in one graph. Default 1000000. */
  commits?: number;
  /** Commits on the way from one to its root. Default 1000000. */
  chainDepth?: number;
  /** Bytes of one blob. Default 268435456 (256 MiB). */
  blobBytes?: number;
  /** Bytes of a materialised conversation. Default 1073741824 (1 GiB). */
  materializedBytes?: number;
  /** Context files in one request. Default 100000. */
  contextFiles?: number;
  /** Folders that a path goes down. Default 256. */
  folderDepth?: number;
  /** Bytes of the front matter of one file; more of it is a diagnostic of that file. Default 65536. */
  frontMatterBytes?: number;
  /** Alternatives that the braces of one watch make; more of them is a diagnostic of that watch. Default 256. */
  watchAlternatives?: number;
  /** Watches of one file; those beyond are left out with a diagnostic. Default 1000. */
  watchesPerFile?: number;
  /** Bytes of one task template in XML, as UTF-8. Default 16777216 (16 MiB). */
  xmlBytes?: number;
  /** Elements within elements in a task template. Default 64, at most 100. */
  xmlDepth?: number;
  /** Elements in one task template. Default 1000000. */
  xmlElements?: number;
  /** Attributes of one element in a task template. Default 256. */
  xmlAttributes?: number;
}

/** The exact tokenizers by the names of their vocabularies. `ctxweave-tiktoken` has more. */
export interface Encodings {
  o200k_base: true;
  cl100k_base: true;
}

/** An exact tokenizer, by the name of its vocabulary. */
export type Encoding = keyof Encodings;

/** How tokens are counted: estimated, or exactly once the vocabulary is loaded. */
export type Tokenizer = "heuristic" | Encoding;

/** A tokenizer of one's own. */
export interface OwnTokenizer {
  /** The name that reports carry. Default `own`. */
  name?: string;
  /** Tokens of a text: a whole number, 0 or more, always the same for the same text. */
  count(text: string): number;
}
