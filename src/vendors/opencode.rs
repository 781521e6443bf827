//! Messages of OpenCode: a call and its result are one part.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Role};
use crate::json::Document;
use crate::vendors::ai_sdk::fields;
use crate::vendors::blocks::{Unknown, flag, image_at, lacking, list, object, objects, owned, text};
use crate::vendors::left_out::LeftOut;

/// What OpenCode sends for parts that are not texts.
const COMPACT: &str = "What did we do so far?";
const SUBTASK: &str = "The following tool was executed by the user";
const CLEARED: &str = "[Old tool result content cleared]";
const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// The authors and the blocks of a message: its content, and the results of its calls.
pub(crate) fn read_message(
    info: &Map<String, Value>,
    parts: &[Value],
    notes: &mut dyn Unknown,
) -> Vec<(Role, Vec<Block<'static>>)> {
    let parts = objects(parts, "a part that is not an object", notes);
    match text(info, "role").unwrap_or_default() {
        "user" => vec![(Role::User, parts.into_iter().filter_map(|part| read_said(part, notes)).collect())],
        "assistant" if is_failed(info, &parts) => Vec::new(),
        "assistant" => {
            let (mut said, mut results) = (Vec::new(), Vec::new());
            for part in parts {
                if text(part, "type") == Some("tool") {
                    let id: Cow<'static, str> = owned(part, "callID").unwrap_or_default();
                    let state = object(part, "state");
                    said.push(Block::ToolCall {
                        id: id.clone(),
                        name: owned(part, "tool").unwrap_or_default(),
                        arguments: Box::new(Cow::Owned(
                            state.and_then(|state| state.get("input")).cloned().unwrap_or_else(|| json!({})),
                        )),
                        server: false,
                    });
                    results.push(read_result(id, state));
                } else {
                    said.extend(read_said(part, notes));
                }
            }
            vec![(Role::Assistant, said), (Role::User, results)]
        }
        other => {
            notes.left_out(LeftOut::Role(other));
            Vec::new()
        }
    }
}

/// The id of the message from which a request for a compaction keeps the conversation: the message itself, unless it
/// names an earlier one. `None` for any other message.
pub(crate) fn compaction_start<'m>(info: &'m Map<String, Value>, parts: &'m [Value]) -> Option<&'m str> {
    let mut parts = parts.iter().filter_map(Value::as_object);
    let part = parts.find(|part| text(part, "type") == Some("compaction"))?;
    text(part, "tail_start_id").filter(|id| !id.is_empty()).or_else(|| text(info, "id"))
}

/// Whether an answer is the finished summary of a compaction.
pub(crate) fn is_summary(info: &Map<String, Value>) -> bool {
    let has = |key: &str| info.get(key).is_some_and(|value| !value.is_null());
    text(info, "role") == Some("assistant") && flag(info, "summary") && has("finish") && !has("error")
}

/// Whether an answer failed, so that it is not sent again. An aborted one is, if it has content.
fn is_failed(info: &Map<String, Value>, parts: &[&Map<String, Value>]) -> bool {
    let Some(error) = object(info, "error") else { return false };
    let has_content = |part: &&Map<String, Value>| !matches!(text(part, "type"), Some("step-start" | "reasoning"));
    text(error, "name") != Some("MessageAbortedError") || !parts.iter().any(has_content)
}

/// The block of a part other than a call; `None` for one that the model does not see.
fn read_said(part: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let kind = text(part, "type").unwrap_or_default();
    match kind {
        "text" if flag(part, "ignored") => None,
        "text" => text(part, "text")
            .or_else(|| lacking(kind, notes))
            .filter(|text| !text.is_empty())
            .map(|text| Block::text(text.to_owned())),
        "reasoning" => Some(Block::Reasoning {
            text: owned(part, "text").unwrap_or_default(),
            signature: object(part, "metadata").and_then(read_signature),
            redacted: false,
        }),
        "compaction" => Some(Block::text(COMPACT)),
        "subtask" => Some(Block::text(SUBTASK)),
        "file" => read_file(part, notes),
        "step-start" | "step-finish" | "patch" | "snapshot" | "agent" | "retry" => None,
        other => {
            notes.left_out(LeftOut::Type(other));
            None
        }
    }
}

/// The signature in the provider's fields of a part.
fn read_signature(metadata: &Map<String, Value>) -> Option<Cow<'static, str>> {
    let part = crate::json::text(&json!({ "providerMetadata": metadata }));
    let document = Document::read(part.as_bytes(), &[]).ok()?;
    Some(fields::signature(document.root().as_object()?)?.write().into())
}

/// An attached file; texts and folders are attached as texts too.
fn read_file(part: &Map<String, Value>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let mime = text(part, "mime").unwrap_or_default();
    if matches!(mime, "text/plain" | "application/x-directory") {
        return None;
    }
    let url = text(part, "url").filter(|_| mime.starts_with("image/"));
    Some(match url {
        Some(url) => Block::Image(Box::new(image_at(url))),
        None => {
            notes.unknown(&format!("media {mime}"));
            Block::text(format!("[file: {}]", text(part, "filename").unwrap_or(mime)))
        }
    })
}

fn read_result(id: Cow<'static, str>, state: Option<&Map<String, Value>>) -> Block<'static> {
    let field = |key: &str| state.and_then(|state| text(state, key));
    let status = field("status").unwrap_or_default();
    let cleared = state.and_then(|state| object(state, "time")).is_some_and(|time| time.contains_key("compacted"));
    let metadata = state.and_then(|state| object(state, "metadata"));
    let kept = metadata.filter(|metadata| flag(metadata, "interrupted")).and_then(|metadata| text(metadata, "output"));
    let (shown, failed) = match status {
        "completed" if cleared => (CLEARED, false),
        "completed" => (field("output").unwrap_or_default(), false),
        "error" if kept.is_some() => (kept.unwrap_or_default(), false),
        "error" => (field("error").unwrap_or_default(), true),
        _ => (INTERRUPTED, true),
    };
    let mut content = vec![Block::text(shown.to_owned())];
    let files =
        state.map_or(&[][..], |state| list(state, "attachments")).iter().filter(|_| status == "completed" && !cleared);
    let images =
        files.filter(|file| file.get("mime").and_then(Value::as_str).is_some_and(|mime| mime.starts_with("image/")));
    content.extend(images.filter_map(|file| Some(Block::Image(Box::new(image_at(file.get("url")?.as_str()?))))));
    Block::ToolResult { tool_call_id: id, content, is_error: failed.then_some(true), server: false }
}
