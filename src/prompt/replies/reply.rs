//! Answers as blocks, the same of all providers.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::notes::Notes;
use crate::content::Block;
use crate::content::vendor::text;
use crate::error::Diagnostic;
use crate::prompt::bodies::Proof;
use crate::text::is_blank;

/// All that a provider answered.
#[derive(Debug, Default)]
pub struct Replies {
    /// The answers; several where several were asked for.
    pub replies: Vec<Reply>,
    /// The model, as the provider names it.
    pub model: Option<String>,
    /// The tokens, where the provider says them.
    pub usage: Option<Usage>,
    /// Why there is no answer at all, where the provider says so.
    pub stop_reason: Option<StopReason>,
    /// What has no place in blocks, and what was damaged. In `path` stands the place of the reply, from 0, where it is about one.
    pub(crate) notes: Notes,
}

/// One answer.
#[derive(Debug, Default)]
pub struct Reply {
    /// What it says. Calls that the provider gave no id have none.
    pub blocks: Vec<Block<'static>>,
    /// Why it ends; none while it streams.
    pub stop_reason: Option<StopReason>,
    /// The same in the provider's own word.
    pub provider_stop_reason: Option<String>,
}

/// Tokens of a request and its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Of the prompt, those from a cache and those that went into one among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Of the answers, reasoning among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Those of the prompt that came from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Those of the prompt that went into the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Those of the answers that are reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    pub(super) fn any(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It is at its end.
    End,
    /// A stop sequence came up.
    StopSequence,
    /// It came to the limit of tokens.
    Length,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The model refused.
    Refusal,
    /// The provider's filter stopped it.
    ContentFilter,
    /// The provider paused; sent as it is, it goes on.
    Pause,
    /// Something else, in the provider's own word.
    Other,
}

impl StopReason {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::StopSequence => "stopSequence",
            Self::Length => "length",
            Self::ToolCalls => "toolCalls",
            Self::Refusal => "refusal",
            Self::ContentFilter => "contentFilter",
            Self::Pause => "pause",
            Self::Other => "other",
        }
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A thought with what proves it, in the form that says whose proof it is.
pub(super) fn thought(text: impl Into<String>, proof: Option<Proof<'_>>) -> Block<'static> {
    let signature = proof.map(|proof| proof.write().into());
    Block::Reasoning { text: text.into().into(), signature, redacted: false }
}

/// A number under a path of names.
pub(super) fn tokens(usage: &Value, path: &[&str]) -> Option<u64> {
    path.iter().try_fold(usage, |value, name| value.get(name))?.as_u64()
}

/// The text of a field that is a name, such as a reason.
pub(super) fn name(fields: &Map<String, Value>, field: &str) -> Option<String> {
    text(fields, field).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Notes what calls hold for arguments where it is no object, such as the beginning of one. Nothing at all is an empty object.
pub(super) fn note_arguments(blocks: &mut [Block<'_>], notes: &mut Notes) {
    for block in blocks {
        let Block::ToolCall { name, arguments, .. } = block else { continue };
        if arguments.as_str().is_some_and(is_blank) {
            *arguments.to_mut() = Value::Object(Map::new());
        } else if !arguments.is_object() {
            let shown: String = name.chars().take(60).collect();
            notes.changed(format!("arguments of a call of `{shown}` that are no JSON object, kept as they are"));
        }
    }
}

/// A value as JSON, for arguments of calls that have none of their own.
pub(super) fn json_of(item: &Map<String, Value>) -> Value {
    Value::Object(item.clone())
}

impl Replies {
    /// The diagnostics, those of a reply with the id of its node.
    pub(crate) fn take_diagnostics(&mut self, ids: &[String]) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes).finish(ids)
    }
}
