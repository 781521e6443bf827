//! Answers as blocks, the same for all providers.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::content::{Block, parse_arguments};
use crate::error::Diagnostic;
use crate::sorting::sort_by_key;
use crate::text::is_blank;
use crate::vendors::blocks::{list, read_content, text};
use crate::vendors::part::is_one_of;
use crate::vendors::replies::stream::index;
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::signature::ReasoningSignature;

/// A provider's whole answer.
#[derive(Debug, Default)]
pub struct Replies {
    /// The answers; several if several were requested.
    pub replies: Vec<Reply>,
    /// The model, as the provider names it.
    pub model: Option<String>,
    /// The token usage, if the provider states it.
    pub usage: Option<Usage>,
    /// Why there is no answer at all, if the provider states it.
    pub stop_reason: Option<StopReason>,
    /// Content that blocks cannot hold, and damage.
    pub diagnostics: Vec<Diagnostic>,
}

/// One answer.
#[derive(Debug, Default)]
pub struct Reply {
    /// The content. Calls without an id from the provider have none.
    pub blocks: Vec<Block<'static>>,
    /// Why it ends; `None` while it streams.
    pub stop_reason: Option<StopReason>,
    /// The stop reason in the provider's term.
    pub provider_stop_reason: Option<String>,
}

/// Tokens of a request and its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of the prompt, including those read from or written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the answers, including reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that were read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the prompt that were written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of reasoning in the answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The end of the answer.
    End,
    /// A stop sequence.
    StopSequence,
    /// The token limit.
    Length,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The model refused to answer.
    Refusal,
    /// The provider's filter.
    ContentFilter,
    /// The provider paused; sent back unchanged, the answer continues.
    Pause,
    /// Another reason, in the provider's term.
    Other,
}

impl StopReason {
    /// The name in JSON.
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

/// The terms of all providers for each reason.
const REASONS: [(StopReason, &str); 7] = [
    (StopReason::End, "stop STOP end_turn completed"),
    (StopReason::StopSequence, "stop_sequence"),
    (StopReason::Length, "length max_tokens model_context_window_exceeded max_output_tokens MAX_TOKENS"),
    (StopReason::ToolCalls, "tool_calls function_call tool_use requires_action"),
    (StopReason::Refusal, "refusal"),
    (StopReason::Pause, "pause_turn requires_continuation"),
    (
        StopReason::ContentFilter,
        "content_filter SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT \
         IMAGE_RECITATION MODEL_ARMOR",
    ),
];

impl Reply {
    /// Adds a text, to the last block if that is one: providers split a text where citations begin.
    pub(crate) fn text(&mut self, more: Option<&str>) {
        let Some(more) = more.filter(|more| !more.is_empty()) else { return };
        if let Some(Block::Text(text)) = self.blocks.last_mut() {
            text.to_mut().push_str(more);
        } else {
            self.blocks.push(Block::text(more.to_owned()));
        }
    }

    /// Adds reasoning with its signature, in the form that names the vendor.
    pub(crate) fn thought(&mut self, text: &str, signature: Option<ReasoningSignature<'_>>) {
        if signature.is_some() || !text.is_empty() {
            let signature = signature.map(|signature| signature.write().into());
            self.blocks.push(Block::Reasoning { text: text.to_owned().into(), signature, redacted: false });
        }
    }

    /// Adds a call. Arguments that are a text are their JSON; missing ones are an empty object.
    pub(crate) fn call(&mut self, id: &str, name: &str, arguments: Value, notes: &mut UnreadFields) {
        let arguments = match arguments {
            Value::String(json) if !is_blank(&json) => parse_arguments(&json),
            Value::String(_) | Value::Null => Value::Object(Map::new()),
            other => other,
        };
        if !arguments.is_object() {
            notes.aside(["arguments of a call of `", name, "` that are not a JSON object, kept unchanged"].concat());
        }
        self.blocks.push(Block::ToolCall {
            id: id.to_owned().into(),
            name: name.to_owned().into(),
            arguments: Box::new(Cow::Owned(arguments)),
            server: false,
        });
    }

    /// Adds a block.
    pub(crate) fn add(&mut self, block: Block<'static>, notes: &mut UnreadFields) {
        match block {
            Block::Text(text) => self.text(Some(&text)),
            Block::ToolCall { id, name, arguments, server } => {
                if server {
                    notes.aside("a call of a server tool, written as a call of a function");
                }
                self.call(&id, &name, arguments.into_owned(), notes);
            }
            mut other => {
                if let Block::ToolResult { content, server, .. } = &mut other {
                    *server = false;
                    if content.is_empty() {
                        content.push(Block::text(""));
                    }
                }
                self.blocks.push(other);
            }
        }
    }

    /// Adds the blocks of a content.
    pub(crate) fn content(&mut self, content: Option<&Value>, notes: &mut UnreadFields) {
        for block in read_content(content, None, notes) {
            self.add(block, notes);
        }
    }

    /// Sets the stop reason, in the provider's term.
    pub(crate) fn end(&mut self, word: Option<String>, refuses: bool) {
        // Calls that the provider answered itself have their results next to them.
        let has = |kind: fn(&Block<'_>) -> bool| self.blocks.iter().any(kind);
        let calls = has(|block| matches!(block, Block::ToolCall { .. }))
            && !has(|block| matches!(block, Block::ToolResult { .. }));
        let word = word.filter(|word| word != "FINISH_REASON_UNSPECIFIED");
        self.stop_reason = word.as_deref().map(|word| {
            let known = REASONS.iter().find(|(_, words)| is_one_of(words, word));
            match known.map_or(StopReason::Other, |(reason, _)| *reason) {
                StopReason::End if refuses => StopReason::Refusal,
                StopReason::End if calls => StopReason::ToolCalls,
                reason => reason,
            }
        });
        self.provider_stop_reason = word;
    }
}

impl Replies {
    /// These replies, and the model from a field.
    pub(crate) fn of(whole: &Map<String, Value>, model: &str, replies: Vec<Reply>) -> Self {
        Self { replies, model: name(whole, model), ..Self::default() }
    }
}

/// The token usage, if any: of the prompt, of the answer, from the cache, to the cache, of reasoning. For each the
/// fields whose numbers add up to it.
pub(crate) fn usage(given: Option<&Value>, names: [&str; 5]) -> Option<Usage> {
    let given = given?;
    let count = |names: &str| {
        let mut sum: Option<u64> = None;
        for path in names.split(' ') {
            let found = path.split('.').try_fold(given, |value, name| value.get(name)).and_then(Value::as_u64);
            sum = found.map(|found| found.saturating_add(sum.unwrap_or_default())).or(sum);
        }
        sum
    };
    let [input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens] = names.map(count);
    let usage = Usage { input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens };
    (usage != Usage::default()).then_some(usage)
}

/// The objects of a list, ordered by `index`.
pub(crate) fn ordered<'m>(whole: &'m Map<String, Value>, field: &str) -> Vec<&'m Map<String, Value>> {
    let mut objects: Vec<&Map<String, Value>> = Vec::new();
    for value in list(whole, field) {
        objects.extend(value.as_object());
    }
    sort_by_key(&mut objects, |object| index(object, "index"));
    objects
}

/// The text of a field that is a name, such as a reason.
pub(crate) fn name(fields: &Map<String, Value>, field: &str) -> Option<String> {
    text(fields, field).filter(|name| !name.is_empty()).map(str::to_owned)
}
