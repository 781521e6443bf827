//! Content blocks as vendors and tools write them in JSON: Anthropic's, OpenAI's chat parts, and those of a Loom tree.
//!
//! Their `type` names do not collide, so one reader knows them all.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::commits::transcript::{
    Notes, arguments, arguments_object, flag, image, image_at, image_url, list, object, objects, owned,
    parse_arguments, set, text,
};
use crate::content::{Block, Image, Media};

/// Reads the content of a message, and notes if there is none.
pub(super) fn read_said(content: Option<&Value>, notes: &mut Notes) -> Vec<Block<'static>> {
    if content.is_none_or(Value::is_null) {
        notes.unknown("a message without content");
    }
    read_content(content, notes)
}

/// Reads `content`: a string, one block or a list of blocks.
pub(super) fn read_content(content: Option<&Value>, notes: &mut Notes) -> Vec<Block<'static>> {
    match content {
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![Block::text(text.clone())],
        Some(Value::Array(blocks)) => blocks.iter().filter_map(|block| read(block, notes)).collect(),
        Some(block @ Value::Object(_)) => read(block, notes).into_iter().collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(_) => {
            notes.unknown("content that is neither a text nor blocks");
            Vec::new()
        }
    }
}

/// Reads one block; an unknown kind is noted.
fn read(block: &Value, notes: &mut Notes) -> Option<Block<'static>> {
    let map = match block {
        Value::String(text) => return Some(Block::text(text.clone())),
        Value::Object(map) => map,
        _ => {
            notes.unknown("a block that is no object");
            return None;
        }
    };
    let content = map.get("content");
    let result = |[id, failed]: [&str; 2], content, server| Block::ToolResult {
        tool_call_id: owned(map, id).unwrap_or_default(),
        content,
        is_error: flag(map, failed).then_some(true),
        server,
    };
    let kind = text(map, "type").unwrap_or_default();
    Some(match kind {
        "text" | "input_text" | "output_text" => Block::Text(owned(map, "text").or_else(|| lacking(kind, notes))?),
        "thinking" => Block::Reasoning {
            text: owned(map, "thinking").or_else(|| lacking(kind, notes))?,
            signature: owned(map, "signature").filter(|proof: &Cow<'_, str>| !proof.is_empty()),
            redacted: false,
        },
        "reasoning" => Block::Reasoning {
            text: owned(map, "text")
                .or_else(|| if flag(map, "redacted") { Some(Cow::default()) } else { lacking(kind, notes) })?,
            signature: owned(map, "signature"),
            redacted: flag(map, "redacted"),
        },
        "redacted_thinking" => Block::Reasoning { text: Cow::default(), signature: owned(map, "data"), redacted: true },
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "toolCall" => Block::ToolCall {
            id: owned(map, "id").unwrap_or_default(),
            name: owned(map, "name").unwrap_or_default(),
            arguments: Cow::Owned(match map.get("input").or_else(|| map.get("arguments")) {
                // A Loom tree may hold the JSON text of the arguments.
                Some(Value::String(json)) if kind == "toolCall" => parse_arguments(json),
                Some(value) => value.clone(),
                None => json!({}),
            }),
            server: kind.starts_with("server") || kind.starts_with("mcp") || flag(map, "server"),
        },
        "toolResult" => {
            let content = only_shown(read_content(content, notes), notes);
            result(["toolCallId", "isError"], content, flag(map, "server"))
        }
        "tool_result" => {
            let content = only_shown(read_content(content, notes), notes);
            result(["tool_use_id", "is_error"], content, false)
        }
        _ if kind.ends_with("_tool_result") => result(["tool_use_id", "is_error"], server_content(content), true),
        "image" if object(map, "source").is_some_and(|source| source.contains_key("file_id")) => {
            notes.unknown("an image in a store of files");
            let id = object(map, "source").and_then(|source| text(source, "file_id")).unwrap_or_default();
            Block::text(format!("[image: {id}]"))
        }
        "image" => Block::Image(image_of(map).or_else(|| lacking(kind, notes))?),
        "image_url" | "input_image" => {
            let url = text(map, "image_url").or_else(|| text(object(map, "image_url")?, "url"));
            Block::Image(url.map(image_at).or_else(|| lacking(kind, notes))?)
        }
        "mixed" => {
            notes.unknown("a block within blocks");
            return None;
        }
        "tool_reference" => {
            Block::text(text(map, "tool_name").map(|name| format!("[tool: {name}]")).or_else(|| lacking(kind, notes))?)
        }
        "document" => {
            notes.unknown("document");
            Block::text(format!("[document: {}]", text(map, "title").unwrap_or("untitled")))
        }
        other => {
            notes.unknown(&format!("block {other}"));
            return None;
        }
    })
}

/// Notes a block that does not hold what its kind is for.
fn lacking<T>(kind: &str, notes: &mut Notes) -> Option<T> {
    notes.unknown(&format!("block {kind} without its content"));
    None
}

/// The content of a server tool's result has its own shapes; its JSON is the text.
fn server_content(content: Option<&Value>) -> Vec<Block<'static>> {
    match content {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![Block::text(text.clone())],
        Some(other) => vec![Block::text(other.to_string())],
    }
}

/// A result holds texts and images, nothing else.
pub(super) fn only_shown(blocks: Vec<Block<'static>>, notes: &mut Notes) -> Vec<Block<'static>> {
    let shown = |block: &Block| match block {
        Block::Text(_) | Block::Image(_) => true,
        _ => {
            notes.unknown("a call or a thought within a result");
            false
        }
    };
    blocks.into_iter().filter(shown).collect()
}

fn image_of(map: &Map<String, Value>) -> Option<Image<'static>> {
    let from = object(map, "source").unwrap_or(map);
    let mime_type = text(from, "media_type").or_else(|| text(from, "mimeType")).unwrap_or("image/*").to_owned();
    Some(image(mime_type, owned(from, "data").map(Media::Data).or_else(|| owned(from, "url").map(Media::Url))?))
}

/// One text alone as that text, other blocks as the list that `write` makes.
pub(super) fn text_or(blocks: &[Block], write: impl FnOnce(&[Block]) -> Vec<Value>) -> Value {
    match blocks {
        [Block::Text(text)] => Value::from(&**text),
        blocks => Value::Array(write(blocks)),
    }
}

pub(super) fn to_anthropic(blocks: &[Block], notes: &mut Notes) -> Vec<Value> {
    blocks.iter().map(|block| anthropic(block, notes)).collect()
}

fn anthropic(block: &Block, notes: &mut Notes) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Reasoning { signature, redacted: true, .. } => json!({ "type": "redacted_thinking", "data": signature }),
        Block::Reasoning { text, signature, .. } => {
            json!({ "type": "thinking", "thinking": text, "signature": signature.as_deref().unwrap_or_default() })
        }
        Block::ToolCall { id, name, arguments, server } => {
            let kind = if *server { "server_tool_use" } else { "tool_use" };
            json!({ "type": kind, "id": id, "name": name, "input": arguments_object(arguments.clone()) })
        }
        Block::ToolResult { tool_call_id, content, is_error, server } => {
            let content = text_or(content, |blocks| to_anthropic(blocks, notes));
            let kind = if *server { "server_tool_result" } else { "tool_result" };
            let mut result = json!({ "type": kind, "tool_use_id": tool_call_id, "content": content });
            if *is_error == Some(true) {
                set(&mut result, "is_error", true);
            }
            result
        }
        Block::Image(image) => {
            let source = match &image.media {
                Some(Media::Data(data)) => json!({ "type": "base64", "media_type": image.mime_type, "data": data }),
                _ => json!({ "type": "url", "url": image_url(image) }),
            };
            json!({ "type": "image", "source": source })
        }
        Block::Audio(_) => json!({ "type": "text", "text": notes.recording(block) }),
    }
}

/// A field that is there but null.
fn given<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    map.get(key).filter(|value| !value.is_null())
}

/// The thought beside the content of a chat message, as DeepSeek and others write it.
pub(super) fn chat_thought(map: &Map<String, Value>, notes: &mut Notes) -> Option<Block<'static>> {
    given(map, "reasoning_content")?;
    let text: Cow<'static, str> = owned(map, "reasoning_content").or_else(|| lacking("reasoning_content", notes))?;
    (!text.is_empty()).then_some(Block::Reasoning { text, signature: None, redacted: false })
}

/// The calls beside the content of an OpenAI chat message, and the one call of older messages.
pub(super) fn chat_calls(map: &Map<String, Value>, notes: &mut Notes) -> Vec<Block<'static>> {
    if given(map, "tool_calls").is_some_and(|calls| !calls.is_array()) {
        notes.unknown("calls that are no list");
    }
    let mut functions = Vec::new();
    for call in objects(list(map, "tool_calls"), "a call that is no object", notes) {
        functions.push((owned(call, "id"), object(call, "function")));
    }
    if given(map, "function_call").is_some() {
        functions.push((None, object(map, "function_call")));
    }
    let mut calls = Vec::new();
    for (id, function) in functions {
        let Some(function) = function else {
            notes.unknown("a call of no function");
            continue;
        };
        calls.push(Block::ToolCall {
            id: id.unwrap_or_default(),
            name: owned(function, "name").unwrap_or_default(),
            arguments: Cow::Owned(arguments(function.get("arguments"))),
            server: false,
        });
    }
    calls
}
