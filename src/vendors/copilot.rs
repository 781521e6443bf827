//! Messages of Copilot CLI, as the events of its session files hold them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::{Block, Role};
use crate::vendors::blocks::{Unknown, arguments, flag, list, object, objects, owned, text};

/// The author and the blocks of the message in an event. `None` for an event without a message.
pub(crate) fn read_event(
    kind: &str,
    data: &Map<String, Value>,
    notes: &mut dyn Unknown,
) -> Option<(Role, Vec<Block<'static>>)> {
    let said = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| Block::text(text.to_owned()));
    let (role, blocks): (Role, Vec<Block<'static>>) = match kind {
        // What was sent differs from what the user typed.
        "user.message" => {
            let sent = text(data, "transformedContent").or_else(|| text(data, "content"));
            if !list(data, "attachments").is_empty() {
                notes.unknown("attachments of a message");
            }
            (Role::User, said(sent).into_iter().collect())
        }
        "system.message" => (Role::System, said(text(data, "content")).into_iter().collect()),
        // Other notifications are for the screen.
        "system.notification" => {
            let content = text(data, "content").filter(|text| text.starts_with("<system_notification>"));
            return content.map(|text| (Role::User, vec![Block::text(text.to_owned())]));
        }
        "assistant.message" => (Role::Assistant, read_answer(data, notes)),
        "tool.execution_complete" => (Role::User, vec![read_result(data)]),
        "session.compaction_complete" => (Role::User, said(text(data, "summaryContent")).into_iter().collect()),
        _ => return None,
    };
    if blocks.is_empty() && kind != "session.compaction_complete" {
        notes.unknown("a message without content");
    }
    Some((role, blocks))
}

fn read_answer(data: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    if let Some(text) = text(data, "reasoningText").filter(|text| !text.is_empty()) {
        blocks.push(Block::Reasoning { text: text.to_owned().into(), signature: None, redacted: false });
    }
    if ["reasoningOpaque", "encryptedContent"].iter().any(|key| data.get(*key).is_some_and(Value::is_string)) {
        notes.unknown("encrypted reasoning of an unnamed vendor");
    }
    if let Some(text) = text(data, "content").filter(|text| !text.is_empty()) {
        blocks.push(Block::text(text.to_owned()));
    }
    for call in objects(list(data, "toolRequests"), "a call that is not an object", notes) {
        blocks.push(Block::ToolCall {
            id: owned(call, "toolCallId").unwrap_or_default(),
            name: owned(call, "name").unwrap_or_default(),
            arguments: Box::new(Cow::Owned(arguments(call.get("arguments")))),
            server: false,
        });
    }
    blocks
}

fn read_result(data: &Map<String, Value>) -> Block<'static> {
    let result = object(data, "result").and_then(|result| text(result, "content"));
    let error = || object(data, "error").and_then(|error| text(error, "message"));
    let content = result.or_else(error).map(|text| Block::text(text.to_owned()));
    let failed = data.contains_key("success") && !flag(data, "success");
    Block::ToolResult {
        tool_call_id: owned(data, "toolCallId").unwrap_or_default(),
        content: content.into_iter().collect(),
        is_error: failed.then_some(true),
        server: false,
    }
}
