//! Calls and reasoning of chat messages, as blocks.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::Block;
use crate::vendors::blocks::{Unknown, arguments, lacking, list, object, objects, owned, read_content, text};

/// The fields of a message that become blocks.
pub(crate) const MESSAGE_FIELDS: [&str; 8] =
    ["role", "content", "parts", "tool_calls", "function_call", "reasoning_content", "tool_call_id", "name"];

/// Those that hold contents or calls.
pub(crate) const CONTENT_FIELDS: [&str; 3] = ["content", "parts", "tool_calls"];

/// The blocks of a message with `role` and `content`, and of the calls next to these.
pub(crate) fn read_message(message: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let mut blocks: Vec<Block<'static>> = chat_thought(message, notes).into_iter().collect();
    let content = read_content(message.get("content").or_else(|| message.get("parts")), None, notes);
    if matches!(text(message, "role"), Some("tool" | "function")) {
        let id = owned(message, "tool_call_id").or_else(|| owned(message, "name")).unwrap_or_default();
        blocks.push(Block::ToolResult { tool_call_id: id, content, is_error: None, server: false });
        return blocks;
    }
    blocks.extend(content);
    blocks.extend(chat_calls(message, notes));
    blocks
}

/// A field that is present and not null.
fn given<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    map.get(key).filter(|value| !value.is_null())
}

/// The reasoning next to the content of a chat message, as DeepSeek and others write it.
pub(crate) fn chat_thought(map: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    given(map, "reasoning_content")?;
    let text: Cow<'static, str> = owned(map, "reasoning_content").or_else(|| lacking("reasoning_content", notes))?;
    (!text.is_empty()).then_some(Block::Reasoning { text, signature: None, redacted: false })
}

/// The calls next to the content of an OpenAI chat message, and the single call of older messages.
pub(crate) fn chat_calls(map: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    if given(map, "tool_calls").is_some_and(|calls| !calls.is_array()) {
        notes.unknown("calls that are not a list");
    }
    let mut functions = Vec::new();
    for call in objects(list(map, "tool_calls"), "a call that is not an object", notes) {
        functions.push((owned(call, "id"), object(call, "function").or_else(|| object(call, "custom"))));
    }
    if given(map, "function_call").is_some() {
        functions.push((None, object(map, "function_call")));
    }
    let mut calls = Vec::new();
    for (id, function) in functions {
        let Some(function) = function else {
            notes.unknown("a call without a function");
            continue;
        };
        calls.push(Block::ToolCall {
            id: id.unwrap_or_default(),
            name: owned(function, "name").unwrap_or_default(),
            arguments: Box::new(Cow::Owned(match function.get("input") {
                Some(input) if !function.contains_key("arguments") => input.clone(),
                _ => arguments(function.get("arguments")),
            })),
            server: false,
        });
    }
    calls
}
