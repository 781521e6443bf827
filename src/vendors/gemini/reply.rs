//! Gemini generateContent.

use serde_json::{Map, Value};

use crate::content::{Audio, Block, Media};
use crate::vendors::blocks::{Unknown as _, list, object, owned, string, text};
use crate::vendors::gemini::blocks::{classify, gemini_part, is_vendor_part, push_signature};
use crate::vendors::gemini::part::{CALL_FIELDS, Data};
use crate::vendors::replies::reply::{Replies, Reply, StopReason, name, ordered, usage};
use crate::vendors::replies::stream::{index, merge, set};
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::signature::ReasoningSignature;

/// Adds a response of the stream; false for one without a part of an answer.
pub(crate) fn add(whole: &mut Map<String, Value>, mut response: Map<String, Value>) -> bool {
    let is_known = ["candidates", "promptFeedback", "usageMetadata"].iter().any(|name| response.contains_key(*name));
    if let Some(Value::Array(candidates)) = response.get_mut("candidates") {
        for candidate in candidates.iter_mut().filter_map(Value::as_object_mut) {
            let at = index(candidate, "index");
            set(candidate, "index", at);
        }
    }
    merge(whole, response);
    is_known
}

/// The fields of a candidate that are read, or have no content.
const CANDIDATE: &str = "index content finishReason safetyRatings tokenCount avgLogprobs";

pub(crate) fn read(whole: &Map<String, Value>, notes: &mut UnreadFields) -> Replies {
    let candidates = ordered(whole, "candidates");
    let mut replies = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        notes.begin(replies.len());
        notes.unknown_fields(candidate, &[CANDIDATE]);
        let mut reply = Reply::default();
        if let Some(content) = object(candidate, "content") {
            notes.unknown_fields(content, &["role parts"]);
            for part in list(content, "parts").iter().filter_map(Value::as_object) {
                read_part(part, &mut reply, notes);
            }
        }
        reply.end(name(candidate, "finishReason"), false);
        replies.push(reply);
    }
    let blocked = object(whole, "promptFeedback").is_some_and(|feedback| feedback.contains_key("blockReason"));
    Replies {
        stop_reason: blocked.then_some(StopReason::ContentFilter),
        usage: usage(
            whole.get("usageMetadata"),
            [
                "promptTokenCount toolUsePromptTokenCount",
                "candidatesTokenCount thoughtsTokenCount",
                "cachedContentTokenCount",
                "",
                "thoughtsTokenCount",
            ],
        ),
        ..Replies::of(whole, "modelVersion", replies)
    }
}

fn read_part(part: &Map<String, Value>, reply: &mut Reply, notes: &mut UnreadFields) {
    if is_vendor_part(part) {
        return gemini_part(part, notes).into_iter().for_each(|block| reply.add(block, notes));
    }
    let class = classify(part);
    if class.is_thought {
        notes.unknown_fields(part, &class.data.fields());
        let said = text(part, "text").unwrap_or_default();
        return reply.thought(said, string(class.signature).map(ReasoningSignature::Thought));
    }
    push_signature(part, &mut reply.blocks);
    if let Data::Call(_, Value::Object(call)) = class.data {
        notes.unknown_fields(part, &class.data.fields());
        notes.unknown_fields(call, &[CALL_FIELDS]);
        let arguments = call.get("args").cloned().unwrap_or_default();
        let called = text(call, "name").unwrap_or_default();
        return reply.call(text(call, "id").unwrap_or_default(), called, arguments, notes);
    }
    let is_audio = |data: &Map<String, Value>| {
        data.contains_key("data") && text(data, "mimeType").is_some_and(|mime| mime.starts_with("audio/"))
    };
    if let Data::Media(_, Value::Object(audio)) = class.data
        && is_audio(audio)
    {
        notes.unknown_fields(part, &class.data.fields());
        notes.unknown_fields(audio, &["mimeType data"]);
        let mime_type = owned(audio, "mimeType").unwrap_or_default();
        let media = owned(audio, "data").map(Media::Data);
        return reply.add(Block::Audio(Box::new(Audio { mime_type, media, ..Audio::default() })), notes);
    }
    if !matches!(class.data, Data::Other) {
        gemini_part(part, notes).into_iter().for_each(|block| reply.add(block, notes));
    }
}
