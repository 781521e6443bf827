//! Messages of Continue: the results of calls are stored next to them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Role};
use crate::vendors::blocks::{Unknown, arguments, list, object, objects, owned, read_said, text};
use crate::vendors::left_out::LeftOut;
use crate::vendors::signature::ReasoningSignature;

/// The fields of messages.
const FIELDS: &str = "id role content toolCalls toolCallId signature redactedThinking usage metadata";

/// What Continue sends for a call whose output it has not stored.
const NO_OUTPUT: &str = "No tool output";
const CANCELED: &str = "The user cancelled this tool call.";

/// The authors and the blocks of an item of the history: its message, and the results of its calls.
pub(crate) fn read_item(item: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<(Role, Vec<Block<'static>>)> {
    let Some(message) = object(item, "message") else {
        notes.unknown("an item without a message");
        return Vec::new();
    };
    notes.unknown_fields(message, &[FIELDS]);
    let role = text(message, "role").unwrap_or_default();
    let calls = list(message, "toolCalls");
    let said = |notes: &mut dyn Unknown| match message.get("content") {
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        content => read_said(content.map(typed).as_ref(), None, notes),
    };
    match role {
        "user" => {
            let context = objects(list(item, "contextItems"), "a context item that is not an object", notes);
            let context = context.into_iter().filter_map(|item| text(item, "content")).filter(|text| !text.is_empty());
            let mut blocks: Vec<Block<'static>> = context.map(|text| Block::text(format!("{text}\n"))).collect();
            blocks.extend(said(notes));
            vec![(Role::User, blocks)]
        }
        "system" => vec![(Role::System, said(notes))],
        "thinking" => vec![(Role::Assistant, vec![read_thinking(message)])],
        "assistant" => {
            let reasoning = object(item, "reasoning").and_then(|reasoning| text(reasoning, "text"));
            let mut blocks: Vec<Block<'static>> =
                reasoning.filter(|text| !text.is_empty()).map(thought).into_iter().collect();
            blocks.extend(said(notes));
            let states = objects(list(item, "toolCallStates"), "a call that is not an object", notes);
            // An interrupted answer has its calls in one of the two lists.
            let calls =
                if calls.is_empty() { Vec::new() } else { objects(calls, "a call that is not an object", notes) };
            let stored = states.iter().filter_map(|state| object(state, "toolCall"));
            let calls: Vec<_> = if calls.is_empty() { stored.collect() } else { calls };
            blocks.extend(calls.into_iter().map(read_call));
            let results = states.into_iter().map(read_result).collect();
            vec![(Role::Assistant, blocks), (Role::User, results)]
        }
        "tool" => {
            // The state of the call has it too, in the session files of today.
            let content = said(notes);
            let id = owned(message, "toolCallId").unwrap_or_default();
            vec![(Role::User, vec![Block::ToolResult { tool_call_id: id, content, is_error: None, server: false }])]
        }
        other => {
            notes.left_out(LeftOut::Role(other));
            Vec::new()
        }
    }
}

/// The text in which the model sees the summary of a compaction.
pub(crate) fn compaction_summary(summary: &str) -> String {
    format!("Previous conversation summary:\n\n {summary}")
}

fn thought(text: &str) -> Block<'static> {
    Block::Reasoning { text: text.to_owned().into(), signature: None, redacted: false }
}

fn read_thinking(message: &Map<String, Value>) -> Block<'static> {
    let redacted = text(message, "redactedThinking").filter(|data| !data.is_empty());
    if let Some(data) = redacted {
        let signature = Some(ReasoningSignature::Redacted(data.to_owned().into()).write().into());
        return Block::Reasoning { text: Cow::default(), signature, redacted: true };
    }
    let signature = text(message, "signature").filter(|signature| !signature.is_empty());
    Block::Reasoning {
        text: owned(message, "content").unwrap_or_default(),
        signature: signature.map(|signature| ReasoningSignature::Thinking(signature.to_owned().into()).write().into()),
        redacted: false,
    }
}

/// A content with images in OpenAI's form.
fn typed(content: &Value) -> Value {
    let Value::Array(parts) = content else { return content.clone() };
    let part = |part: &Value| match object(part.as_object()?, "imageUrl") {
        Some(image) => Some(json!({ "type": "image_url", "image_url": image })),
        None => Some(part.clone()),
    };
    Value::Array(parts.iter().map(|it| part(it).unwrap_or(it.clone())).collect())
}

fn read_call(call: &Map<String, Value>) -> Block<'static> {
    let function = object(call, "function");
    Block::ToolCall {
        id: owned(call, "id").unwrap_or_default(),
        name: function.and_then(|function| owned(function, "name")).unwrap_or_default(),
        arguments: Box::new(Cow::Owned(arguments(function.and_then(|function| function.get("arguments"))))),
        server: false,
    }
}

fn read_result(state: &Map<String, Value>) -> Block<'static> {
    let status = text(state, "status").unwrap_or_default();
    let outputs = list(state, "output").iter().filter_map(|item| item.get("content")?.as_str());
    let output = outputs.collect::<Vec<_>>().join("\n\n");
    let content = match (status, output.is_empty()) {
        ("canceled", _) => CANCELED.to_owned(),
        (_, true) => NO_OUTPUT.to_owned(),
        _ => output,
    };
    let call = object(state, "toolCall").and_then(|call| owned(call, "id"));
    Block::ToolResult {
        tool_call_id: owned(state, "toolCallId").or(call).unwrap_or_default(),
        content: vec![Block::text(content)],
        is_error: matches!(status, "errored" | "canceled").then_some(true),
        server: false,
    }
}
