import type { PlatformAbortSignal } from "./platform.js";

declare global {
  // As declared by `ESNext.Disposable` and `@types/node`, so that the types of the handles need neither.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/** A finding about the input: something damaged, replaced or left out. Reported as data, never thrown. */
export interface Diagnostic {
  /** Stable snake_case identifier; docs/errors.md lists them. */
  code: DiagnosticCode;
  severity: "error" | "warning" | "info";
  /** A lower-case phrase: the finding, and how it was handled. */
  message: string;
  /** Path in the request (`tree.nodes[3].content`), or the file. */
  path?: string;
  /** The node concerned. */
  nodeId?: string;
  /** Line in the text concerned, from 1. */
  line?: number;
  /** Column in that line, from 1, in UTF-16 code units. */
  column?: number;
}

/** All diagnostic codes. */
export type DiagnosticCode =
  | "accumulation_not_allowed"
  | "agent_contradiction"
  | "agent_file_too_long"
  | "agent_file_unread"
  | "agent_import_cyclic"
  | "agent_import_missing"
  | "agent_import_outside"
  | "agent_import_too_deep"
  | "agent_pattern_never_matches"
  | "agent_rule_matches_no_file"
  | "agent_rule_never_loads"
  | "agent_text_lost"
  | "agent_text_repeated"
  | "annotation_not_found"
  | "artifact_unverified"
  | "body_arguments_wrapped"
  | "body_cache_capped"
  | "body_ends_with_assistant"
  | "body_error_as_text"
  | "body_field_renamed"
  | "body_field_unused"
  | "body_id_changed"
  | "body_max_tokens_assumed"
  | "body_message_inserted"
  | "body_name_changed"
  | "body_part_moved"
  | "body_part_replaced"
  | "body_reasoning_changed"
  | "body_reasoning_left_out"
  | "broken_chain"
  | "empty_text"
  | "many_large_images"
  | "prefill_refused"
  | "sampling_refused"
  | "selections_ignored"
  | "cache_marks_refused"
  | "commit_cycle"
  | "commit_id_mismatch"
  | "compaction_left_out"
  | "content_left_out"
  | "context_file_missing"
  | "context_near_limit"
  | "digest_mismatch"
  | "duplicate_element"
  | "duplicate_file"
  | "duplicate_step_id"
  | "edge_missing_on_path"
  | "empty_path"
  | "exclusive_conflict"
  | "field_left_out"
  | "file_unreadable"
  | "foreign_commit_ids"
  | "format_without_accumulation"
  | "front_matter_invalid"
  | "glued_records"
  | "import_author_unknown"
  | "import_dangling_reference"
  | "import_id_changed"
  | "import_not_expressed"
  | "import_secret_left_out"
  | "import_template_not_evaluated"
  | "import_text_rewritten"
  | "import_time_unreadable"
  | "import_time_zone_assumed"
  | "import_unsupported_content"
  | "import_version_unknown"
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
  | "missing_base"
  | "missing_element"
  | "missing_field"
  | "missing_format"
  | "model_assumed"
  | "newer_version"
  | "no_context"
  | "no_messages"
  | "non_text_left_out"
  | "not_a_context_file"
  | "not_expressible"
  | "notes_missing"
  | "option_ignored"
  | "parent_missing"
  | "path_outside_vault"
  | "prompt_delimiter_in_file"
  | "protection_dropped"
  | "reasoning_alone"
  | "reasoning_prefix_changed"
  | "reply_cut_off"
  | "reply_empty"
  | "reply_event_unreadable"
  | "reply_not_expressed"
  | "role_not_found"
  | "start_on_user_unmet"
  | "summary_failed"
  | "system_context_left_out"
  | "taste_missing"
  | "taste_not_declared"
  | "taste_refused"
  | "tastes_ignored"
  | "text_ignored"
  | "timestamp_unreadable"
  | "tokens_estimated"
  | "tool_choice_refused"
  | "tool_pair_apart"
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

/** The `details` of an error, by code. */
export interface ErrorDetails {
  ambiguous_commit: { principal: string; candidates: string[] };
  ambiguous_path: { nodeId: string; candidates: EdgeCandidate[] };
  ambiguous_ref: { artifactRef: string; candidates: string[] };
  artifact_not_found: { artifactRef: string; commitId?: string };
  blob_mismatch: { commitId: string; artifactRef: string; actualRef: string };
  blob_missing: { commitId: string; artifactRef: string };
  chain_cycle: { commitId: string; artifactRef: string };
  commit_not_found: { commitId: string; childId?: string; artifactRef?: string };
  context_retrieval_failure: { attempts: number; reason: string };
  context_too_long: TokenExcess & {
    nodes?: { nodeId: string; tokens: number }[];
    messages?: { index: number; tokens: number }[];
  };
  duplicate_id: { kind: string; id: string };
  edge_node_not_found: { edgeId: string; nodeId: string };
  edge_not_found: { edgeId: string };
  edge_without_source: { edgeId: string };
  handle_busy: object;
  handle_freed: object;
  handle_lost: object;
  head_conflict: { head: string; actual?: string; commitId: string };
  compaction_stale: { covered: number; stored: number };
  id_collision: { commitId: string; artifactRef: string; otherArtifactRef: string; line?: number };
  internal_error: object;
  invalid_blob: { format: string; reason: string; commitId?: string; artifactRef?: string };
  invalid_budget: {
    setting: string;
    /** A text, because it may not be a number. */
    value: string;
    tokenBuffer?: number;
    path?: string;
  };
  invalid_choice: { choice: string; nodeId?: string; candidates?: EdgeCandidate[] };
  invalid_edit: { path?: string; section?: string };
  invalid_input: {
    path?: string;
    index?: number;
    expected?: string[];
    nodeId?: string;
    edgeId?: string;
    commitId?: string;
    artifactRef?: string;
    line?: number;
    column?: number;
  };
  invalid_vocabulary: { tokenizer: string; reason: string; url?: string };
  invalid_xml: { reason: string; line: number; column: number };
  limit_exceeded: { limit: string; value: number; max: number; nodeId?: string; path?: string };
  loom_context_too_long: TokenExcess & { memory: number; loomBlock: number };
  missing_setting: { setting: string; type: string };
  node_not_found: { nodeId: string };
  not_initialized: object;
  path_cycle: { nodeId: string };
  path_outside_vault: { path: string };
  plan_mismatch: { commitId: string; cacheKey: string };
  provider_error: { provider: string; error: JsonValue };
  record_mismatch: { commitId: string; actualId?: string };
  request_too_large: { limit: number; required: number; overBy: number };
  resume_incomplete: { consumed: number; reason: string };
  resume_mismatch: { reason: string; consumed?: number };
  run_out_of_order: { expected: string; given: string };
  section_not_found: { section: string; sections: string[]; path?: string };
  stop_not_in_chain: { commitId: string; stop: string };
  store_busy: { head?: string; keys: string[] };
  store_failed: { operation: string; key: string };
  system_context_too_long: TokenExcess;
  tokenizer_failed: object;
  unknown_value: { value: string; expected: string[]; path?: string; nodeId?: string; edgeId?: string };
  unsupported_format: { expected: string[]; format?: string };
  unsupported_version: { commitId?: string; artifactRef?: string; version: number };
  vocabulary_not_loaded: { tokenizer: string; reason?: string; url?: string; status?: number };
  wasm_load_failed: { reason: string; url?: string; status?: number; found?: string; expected?: string };
  wasm_unavailable: { missing: "WebAssembly" | "DecompressionStream" };
}

/** A candidate edge of a path, and the nodes that it comes from. */
export interface EdgeCandidate {
  edgeId: string;
  nodeIds: string[];
}

/** The excess over a limit, in tokens. */
export interface TokenExcess {
  limit: number;
  required: number;
  overBy: number;
}

/** All error codes; {@link CtxweaveError.code} is one of these. */
export type ErrorCode = keyof ErrorDetails;

/** Limits on the input. Each can be overridden; exceeding one throws `limit_exceeded`. See docs/limits.md. */
export interface Limits {
  /** Bytes of text in one request, as UTF-8. Default 268435456 (256 MiB). */
  inputBytes?: number | undefined;
  /** Nodes in one tree. Default 1000000. */
  nodes?: number | undefined;
  /** Edges in one tree. Default 2000000. */
  edges?: number | undefined;
  /** Nodes on one path, sources and annotations included. Default 200000. */
  pathNodes?: number | undefined;
  /** Sources of one edge. Default 1000. */
  edgeSources?: number | undefined;
  /** Blocks in the content of one node, nested ones included. Default 10000. */
  contentBlocks?: number | undefined;
  /** Depth of a CBOR item of a blob. Default 64. */
  cborDepth?: number | undefined;
  /** Depth of the JSON of a node's content, tool arguments included. Default 64, at most 100. */
  jsonDepth?: number | undefined;
  /** Nesting depth of lists and objects in an imported file. Default 20000. */
  fileDepth?: number | undefined;
  /** Commits in one graph. Default 1000000. */
  commits?: number | undefined;
  /** Commits from one commit to its root. Default 1000000. */
  chainDepth?: number | undefined;
  /** Bytes of one blob. Default 268435456 (256 MiB). */
  blobBytes?: number | undefined;
  /** Bytes of a materialized conversation. Default 1073741824 (1 GiB). */
  materializedBytes?: number | undefined;
  /** Context files in one request. Default 100000. */
  contextFiles?: number | undefined;
  /** Depth of folders in a path. Default 256. */
  folderDepth?: number | undefined;
  /**
   * Bytes of the front matter of one file, and of one watch. Exceeding it is reported as a diagnostic of the file.
   * Default 65536.
   */
  frontMatterBytes?: number | undefined;
  /** Alternatives from the braces of one watch. Exceeding it is reported as a diagnostic of the watch. Default 256. */
  watchAlternatives?: number | undefined;
  /** Watches of one file. Watches over the limit are left out with a diagnostic. Default 1000. */
  watchesPerFile?: number | undefined;
  /** Bytes of one task template in XML, as UTF-8. Default 16777216 (16 MiB). */
  xmlBytes?: number | undefined;
  /** Nesting depth of elements in a task template. Default 64, at most 100. */
  xmlDepth?: number | undefined;
  /** Elements in one task template. Default 1000000. */
  xmlElements?: number | undefined;
  /** Attributes of one element in a task template. Default 256. */
  xmlAttributes?: number | undefined;
}

/**
 * OpenAI's encodings by name. The vocabularies of the first three are `ctxweave/vocab/*`, the others
 * `ctxweave-vocab/*`.
 */
export interface Encodings {
  o200k_base: true;
  cl100k_base: true;
  o200k_harmony: true;
  p50k_base: true;
  p50k_edit: true;
  r50k_base: true;
  gpt2: true;
}

/** One of OpenAI's encodings, by the name of its vocabulary. */
export type Encoding = keyof Encodings;

/** An exact tokenizer: an encoding, or the name under which a custom vocabulary was loaded. */
export type ExactTokenizer = Encoding | (string & {});

/**
 * How to count tokens: estimated, or exactly once the vocabulary is loaded. `characters` is a token per four characters,
 * for comparison with programs that count this way.
 */
export type Tokenizer = "heuristic" | "characters" | TokenizerFamily | CalibratedTokenizer | ExactTokenizer;

/**
 * Models without a public tokenizer: the estimate times a factor per kind of text, never exact. `claude` is for Opus
 * 4.7 and later, `claude-3` for Claude 3 up to Opus 4.6. `gpt-4` is the estimate scaled per script to `cl100k_base`,
 * for models of that encoding until it is loaded. docs/estimator.md has the factors, their sources and open questions.
 */
export type TokenizerFamily = "claude" | "claude-3" | "gemini" | "gpt-4";

/** Result of `calibrate`: its factors and its error bound in percent. */
export type CalibratedTokenizer = `calibrated:${number},${number},${number},${number}`;

/** A custom tokenizer. */
export interface OwnTokenizer {
  /** The name used in reports. Default `own`. */
  name?: string | undefined;
  /** Tokens of a text: a whole number of at least 0. Must be deterministic. */
  count(text: string): number;
}

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** An entity of a front end; it may have custom fields, which are not read. */
export type WithUnknownFields<Entity> = Entity | (Entity & { readonly [field: string]: unknown });

/** Options of an asynchronous driver, which awaits functions of the caller. */
export interface DriverOptions {
  /**
   * Aborts the driver: its promise rejects with the signal's reason immediately, even while a function of the caller is
   * pending. These functions receive the signal as well. Anything other than an `AbortSignal` throws `invalid_input`.
   */
  signal?: PlatformAbortSignal | undefined;
}

/**
 * Input data. It is never mutated, so `readonly` lists and objects are accepted, and values of interface types wherever
 * any JSON value is.
 */
export type ReadonlyData<T> = unknown extends T
  ? T
  : JsonValue extends T
    ? unknown
    : T extends string | ArrayBuffer | ArrayBufferView | Date | ((...some: never[]) => unknown)
      ? T
      : T extends readonly (infer Item)[]
        ? readonly ReadonlyData<Item>[]
        : T extends object
          ? { readonly [Key in keyof T]: ReadonlyData<T[Key]> }
          : T;

/**
 * State of a fit for the next fit of the same conversation: JSON data, to be stored and passed back unchanged. State
 * that is damaged, of another version or of another conversation never throws: the fit starts from scratch, and
 * `report.prefix.reason` is `state_unusable`.
 */
export interface FitState {
  readonly version: number;
  readonly [field: string]: unknown;
}

/** The part of a result that equals the last one of its series. */
export interface FitPrefix {
  /** Whether each message of the last result is unchanged at the same index; the last one may have parts appended. */
  stable: boolean;
  /** Number of messages at the beginning that equal those of the last result. */
  messages: number;
  /** Tokens of these messages, including the system context and the tools. */
  tokens: number;
  /** Indices of messages after which a cache breakpoint is useful. */
  breakpoints: number[];
  /**
   * Why the result differs from the last one, unless `stable`: the request was over the limit (`step`), messages differ
   * at the end (`branched`) or earlier (`edited`), options, the system context, the tools or the format differ, or the
   * state is unusable.
   */
  reason?: "first" | "step" | "branched" | "edited" | "options" | "system" | "tools" | "format" | "state_unusable";
}
