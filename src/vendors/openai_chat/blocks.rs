//! Calls and reasoning of chat messages, as blocks.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::Block;
use crate::vendors::blocks::{Unknown, arguments, lacking, list, objects, owned, read_content, string, text};
use crate::vendors::openai_chat::part::{CalledTool, THOUGHTS, read_call, read_called_tool};
use crate::vendors::part::{Field, Fields};

/// The fields of a message that become blocks.
pub(crate) const MESSAGE_FIELDS: [&str; 8] =
    ["role", "content", "parts", "tool_calls", "function_call", "reasoning_content", "tool_call_id", "name"];

/// The fields of a line of `generic-v1`, without those of results.
pub(crate) const LINE_FIELDS: &str =
    "role content id timestamp model summary tool_calls function_call reasoning_content";

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
    blocks.extend(chat_calls(message, notes).into_iter().map(|(call, _)| call));
    blocks
}

/// The reasoning next to the content of a chat message, as DeepSeek and others write it.
pub(crate) fn chat_thought(map: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let (Ok([thought, ..]), [name, ..]) = (map.fields(THOUGHTS), THOUGHTS);
    let text: Cow<'static, str> = string(Some(thought?)).or_else(|| lacking(name, notes))?;
    (!text.is_empty()).then_some(Block::Reasoning { text, signature: None, redacted: false })
}

/// The calls next to the content of an OpenAI chat message, and the single call of older messages, each with whether it
/// is a custom tool's.
pub(crate) fn chat_calls(map: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<(Block<'static>, bool)> {
    let Ok([calls, function]) = map.fields(["tool_calls", "function_call"]);
    if calls.is_some_and(|calls| !calls.is_array()) {
        notes.unknown("calls that are not a list");
    }
    let mut found = Vec::new();
    for fields in objects(list(map, "tool_calls"), "a call that is not an object", notes) {
        let Ok(call) = read_call(fields);
        notes.unknown_fields(fields, &["index type id", call.tool.name]);
        found.push((string(call.id), call.tool.value, call.is_custom));
    }
    found.extend(function.map(|function| (None, Some(function), false)));
    let mut blocks = Vec::new();
    for (id, called, is_custom) in found {
        let Some(called) = called.and_then(Value::as_object) else {
            notes.unknown("a call without a function");
            continue;
        };
        let Ok(CalledTool { name, input }) = read_called_tool(called);
        notes.unknown_fields(called, &["name", input.name]);
        let call = Block::ToolCall {
            id: id.unwrap_or_default(),
            name: string(name).unwrap_or_default(),
            arguments: Box::new(Cow::Owned(match input {
                Field { name: "input", value: Some(input) } => input.clone(),
                Field { value, .. } => arguments(value),
            })),
            server: false,
        };
        blocks.push((call, is_custom));
    }
    blocks
}
