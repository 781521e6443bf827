//! The report of a fit (docs/chats.md).

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::assembly::series::Prefix;
use crate::assembly::settings::Strategy;
use crate::error::Diagnostic;
use crate::prompt::Format;
use crate::vendors::pieces::message::Reason;

/// The report of a fit, on every message and every token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The given or detected format.
    pub format: Format,
    /// The strategy if the chat is over the limit.
    pub strategy: Strategy,
    /// The limit of the request, in tokens.
    pub limit: u64,
    /// Tokens of the result.
    pub tokens: Tokens,
    /// Whether anything was cut, summarized or changed.
    pub truncated: bool,
    /// A row for each message of the input, in order.
    pub messages: Vec<ReportRow>,
    /// The edits that were made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditEffect>,
    /// The marker or summary that replaces removed messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<AddedMessage>,
    /// In a series, the part of the result that equals the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Fields of the request by which the provider drops invalid thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Json>>,
    /// The beta headers that these fields require.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Json>>,
    /// Diagnostics about the options and the chat.
    pub diagnostics: Vec<Diagnostic>,
}

/// Tokens of the fitted chat. A recount of it gives `total`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Leading system and developer messages, and the system context outside the messages.
    pub system: u64,
    /// The contents of all other messages.
    pub messages: u64,
    /// The tool definitions.
    pub tools: u64,
    /// The overhead of messages and the request.
    pub overhead: u64,
    /// The sum of these.
    pub total: u64,
    /// Name of the counter.
    pub tokenizer: String,
    /// The error of the counts in percent.
    #[serde(rename = "tokenizerError", skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
}

/// The fate of a message, or of a part of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportRow {
    /// Index of the message in the input, or of the part in its message.
    pub index: usize,
    /// The fate.
    pub fate: Fate,
    /// The reason, unless it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Token cost before the change.
    pub tokens: u64,
    /// Token cost after the change; unset if it was removed.
    #[serde(rename = "tokensAfter", skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Rows of the parts that have another fate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ReportRow>,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// It is unchanged.
    Kept,
    /// Parts of it were removed, shortened or replaced.
    Changed,
    /// It was removed.
    Cut,
    /// A summary replaces it.
    Summarized,
}

/// The effect of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EditEffect {
    /// Name of the edit: `toolResults`, `toolInputs`, `toolCalls`, `reasoning` or `images`.
    pub edit: &'static str,
    /// The number of results, calls, reasoning blocks or images.
    pub count: usize,
    /// The tokens freed.
    pub tokens: u64,
}

/// The kind of a message that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AddedKind {
    /// States the number of removed messages.
    Marker,
    /// Summarizes the removed messages.
    Summary,
}

/// The one message that a fit adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddedMessage {
    /// Whether it is a marker or a summary.
    pub kind: AddedKind,
    /// Its index in the result.
    pub index: usize,
    /// Its text.
    pub text: String,
    /// Its token cost, including the overhead of a message.
    pub tokens: u64,
}
