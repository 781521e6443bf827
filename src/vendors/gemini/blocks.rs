//! Parts as blocks, and blocks as parts.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Image, Media, Vendor};
use crate::vendors::blocks::{Unknown, image, image_url, list, object, only_shown, owned, string, text};
use crate::vendors::gemini::part::{Data, Part, RESPONSE_FIELDS, read};
use crate::vendors::signature::ReasoningSignature;

/// The fields of a message in a session file of Gemini CLI. `displayContent` is for the screen.
pub(crate) const SESSION_FIELDS: &str = "id timestamp type content displayContent thoughts toolCalls tokens model";

/// The fields of a call in such a file, with its result. The rest is for the screen.
pub(crate) const SESSION_CALL_FIELDS: &str = "id name args result status timestamp agentId description displayName \
     resultDisplay renderOutputAsMarkdown";

/// Classifies a part.
pub(crate) fn classify(part: &Map<String, Value>) -> Part<&Value> {
    let Ok(part) = read(part);
    part
}

/// The call in a part.
pub(crate) fn call_of(part: &Map<String, Value>) -> Option<&Map<String, Value>> {
    if let Data::Call(_, call) = classify(part).data { call.as_object() } else { None }
}

/// The function response in a part.
pub(crate) fn response_of(part: &Map<String, Value>) -> Option<&Map<String, Value>> {
    if let Data::Response(_, response) = classify(part).data { response.as_object() } else { None }
}

/// Whether only Gemini can read a part, such as executed code.
pub(crate) fn is_vendor_part(part: &Map<String, Value>) -> bool {
    let is_of_reasoning = |name: &str| matches!(name, "thought" | "thoughtSignature" | "thought_signature");
    matches!(classify(part).data, Data::Other) && part.keys().any(|name| !is_of_reasoning(name))
}

/// Adds the signature of a part other than reasoning, as reasoning without a text before the part. The signature of an
/// empty text, which ends an answer, goes before the block that it ends. A part that is kept unchanged includes its
/// signature.
pub(crate) fn push_signature(part: &Map<String, Value>, blocks: &mut Vec<Block<'static>>) {
    let Part { signature, is_thought, .. } = classify(part);
    let signature = signature.and_then(Value::as_str).filter(|signature| !signature.is_empty());
    let Some(signature) = signature.filter(|_| !is_thought && !is_vendor_part(part)) else { return };
    let ended = if text(part, "text") == Some("") { blocks.pop() } else { None };
    let signature = Some(ReasoningSignature::Thought(Cow::Borrowed(signature)).write().into());
    blocks.push(Block::Reasoning { text: Cow::default(), signature, redacted: false });
    blocks.extend(ended);
}

/// Adds a part that is neither a call nor a result, after its signature. Of an empty text with a signature only the
/// signature is added.
pub(crate) fn push_part(part: &Map<String, Value>, blocks: &mut Vec<Block<'static>>, notes: &mut dyn Unknown) {
    push_signature(part, blocks);
    if text(part, "text") != Some("") || classify(part).signature.is_none() {
        blocks.extend(gemini_part(part, notes));
    }
}

/// A part with the signature that precedes it.
pub(crate) fn signed_part(mut part: Value, signature: Option<Cow<'_, str>>) -> Value {
    if let (Value::Object(fields), Some(signature)) = (&mut part, signature) {
        fields.insert("thoughtSignature".to_owned(), signature.into());
    }
    part
}

/// The signature that reasoning without a text carries for the next part.
pub(crate) fn carried_signature<'b>(text: &str, signature: Option<&'b str>) -> Option<Cow<'b, str>> {
    match signature.filter(|_| text.is_empty()).and_then(ReasoningSignature::read) {
        Some(ReasoningSignature::Thought(signature)) => Some(signature),
        _ => None,
    }
}

/// A part of Gemini's content that is neither a call nor a result.
pub(crate) fn gemini_part(map: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let class = classify(map);
    if !is_vendor_part(map) {
        notes.unknown_fields(map, &class.data.fields());
    }
    let data = match class.data {
        Data::Text(Value::String(text)) => {
            let text = text.clone().into();
            let signature = string(class.signature);
            return Some(match class.is_thought {
                true => Block::Reasoning { text, signature, redacted: false },
                false => Block::Text(text),
            });
        }
        Data::Media(_, Value::Object(data)) => data,
        _ if is_vendor_part(map) => return Some(Block::vendor(Vendor::Google, map.clone())),
        _ => {
            notes.unknown(&format!("part {}", map.keys().next().map_or("without fields", String::as_str)));
            return None;
        }
    };
    notes.unknown_fields(data, &["mimeType mime_type data fileUri file_uri"]);
    let either = |names: [&str; 2]| names.into_iter().find_map(|name| owned::<String>(data, name));
    let mime_type = either(["mimeType", "mime_type"]).unwrap_or_else(|| "image/*".to_owned());
    if !mime_type.starts_with("image/") {
        notes.unknown(&format!("media {mime_type}"));
        return Some(Block::text(format!("[file: {mime_type}]")));
    }
    let url = || either(["fileUri", "file_uri"]).map(|url| Media::Url(url.into()));
    let Some(media) = owned(data, "data").map(Media::Data).or_else(url) else {
        notes.unknown("an image without its data");
        return None;
    };
    Some(Block::Image(Box::new(image(mime_type, media))))
}

/// A call of Gemini's.
pub(crate) fn gemini_call(id: String, call: &Map<String, Value>) -> Block<'static> {
    let arguments = Box::new(Cow::Owned(call.get("args").cloned().unwrap_or_else(|| json!({}))));
    Block::ToolCall { id: id.into(), name: owned(call, "name").unwrap_or_default(), arguments, server: false }
}

/// A part, or a list of them, as a list.
pub(crate) fn as_list(parts: &Value) -> &[Value] {
    match parts {
        Value::Array(parts) => parts,
        other => std::slice::from_ref(other),
    }
}

/// A result, and whether the call failed.
pub(crate) fn tool_result(id: String, content: Vec<Block<'static>>, failed: bool) -> Block<'static> {
    Block::ToolResult { tool_call_id: id.into(), content, is_error: failed.then_some(true), server: false }
}

/// Whether a response reports a failed call.
pub(crate) fn failed(response: &Map<String, Value>) -> bool {
    object(response, "response").is_some_and(|response| response.contains_key("error") && response.len() == 1)
}

/// The content of a result: the outputs of the responses, and the media next to or within them.
pub(crate) fn result_content(result: &Value, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let mut out = Vec::new();
    for part in as_list(result) {
        let Some(map) = part.as_object() else {
            match part.as_str() {
                Some(text) => out.push(Block::text(text.to_owned())),
                None => notes.unknown("a result that is not an object"),
            }
            continue;
        };
        let Some(response) = response_of(map) else {
            let block = gemini_part(map, notes).into_iter().collect();
            out.extend(only_shown(block, notes));
            continue;
        };
        notes.unknown_fields(map, &classify(map).data.fields());
        notes.unknown_fields(response, &[RESPONSE_FIELDS]);
        match response.get("response") {
            Some(Value::Object(fields)) => match fields.get("output").or_else(|| fields.get("error")) {
                Some(Value::String(text)) if fields.len() == 1 => out.push(Block::text(text.clone())),
                _ if fields.is_empty() => {}
                _ => out.push(Block::text(Value::Object(fields.clone()).to_string())),
            },
            Some(other) if !other.is_null() => out.push(Block::text(other.to_string())),
            _ => {}
        }
        for part in list(response, "parts").iter().filter_map(Value::as_object) {
            let block = gemini_part(part, notes).into_iter().collect();
            out.extend(only_shown(block, notes));
        }
    }
    out
}

/// An image as a part.
pub(crate) fn image_part(image: &Image<'_>) -> Value {
    match &image.media {
        Some(Media::Data(data)) => json!({ "inlineData": { "mimeType": image.mime_type, "data": data } }),
        _ => json!({ "fileData": { "mimeType": image.mime_type, "fileUri": image_url(image) } }),
    }
}

/// The parts of a result: the response with its text, then its images.
pub(crate) fn response(id: &str, name: &str, content: &[Block<'_>], failed: bool) -> Value {
    let texts: Vec<&str> = content.iter().filter_map(Block::as_text).collect();
    let key = if failed { "error" } else { "output" };
    let output = json!({ key: texts.join("\n") });
    let mut parts = vec![json!({ "functionResponse": { "id": id, "name": name, "response": output } })];
    parts.extend(content.iter().filter_map(|block| match block {
        Block::Image(image) => Some(image_part(image)),
        _ => None,
    }));
    Value::Array(parts)
}
