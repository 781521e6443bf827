import type { PlatformAbortSignal } from "./platform.js";

declare global {
  // As `ESNext.Disposable` and `@types/node` have it: a program needs neither for the handles to have their type.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

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

/** What the `details` of an error hold, by its code. */
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
    /** A text, since it may be no number. */
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
}

/** An edge that a path could take, and the nodes it leads from. */
export interface EdgeCandidate {
  edgeId: string;
  nodeIds: string[];
}

/** How far something is over the limit, in tokens. */
export interface TokenExcess {
  limit: number;
  required: number;
  overBy: number;
}

/** Every error code there is; {@link CtxweaveError.code} is one of these. */
export type ErrorCode = keyof ErrorDetails;

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
  /** Lists and objects within each other in a file that is imported. Default 20000. */
  fileDepth?: number;
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
  /** Bytes of the front matter of one file, and of one watch; more of it is a diagnostic of that file. Default 65536. */
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

/** OpenAI's encodings by their names. Vocabularies of the first three are `ctxweave/vocab/*`, of the others `ctxweave-vocab/*`. */
export interface Encodings {
  o200k_base: true;
  cl100k_base: true;
  o200k_harmony: true;
  p50k_base: true;
  p50k_edit: true;
  r50k_base: true;
  gpt2: true;
}

/** One of OpenAI's encodings, by the name of its vocabulary, which comes with the package. */
export type Encoding = keyof Encodings;

/** An exact tokenizer: an encoding, or a vocabulary of the caller's by the name that it was loaded under. */
export type ExactTokenizer = Encoding | (string & {});

/** How tokens are counted: estimated, or exactly once the vocabulary is loaded. */
export type Tokenizer = "heuristic" | TokenizerFamily | CalibratedTokenizer | ExactTokenizer;

/**
 * Models whose tokenizer is not public: the estimate times a factor by kind of text, never exact. `claude` is for Opus 4.7 and what came
 * later, `claude-3` for Claude 3 up to Opus 4.6. `gpt-4` is the estimate scaled by script to `cl100k_base`, for models that count by it while
 * that is not loaded. docs/estimator.md has the factors, their sources and what is not known.
 */
export type TokenizerFamily = "claude" | "claude-3" | "gemini" | "gpt-4";

/** What `calibrate` fitted: its factors, and by how many percent it may be off. */
export type CalibratedTokenizer = `calibrated:${number},${number},${number},${number}`;

/** A tokenizer of the caller's. */
export interface OwnTokenizer {
  /** The name that reports carry. Default `own`. */
  name?: string;
  /** Tokens of a text: a whole number, 0 or more, always the same for the same text. */
  count(text: string): number;
}

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** How an asynchronous driver is run: one that calls functions of the caller's and waits for them. */
export interface DriverOptions {
  /**
   * Ends it: the promise rejects with the signal's reason at once, whether or not a function of the caller's ends. These are given the
   * signal, too. Anything else than an `AbortSignal` throws `invalid_input`.
   */
  signal?: PlatformAbortSignal;
}

/**
 * Data as it may be given: nothing in it is ever changed, so `readonly` lists and objects do as well, and where any JSON value
 * does, so does what TypeScript knows as an interface.
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
 * What a fit gives to the next one of the same conversation: JSON data, to be kept and given back as it is. State that is damaged, of
 * another version or of another conversation never throws: the fit starts afresh, and `report.prefix.reason` is `state_unusable`.
 */
export interface FitState {
  readonly version: number;
  readonly [field: string]: unknown;
}

/** How much of a result equals the last one of its series. */
export interface FitPrefix {
  /** Whether each message of the last result stands unchanged at the same index; the last may have more parts. */
  stable: boolean;
  /** How many messages of the result, from its beginning, equal those of the last. */
  messages: number;
  /** Tokens of these, with the system context and the tools. */
  tokens: number;
  /** Indices of messages of the result after which a cache mark pays. */
  breakpoints: number[];
  /**
   * Why the result differs from the last, unless `stable`: the request was over the limit (`step`), messages differ at the end
   * (`branched`) or earlier (`edited`), options, the system context, the tools or the format differ, or the state is unusable.
   */
  reason?: "first" | "step" | "branched" | "edited" | "options" | "system" | "tools" | "format" | "state_unusable";
}
