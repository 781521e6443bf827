//! Gemini generateContent.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reply::{Replies, Reply, StopReason, Usage, name, note_arguments, thought, tokens};
use super::stream::{Stream, append, index, push, set};
use crate::content::vendor::{gemini_call, gemini_part, list, object, objects, owned, text};
use crate::content::{Audio, Block, Media};
use crate::prompt::bodies::Proof;

/// Adds a response of the stream; false for one that has nothing of an answer.
pub(super) fn add(stream: &mut Stream, mut response: Map<String, Value>) -> bool {
    let candidates = response.shift_remove("candidates");
    set(&mut stream.whole, &response);
    let is_known = ["promptFeedback", "usageMetadata"].iter().any(|name| response.contains_key(*name));
    let Some(Value::Array(candidates)) = candidates else { return is_known };
    for candidate in candidates {
        let Value::Object(mut candidate) = candidate else { continue };
        let known = stream.items.or_default(index(&candidate, "index"));
        let content = candidate.shift_remove("content");
        set(known, &candidate);
        let content = content.as_ref().and_then(Value::as_object);
        let known = known.entry("content").or_insert_with(|| Value::Object(Map::new()));
        let (Some(content), Some(known)) = (content, known.as_object_mut()) else { continue };
        for part in list(content, "parts") {
            // A text that goes on; what is signed stays apart.
            let last = known.get_mut("parts").and_then(Value::as_array_mut).and_then(|parts| parts.last_mut());
            match last.and_then(Value::as_object_mut) {
                Some(last)
                    if is_plain(Some(last))
                        && is_plain(part.as_object())
                        && last.get("thought") == part.get("thought") =>
                {
                    append(last, "text", part.get("text"));
                }
                _ => push(known, "parts", part.clone()),
            }
        }
    }
    true
}

/// Whether a part is a text and nothing else.
fn is_plain(part: Option<&Map<String, Value>>) -> bool {
    part.is_some_and(|part| {
        text(part, "text").is_some() && part.keys().all(|name| matches!(name.as_str(), "text" | "thought"))
    })
}

/// Brings the answer into the form that it has at once.
pub(super) fn finish(stream: &mut Stream) {
    let candidates = stream.take_items();
    stream.whole.insert("candidates".to_owned(), Value::Array(candidates));
}

/// The fields of a candidate that are read, or that say nothing of what it says.
const CANDIDATE: &str = "index content finishReason safetyRatings tokenCount avgLogprobs";

/// The fields of a part that are read.
const PART: &str = "text thought thoughtSignature functionCall inlineData fileData";

pub(super) fn read(whole: &Map<String, Value>, notes: &mut Notes) -> Replies {
    let mut candidates = objects(list(whole, "candidates"), "a candidate that is no object", notes);
    crate::sorting::sort_by_key(&mut candidates, |candidate| index(candidate, "index"));
    let mut replies = Vec::with_capacity(candidates.len());
    for (at, candidate) in candidates.into_iter().enumerate() {
        notes.begin(at);
        notes.fields(candidate, CANDIDATE);
        let mut blocks = Vec::new();
        let parts = object(candidate, "content").map_or(&[][..], |content| list(content, "parts"));
        for part in objects(parts, "a part that is no object", notes) {
            read_part(part, &mut blocks, notes);
        }
        note_arguments(&mut blocks, notes);
        let own = name(candidate, "finishReason");
        let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }));
        let stop_reason = own.as_deref().and_then(|reason| {
            Some(match reason {
                "STOP" if calls => StopReason::ToolCalls,
                "STOP" => StopReason::End,
                "MAX_TOKENS" => StopReason::Length,
                "SAFETY"
                | "RECITATION"
                | "BLOCKLIST"
                | "PROHIBITED_CONTENT"
                | "SPII"
                | "IMAGE_SAFETY"
                | "IMAGE_PROHIBITED_CONTENT"
                | "IMAGE_RECITATION"
                | "MODEL_ARMOR" => StopReason::ContentFilter,
                "FINISH_REASON_UNSPECIFIED" => return None,
                _ => StopReason::Other,
            })
        });
        replies.push(Reply { blocks, stop_reason, provider_stop_reason: own });
    }
    let blocked = object(whole, "promptFeedback").and_then(|feedback| name(feedback, "blockReason"));
    Replies {
        replies,
        model: name(whole, "modelVersion"),
        usage: whole.get("usageMetadata").and_then(usage),
        stop_reason: blocked.map(|_| StopReason::ContentFilter),
        ..Replies::default()
    }
}

fn read_part(part: &Map<String, Value>, blocks: &mut Vec<Block<'static>>, notes: &mut Notes) {
    notes.fields(part, PART);
    let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or_default();
    let proof = || name(part, "thoughtSignature").map(|proof| Proof::Thought(proof.into()));
    // The signature of something other than a thought stands before it; that of an empty text, which ends a stream, before the
    // text that it ends.
    if let (Some(proof), false) = (proof(), is_thought) {
        let is_end = text(part, "text") == Some("") && matches!(blocks.last(), Some(Block::Text(_)));
        blocks.insert(blocks.len() - usize::from(is_end), thought("", Some(proof)));
    }
    let inline = object(part, "inlineData").filter(|data| {
        text(data, "mimeType").is_some_and(|mime| mime.starts_with("audio/")) && text(data, "data").is_some()
    });
    if let Some(call) = object(part, "functionCall") {
        notes.fields(call, "id name args");
        blocks.push(gemini_call(text(call, "id").unwrap_or_default().to_owned(), call));
    } else if let Some(audio) = inline {
        blocks.push(Block::Audio(Audio {
            mime_type: owned(audio, "mimeType").unwrap_or_default(),
            media: owned(audio, "data").map(Media::Data),
            ..Audio::default()
        }));
    } else if part.keys().any(|name| name != "thoughtSignature" && name != "thought") {
        blocks.extend(gemini_part(part, notes).map(|block| match block {
            Block::Reasoning { text, .. } => thought(Cow::into_owned(text), proof()),
            other => other,
        }));
    }
}

fn usage(given: &Value) -> Option<Usage> {
    let count = |name: &str| tokens(given, &[name]);
    let sum = |first: Option<u64>, more: Option<u64>| match (first, more) {
        (Some(first), Some(more)) => Some(first.saturating_add(more)),
        (first, more) => first.or(more),
    };
    Usage {
        input_tokens: sum(count("promptTokenCount"), count("toolUsePromptTokenCount")),
        output_tokens: sum(count("candidatesTokenCount"), count("thoughtsTokenCount")),
        cached_tokens: count("cachedContentTokenCount"),
        cache_write_tokens: None,
        reasoning_tokens: count("thoughtsTokenCount"),
    }
    .any()
}
