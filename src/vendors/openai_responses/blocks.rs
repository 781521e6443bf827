//! Items as blocks, and blocks as items.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Image, Media, Role, Vendor, arguments_text};
use crate::maps::SortedSet;
use crate::vendors::blocks::{
    Unknown, arguments, flag, image, image_url, list, only_shown, owned, read_content, text, text_or,
};
use crate::vendors::openai_responses::fields::{FIELDS, FIELDS_OF_CODEX, ItemKind};
use crate::vendors::signature::ReasoningSignature;

/// Reads an item other than a message: the model's actions, and results, which have `server` unset. `call_id` returns
/// the id of the item's call, generated for one that the vendor answers itself. An item of another type is kept
/// unchanged; `None` if it has no type.
pub(crate) fn read_item(
    kind: &str,
    item: &Map<String, Value>,
    call_id: &dyn Fn(bool) -> Cow<'static, str>,
    notes: &mut dyn Unknown,
) -> Option<Vec<Block<'static>>> {
    let call = |name: String, arguments: Value, server: bool| Block::ToolCall {
        id: call_id(server),
        name: name.into(),
        arguments: Box::new(Cow::Owned(arguments)),
        server,
    };
    let name = || match text(item, "namespace") {
        Some(space) => format!("{space}{}", text(item, "name").unwrap_or_default()),
        None => owned(item, "name").unwrap_or_default(),
    };
    let object = |key| item.get(key).cloned().unwrap_or_else(|| json!({}));
    // Items of other kinds are kept whole, or have fields of their own.
    if matches!(
        ItemKind::of(kind),
        ItemKind::Reasoning | ItemKind::FunctionCall | ItemKind::CustomCall | ItemKind::Output
    ) {
        notes.unknown_fields(item, &[FIELDS, FIELDS_OF_CODEX]);
    }
    let block = match (ItemKind::of(kind), kind) {
        (ItemKind::Reasoning, _) => {
            return Some(read_reasoning(item, notes).map(|thought| with_id(thought, item)).into_iter().collect());
        }
        (ItemKind::FunctionCall, _) => call(name(), arguments(item.get("arguments")), false),
        (ItemKind::CustomCall, _) => {
            let input = item.get("input").filter(|input| input.is_object()).cloned();
            let text = || Value::String(owned(item, "input").unwrap_or_default());
            call(name(), input.unwrap_or_else(text), false)
        }
        (_, "local_shell_call") => call("local_shell".to_owned(), object("action"), false),
        (_, "web_search_call") => call("web_search".to_owned(), object("action"), true),
        (_, "tool_search_call") => call("tool_search".to_owned(), object("arguments"), false),
        (_, "image_generation_call") => {
            let prompt = json!({ "prompt": text(item, "revised_prompt").unwrap_or_default() });
            let image = |data| Block::Image(Box::new(image("image/png".to_owned(), Media::Data(data))));
            let result = owned(item, "result").map(|data| Block::ToolResult {
                tool_call_id: call_id(true),
                content: vec![image(data)],
                is_error: None,
                server: true,
            });
            return Some([call("image_generation".to_owned(), prompt, true)].into_iter().chain(result).collect());
        }
        (ItemKind::Output, _) | (_, "tool_search_output") => output(item, notes),
        (ItemKind::Untyped, _) => return None,
        _ => Block::vendor(Vendor::OpenAi, item.clone()),
    };
    Some(vec![block])
}

/// The reasoning of an item of OpenAI's Responses, unless all of its texts are damaged.
pub(crate) fn read_reasoning(item: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let mut is_damaged = false;
    let mut texts = |key: &str| -> Vec<String> {
        let text = |part: &Value| part.as_object().and_then(|part| owned(part, "text"));
        let texts: Vec<String> = list(item, key).iter().filter_map(text).collect();
        for _ in texts.len()..list(item, key).len() {
            notes.unknown("a thought without a text");
            is_damaged = true;
        }
        texts
    };
    let lines = match texts("content") {
        content if content.is_empty() => texts("summary"),
        content => content,
    };
    let text = lines.join("\n\n");
    let signature = owned(item, "encrypted_content");
    let is_empty = text.is_empty() && signature.is_none();
    let thought = Block::Reasoning { redacted: text.is_empty() && signature.is_some(), text: text.into(), signature };
    (!is_empty || !is_damaged).then_some(thought)
}

/// Reasoning whose signature includes the id of its item, which OpenAI requires back.
fn with_id(mut thought: Block<'static>, item: &Map<String, Value>) -> Block<'static> {
    if let (Block::Reasoning { signature: Some(signature), .. }, Some(id)) = (&mut thought, owned(item, "id")) {
        *signature = ReasoningSignature::Sealed(Some(id), std::mem::take(signature)).write().into();
    }
    thought
}

fn output(item: &Map<String, Value>, notes: &mut dyn Unknown) -> Block<'static> {
    let output = item.get("output").or_else(|| item.get("tools"));
    let mut is_error = false;
    let content = match output {
        // Older versions: { content, success }.
        Some(Value::Object(payload)) => {
            is_error = payload.contains_key("success") && !flag(payload, "success");
            read_content(payload.get("content_items").or_else(|| payload.get("content")), None, notes)
        }
        other => read_content(other, None, notes),
    };
    is_error |= item.get("success").and_then(Value::as_bool) == Some(false);
    Block::ToolResult {
        tool_call_id: owned(item, "call_id").unwrap_or_default(),
        content: only_shown(content, notes),
        is_error: is_error.then_some(true),
        server: false,
    }
}

/// An image, as a part of a message or an output.
pub(crate) fn image_part(image: &Image<'_>) -> Value {
    json!({ "type": "input_image", "image_url": image_url(image) })
}

/// A text, as a part of a message of this role.
pub(crate) fn text_part(role: Role, text: &str) -> Value {
    let kind = if role == Role::Assistant { "output_text" } else { "input_text" };
    json!({ "type": kind, "text": text })
}

/// A block as a separate item. A search has no output in this format, so an `answered` one is written as a call.
pub(crate) fn write_item(block: &Block<'_>, answered: &SortedSet<String>) -> Option<Value> {
    Some(match block {
        Block::Reasoning { text, signature, redacted } => {
            let summary: Vec<Value> = match *redacted || text.is_empty() {
                true => Vec::new(),
                false => vec![json!({ "type": "summary_text", "text": text })],
            };
            match signature.as_deref().and_then(ReasoningSignature::read) {
                Some(ReasoningSignature::Sealed(Some(id), sealed)) => {
                    json!({ "type": "reasoning", "id": id, "summary": summary, "encrypted_content": sealed })
                }
                _ => json!({ "type": "reasoning", "summary": summary, "encrypted_content": signature }),
            }
        }
        Block::ToolCall { id, name, arguments, .. } if arguments.is_string() => {
            json!({ "type": "custom_tool_call", "call_id": id, "name": name, "input": arguments })
        }
        Block::ToolCall { id, arguments, name, server: true } if name == "web_search" && !answered.contains(&**id) => {
            json!({ "type": "web_search_call", "status": "completed", "action": arguments })
        }
        Block::ToolCall { id, name, arguments, .. } => {
            json!({ "type": "function_call", "name": name, "arguments": arguments_text(arguments), "call_id": id })
        }
        Block::ToolResult { tool_call_id, content, is_error, .. } => {
            let output = match content.as_slice() {
                [] => Value::from(""),
                blocks => text_or(blocks, |blocks| blocks.iter().filter_map(output_part).collect()),
            };
            // The form of failures; a plain output means success.
            let output = if *is_error == Some(true) { json!({ "content": output, "success": false }) } else { output };
            json!({ "type": "function_call_output", "call_id": tool_call_id, "output": output })
        }
        Block::Vendor(block) if block.vendor == Vendor::OpenAi => block.value.clone().into_owned(),
        Block::Text(_) | Block::Image(_) | Block::Audio(_) | Block::Vendor(_) => {
            return None;
        }
    })
}

fn output_part(block: &Block<'_>) -> Option<Value> {
    match block {
        Block::Text(text) => Some(text_part(Role::User, text)),
        Block::Image(image) => Some(image_part(image)),
        _ => None,
    }
}
