//! Anthropic Messages.

use serde_json::{Map, Value};

use crate::content::{Block, Vendor};
use crate::vendors::anthropic::blocks::MESSAGE_FIELDS;
use crate::vendors::blocks::{Unknown as _, list, read_content};
use crate::vendors::left_out::LeftOut;
use crate::vendors::replies::reply::{Replies, Reply, name, usage};
use crate::vendors::replies::stream::{index, kind, merge, merge_at, put, set, take};
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::signature::ReasoningSignature;

/// Adds an event; false for an unknown one.
pub(crate) fn add(whole: &mut Map<String, Value>, mut event: Map<String, Value>, notes: &mut UnreadFields) -> bool {
    let at = index(&event, "index");
    let (field, inner) = match kind(&event) {
        "message_start" => ("message", "content"),
        "content_block_start" => {
            let block = take(&mut event, "content_block");
            put(whole, "content", at, block);
            return true;
        }
        "content_block_delta" => ("delta", "delta"),
        "message_delta" => ("delta", "usage"),
        "content_block_stop" | "message_stop" | "ping" => return true,
        other => {
            notes.left_out(LeftOut::Type(other));
            return false;
        }
    };
    let Value::Object(mut delta) = take(&mut event, field) else { return true };
    if inner != "delta" {
        // Usage is next to the delta of a message.
        let usage = take(&mut event, "usage");
        if !usage.is_null() {
            set(&mut delta, "usage", usage);
        }
        merge(whole, delta);
        return true;
    }
    let (from, to) = match kind(&delta) {
        "text_delta" => ("text", "text"),
        "thinking_delta" => ("thinking", "thinking"),
        "signature_delta" => ("signature", "signature"),
        "input_json_delta" => ("partial_json", "input"),
        "citations_delta" => ("citation", "citations"),
        "compaction_delta" => {
            delta.remove("type");
            merge_at(whole, "content", at, delta);
            return true;
        }
        other => {
            notes.left_out(LeftOut::Type(other));
            return true;
        }
    };
    let value = take(&mut delta, from);
    let mut block = Map::new();
    set(&mut block, to, if to == "citations" { Value::Array(vec![value]) } else { value });
    merge_at(whole, "content", at, block);
    true
}

pub(crate) fn read(whole: &Map<String, Value>, notes: &mut UnreadFields) -> Replies {
    notes.begin(0);
    let mut reply = Reply::default();
    notes.unknown_fields(whole, &[MESSAGE_FIELDS]);
    for value in list(whole, "content").iter().filter(|value| value.is_object()) {
        for block in read_content(Some(value), Some(Vendor::Anthropic), notes) {
            match block {
                Block::Reasoning { text, signature, .. } => {
                    reply.thought(&text, signature.as_deref().and_then(ReasoningSignature::read));
                }
                Block::Vendor(mut block) => {
                    // The index of a streamed block.
                    if let Value::Object(fields) = block.value.to_mut() {
                        fields.shift_remove("index");
                    }
                    reply.add(Block::Vendor(block), notes);
                }
                other => reply.add(other, notes),
            }
        }
    }
    reply.end(name(whole, "stop_reason"), false);
    Replies {
        usage: usage(
            whole.get("usage"),
            [
                "input_tokens cache_read_input_tokens cache_creation_input_tokens",
                "output_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens_details.thinking_tokens",
            ],
        ),
        ..Replies::of(whole, "model", vec![reply])
    }
}
