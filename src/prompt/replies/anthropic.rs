//! Anthropic Messages.

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reply::{Replies, Reply, StopReason, Usage, name, note_arguments, thought, tokens};
use super::stream::{Stream, append, index, kind, push, set};
use crate::content::vendor::{list, object, read_content};
use crate::content::{Block, parse_arguments};
use crate::prompt::bodies::Proof;

/// Adds an event; false for one that is not known.
pub(super) fn add(stream: &mut Stream, event: &Map<String, Value>, notes: &mut Notes) -> bool {
    let at = index(event, "index");
    match kind(event) {
        "message_start" => {
            if let Some(message) = object(event, "message") {
                set(&mut stream.whole, message);
            }
        }
        "content_block_start" => {
            if let Some(block) = object(event, "content_block") {
                stream.items.insert(at, block.clone());
            }
        }
        "content_block_delta" => {
            let Some(delta) = object(event, "delta") else { return true };
            let (field, of) = match kind(delta) {
                "text_delta" => ("text", "text"),
                "thinking_delta" => ("thinking", "thinking"),
                "signature_delta" => ("signature", "thinking"),
                "input_json_delta" => ("input", "tool_use"),
                "citations_delta" => ("citations", "text"),
                other => {
                    let shown: String = other.chars().take(40).collect();
                    notes.lost(format!("an event with a `{shown}`"));
                    return true;
                }
            };
            // One whose beginning was missed.
            let block = stream.items.or_insert_with(at, || Map::from_iter([("type".to_owned(), Value::from(of))]));
            match field {
                "input" => append(block, field, delta.get("partial_json")),
                "citations" => push(block, field, delta.get("citation").cloned().unwrap_or_default()),
                _ => append(block, field, delta.get(field)),
            }
        }
        "message_delta" => {
            if let Some(delta) = object(event, "delta") {
                set(&mut stream.whole, delta);
            }
            if let Some(usage) = object(event, "usage") {
                match stream.whole.get_mut("usage") {
                    Some(Value::Object(known)) => set(known, usage),
                    _ => drop(stream.whole.insert("usage".to_owned(), Value::Object(usage.clone()))),
                }
            }
        }
        "content_block_stop" | "message_stop" | "ping" => {}
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
    let mut content = stream.take_items();
    for block in &mut content {
        if let Some(input @ Value::String(_)) = block.get_mut("input") {
            let json = input.as_str().unwrap_or_default();
            *input = if json.is_empty() { Value::Object(Map::new()) } else { parse_arguments(json) };
        }
    }
    stream.whole.insert("content".to_owned(), Value::Array(content));
}

const BLOCK: &str = "type text thinking signature data id name input content tool_use_id is_error";

pub(super) fn read(whole: &Map<String, Value>, notes: &mut Notes) -> Replies {
    notes.begin(0);
    let mut blocks = Vec::new();
    for value in list(whole, "content") {
        if let Value::Object(block) = value {
            // What called the tool is the model, unless a program of its own did.
            let is_direct =
                block.get("caller").is_some_and(|caller| caller.get("type").is_some_and(|it| it == "direct"));
            notes.fields(block, if is_direct { DIRECT_BLOCK } else { BLOCK });
        }
        for block in read_content(Some(value), notes) {
            blocks.push(match block {
                Block::Reasoning { text, signature, redacted } => {
                    let proof = match redacted {
                        true => signature.map(Proof::Redacted),
                        false => signature.map(Proof::Thinking),
                    };
                    thought(text, proof)
                }
                Block::ToolCall { id, name, arguments, server } => {
                    if server {
                        notes.changed("a call that the vendor itself answers, written as a call of a function");
                    }
                    Block::ToolCall { id, name, arguments, server: false }
                }
                Block::ToolResult { tool_call_id, content, is_error, .. } => {
                    let content = if content.is_empty() { vec![Block::text("")] } else { content };
                    Block::ToolResult { tool_call_id, content, is_error, server: false }
                }
                other => other,
            });
        }
    }
    note_arguments(&mut blocks, notes);
    let own = name(whole, "stop_reason");
    let stop_reason = own.as_deref().map(|reason| match reason {
        "end_turn" => StopReason::End,
        "stop_sequence" => StopReason::StopSequence,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "tool_use" => StopReason::ToolCalls,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::Pause,
        _ => StopReason::Other,
    });
    Replies {
        replies: vec![Reply { blocks, stop_reason, provider_stop_reason: own }],
        model: name(whole, "model"),
        usage: whole.get("usage").and_then(usage),
        ..Replies::default()
    }
}

const DIRECT_BLOCK: &str = "type text thinking signature data id name input content tool_use_id is_error caller";

fn usage(given: &Value) -> Option<Usage> {
    let [input, read, written] =
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map(|name| tokens(given, &[name]));
    // Those of the cache are beside the others here.
    let sum = |more: Option<u64>, input: u64| input.saturating_add(more.unwrap_or_default());
    Usage {
        input_tokens: input.map(|input| sum(read, sum(written, input))),
        output_tokens: tokens(given, &["output_tokens"]),
        cached_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: tokens(given, &["output_tokens_details", "thinking_tokens"]),
    }
    .any()
}
