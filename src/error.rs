//! The one error type, its exhaustive list of codes, and diagnostics (SPEC §0.5, §0.6).
//!
//! An [`Error`] means that the call gave no result. What a call *did* with damaged input is a [`Diagnostic`], and what
//! it cut or left out is part of its report: both are data.

use std::fmt;
use std::ops::Index;

use serde::Serialize;
use serde_json::Value;

use crate::json::number;

/// Declares a fieldless enum whose variants have a stable snake_case name and a sentence for the docs, and which
/// knows the list of all its variants.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal, $doc:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name { $(#[doc = $doc] $variant,)+ }

        impl $name {
            /// Every code, in the order of the docs table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable snake_case name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Its meaning, as in the table in the docs.
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
    /// What kind of error it is. The names are stable: programs may compare them.
    Code {
        AmbiguousCommit = "ambiguous_commit", "A principal made several commits at one moment, and none of them led to the others. `details`: `principal`, `candidates`.";
        AmbiguousPath = "ambiguous_path", "A node has several incoming continuation edges and `choices` names none of them. `details`: `nodeId`, `candidates`.";
        AmbiguousRef = "ambiguous_ref", "A short artifact ref stands for several artifacts. `details`: `artifactRef`, `candidates`.";
        ArtifactNotFound = "artifact_not_found", "No commit has an artifact that a short ref stands for. `details`: `artifactRef`.";
        BlobMismatch = "blob_mismatch", "A blob is not the one that its ref names: it was damaged, or it is another one. `details`: `commitId`, `artifactRef`, `actualRef`.";
        BlobMissing = "blob_missing", "A blob that a plan lists was not given, or could not be fetched. `details`: `commitId`, `artifactRef`.";
        ChainCycle = "chain_cycle", "The chain of a commit comes back to a commit that is on it already. `details`: `commitId`, `artifactRef`.";
        CommitNotFound = "commit_not_found", "A commit is not in the graph: the one that was asked for, or the parent of one that is. `details`: `commitId`; `childId` and `artifactRef` of the commit whose parent it is.";
        CompactionStale = "compaction_stale", "A compaction summarises less than has been stored since: its summary would hide the rest. `details`: `covered`, `stored`.";
        ContextRetrievalFailure = "context_retrieval_failure", "The memory system failed, and failed again when it was asked once more. `details`: `attempts`, `reason`.";
        ContextTooLong = "context_too_long", "The context is over the limit and the strategy may not cut it, or cannot cut enough. `details`: `limit`, `required`, `overBy`, `nodes` with the cost of each.";
        DuplicateId = "duplicate_id", "Two nodes or two edges have the same id. `details`: `kind`, `id`.";
        EdgeNodeNotFound = "edge_node_not_found", "An edge names a node that the tree does not have. `details`: `edgeId`, `nodeId`.";
        EdgeNotFound = "edge_not_found", "The request names an edge that the tree does not have. `details`: `edgeId`.";
        EdgeWithoutSource = "edge_without_source", "An edge on the path has no source that could be the predecessor. `details`: `edgeId`.";
        HandleBusy = "handle_busy", "A method of a handle was called from within another call of it, by a tokenizer of one's own say.";
        HandleFreed = "handle_freed", "A method of a handle was called after `free()`.";
        HandleLost = "handle_lost", "The handle is of an instance of the module that had to be replaced after a defect; make a new one.";
        HeadConflict = "head_conflict", "A head of a store is at a commit that what was to be added does not follow from. `details`: `head`; `actual`, the commit that it is at; `commitId`, what was to be added.";
        IdCollision = "id_collision", "The id that follows from a commit's fields belongs to a commit that says something else. `details`: `commitId`, `artifactRef`, `otherArtifactRef`, and `line` on import.";
        InternalError = "internal_error", "A defect in ctxweave itself; the module has to be loaded again. Please report it.";
        InvalidBlob = "invalid_blob", "A blob is not what its format says. `details`: `format`, `reason`, and `commitId` and `artifactRef` where they are known.";
        InvalidBudget = "invalid_budget", "A token setting is negative, not a whole number or not a number, or the limit that follows from them is not above 0. `details`: `setting`; `value`, as text; `tokenBuffer`, a number, if it leaves nothing of the window.";
        InvalidChoice = "invalid_choice", "`choices` or `versionSelections` names something that is not there to choose. `details`: `nodeId`, `choice`, `candidates`.";
        InvalidEdit = "invalid_edit", "An edit cannot be made as it stands. `details`: `path` and `section`, or `nodeId`, where they are known.";
        InvalidInput = "invalid_input", "The request does not have the shape that the types give. `details`: `path` where it is known.";
        InvalidVocabulary = "invalid_vocabulary", "The bytes are not the vocabulary asset of that encoding, or are damaged. `details`: `tokenizer`, `reason`; `url` where they came from one.";
        InvalidXml = "invalid_xml", "The task template is not well-formed XML, holds what is refused (a DTD, an entity of its own), or its root is not a task. `details`: `reason`, `line`, `column`.";
        LimitExceeded = "limit_exceeded", "The input is larger than a limit allows. `details`: `limit` (its name), `value`, `max`.";
        LoomContextTooLong = "loom_context_too_long", "The operational memory and the loom block are over the limit by themselves, with the system context; they are never truncated. `details`: `limit`, `required`, `overBy`, `memory`, `loomBlock`.";
        MissingSetting = "missing_setting", "The task has a type that has no defaults, and does not say how its context is made. `details`: `setting`, `type`.";
        NodeNotFound = "node_not_found", "The request names a node that the tree does not have. `details`: `nodeId`.";
        NotInitialized = "not_initialized", "A function was called before `await init()` had finished.";
        PathCycle = "path_cycle", "Walking back from the tip comes to the same node twice, or a path lists one twice. `details`: `nodeId`.";
        PathOutsideVault = "path_outside_vault", "A path is absolute or leaves the vault. `details`: `path`.";
        PlanMismatch = "plan_mismatch", "A plan is not what the graph would plan now. `details`: `commitId`, `cacheKey`.";
        ProviderError = "provider_error", "The answer of a provider, or an event of its stream, is an error. `details`: `provider`, `error` as the provider gave it.";
        RecordMismatch = "record_mismatch", "What a store has in the place of a commit's record is not that record: it was damaged, or it is another one. `details`: `commitId`; `actualId` where it is the record of another commit.";
        RequestTooLarge = "request_too_large", "The messages as JSON are over `maxBytes`, whichever images are removed. `details`: `limit`, `required`, `overBy`, in bytes.";
        ResumeIncomplete = "resume_incomplete", "A session file goes on from something that `resume` does not remember: a record far back, or a header too long to be kept. Give the whole file, with `wholeFile`. `details`: `consumed`, `reason`.";
        ResumeMismatch = "resume_mismatch", "A session file is not the one that `resume` was made of: it was rewritten or truncated, or the format or the options are others. `details`: `reason`, and `consumed` where it is known.";
        RunOutOfOrder = "run_out_of_order", "A run was given something else than what it waits for. `details`: `expected`, `given`.";
        SectionNotFound = "section_not_found", "The section that an edit names is not in the file. `details`: `section`, `sections`, `path` where it is known.";
        StopNotInChain = "stop_not_in_chain", "The commit to stop at is not in the chain of the one to materialise. `details`: `commitId`, `stop`.";
        StoreBusy = "store_busy", "What is to be written is being collected as garbage; try again when that is over. `details`: `keys`, and `head` where it is about one.";
        StoreFailed = "store_failed", "A call of a store failed, each time it was tried; `cause` is what it threw. `details`: `operation`, `key`.";
        SystemContextTooLong = "system_context_too_long", "The system context alone is over the limit; it is never truncated. `details`: `limit`, `required`, `overBy`.";
        TokenizerFailed = "tokenizer_failed", "The caller's own tokenizer threw, or gave something else than a whole number, 0 or more.";
        UnknownValue = "unknown_value", "A field has a value that is not one of those it can have. `details`: `value`, `expected`, and the id of the node or edge.";
        UnsupportedFormat = "unsupported_format", "A file is of no format that can be read, or does not have the shape of the one that was named. `details`: `expected`, `format` where one was named.";
        UnsupportedVersion = "unsupported_version", "A record is of a version that can be read but not changed. `details`: `commitId`, `artifactRef`, `version`.";
        VocabularyNotLoaded = "vocabulary_not_loaded", "Exact counting was asked for and the vocabulary is not loaded, or its asset could not be had. `details`: `tokenizer`; `reason`, `url` and `status` where an asset was asked for.";
        WasmLoadFailed = "wasm_load_failed", "The WebAssembly module could not be loaded. `details`: `reason`; `url`, `status`, `found` and `expected` where they are known.";
    }
}

codes! {
    /// What kind of diagnostic it is. The names are stable: programs may compare them.
    DiagnosticCode {
        AccumulationNotAllowed = "accumulation_not_allowed", "A task accumulates that is not sequential; it does not.";
        AnnotationNotFound = "annotation_not_found", "`includeAnnotations` names a node that is no annotation of the path; it was left out.";
        BodyArgumentsWrapped = "body_arguments_wrapped", "The provider takes the arguments of a tool call as a JSON object only; others were wrapped in one, under `arguments`.";
        BodyCacheCapped = "body_cache_capped", "More cache breakpoints were asked for than the provider takes, or at messages that are not there, and the rest was left out, but for those in what `target` itself gives; or they were to last longer than one before them.";
        BodyEndsWithAssistant = "body_ends_with_assistant", "The last message is the assistant's. The provider goes on from it, or refuses it, depending on the model.";
        BodyErrorAsText = "body_error_as_text", "The provider has no field that says that a tool failed; the text of the result says it.";
        BodyFieldRenamed = "body_field_renamed", "The provider or the model does not take a field of `target` under its name; it has the name that is taken.";
        BodyFieldUnused = "body_field_unused", "A field of `target` has no place in the provider's body, or would replace what the body already has; it was left out.";
        BodyIdChanged = "body_id_changed", "The provider does not take the id of a tool call, or it stands for two calls; the call and its result have another.";
        BodyMaxTokensAssumed = "body_max_tokens_assumed", "The provider requires a number of tokens for the answer and `target` gives none; it is `tokenBuffer`.";
        BodyMessageInserted = "body_message_inserted", "The provider requires a user message first; one was put there.";
        BodyNameChanged = "body_name_changed", "The provider does not take the name of a tool; it has another where it is defined, chosen and called.";
        BodyPartMoved = "body_part_moved", "A part stands elsewhere in the body than in the conversation, as the provider's rules want it.";
        BodyPartReplaced = "body_part_replaced", "The provider cannot take an image, a recording or an empty result there, and a text stands in its place; or an image has another type than was said.";
        BodyReasoningChanged = "body_reasoning_changed", "Reasoning was handed back with an id that the provider did not give, or a call of Gemini's without its signature, in whose place there is a word of Google's.";
        BodyReasoningLeftOut = "body_reasoning_left_out", "The provider cannot take this reasoning back, and it was left out; or none stands where Anthropic wants some.";
        BrokenChain = "broken_chain", "A record of a transcript names a parent or a message that is not there, or itself by way of others.";
        CommitCycle = "commit_cycle", "The parents of imported commits go round in a circle; no chain through it can be used.";
        CommitIdMismatch = "commit_id_mismatch", "The id of an imported record has the form of ctxweave's own and does not follow from its fields; something was changed.";
        CompactionLeftOut = "compaction_left_out", "A compaction or snapshot that a chain begins with was left out, since all deltas from the root were asked for; what came before it is not there.";
        ContextFileMissing = "context_file_missing", "A selected folder has neither `AGENTS.md` nor `CLAUDE.md`; it was skipped.";
        ContextNearLimit = "context_near_limit", "A context is over `warnTokens`; nothing was done about it.";
        DigestMismatch = "digest_mismatch", "The records before a digest are not those that it was made of; they were imported, and something in them was altered, added or lost.";
        DuplicateElement = "duplicate_element", "An element that can stand once stands twice; the first counts.";
        DuplicateFile = "duplicate_file", "Two files have the same path; the first was taken.";
        DuplicateStepId = "duplicate_step_id", "Two steps of one task have the same id; what they give is told apart by order only.";
        EdgeMissingOnPath = "edge_missing_on_path", "Two neighbours in an explicit `path` have no edge between them; they were taken as they stand.";
        EmptyPath = "empty_path", "The path holds no nodes, so there are no messages.";
        EmptyText = "empty_text", "A text is empty, which the provider refuses; it was left out. `path` names its message.";
        ExclusiveConflict = "exclusive_conflict", "With `exclusive`, a task that inherits cannot have fresh context too.";
        FileUnreadable = "file_unreadable", "The host could not read a file; it was taken as empty.";
        ForeignCommitIds = "foreign_commit_ids", "Imported records have ids of another origin, which cannot be checked against their fields.";
        FormatWithoutAccumulation = "format_without_accumulation", "`accumulation_format` has no meaning where nothing is accumulated.";
        FrontMatterInvalid = "front_matter_invalid", "Front matter is not YAML as it should be; the file watches nothing.";
        GluedRecords = "glued_records", "Two records stand on one line of a JSONL file; both were read.";
        ImportAuthorUnknown = "import_author_unknown", "A file does not say who wrote a node; the message says whose it is taken to be.";
        ImportDanglingReference = "import_dangling_reference", "A file names a node that is not in it, or one that follows itself; the node begins a tree, or the name was passed over.";
        ImportIdChanged = "import_id_changed", "Two nodes of a file have the same id, or one has none; it was given another.";
        ImportNotExpressed = "import_not_expressed", "A field of a file has no place in a Loom tree; it stays under `imported`.";
        ImportSecretLeftOut = "import_secret_left_out", "A field of a file looks like a key to a service; it was left out.";
        ImportTemplateNotEvaluated = "import_template_not_evaluated", "A node of a file is a template, which its program would evaluate; its text was taken as it is written.";
        ImportTextRewritten = "import_text_rewritten", "A node of a file changes the text before it; it became an edit of the node that it changes.";
        ImportTimeUnreadable = "import_time_unreadable", "A time in a file cannot be read; it counts as absent, and stays under `imported`.";
        ImportTimeZoneAssumed = "import_time_zone_assumed", "Times in a file have no zone; they were taken to be in that of `utcOffset`.";
        ImportUnsupportedContent = "import_unsupported_content", "Something in a file is no part of what a node can say; it stays under `imported`, or was skipped as the message says.";
        ImportVersionUnknown = "import_version_unknown", "A file is of a version that is not known; it was read as the known one.";
        InvalidRecord = "invalid_record", "A line is no record of a commit; it was left out.";
        InvalidTime = "invalid_time", "The `created_at` of an imported record is not RFC 3339; no time leads to the commit.";
        InvalidUtf8 = "invalid_utf8", "A file is not UTF-8. It was taken as empty; of a session file or of records only what is no UTF-8 was replaced, by U+FFFD: in what is read of them, not in blobs that are joined byte for byte. `line` and `column` say where it stops being so.";
        InvalidValue = "invalid_value", "A setting has a value that is not one of those it can have; the message states what counts instead.";
        LegacyContextUnresolved = "legacy_context_unresolved", "A legacy context file belongs to no folder for certain; it was left where it is.";
        LocalIdNotUnique = "local_id_not_unique", "Two nodes of the context have the same `localId`; the later one is called by a prefix of its id.";
        LoneSurrogateReplaced = "lone_surrogate_replaced", "A string held half of a surrogate pair; each half became U+FFFD.";
        LoomAwareLeftOut = "loom_aware_left_out", "`loomAware` is for dialogues; a document is one continuous text and has none of it.";
        MalformedLine = "malformed_line", "A line of a JSONL file is not a JSON object, or a part of it is damaged; that was skipped.";
        ManyLargeImages = "many_large_images", "The request has more than 20 images, and Anthropic then refuses images of more than 2,000 pixels a side.";
        MediaMissing = "media_missing", "`media` has nothing for a `ref`; a text stands in its place.";
        MemoryLeftOut = "memory_left_out", "Something for the operational memory is blank, excluded, pruned or pinned twice; it was left out.";
        MetadataConflict = "metadata_conflict", "Two records of one commit have different summaries or tags; the message says which were kept.";
        MisplacedElement = "misplaced_element", "An element or attribute that means something stands where it means nothing; it was kept and ignored.";
        MissingBase = "missing_base", "A Codex session is a fork of a thread whose rollout is not there; what was said before the fork is missing. The message names the thread and the ordinal where its part ends.";
        MissingElement = "missing_element", "A reduce task lacks `<inner_task>` or `<reduction_task>`; the defaults stand in.";
        MissingField = "missing_field", "A `<context_management>` lacks a field that it must have; the default is used.";
        MissingFormat = "missing_format", "`accumulate_data` is true and `accumulation_format` is not there; the default is used.";
        ModelAssumed = "model_assumed", "The model is unknown, but its line is known: it counts as the newest model of the line, which the message names.";
        NewerVersion = "newer_version", "Imported records are of a later version: they can be read, not changed.";
        NoContext = "no_context", "A task inherits nothing, accumulates nothing and gets no fresh context.";
        NoMessages = "no_messages", "Every node of the path was left out, or nothing of a session file is conversation, so there are no messages.";
        NonTextLeftOut = "non_text_left_out", "Something that is not text was left out of a document or of the system context.";
        NotAContextFile = "not_a_context_file", "A file is neither `AGENTS.md` nor `CLAUDE.md`; it was skipped.";
        NotExpressible = "not_expressible", "Something has no place in the target format of a translation; the message says what and how often.";
        NotesMissing = "notes_missing", "Only notes are accumulated, and a step has none; it was left out.";
        OptionIgnored = "option_ignored", "An option says nothing beside another that was given; the message names both.";
        ParentMissing = "parent_missing", "The parent of an imported commit is not in the graph; until it is imported too, the chain is an error.";
        PathOutsideVault = "path_outside_vault", "A path is absolute or leaves the vault; it was refused.";
        PrefillRefused = "prefill_refused", "The conversation ends with the assistant's message, and the model refuses to continue it.";
        PromptDelimiterInFile = "prompt_delimiter_in_file", "A line of a file, or of a text for a memory system, is one of the headings of what it goes into; it went in as it is.";
        ProtectionDropped = "protection_dropped", "The latest call of a plan tool takes more than its share of the limit, so it is not protected and was removed. `path` names its message.";
        ReasoningAlone = "reasoning_alone", "A turn of the model is nothing but reasoning, which providers refuse; it was left out. `path` names its message.";
        ReasoningPrefixChanged = "reasoning_prefix_changed", "A signed thought stands after a message that was changed or removed, so that its vendor refuses it or withholds it from the model. It was left out, or stays with `preservedThinking: \"keep\"` or if it is OpenAI's. `path` names it.";
        ReplyCutOff = "reply_cut_off", "The stream of an answer has no end; what there is so far was taken.";
        ReplyEmpty = "reply_empty", "The answer of a provider, or one of several, says nothing.";
        ReplyEventUnreadable = "reply_event_unreadable", "An event of a stream is no JSON object; it was skipped.";
        ReplyNotExpressed = "reply_not_expressed", "Something of the answer of a provider has no place in a node; the message says what and how often.";
        RoleNotFound = "role_not_found", "`startOn` or `endOn` names roles that no message has where it could be followed; it was not.";
        SamplingRefused = "sampling_refused", "The request sets `temperature`, `top_p` or `top_k`, and the model refuses all but the defaults.";
        SelectionsIgnored = "selections_ignored", "Some of `choices` and `versionSelections` are about nodes that are not on the path; they say nothing about it.";
        StartOnUserUnmet = "start_on_user_unmet", "`startOn` is `user`, and no user message fits; the window begins with an assistant message.";
        SummaryFailed = "summary_failed", "There is no summary of what had to go; it was cut by the strategy.";
        SystemContextLeftOut = "system_context_left_out", "The document of a buffer has no system context, since the tree does not say `bufferModeSystemContext`; the system prompt and the like were left out.";
        TasteMissing = "taste_missing", "The brief names a taste whose file is not there.";
        TasteNotDeclared = "taste_not_declared", "A taste file was given that the brief does not name; it was left out.";
        TasteRefused = "taste_refused", "A name on a Tastes line is not that of a file in the folder of tastes; it was left out.";
        TastesIgnored = "tastes_ignored", "A line of the brief looks like a Tastes line and declares nothing: it is indented, an item, a heading, in a tag or in a comment, or its names stand below it.";
        TextIgnored = "text_ignored", "Text stands where only elements mean something; it was kept and ignored.";
        TimestampUnreadable = "timestamp_unreadable", "A `createdAt` is no date and time of RFC 3339 with an offset; it counts as absent.";
        TokensEstimated = "tokens_estimated", "The vocabulary that the model's tokens are counted by is not loaded; the counts are estimates.";
        ToolChoiceRefused = "tool_choice_refused", "The request forces a tool call by `tool_choice`, and the model refuses that.";
        ToolPairApart = "tool_pair_apart", "The result of a call does not directly follow it, which the provider refuses. It was put there, or with a warning left where it was. `path` names its message.";
        ToolPairBroken = "tool_pair_broken", "A tool call has no result on the path, or a result no call; neither is sent. Of a translated chain: one half of a pair stands alone, since the other is in no part beside it.";
        TornLine = "torn_line", "The last line of a JSONL file stops in the middle; it was skipped.";
        TypeMissing = "type_missing", "A task does not say its type; it is atomic.";
        UnknownFormat = "unknown_format", "A blob has a format that is not known, and was handed over as it is, with a description; or the format asked for is not known, and the result is Markdown.";
        UnknownOption = "unknown_option", "An option has a name that is not known; it was ignored. The message names the nearest one that is.";
        UnknownRecord = "unknown_record", "Records or blocks of a kind that is not known; they were kept where bytes are kept, and not read.";
        UnknownSetting = "unknown_setting", "A `<context_management>` holds an element that is no setting; it was kept and ignored.";
        UnknownType = "unknown_type", "A task has a type that is not known; it was kept, and has no defaults.";
        VersionsNotLinked = "versions_not_linked", "Several primary sources of one edge are not linked by `editedFrom`; they were taken as versions of one node.";
        WatchInvalid = "watch_invalid", "A watch is not a pattern that can be used; it was left out.";
        WatchRewritten = "watch_rewritten", "A watch was understood otherwise than it is written.";
    }
}

/// Why a call gave no result: a stable code, a message for the person who caused it, and details for a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: Code,
    message: String,
    details: Details,
}

/// Details of an error for programs, by names in camelCase, as in JavaScript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details(Vec<(&'static str, Value)>);

impl Details {
    /// All of them, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    /// The one of this name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

impl Index<&str> for Details {
    type Output = Value;

    /// `null` if there is no such entry.
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&Value::Null)
    }
}

impl Serialize for Details {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The most bytes of a message, which may quote the caller's texts.
const LONGEST_MESSAGE: usize = 2000;

/// A message without its middle, where it is very long.
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
    /// An error with no details. `message` starts in lower case, ends without a period and says what to do.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, message: shortened(message.into()), details: Details::default() }))
    }

    /// Adds one entry to the details.
    #[must_use]
    pub fn with(self, key: &'static str, value: impl Into<Value>) -> Self {
        self.with_value(key, value.into())
    }

    fn with_value(mut self, key: &'static str, value: Value) -> Self {
        // JavaScript does not tell 1.0 from 1, so neither do the bytes here.
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

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something was lost.
    Error,
    /// Something is probably not as it was meant.
    Warning,
    /// Something worth knowing.
    Info,
}

/// One finding about the input: what was damaged, replaced or left out (SPEC §0.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The stable code.
    pub code: DiagnosticCode,
    /// How much it matters.
    pub severity: Severity,
    /// What was found and what was done about it.
    pub message: String,
    /// Where in the request (`tree.nodes[3].content`), or the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The node it is about.
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

    /// A `fill` next to a `cutStep`.
    pub(crate) fn ignored_fill(path: &str) -> Self {
        let message = "with `cutStep` nothing is filled; `fill` was ignored";
        Self::new(DiagnosticCode::OptionIgnored, Severity::Warning, message).at_path(path)
    }

    /// Says which node it is about.
    #[must_use]
    pub fn about_node(mut self, id: &str) -> Self {
        self.node_id = Some(id.to_owned());
        self
    }

    /// Says where in the request it is.
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
