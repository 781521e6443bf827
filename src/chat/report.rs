//! The report of a fit (SPEC §8 "Report").

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::assembly::series::Prefix;
use crate::assembly::settings::Strategy;
use crate::error::Diagnostic;
use crate::prompt::Format;
use crate::vendors::pieces::message::Reason;

/// The account of a fit: where every message and every token went.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The format that was given or found.
    pub format: Format,
    /// The strategy over the limit.
    pub strategy: Strategy,
    /// Tokens that the request may have.
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
    /// The marker or summary in the place of removed messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<AddedMessage>,
    /// How much of the result equals that of the last fit, in a series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Fields of the request by which the provider leaves out thinking that is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Json>>,
    /// The beta headers that these fields need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Json>>,
    /// Findings about the options and the chat.
    pub diagnostics: Vec<Diagnostic>,
}

/// Tokens of the fitted chat. A recount of it gives `total`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Leading system and developer messages, and the system context next to the messages.
    pub system: u64,
    /// The contents of all other messages.
    pub messages: u64,
    /// The definitions of tools.
    pub tools: u64,
    /// The overhead of messages and the request.
    pub overhead: u64,
    /// The sum of these.
    pub total: u64,
    /// Name of the counter.
    pub tokenizer: String,
    /// By how many percent it may be off.
    #[serde(rename = "tokenizerError", skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
}

/// The fate of a message, or of a part of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportRow {
    /// Index of the message in the input, or of the part in its message.
    pub index: usize,
    /// What happened to it.
    pub fate: Fate,
    /// Why, unless it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Token cost before the change.
    pub tokens: u64,
    /// Token cost after the change; unset if it was removed.
    #[serde(rename = "tokensAfter", skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Rows of the parts that fare differently.
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
    /// How many results, calls, thoughts or images.
    pub count: usize,
    /// How many tokens that freed.
    pub tokens: u64,
}

/// The kind of a message that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AddedKind {
    /// States how many messages were removed.
    Marker,
    /// Summarizes the removed messages.
    Summary,
}

/// The one message that a fit adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddedMessage {
    /// Whether it is a marker or a summary.
    pub kind: AddedKind,
    /// Index of it in the result.
    pub index: usize,
    /// Its text.
    pub text: String,
    /// Its token cost, with the overhead of a message.
    pub tokens: u64,
}
