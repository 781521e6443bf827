//! OpenAI Chat Completions, and plain completions, whose choices have a text in place of a message.

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reply::{Replies, Reply, StopReason, Usage, name, note_arguments, thought, tokens};
use super::stream::{Stream, append, index, push, set};
use crate::content::vendor::{chat_calls, chat_thought, list, object, owned, read_content, text};
use crate::content::{Block, arguments_object};

/// Adds a chunk; false for one without choices.
pub(super) fn add(stream: &mut Stream, mut chunk: Map<String, Value>, notes: &mut Notes) -> bool {
    let choices = chunk.shift_remove("choices");
    set(&mut stream.whole, &chunk);
    let Some(Value::Array(choices)) = choices else { return false };
    for choice in &choices {
        let Some(choice) = choice.as_object() else {
            notes.lost("a choice that is no object");
            continue;
        };
        let at = index(choice, "index");
        let known = stream.items.or_default(at);
        append(known, "text", choice.get("text"));
        for (field, value) in choice {
            if !matches!(field.as_str(), "delta" | "text") && !value.is_null() {
                known.insert(field.clone(), value.clone());
            }
        }
        let Some(delta) = object(choice, "delta") else { continue };
        let mut calls = Vec::new();
        let Some(message) = known.entry("message").or_insert_with(|| Value::Object(Map::new())).as_object_mut() else {
            continue;
        };
        for (field, value) in delta {
            match value {
                Value::Array(list) if field == "tool_calls" => calls.extend(list.iter().filter_map(Value::as_object)),
                Value::Array(list) => list.iter().for_each(|item| push(message, field, item.clone())),
                Value::String(_) if field != "role" => append(message, field, Some(value)),
                // The one call of the older form.
                Value::Object(inner) if field == "function_call" => {
                    let call = message.entry("function_call").or_insert_with(|| Value::Object(Map::new()));
                    call.as_object_mut().into_iter().for_each(|call| add_to_call(call, inner));
                }
                Value::Null => {}
                other => drop(message.insert(field.clone(), other.clone())),
            }
        }
        for call in calls {
            add_to_call(stream.parts.or_default((at, index(call, "index"))), call);
        }
    }
    true
}

/// Adds to a call: arguments and input grow, the rest is set.
fn add_to_call(call: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (field, value) in delta {
        match value {
            Value::String(_) if matches!(field.as_str(), "arguments" | "input") => append(call, field, Some(value)),
            Value::Object(inner) => {
                let known = call.entry(field.clone()).or_insert_with(|| Value::Object(Map::new()));
                known.as_object_mut().into_iter().for_each(|known| add_to_call(known, inner));
            }
            Value::Null => {}
            // Some give an empty one again with each delta.
            Value::String(text) if text.is_empty() && call.contains_key(field) => {}
            other => drop(call.insert(field.clone(), other.clone())),
        }
    }
}

/// Brings the answer into the form that it has at once.
pub(super) fn finish(stream: &mut Stream) {
    for ((choice, _), call) in stream.take_parts() {
        let message = stream.items.get_mut(&choice).and_then(|choice| choice.get_mut("message"));
        message
            .and_then(Value::as_object_mut)
            .into_iter()
            .for_each(|message| push(message, "tool_calls", call.clone()));
    }
    let choices = stream.take_items();
    stream.whole.insert("choices".to_owned(), Value::Array(choices));
}

/// The fields of a message that are read, or that say nothing of their own.
const MESSAGE: &str = "role content refusal tool_calls function_call reasoning_content reasoning";

pub(super) fn read(whole: &Map<String, Value>, notes: &mut Notes) -> Replies {
    choices(whole, notes, |choice, notes| {
        notes.fields(choice, "index message finish_reason native_finish_reason stop_reason text");
        let Some(message) = object(choice, "message") else {
            notes.lost("a choice without a message");
            return Vec::new();
        };
        notes.fields(message, MESSAGE);
        let mut blocks: Vec<Block<'static>> = chat_thought(message, notes).into_iter().collect();
        if let (true, Some(text)) = (blocks.is_empty(), text(message, "reasoning").filter(|text| !text.is_empty())) {
            blocks.push(thought(text, None));
        }
        blocks.extend(read_content(message.get("content"), notes));
        blocks.extend(owned(message, "refusal").map(Block::Text));
        // A recording says what its transcript says.
        blocks.extend(object(message, "audio").and_then(|audio| owned(audio, "transcript")).map(Block::Text));
        let called = list(message, "tool_calls").iter().map(|call| call.get("custom").is_some());
        let mut customs = called.chain([false]);
        blocks.extend(chat_calls(message, notes).into_iter().map(|block| match block {
            Block::ToolCall { id, name, arguments, server } if customs.next().unwrap_or_default() => {
                notes.changed("a call of a custom tool, written as a call of a function with the text as `input`");
                let arguments = arguments_object(arguments);
                Block::ToolCall { id, name, arguments: std::borrow::Cow::Owned(arguments), server }
            }
            other => other,
        }));
        blocks
    })
}

/// The same of plain completions.
pub(super) fn read_completion(whole: &Map<String, Value>, notes: &mut Notes) -> Replies {
    choices(whole, notes, |choice, notes| {
        notes.fields(choice, "index text finish_reason stop_reason");
        owned(choice, "text").map(Block::Text).into_iter().collect()
    })
}

fn choices(
    whole: &Map<String, Value>,
    notes: &mut Notes,
    mut blocks: impl FnMut(&Map<String, Value>, &mut Notes) -> Vec<Block<'static>>,
) -> Replies {
    let mut found: Vec<&Map<String, Value>> = list(whole, "choices").iter().filter_map(Value::as_object).collect();
    crate::sorting::sort_by_key(&mut found, |choice| index(choice, "index"));
    let mut replies = Vec::with_capacity(found.len());
    for (at, choice) in found.into_iter().enumerate() {
        notes.begin(at);
        let mut blocks = blocks(choice, notes);
        note_arguments(&mut blocks, notes);
        let refuses = object(choice, "message").is_some_and(|message| name(message, "refusal").is_some());
        let own = name(choice, "finish_reason");
        let stop_reason = own.as_deref().map(|reason| match reason {
            "stop" if refuses => StopReason::Refusal,
            "stop" => StopReason::End,
            "length" => StopReason::Length,
            "tool_calls" | "function_call" => StopReason::ToolCalls,
            "content_filter" => StopReason::ContentFilter,
            _ => StopReason::Other,
        });
        replies.push(Reply { blocks, stop_reason, provider_stop_reason: own });
    }
    Replies { replies, model: name(whole, "model"), usage: whole.get("usage").and_then(usage), ..Replies::default() }
}

fn usage(given: &Value) -> Option<Usage> {
    Usage {
        input_tokens: tokens(given, &["prompt_tokens"]),
        output_tokens: tokens(given, &["completion_tokens"]),
        cached_tokens: tokens(given, &["prompt_tokens_details", "cached_tokens"]),
        cache_write_tokens: None,
        reasoning_tokens: tokens(given, &["completion_tokens_details", "reasoning_tokens"]),
    }
    .any()
}
