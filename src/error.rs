//! The error type, the list of its codes, and diagnostics (docs/errors.md).
//!
//! An [`Error`] means that the call returned no result. Damage in the input that a call repaired or skipped is a
//! [`Diagnostic`]; what it cut or left out is part of its report.

use std::fmt;
use std::ops::Index;

use serde::Serialize;
use serde_json::Value;

use crate::json::number;

/// Declares a fieldless enum whose variants have a stable snake_case name and a sentence for the docs, with a list of
/// all variants.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal, $doc:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name { $(#[doc = $doc] $variant,)+ }

        impl $name {
            /// Every code, in the order of the docs table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable snake_case name, as in JavaScript.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The meaning, as in the table in the docs.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)+ }
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

codes! {
    /// The kind of an error. The names are stable: programs may compare them.
    Code {
        AmbiguousCommit = "ambiguous_commit", "A principal made several commits at the same time, and none is an ancestor of the others. `details`: `principal`, `candidates`.";
        AmbiguousPath = "ambiguous_path", "A node has several incoming continuation edges and `choices` names none of them. `details`: `nodeId`, `candidates`.";
        AmbiguousRef = "ambiguous_ref", "A short artifact ref stands for several artifacts. `details`: `artifactRef`, `candidates`.";
        ArtifactNotFound = "artifact_not_found", "No commit has an artifact that matches the short ref. `details`: `artifactRef`.";
        BlobMismatch = "blob_mismatch", "The hash of a blob does not match its ref: it was damaged or replaced. `details`: `commitId`, `artifactRef`, `actualRef`.";
        BlobMissing = "blob_missing", "A blob that a plan lists is missing or could not be fetched. `details`: `commitId`, `artifactRef`.";
        ChainCycle = "chain_cycle", "The parents of a commit form a cycle. `details`: `commitId`, `artifactRef`.";
        CommitNotFound = "commit_not_found", "The requested commit, or the parent of a commit, is not in the graph. `details`: `commitId`; `childId` and `artifactRef` of the commit whose parent is missing.";
        CompactionStale = "compaction_stale", "A compaction summarizes fewer messages than are stored; its summary would hide the rest. `details`: `covered`, `stored`.";
        ContextRetrievalFailure = "context_retrieval_failure", "The memory system failed twice. `details`: `attempts`, `reason`.";
        ContextTooLong = "context_too_long", "The context is over the limit and the strategy may not cut it, or cannot cut enough. `details`: `limit`, `required`, `overBy`, `nodes` with the cost of each.";
        DuplicateId = "duplicate_id", "Two nodes or two edges have the same id. `details`: `kind`, `id`.";
        EdgeNodeNotFound = "edge_node_not_found", "An edge names a node that the tree does not have. `details`: `edgeId`, `nodeId`.";
        EdgeNotFound = "edge_not_found", "The request names an edge that the tree does not have. `details`: `edgeId`.";
        EdgeWithoutSource = "edge_without_source", "An edge on the path has no source that could be the predecessor. `details`: `edgeId`.";
        HandleBusy = "handle_busy", "A re-entrant call of a handle, for example from a custom tokenizer.";
        HandleFreed = "handle_freed", "A method of a handle was called after `free()`.";
        HandleLost = "handle_lost", "The handle belongs to an instance of the module that was replaced by `reset` or after an internal error; create a new one.";
        HeadConflict = "head_conflict", "The commit to add does not descend from the commit at a store's head. `details`: `head`; `actual`, the commit at the head; `commitId`, the commit to add.";
        IdCollision = "id_collision", "The id derived from a commit's fields belongs to a commit with other content. `details`: `commitId`, `artifactRef`, `otherArtifactRef`, and `line` on import.";
        InternalError = "internal_error", "Internal error of ctxweave; the module has to be loaded again. Please report it.";
        InvalidBlob = "invalid_blob", "A blob is invalid in its format. `details`: `format`, `reason`, and `commitId` and `artifactRef` if known.";
        InvalidBudget = "invalid_budget", "A token setting is negative, not a whole number or not a number, or the resulting limit is not above 0. `details`: `setting`; `value`, as text; `tokenBuffer`, a number, if it uses up the window.";
        InvalidChoice = "invalid_choice", "`choices` or `versionSelections` names something that is not a candidate. `details`: `nodeId`, `choice`, `candidates`.";
        InvalidEdit = "invalid_edit", "An edit cannot be applied. `details`: `path` and `section`, or `nodeId`, if known.";
        InvalidInput = "invalid_input", "The request does not match its type. `details`: `path` if known.";
        InvalidVocabulary = "invalid_vocabulary", "The bytes are damaged or not the vocabulary asset of that encoding. `details`: `tokenizer`, `reason`; `url` if they were fetched.";
        InvalidXml = "invalid_xml", "The task template is not well-formed XML, holds a DTD or a custom entity, or its root is not a task. `details`: `reason`, `line`, `column`.";
        LimitExceeded = "limit_exceeded", "The input is larger than a limit allows. `details`: `limit` (its name), `value`, `max`.";
        LoomContextTooLong = "loom_context_too_long", "The operational memory and the loom block together with the system context are over the limit; they are never truncated. `details`: `limit`, `required`, `overBy`, `memory`, `loomBlock`.";
        MissingSetting = "missing_setting", "The task's type has no defaults, and a context setting is missing. `details`: `setting`, `type`.";
        NodeNotFound = "node_not_found", "The request names a node that the tree does not have. `details`: `nodeId`.";
        NotInitialized = "not_initialized", "A function was called before `await init()` finished.";
        PathCycle = "path_cycle", "The walk back from the tip reaches a node twice, or a path lists one twice. `details`: `nodeId`.";
        PathOutsideVault = "path_outside_vault", "A path is absolute or leaves the vault. `details`: `path`.";
        PlanMismatch = "plan_mismatch", "A plan does not match the graph in its current state. `details`: `commitId`, `cacheKey`.";
        ProviderError = "provider_error", "The answer of a provider, or an event of its stream, is an error. `details`: `provider`, `error` as the provider sent it.";
        RecordMismatch = "record_mismatch", "A record in a store is damaged or belongs to another commit. `details`: `commitId`; `actualId` if it belongs to another commit.";
        RequestTooLarge = "request_too_large", "The messages as JSON are over `maxBytes` even without their removable images. `details`: `limit`, `required`, `overBy`, in bytes.";
        ResumeIncomplete = "resume_incomplete", "A session file refers to something that `resume` does not hold: a record far back, or a header that is too long. Pass the whole file, with `wholeFile`. `details`: `consumed`, `reason`.";
        ResumeMismatch = "resume_mismatch", "A session file does not match `resume`: it was rewritten or truncated, or the format or the options differ. `details`: `reason`, and `consumed` if known.";
        RunOutOfOrder = "run_out_of_order", "A run received a result other than the one it waits for. `details`: `expected`, `given`.";
        SectionNotFound = "section_not_found", "The section that an edit names is not in the file. `details`: `section`, `sections`, `path` if known.";
        StopNotInChain = "stop_not_in_chain", "The commit to stop at is not in the chain of the commit to materialize. `details`: `commitId`, `stop`.";
        StoreBusy = "store_busy", "Garbage collection is deleting the keys to write; try again after it. `details`: `keys`, and `head` if a head is concerned.";
        StoreFailed = "store_failed", "A call of a store failed on every attempt; `cause` is the last error it threw. `details`: `operation`, `key`.";
        SystemContextTooLong = "system_context_too_long", "The system context and the tool definitions alone are over the limit; they are never truncated. `details`: `limit`, `required`, `overBy`.";
        TokenizerFailed = "tokenizer_failed", "A custom tokenizer threw, or returned something other than a whole number of 0 or more.";
        UnknownValue = "unknown_value", "A field has an unknown value. `details`: `value`, `expected`, and the id of the node or edge.";
        UnsupportedFormat = "unsupported_format", "A file has no supported format, or does not match the format that was named. `details`: `expected`; `format` if one was named.";
        UnsupportedVersion = "unsupported_version", "A record has a version that can be read but not changed. `details`: `commitId`, `artifactRef`, `version`.";
        VocabularyNotLoaded = "vocabulary_not_loaded", "Exact counting was requested and the vocabulary is not loaded, or its asset could not be loaded. `details`: `tokenizer`; `reason`, `url` and `status` if an asset was requested.";
        WasmLoadFailed = "wasm_load_failed", "The WebAssembly module could not be loaded. `details`: `reason`; `url`, `status`, `found` and `expected` if known.";
        WasmUnavailable = "wasm_unavailable", "The runtime has no WebAssembly, or cannot unpack the module. `details`: `missing`.";
    }
}

codes! {
    /// The kind of a diagnostic. The names are stable: programs may compare them.
    DiagnosticCode {
        AccumulationNotAllowed = "accumulation_not_allowed", "Accumulation was set on a task that is not sequential; it was ignored.";
        AgentContradiction = "agent_contradiction", "Two statements that an agent reads together exclude each other: docs/rules.md.";
        AgentFileTooLong = "agent_file_too_long", "A context file or rule is longer than its agent reads, or than its documentation advises.";
        AgentFileUnread = "agent_file_unread", "No listed agent reads a context file or rule.";
        AgentImportCyclic = "agent_import_cyclic", "A context file imports itself, directly or through others.";
        AgentImportMissing = "agent_import_missing", "An `@path` of a context file names no file.";
        AgentImportOutside = "agent_import_outside", "An `@path` of a context file is outside the folder that imports are limited to; it was not loaded.";
        AgentImportTooDeep = "agent_import_too_deep", "An `@path` of a context file has more imports above it than the agent follows; it was not loaded.";
        AgentPatternNeverMatches = "agent_pattern_never_matches", "A pattern of a rule can match no path in the dialect of its agent.";
        AgentRuleMatchesNoFile = "agent_rule_matches_no_file", "No file of the project matches the patterns of a rule.";
        AgentRuleNeverLoads = "agent_rule_never_loads", "The agent never loads a rule, because of its front matter.";
        AgentTextLost = "agent_text_lost", "The agent does not read a file or its end: over a limit, or a link that was checked out as text. `losses` has the bytes.";
        AgentTextRepeated = "agent_text_repeated", "An agent reads the same line from two files.";
        AnnotationNotFound = "annotation_not_found", "`includeAnnotations` names a node that is not an annotation of the path; the name was ignored.";
        ArtifactUnverified = "artifact_unverified", "A record has a ref of another store; its blob was used unverified, because no `verifyArtifact` was given.";
        BodyArgumentsWrapped = "body_arguments_wrapped", "The provider accepts only a JSON object as the arguments of a tool call; other arguments were wrapped in one, under `arguments`.";
        BodyCacheCapped = "body_cache_capped", "Cache breakpoints were left out or shortened: more than the provider accepts, at missing messages, or with a longer lifetime than an earlier one. Those inside `target` were kept.";
        BodyEndsWithAssistant = "body_ends_with_assistant", "The last message is the assistant's. The provider continues it or rejects it, depending on the model.";
        BodyErrorAsText = "body_error_as_text", "The provider has no field for a failed tool; the text of the result states the failure.";
        BodyFieldRenamed = "body_field_renamed", "The provider or the model does not accept a field of `target` under its name; it was renamed.";
        BodyFieldUnused = "body_field_unused", "A field of `target` has no place in the provider's body, or would replace what the body already has; it was left out.";
        BodyIdChanged = "body_id_changed", "The provider does not accept the id of a tool call, or two calls have it; the call and its result have a new one.";
        BodyMaxTokensAssumed = "body_max_tokens_assumed", "The provider requires an output limit and `target` has none; `tokenBuffer` is used.";
        BodyMessageInserted = "body_message_inserted", "The provider requires a user message first; one was inserted.";
        BodyNameChanged = "body_name_changed", "The provider does not accept the name of a tool; the tool was renamed in its definition, its choice and its calls.";
        BodyPartMoved = "body_part_moved", "A part was moved in the body to meet the provider's rules.";
        BodyPartReplaced = "body_part_replaced", "A text replaces an image, a recording or an empty result that the provider does not accept there; or the type of an image was corrected.";
        BodyReasoningChanged = "body_reasoning_changed", "Reasoning was sent with an id that the provider did not assign, or a call of Gemini's with Google's placeholder for its missing signature.";
        BodyReasoningLeftOut = "body_reasoning_left_out", "The provider does not accept this reasoning, and it was left out; or reasoning that Anthropic requires is missing.";
        BrokenChain = "broken_chain", "A record of a transcript names a parent or a message that is missing or later in the file, or is its own ancestor.";
        CacheMarksRefused = "cache_marks_refused", "A result has, with its system context and tools, more cache breakpoints than Anthropic accepts. They were kept; remove some.";
        CommitCycle = "commit_cycle", "The parents of imported commits form a cycle; no chain through it can be used.";
        CommitIdMismatch = "commit_id_mismatch", "The id of an imported record has the form of a ctxweave id but does not match its fields; the record was changed.";
        CompactionLeftOut = "compaction_left_out", "A compaction or snapshot at the beginning of a chain was left out, since all deltas from the root were requested; the messages before it are missing.";
        ContentLeftOut = "content_left_out", "A part, an item or a message has a type or a role that the result has no place for; it was left out. The message names and counts it.";
        ContextFileMissing = "context_file_missing", "A selected folder has neither `AGENTS.md` nor `CLAUDE.md`; it was skipped.";
        ContextNearLimit = "context_near_limit", "A context is over `warnTokens`; nothing was done about it.";
        DigestMismatch = "digest_mismatch", "The records before a digest do not match it: some were altered, added or lost. They were imported.";
        DuplicateElement = "duplicate_element", "An element that is allowed once occurs twice; the first is used.";
        DuplicateFile = "duplicate_file", "Two files have the same path; the first is used.";
        DuplicateStepId = "duplicate_step_id", "Two steps of one task have the same id; only their order distinguishes their outputs.";
        EdgeMissingOnPath = "edge_missing_on_path", "Two neighbors in an explicit `path` have no edge between them; both were kept.";
        EmptyPath = "empty_path", "The path holds no nodes, so there are no messages.";
        EmptyText = "empty_text", "A text is empty, which the provider rejects; it was left out. `path` names its message.";
        ExclusiveConflict = "exclusive_conflict", "With `exclusive`, a task cannot both inherit and have fresh context.";
        FieldLeftOut = "field_left_out", "A field of a message, a part or a call has no place in the result; it was left out. The message names and counts it.";
        FileUnreadable = "file_unreadable", "The host could not read a file; it counts as empty.";
        ForeignCommitIds = "foreign_commit_ids", "Imported records have ids of another origin, which cannot be checked against their fields.";
        FormatWithoutAccumulation = "format_without_accumulation", "`accumulation_format` has no effect without accumulation.";
        FrontMatterInvalid = "front_matter_invalid", "Front matter is invalid YAML or has another type; the file has no watches.";
        GluedRecords = "glued_records", "Two records are on one line of a JSONL file; both were read.";
        ImportAuthorUnknown = "import_author_unknown", "A file does not record the author of a node; the message names the assumed one.";
        ImportDanglingReference = "import_dangling_reference", "A file refers to a missing node, or a node is its own ancestor; the node became a root, or the reference was ignored.";
        ImportIdChanged = "import_id_changed", "Two nodes of a file have the same id, or a node has none; it was given a new one.";
        ImportNotExpressed = "import_not_expressed", "A field of a file has no place in a Loom tree; it stays under `imported`.";
        ImportSecretLeftOut = "import_secret_left_out", "A field of a file looks like a key to a service; it was left out.";
        ImportTemplateNotEvaluated = "import_template_not_evaluated", "A node of a file is a template that its program would evaluate; its text was imported unevaluated.";
        ImportTextRewritten = "import_text_rewritten", "A node of a file changes the text before it; it became an edit of the node that it changes.";
        ImportTimeUnreadable = "import_time_unreadable", "A time in a file cannot be read; it counts as absent, and stays under `imported`.";
        ImportTimeZoneAssumed = "import_time_zone_assumed", "Times in a file have no zone; the zone of `utcOffset` was assumed.";
        ImportUnsupportedContent = "import_unsupported_content", "A node cannot hold some content of a file; it stays under `imported`, or was skipped, as the message states.";
        ImportVersionUnknown = "import_version_unknown", "A file has an unknown version; it was read as the known one.";
        InvalidRecord = "invalid_record", "A line is not a record of a commit; it was left out.";
        InvalidTime = "invalid_time", "The `created_at` of an imported record is not RFC 3339; the commit cannot be found by time.";
        InvalidUtf8 = "invalid_utf8", "A file is not UTF-8 and counts as empty. In session files and records, only the invalid bytes are read as U+FFFD; blobs joined byte by byte keep them. `line` and `column` are the first invalid place.";
        InvalidValue = "invalid_value", "A setting has an unknown value; the message states the value used.";
        LegacyContextUnresolved = "legacy_context_unresolved", "The folder of a legacy context file is uncertain; the file was not moved.";
        LocalIdNotUnique = "local_id_not_unique", "Two nodes of the context have the same `localId`; the later one is shown by a prefix of its id.";
        LoneSurrogateReplaced = "lone_surrogate_replaced", "A string held half of a surrogate pair; each half became U+FFFD.";
        LoomAwareLeftOut = "loom_aware_left_out", "`loomAware` applies to dialogues only; it was ignored for a document.";
        MalformedLine = "malformed_line", "A line of a JSONL file is not a JSON object, or part of it is damaged; the damage was skipped.";
        ManyLargeImages = "many_large_images", "The request has more than 20 images, for which Anthropic rejects images of more than 2,000 pixels a side.";
        MediaMissing = "media_missing", "`media` lacks a `ref`; a placeholder text replaces it.";
        MemoryLeftOut = "memory_left_out", "An entry of the operational memory is blank, excluded, pruned or pinned twice; it was left out.";
        MetadataConflict = "metadata_conflict", "Two records of one commit have different summaries or tags; the message states which were kept.";
        MisplacedElement = "misplaced_element", "A known element or attribute is at a place where it has no meaning; it was kept and ignored.";
        MissingBase = "missing_base", "A Codex session is a fork of a thread whose rollout is missing; the messages before the fork are missing. The message names the thread and the ordinal where its part ends.";
        MissingElement = "missing_element", "A reduce task lacks `<inner_task>` or `<reduction_task>`; the defaults are used.";
        MissingField = "missing_field", "A `<context_management>` lacks a required field; the default is used.";
        MissingFormat = "missing_format", "`accumulate_data` is true and `accumulation_format` is missing; the default is used.";
        ModelAssumed = "model_assumed", "The model is unknown but its line is known; it counts as the newest model of the line, which the message names.";
        NewerVersion = "newer_version", "Imported records have a later version: they can be read, not changed.";
        NoContext = "no_context", "A task inherits nothing, accumulates nothing and gets no fresh context.";
        NoMessages = "no_messages", "Every node of the path was left out, or a session file holds no conversation, so there are no messages.";
        NonTextLeftOut = "non_text_left_out", "Non-text content was left out of a document or of the system context.";
        NotAContextFile = "not_a_context_file", "A file is neither `AGENTS.md` nor `CLAUDE.md`; it was skipped.";
        NotExpressible = "not_expressible", "The target format of a translation cannot hold some content; the message names it and counts it.";
        NotesMissing = "notes_missing", "Only notes are accumulated, and a step has no notes; it was left out.";
        OptionIgnored = "option_ignored", "An option was ignored because another takes precedence; the message names both.";
        ParentMissing = "parent_missing", "The parent of an imported commit is not in the graph; the chain throws until it is imported.";
        PathOutsideVault = "path_outside_vault", "A path is absolute or leaves the vault; it was rejected.";
        PrefillRefused = "prefill_refused", "The conversation ends with the assistant's message, and the model does not continue it.";
        PromptDelimiterInFile = "prompt_delimiter_in_file", "A line of a file, or of a text for a memory system, equals a heading of the prompt around it; it was included unchanged.";
        ProtectionDropped = "protection_dropped", "The latest call of a plan tool costs more than its share of the limit, so it is not protected and was removed. `path` names its message.";
        ReasoningAlone = "reasoning_alone", "A turn of the model holds only reasoning, which providers reject; it was left out. `path` names its message.";
        ReasoningPrefixChanged = "reasoning_prefix_changed", "A signed reasoning block follows a message that was changed or removed, so its vendor rejects or ignores it. It was removed, unless `preservedThinking` is `keep` or it is OpenAI's. `path` names it.";
        ReplyCutOff = "reply_cut_off", "The stream of an answer has no end; the part received was used.";
        ReplyEmpty = "reply_empty", "The answer of a provider, or one of several, is empty.";
        ReplyEventUnreadable = "reply_event_unreadable", "An event of a stream is not a JSON object; it was skipped.";
        ReplyNotExpressed = "reply_not_expressed", "A node cannot hold some content of a provider's answer; the message names it and counts it.";
        RoleNotFound = "role_not_found", "`startOn` or `endOn` names roles that no suitable message has; it was ignored.";
        SamplingRefused = "sampling_refused", "The request sets `temperature`, `top_p` or `top_k`, and the model accepts only the defaults.";
        SelectionsIgnored = "selections_ignored", "Some of `choices` and `versionSelections` name nodes that are not on the path; they were ignored.";
        StartOnUserUnmet = "start_on_user_unmet", "`startOn` is `user`, and no user message fits; the window begins with an assistant message.";
        SummaryFailed = "summary_failed", "The summary of the removed messages is missing; the strategy cut them.";
        SystemContextLeftOut = "system_context_left_out", "The document of a buffer has no system context, since the tree does not set `bufferModeSystemContext`.";
        TasteMissing = "taste_missing", "The brief names a taste whose file is missing.";
        TasteNotDeclared = "taste_not_declared", "A taste file was given that the brief does not name; it was left out.";
        TasteRefused = "taste_refused", "A name on a Tastes line is not a plain file name; it was left out.";
        TastesIgnored = "tastes_ignored", "A line of the brief looks like a Tastes line but declares nothing: it is indented, an item, a heading, in a tag or in a comment, or its names are on the next line.";
        TextIgnored = "text_ignored", "Text is at a place where only elements have a meaning; it was kept and ignored.";
        TimestampUnreadable = "timestamp_unreadable", "A `createdAt` is not an RFC 3339 date and time with an offset; it counts as absent.";
        TokensEstimated = "tokens_estimated", "The vocabulary of the model is not loaded; the counts are estimates.";
        ToolChoiceRefused = "tool_choice_refused", "The request forces a tool call by `tool_choice`, which the model rejects.";
        ToolPairApart = "tool_pair_apart", "The result of a call does not directly follow it, which the provider rejects. It was put there, or left in its place with a warning. `path` names its message.";
        ToolPairBroken = "tool_pair_broken", "A tool call has no result on the path, or a result no call; neither is sent. In a translated chain: one half of a pair is missing in the deltas next to it.";
        TornLine = "torn_line", "The last line of a JSONL file stops in the middle; it was skipped.";
        TypeMissing = "type_missing", "A task has no type; it is atomic.";
        UnknownFormat = "unknown_format", "A blob has an unknown format and was returned unchanged, with a description; or the requested format cannot be written, and the result is Markdown.";
        UnknownOption = "unknown_option", "The name of an option is unknown; it was ignored. The message names the nearest known one.";
        UnknownRecord = "unknown_record", "Records of an unknown kind, or damaged ones; they were not read, but joined bytes keep them.";
        UnknownSetting = "unknown_setting", "A `<context_management>` holds an element that is not a setting; it was kept and ignored.";
        UnknownType = "unknown_type", "A task has an unknown type; it was kept, without defaults.";
        VersionsNotLinked = "versions_not_linked", "Several primary sources of one edge are not linked by `editedFrom`; they count as versions of one node.";
        WatchInvalid = "watch_invalid", "A watch is not a valid pattern; it was left out.";
        WatchRewritten = "watch_rewritten", "A watch was interpreted differently from how it is written.";
    }
}

/// An error of a call: a stable code, a message for people, and details for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: Code,
    message: String,
    details: Details,
}

/// The details of an error, for programs. Names are camelCase, as in JavaScript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details(Vec<(&'static str, Value)>);

impl Details {
    /// The entries, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    /// The entry of this name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

impl Index<&str> for Details {
    type Output = Value;

    /// The entry of this name, or `null`.
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&Value::Null)
    }
}

impl Serialize for Details {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Bytes of the longest message: it may quote the caller's texts.
const LONGEST_MESSAGE: usize = 2000;

/// A message without its middle if it is too long.
fn shortened(message: String) -> String {
    if message.len() <= LONGEST_MESSAGE {
        return message;
    }
    let (head, tail) = (LONGEST_MESSAGE * 3 / 4, message.len() - LONGEST_MESSAGE / 4);
    let head = message.get(..message.floor_char_boundary(head)).unwrap_or_default();
    let tail = message.get(message.ceil_char_boundary(tail)..).unwrap_or_default();
    crate::text::concat(&[head, " … ", tail])
}

impl Error {
    /// An error without details. `message` starts in lower case, ends without a period and states what to do.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, message: shortened(message.into()), details: Details::default() }))
    }

    /// Adds an entry to the details.
    #[must_use]
    pub fn with(self, key: &'static str, value: impl Into<Value>) -> Self {
        self.with_value(key, value.into())
    }

    fn with_value(mut self, key: &'static str, value: Value) -> Self {
        // JavaScript does not distinguish 1.0 from 1, so neither do the bytes here.
        let value = value.as_f64().filter(|_| value.is_f64()).map_or(value, number);
        let details = &mut self.0.details.0;
        match details.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => details.push((key, value)),
        }
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message, without the code.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Details for programs.
    pub fn details(&self) -> &Details {
        &self.0.details
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl std::error::Error for Error {}

/// A result with the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something was lost.
    Error,
    /// Probably not intended.
    Warning,
    /// Information only.
    Info,
}

/// A finding about the input: damage, a replacement or an omission (docs/errors.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The stable code.
    pub code: DiagnosticCode,
    /// The severity.
    pub severity: Severity,
    /// The finding and what was done about it.
    pub message: String,
    /// The place in the request (`tree.nodes[3].content`), or the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id of the node concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in UTF-16 code units, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(code: DiagnosticCode, severity: Severity, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        Self { code, severity, message, path: None, node_id: None, line: None, column: None }
    }

    /// The diagnostic for `fill` next to `cutStep`.
    pub(crate) fn ignored_fill(path: &str) -> Self {
        let message = "with `cutStep` nothing is filled; `fill` was ignored";
        Self::new(DiagnosticCode::OptionIgnored, Severity::Warning, message).at_path(path)
    }

    /// Sets the node concerned.
    #[must_use]
    pub fn about_node(mut self, id: &str) -> Self {
        self.node_id = Some(id.to_owned());
        self
    }

    /// Sets the place in the request.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// Puts the diagnostics of a request before those of its answer.
pub(crate) fn put_before(mut diagnostics: Vec<Diagnostic>, later: &mut Vec<Diagnostic>) {
    diagnostics.append(later);
    *later = diagnostics;
}
