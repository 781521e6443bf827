//! OpenAI Responses.

use serde_json::{Map, Value};

use crate::content::{Block, Media, Vendor};
use crate::json;
use crate::vendors::blocks::{Unknown as _, arguments, image, list, object, owned, text};
use crate::vendors::left_out::LeftOut;
use crate::vendors::openai_responses::blocks::read_reasoning;
use crate::vendors::openai_responses::fields::ItemKind;
use crate::vendors::openai_responses::phase;
use crate::vendors::replies::reply::{Replies, Reply, name, usage};
use crate::vendors::replies::stream::{index, kind, merge, merge_at, put, set, take};
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::signature::ReasoningSignature;

/// Adds an event; false for an unknown one.
pub(crate) fn add(whole: &mut Map<String, Value>, mut event: Map<String, Value>, notes: &mut UnreadFields) -> bool {
    let at = index(&event, "output_index");
    let Some(kind) = kind(&event).strip_prefix("response.") else {
        let is_known = kind(&event) == "keepalive";
        if !is_known {
            notes.left_out(LeftOut::Type(kind(&event)));
        }
        return is_known;
    };
    // The list that holds the part, its type, and the incremental field; without a list the field is in the item.
    let (list, part, field) = match kind {
        "output_item.added" | "output_item.done" => {
            let item = take(&mut event, "item");
            put(whole, "output", at, item);
            return true;
        }
        "output_text.delta" => ("content", "output_text", "text"),
        "refusal.delta" => ("content", "refusal", "refusal"),
        "reasoning_text.delta" => ("content", "reasoning_text", "text"),
        "reasoning_summary_text.delta" => ("summary", "summary_text", "text"),
        "function_call_arguments.delta" => ("", "function_call", "arguments"),
        "custom_tool_call_input.delta" => ("", "custom_tool_call", "input"),
        _ => {
            // The whole answer, at its beginning and its end. The content of other events is in their item when that is
            // done.
            if let Value::Object(mut response) = take(&mut event, "response") {
                // With most providers, the last one has all items.
                let output = take(&mut response, "output");
                if output.as_array().is_some_and(|items| !items.is_empty()) {
                    set(whole, "output", output);
                }
                merge(whole, response);
            }
            return true;
        }
    };
    let (place, holder) = match list {
        "summary" => ("summary_index", "reasoning"),
        _ if part == "reasoning_text" => ("content_index", "reasoning"),
        _ => ("content_index", "message"),
    };
    let mut delta = Map::new();
    set(&mut delta, field, take(&mut event, "delta"));
    set(&mut delta, "type", part);
    if !list.is_empty() {
        let mut item = Map::new();
        merge_at(&mut item, list, index(&event, place), delta);
        set(&mut item, "type", holder);
        // Lists with indices only merge with lists that have them.
        if let Some(Value::Array(parts)) = item.get_mut(list) {
            parts.retain(Value::is_object);
        }
        delta = item;
    }
    merge_at(whole, "output", at, delta);
    true
}

pub(crate) fn read(whole: &Map<String, Value>, notes: &mut UnreadFields) -> Replies {
    notes.begin(0);
    let mut reply = Reply::default();
    let mut refuses = false;
    for item in list(whole, "output") {
        item.as_object().into_iter().for_each(|item| read_item(item, &mut reply, &mut refuses, notes));
    }
    let why = object(whole, "incomplete_details").and_then(|details| name(details, "reason"));
    let status = name(whole, "status").filter(|status| !matches!(&**status, "in_progress" | "queued"));
    reply.end(why.filter(|_| status.is_some()).or(status), refuses);
    Replies {
        usage: usage(
            whole.get("usage"),
            [
                "input_tokens",
                "output_tokens",
                "input_tokens_details.cached_tokens",
                "input_tokens_details.cache_write_tokens",
                "output_tokens_details.reasoning_tokens",
            ],
        ),
        ..Replies::of(whole, "model", vec![reply])
    }
}

fn read_item(item: &Map<String, Value>, reply: &mut Reply, refuses: &mut bool, notes: &mut UnreadFields) {
    let kind = kind(item);
    let called = text(item, "name").unwrap_or_default();
    let class = ItemKind::of(kind);
    let known = match class {
        ItemKind::Message => Some("role content phase"),
        ItemKind::Reasoning => Some("summary content encrypted_content"),
        ItemKind::FunctionCall => Some("call_id name arguments"),
        ItemKind::CustomCall => Some("call_id name input"),
        _ => None,
    };
    known.into_iter().for_each(|known| notes.unknown_fields(item, &["index type id status", known]));
    let (name, arguments) = match class {
        ItemKind::Message => {
            phase::of_item(item).into_iter().for_each(|block| reply.add(block, notes));
            for part in list(item, "content") {
                let Value::Object(fields) = part else { continue };
                *refuses |= fields.contains_key("refusal");
                reply.content(Some(part), notes);
            }
            return;
        }
        ItemKind::Reasoning => {
            let Some(Block::Reasoning { text, signature, .. }) = read_reasoning(item, notes) else { return };
            if signature.is_none() {
                notes.aside("reasoning that cannot be sent back, since the request did not `include` `reasoning.encrypted_content`");
            }
            return reply.thought(&text, signature.map(|sealed| ReasoningSignature::Sealed(owned(item, "id"), sealed)));
        }
        ItemKind::FunctionCall => (called, arguments(item.get("arguments"))),
        ItemKind::CustomCall => {
            notes.aside("a call of a custom tool, written as a call of a function with the text as `input`");
            (called, json::object([("input", item.get("input").cloned().unwrap_or_default())]))
        }
        ItemKind::VendorCall if kind == "image_generation_call" && item.contains_key("result") => {
            notes.aside("a call of a server tool, of which the image was kept");
            let mime_type = ["image/", text(item, "output_format").unwrap_or("png")].concat();
            if let Some(data) = owned(item, "result") {
                reply.add(Block::Image(Box::new(image(mime_type, Media::Data(data)))), notes);
            }
            return;
        }
        ItemKind::VendorCall if item.contains_key("call_id") => {
            notes.aside("a call of a vendor's tool, written as a call of a function");
            (kind, Value::Object(item.clone()))
        }
        ItemKind::Untyped => return notes.left_out(LeftOut::Type("")),
        _ => return reply.add(Block::vendor(Vendor::OpenAi, item.clone()), notes),
    };
    reply.call(text(item, "call_id").unwrap_or_default(), name, arguments, notes);
}
