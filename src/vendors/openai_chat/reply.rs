//! OpenAI Chat Completions, and plain completions, whose choices have a text instead of a message.

use serde_json::{Map, Value};

use crate::content::{Block, arguments_object};
use crate::vendors::blocks::{Unknown as _, object, text};
use crate::vendors::openai_chat::blocks::{chat_calls, chat_thought};
use crate::vendors::openai_chat::compatible::wants_details;
use crate::vendors::openai_chat::part::THOUGHTS;
use crate::vendors::part::Fields;
use crate::vendors::replies::reply::{Replies, Reply, name, ordered, usage};
use crate::vendors::replies::stream::{index, merge, set, take};
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::signature::{DETAILS, ReasoningSignature};

/// Adds a chunk; false for one without choices.
pub(crate) fn add(whole: &mut Map<String, Value>, mut chunk: Map<String, Value>) -> bool {
    let Some(Value::Array(choices)) = chunk.get_mut("choices") else { return false };
    for choice in choices {
        let Value::Object(choice) = choice else { continue };
        let at = index(choice, "index");
        set(choice, "index", at);
        let delta = take(choice, "delta");
        if !delta.is_null() {
            set(choice, "message", delta);
        }
    }
    merge(whole, chunk);
    true
}

/// The fields of a choice that are read, or have no content.
const CHOICE: &str = "index message delta text finish_reason native_finish_reason stop_reason";

/// The fields of a message that are read. Of a recording only the transcript is kept, of signed reasoning its text.
const MESSAGE: &str = "role content refusal tool_calls function_call reasoning_content reasoning reasoning_details";

/// Reads choices with messages, or with texts.
pub(crate) fn read(whole: &Map<String, Value>, notes: &mut UnreadFields) -> Replies {
    let choices = ordered(whole, "choices");
    let wants_details = text(whole, "model").is_some_and(wants_details);
    let mut replies = Vec::with_capacity(choices.len());
    for choice in choices {
        notes.begin(replies.len());
        notes.unknown_fields(choice, &[CHOICE]);
        let mut reply = Reply::default();
        reply.text(text(choice, "text"));
        let refuses =
            object(choice, "message").is_some_and(|message| read_message(message, wants_details, &mut reply, notes));
        reply.end(name(choice, "finish_reason"), refuses);
        replies.push(reply);
    }
    Replies {
        usage: usage(
            whole.get("usage"),
            [
                "prompt_tokens",
                "completion_tokens",
                "prompt_tokens_details.cached_tokens",
                "",
                "completion_tokens_details.reasoning_tokens",
            ],
        ),
        ..Replies::of(whole, "model", replies)
    }
}

/// Reads a message; returns whether it is a refusal.
fn read_message(
    message: &Map<String, Value>,
    wants_details: bool,
    reply: &mut Reply,
    notes: &mut UnreadFields,
) -> bool {
    notes.unknown_fields(message, &[MESSAGE]);
    read_thought(message, wants_details, reply, notes);
    reply.content(message.get("content"), notes);
    let refusal = text(message, "refusal");
    reply.text(refusal);
    // The content of a recording is its transcript.
    reply.text(object(message, "audio").and_then(|audio| text(audio, "transcript")));
    for (mut block, is_custom) in chat_calls(message, notes) {
        if let (Block::ToolCall { arguments, .. }, true) = (&mut block, is_custom) {
            notes.aside("a call of a custom tool, written as a call of a function with the text as `input`");
            *arguments.to_mut() = arguments_object(std::mem::take(&mut **arguments));
        }
        reply.add(block, notes);
    }
    refusal.is_some_and(|refusal| !refusal.is_empty())
}

/// Reads the reasoning of a message, with the field that it came in. The list has more detail than the texts next to
/// it.
fn read_thought<'m>(message: &'m Map<String, Value>, wants_details: bool, reply: &mut Reply, notes: &mut UnreadFields) {
    let Ok([content, reasoning, _, details]) = message.fields(THOUGHTS);
    let filled = |value: Option<&'m Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(details) = details.and_then(Value::as_array).filter(|details| !details.is_empty()) {
        let texts = details.iter().filter_map(|detail| {
            let detail = detail.as_object()?;
            text(detail, "text").or_else(|| text(detail, "summary"))
        });
        let plain = filled(content).or(filled(reasoning));
        let text = plain.map_or_else(|| texts.collect::<Vec<_>>().concat(), str::to_owned);
        return reply.thought(&text, Some(ReasoningSignature::Field(DETAILS, details.clone())));
    }
    match (chat_thought(message, notes), filled(reasoning)) {
        // This is the default place of reasoning, except for models that require a list.
        (Some(Block::Reasoning { text, .. }), _) if wants_details => {
            reply.thought(&text, Some(ReasoningSignature::Field("reasoning_content", Vec::new())));
        }
        (Some(thought), _) => reply.add(thought, notes),
        (None, Some(text)) => reply.thought(text, Some(ReasoningSignature::Field("reasoning", Vec::new()))),
        (None, None) => {}
    }
}
