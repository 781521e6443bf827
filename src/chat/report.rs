//! The report of a fit (SPEC §8 "Report").

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::error::Diagnostic;

/// The account of a fit: where every message and every token went.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// The format that was given or found.
    pub format: &'static str,
    pub strategy: Strategy,
    /// Tokens that the request may have.
    pub limit: u64,
    pub tokens: Tokens,
    /// Whether anything was cut, summarized or changed.
    pub truncated: bool,
    /// A row for each message that came in.
    pub messages: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// The marker or summary that was put in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
    /// Fields of the request by which the provider leaves out thinking that is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Json>>,
    /// The beta headers that these fields need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Json>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Token totals of what leaves. Their sum is the total.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Tokens {
    /// Leading system and developer messages, and the system context beside the messages.
    pub system: u64,
    /// The contents of all other messages.
    pub messages: u64,
    /// The definitions of tools.
    pub tools: u64,
    /// The overhead of messages and the request.
    pub overhead: u64,
    pub total: u64,
    pub tokenizer: String,
    /// By how many percent it may be off.
    #[serde(rename = "tokenizerError", skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
}

/// The strategy for a chat over the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Strategy {
    #[default]
    TruncateMiddle,
    RollingWindow,
    StopAtLimit,
    /// The longest beginning that fits.
    KeepStart,
}

/// The fate of a message, or of a part of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    /// Of messages in what came in; of parts in their message.
    pub index: usize,
    pub fate: Fate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Before the change.
    pub tokens: u64,
    /// Where parts of the message fare differently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Row>,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Fate {
    Kept,
    Changed,
    Cut,
    Summarized,
}

/// Why a message is not there, or not as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Reason {
    /// The strategy took it.
    OverLimit,
    /// A text of it was cut, since not even the newest unit fits.
    Shortened,
    /// A call without its result, or a result without its call.
    ToolPairBroken,
    /// `edits.toolResults`: the placeholder stands for it.
    ResultCleared,
    /// `edits.toolResults.maxTokens`.
    ResultShortened,
    /// `edits.toolCalls`.
    CallRemoved,
    /// `edits.reasoning`.
    ReasoningRemoved,
    /// `edits.images`.
    ImageRemoved,
    /// `endOn`: nothing may stand behind the last message of these roles.
    EndOn,
    /// Nothing with content is left of it.
    NothingLeft,
    /// A signed thought after the first changed message, which its vendor would refuse.
    ReasoningPrefixChanged,
    /// A compaction stands for it.
    Compacted,
    /// A turn of the model's with which no conversation may begin.
    FirstTurn,
    /// A marker or summary of an earlier fit, in whose place there is a new one.
    Replaced,
}

/// The effect of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Edit {
    pub edit: &'static str,
    /// How many results, calls, thoughts or images.
    pub count: usize,
    /// How many tokens that freed.
    pub tokens: u64,
}

/// A message that was put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Added {
    pub kind: &'static str,
    /// Where it stands in what leaves.
    pub index: usize,
    pub text: String,
    /// With its overhead.
    pub tokens: u64,
}
