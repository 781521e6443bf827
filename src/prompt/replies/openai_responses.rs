//! OpenAI Responses.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reply::{Replies, Reply, StopReason, Usage, json_of, name, note_arguments, thought, tokens};
use super::stream::{Stream, append, index, kind, push, set};
use crate::content::vendor::{arguments, image, list, object, objects, owned, read_content, responses_thought, text};
use crate::content::{Block, Media};
use crate::json;
use crate::prompt::bodies::Proof;

/// Parts of a summary are numbered from here, those of a content from 0.
const SUMMARY: u64 = 1 << 32;

/// Adds an event; false for one that is not known.
pub(super) fn add(stream: &mut Stream, mut event: Map<String, Value>, notes: &mut Notes) -> bool {
    let kind = kind(&event).to_owned();
    let at = index(&event, "output_index");
    let part = |name: &str, first: u64| (at, first.saturating_add(index(&event, name)));
    let (content, summary) = (part("content_index", 0), part("summary_index", SUMMARY));
    let of = |kind: &'static str| move || Map::from_iter([("type".to_owned(), Value::from(kind))]);
    match kind.as_str() {
        "response.created"
        | "response.in_progress"
        | "response.queued"
        | "response.completed"
        | "response.incomplete"
        | "response.failed"
        | "response.cancelled" => {
            let Some(Value::Object(mut response)) = event.shift_remove("response") else { return true };
            // The last one has all items, from most providers.
            if list(&response, "output").is_empty() {
                response.shift_remove("output");
            }
            set(&mut stream.whole, &response);
        }
        "response.output_item.added" | "response.output_item.done" => {
            let Some(Value::Object(item)) = event.shift_remove("item") else { return true };
            if kind.ends_with("done") {
                let places: Vec<(u64, u64)> = stream
                    .parts
                    .at_least(&(at, 0))
                    .map(|(place, _)| *place)
                    .take_while(|place| place.0 == at)
                    .collect();
                places.iter().for_each(|place| drop(stream.parts.remove(place)));
            }
            stream.items.insert(at, item);
        }
        "response.content_part.added" | "response.reasoning_summary_part.added" => {
            let Some(Value::Object(given)) = event.shift_remove("part") else { return true };
            stream.parts.insert(if kind.contains("summary") { summary } else { content }, given);
        }
        "response.output_text.delta" => {
            append(stream.parts.or_insert_with(content, of("output_text")), "text", event.get("delta"));
        }
        "response.refusal.delta" => {
            append(stream.parts.or_insert_with(content, of("refusal")), "refusal", event.get("delta"));
        }
        "response.reasoning_text.delta" => {
            append(stream.parts.or_insert_with(content, of("reasoning_text")), "text", event.get("delta"));
        }
        "response.reasoning_summary_text.delta" => {
            append(stream.parts.or_insert_with(summary, of("summary_text")), "text", event.get("delta"));
        }
        "response.function_call_arguments.delta" | "response.mcp_call_arguments.delta" => {
            append(stream.items.or_insert_with(at, of("function_call")), "arguments", event.get("delta"));
        }
        "response.custom_tool_call_input.delta" => {
            append(stream.items.or_insert_with(at, of("custom_tool_call")), "input", event.get("delta"));
        }
        // What they say stands in the item, when that is done.
        other if other.starts_with("response.") => {}
        "keepalive" => {}
        other => {
            let shown: String = other.chars().take(40).collect();
            notes.lost(format!("an event `{shown}`"));
            return false;
        }
    }
    true
}

/// Brings the answer into the form that it has at once.
pub(super) fn finish(stream: &mut Stream) {
    for ((at, number), part) in stream.take_parts() {
        let item = stream.items.or_insert_with(at, || {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
            let kind = if kind.contains("summary") || kind.contains("reasoning") { "reasoning" } else { "message" };
            Map::from_iter([("type".to_owned(), Value::from(kind))])
        });
        push(item, if number >= SUMMARY { "summary" } else { "content" }, part);
    }
    let items = stream.take_items();
    if list(&stream.whole, "output").is_empty() {
        stream.whole.insert("output".to_owned(), Value::Array(items));
    }
}

pub(super) fn read(whole: &Map<String, Value>, notes: &mut Notes) -> Replies {
    notes.begin(0);
    let mut blocks = Vec::new();
    for item in objects(list(whole, "output"), "an item that is no object", notes) {
        read_item(item, &mut blocks, notes);
    }
    note_arguments(&mut blocks, notes);
    let refuses = blocks_of(whole, "refusal");
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }));
    let why = object(whole, "incomplete_details").and_then(|details| name(details, "reason"));
    let status = name(whole, "status");
    let stop_reason = match status.as_deref() {
        None | Some("in_progress" | "queued") => None,
        Some("completed") if calls => Some(StopReason::ToolCalls),
        Some("completed") if refuses => Some(StopReason::Refusal),
        Some("completed") => Some(StopReason::End),
        _ => Some(match why.as_deref() {
            Some("max_output_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::ContentFilter,
            _ => StopReason::Other,
        }),
    };
    let provider_stop_reason = why.or(status).filter(|_| stop_reason.is_some());
    Replies {
        replies: vec![Reply { blocks, stop_reason, provider_stop_reason }],
        model: name(whole, "model"),
        usage: whole.get("usage").and_then(usage),
        ..Replies::default()
    }
}

/// Whether a message holds a part of a kind.
fn blocks_of(whole: &Map<String, Value>, kind: &str) -> bool {
    let messages = list(whole, "output").iter().filter_map(Value::as_object);
    messages.flat_map(|item| list(item, "content")).any(|part| part.get("type").is_some_and(|it| it == kind))
}

fn read_item(item: &Map<String, Value>, blocks: &mut Vec<Block<'static>>, notes: &mut Notes) {
    let call = |name: &str, arguments: Value| Block::ToolCall {
        id: owned(item, "call_id").unwrap_or_default(),
        name: name.to_owned().into(),
        arguments: Cow::Owned(arguments),
        server: false,
    };
    let called = text(item, "name").unwrap_or_default();
    match kind(item) {
        "message" => {
            notes.fields(item, "type id role status content");
            for part in list(item, "content") {
                part.as_object().into_iter().for_each(|part| notes.fields(part, "type text refusal"));
                blocks.extend(read_content(Some(part), notes));
            }
        }
        "reasoning" => {
            notes.fields(item, "type id status summary content encrypted_content");
            let Some(Block::Reasoning { text, signature, .. }) = responses_thought(item, notes) else { return };
            if signature.is_none() {
                notes.changed(
                    "reasoning that cannot be handed back, since the request did not `include` `reasoning.encrypted_content`",
                );
            }
            if signature.is_some() || !text.is_empty() {
                blocks.push(thought(text, signature.map(|sealed| Proof::Sealed(owned(item, "id"), sealed))));
            }
        }
        "function_call" => {
            notes.fields(item, "type id status call_id name arguments");
            blocks.push(call(called, arguments(item.get("arguments"))));
        }
        "custom_tool_call" => {
            notes.fields(item, "type id status call_id name input");
            notes.changed("a call of a custom tool, written as a call of a function with the text as `input`");
            blocks.push(call(called, json::object([("input", item.get("input").cloned().unwrap_or_default())])));
        }
        "image_generation_call" if text(item, "result").is_some() => {
            notes.changed("a call that the vendor itself answers, of which the image was taken");
            let mime_type = ["image/", text(item, "output_format").unwrap_or("png")].concat();
            blocks.extend(owned(item, "result").map(|data| Block::Image(image(mime_type, Media::Data(data)))));
        }
        other if item.contains_key("call_id") => {
            notes.changed("a call of a vendor's own tool, written as a call of a function");
            blocks.push(call(other, json_of(item)));
        }
        other => {
            let shown: String = other.chars().take(40).collect();
            notes.lost(format!("an item `{shown}`"));
        }
    }
}

fn usage(given: &Value) -> Option<Usage> {
    Usage {
        input_tokens: tokens(given, &["input_tokens"]),
        output_tokens: tokens(given, &["output_tokens"]),
        cached_tokens: tokens(given, &["input_tokens_details", "cached_tokens"]),
        cache_write_tokens: tokens(given, &["input_tokens_details", "cache_write_tokens"]),
        reasoning_tokens: tokens(given, &["output_tokens_details", "reasoning_tokens"]),
    }
    .any()
}
