//! Messages of OpenTelemetry's conventions for generative AI.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Media, Role, arguments_object};
use crate::json::Value as Parsed;
use crate::vendors::blocks::{Unknown, arguments, flag, image, list, objects, owned, text};
use crate::vendors::fields::has_any;
use crate::vendors::left_out::{LeftOut, Lost};

/// The fields of the parts that are read.
const PART_FIELDS: &str = "type content signature id name arguments server_tool_call response result \
     server_tool_call_response is_error modality mime_type uri";

/// The author and the blocks of a message; `None` for an unknown role.
pub(crate) fn read_message(
    message: &Map<String, Value>,
    notes: &mut dyn Unknown,
) -> Option<(Role, Vec<Block<'static>>)> {
    let role = match text(message, "role").unwrap_or_default() {
        "system" => Role::System,
        "user" | "tool" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            notes.left_out(LeftOut::Role(other));
            return None;
        }
    };
    notes.unknown_fields(message, &["role parts finish_reason"]);
    Some((role, read_parts(list(message, "parts"), notes)))
}

/// The blocks of parts.
pub(crate) fn read_parts(parts: &[Value], notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let parts = objects(parts, "a part that is not an object", notes);
    parts.into_iter().filter_map(|part| read_part(part, notes)).collect()
}

fn read_part(part: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let kind = text(part, "type").unwrap_or_default();
    let server = kind.starts_with("server_");
    let media = |media: Option<Media<'static>>| {
        let mime_type = text(part, "mime_type").unwrap_or("image/*").to_owned();
        media
            .filter(|_| text(part, "modality") == Some("image"))
            .map(|media| Block::Image(Box::new(image(mime_type, media))))
    };
    let found = match kind {
        "text" => owned(part, "content").map(Block::Text),
        "reasoning" => owned(part, "content").map(|text| Block::Reasoning {
            text,
            signature: owned(part, "signature"),
            redacted: false,
        }),
        "tool_call" | "server_tool_call" => {
            let given = part.get("arguments").or_else(|| part.get("server_tool_call"));
            Some(Block::ToolCall {
                id: owned(part, "id").unwrap_or_default(),
                name: owned(part, "name").unwrap_or_default(),
                arguments: Box::new(Cow::Owned(arguments(given))),
                server,
            })
        }
        "tool_call_response" | "server_tool_call_response" => {
            let response = ["response", "result", "server_tool_call_response"].iter().find_map(|key| part.get(*key));
            Some(Block::ToolResult {
                tool_call_id: owned(part, "id").unwrap_or_default(),
                content: read_response(response, notes),
                is_error: flag(part, "is_error").then_some(true),
                server,
            })
        }
        "blob" => media(owned(part, "content").map(Media::Data)),
        "uri" => media(owned(part, "uri").map(Media::Url)),
        _ => None,
    };
    if found.is_some() {
        notes.unknown_fields(part, &[PART_FIELDS]);
    } else {
        notes.left_out(LeftOut::Type(kind));
    }
    found
}

/// The content of a response: a text, parts, or any other value as its JSON.
fn read_response(response: Option<&Value>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    match response {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![Block::text(text.clone())],
        Some(Value::Array(parts)) if parts.iter().all(|part| part.get("type").is_some()) => read_parts(parts, notes),
        Some(other) => vec![Block::text(crate::json::text(other))],
    }
}

/// A turn as messages: one of the author, and one of the tool with the results.
pub(crate) fn write_messages(role: Role, blocks: &[Block<'_>], lost: Lost<'_>) -> Vec<Map<String, Value>> {
    let name = |block: &Block<'_>| match block {
        Block::ToolResult { server: false, .. } => "tool",
        _ if role == Role::Assistant => "assistant",
        _ if role.is_system() => "system",
        _ => "user",
    };
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for block in blocks {
        let Some(part) = write_part(block, lost) else { continue };
        match messages.last_mut().filter(|(role, _)| *role == name(block)) {
            Some((_, parts)) => parts.push(part),
            None => messages.push((name(block), vec![part])),
        }
    }
    let message = |(role, parts): (&str, Vec<Value>)| {
        Map::from_iter([("role".to_owned(), role.into()), ("parts".to_owned(), parts.into())])
    };
    messages.into_iter().map(message).collect()
}

fn write_part(block: &Block<'_>, lost: Lost<'_>) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({ "type": "text", "content": text }),
        Block::Reasoning { redacted: true, .. } => {
            lost(LeftOut::Described("encrypted reasoning, left out"));
            return None;
        }
        Block::Reasoning { text, signature, .. } => {
            if signature.is_some() {
                lost(LeftOut::Described("the signature of reasoning"));
            }
            json!({ "type": "reasoning", "content": text })
        }
        Block::ToolCall { id, name, arguments, server } => {
            let arguments = arguments_object(*arguments.clone());
            if *server {
                json!({ "type": "server_tool_call", "id": id, "name": name, "server_tool_call": arguments })
            } else {
                json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
            }
        }
        Block::ToolResult { tool_call_id, content, is_error, server } => {
            let response = match content.as_slice() {
                [] => "".into(),
                [Block::Text(text)] => text.as_ref().into(),
                blocks => blocks.iter().filter_map(|block| write_part(block, lost)).collect::<Value>(),
            };
            let kind = if *server { "server_tool_call_response" } else { "tool_call_response" };
            let name = if *server { "server_tool_call_response" } else { "response" };
            let mut part = Map::from_iter([
                ("type".to_owned(), kind.into()),
                ("id".to_owned(), tool_call_id.as_ref().into()),
                (name.to_owned(), response),
            ]);
            part.extend((*is_error == Some(true)).then(|| ("is_error".to_owned(), true.into())));
            part.into()
        }
        Block::Image(image) => match &image.media {
            Some(Media::Data(data)) => {
                json!({ "type": "blob", "modality": "image", "mime_type": image.mime_type, "content": data })
            }
            Some(Media::Url(url)) => {
                json!({ "type": "uri", "modality": "image", "mime_type": image.mime_type, "uri": url })
            }
            None => return None,
        },
        Block::Audio(audio) => {
            lost(LeftOut::Described("a recording, written as its description"));
            json!({ "type": "text", "content": format!("[audio: {}]", audio.mime_type) })
        }
        Block::Vendor(vendor_block) => {
            let (text, what) = vendor_block.replacement();
            lost(what);
            json!({ "type": "text", "content": text? })
        }
    })
}

/// Whether a part is OpenTelemetry's, which would be read as an empty part of a `UIMessage`.
pub(crate) fn is_part(part: Parsed<'_>) -> bool {
    let part = part.as_object();
    let kind = part.and_then(|part| part.last("type"));
    let is = |names: &[&str]| kind.is_some_and(|kind| names.iter().any(|name| kind.is_string(name)));
    let has_text = part.is_some_and(|part| has_any(part, &["text"]));
    is(&["tool_call", "tool_call_response"]) || is(&["text", "reasoning"]) && !has_text
}
