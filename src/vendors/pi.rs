//! Messages of pi, as its session files hold them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Media, Role, arguments_object};
use crate::vendors::blocks::{Unknown, flag, lacking, only_shown, owned, read_content, read_said, text};
use crate::vendors::gemini::blocks::push_signature;
use crate::vendors::left_out::{LeftOut, Lost};
use crate::vendors::signature::ReasoningSignature;

/// The fields of messages. `details` and `display` are for the screen.
const FIELDS: &str = "role content timestamp api provider model responseModel responseId diagnostics usage stopReason \
     errorMessage toolCallId toolName isError details customType display";

/// The author and the blocks of a message; `None` for one that the model does not see, or of an unknown role.
pub(crate) fn read_message(
    message: &Map<String, Value>,
    notes: &mut dyn Unknown,
) -> Option<(Role, Vec<Block<'static>>)> {
    if !matches!(text(message, "role"), Some("bashExecution" | "branchSummary")) {
        notes.unknown_fields(message, &[FIELDS]);
    }
    let content = message.get("content");
    Some(match text(message, "role").unwrap_or_default() {
        "user" | "custom" | "hookMessage" => (Role::User, read_said(content, None, notes)),
        "assistant" => (Role::Assistant, read_answer(message, notes)),
        "toolResult" => {
            let result = Block::ToolResult {
                tool_call_id: owned(message, "toolCallId").unwrap_or_default(),
                content: only_shown(read_said(content, None, notes), notes),
                is_error: flag(message, "isError").then_some(true),
                server: false,
            };
            (Role::User, vec![result])
        }
        "bashExecution" if flag(message, "excludeFromContext") => return None,
        "bashExecution" => (Role::User, vec![Block::text(bash_text(message))]),
        "branchSummary" => (Role::User, vec![Block::text(branch_summary(text(message, "summary")?))]),
        other => {
            notes.left_out(LeftOut::Role(other));
            return None;
        }
    })
}

/// The text in which the model sees the summary of a compaction.
pub(crate) fn compaction_summary(summary: &str) -> String {
    format!(
        "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{summary}\n</summary>"
    )
}

/// The text in which the model sees the summary of a branch that the user left.
pub(crate) fn branch_summary(summary: &str) -> String {
    format!(
        "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{summary}</summary>"
    )
}

/// A command that the user ran, as the model sees it.
fn bash_text(message: &Map<String, Value>) -> String {
    let output = match text(message, "output").unwrap_or_default() {
        "" => "(no output)".to_owned(),
        output => format!("```\n{output}\n```"),
    };
    let mut ran = format!("Ran `{}`\n{output}", text(message, "command").unwrap_or_default());
    let code = message.get("exitCode").and_then(Value::as_i64).filter(|&code| code != 0);
    if flag(message, "cancelled") {
        ran.push_str("\n\n(command cancelled)");
    } else if let Some(code) = code {
        ran.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if let Some(path) = text(message, "fullOutputPath").filter(|_| flag(message, "truncated")) {
        ran.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    ran
}

/// The blocks of an answer. Its signatures are those of the vendor that `api` names.
fn read_answer(message: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let Some(Value::Array(blocks)) = message.get("content") else {
        return read_said(message.get("content"), None, notes);
    };
    let api = text(message, "api").unwrap_or_default();
    blocks
        .iter()
        .flat_map(|block| match block.as_object().filter(|block| text(block, "type") == Some("thinking")) {
            Some(thinking) => read_thinking(thinking, api, notes).into_iter().collect(),
            None => {
                let mut read = Vec::new();
                block.as_object().into_iter().for_each(|block| push_signature(block, &mut read));
                read.extend(read_content(Some(block), None, notes));
                read
            }
        })
        .collect()
}

fn read_thinking(block: &Map<String, Value>, api: &str, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let redacted = flag(block, "redacted");
    let thought: Cow<'static, str> = owned(block, "thinking").or_else(|| lacking("thinking", notes))?;
    let given: Option<Cow<'static, str>> = owned(block, "thinkingSignature");
    let signature = given.filter(|signature| !signature.is_empty()).and_then(|signature| {
        Some(match api {
            _ if api.starts_with("anthropic") || api.starts_with("bedrock") => {
                if redacted {
                    ReasoningSignature::Redacted(signature)
                } else {
                    ReasoningSignature::Thinking(signature)
                }
            }
            _ if api.starts_with("google") => ReasoningSignature::Thought(signature),
            // The item itself, as JSON.
            _ if api.contains("responses") => ReasoningSignature::of(signature)?,
            // The name of the field that held the text.
            _ => return None,
        })
    });
    let signature = signature.map(|signature| signature.write().into());
    let text = if redacted { Cow::default() } else { thought };
    Some(Block::Reasoning { text, signature, redacted })
}

/// The parts of a turn as messages of pi: one of the author, and one for each result. `name_of` is the tool of a call.
pub(crate) fn write_messages<'n>(
    role: Role,
    blocks: &[Block<'_>],
    model: Option<&str>,
    name_of: impl Fn(&str) -> Option<&'n str>,
    lost: Lost<'_>,
) -> Vec<Map<String, Value>> {
    let mut messages = Vec::new();
    let mut said: Vec<&Block<'_>> = Vec::new();
    for block in blocks {
        let Block::ToolResult { tool_call_id, content, is_error, .. } = block else {
            said.push(block);
            continue;
        };
        messages.extend(write_said(role, &std::mem::take(&mut said), model, lost));
        messages.push(fields(json!({
            "role": "toolResult", "toolCallId": tool_call_id, "toolName": name_of(tool_call_id).unwrap_or_default(),
            "content": content.iter().filter_map(|block| write_block(block, None, lost)).collect::<Vec<_>>(),
            "isError": *is_error == Some(true),
        })));
    }
    messages.extend(write_said(role, &said, model, lost));
    messages
}

fn fields(message: Value) -> Map<String, Value> {
    if let Value::Object(fields) = message { fields } else { Map::new() }
}

fn write_said(role: Role, blocks: &[&Block<'_>], model: Option<&str>, lost: Lost<'_>) -> Option<Map<String, Value>> {
    let mut content = Vec::new();
    // The signature of the next call.
    let mut carried = None;
    for (at, block) in blocks.iter().enumerate() {
        if let Block::Reasoning { text, signature: Some(signature), redacted: false } = block
            && text.is_empty()
            && matches!(blocks.get(at.saturating_add(1)), Some(Block::ToolCall { .. }))
            && let Some(ReasoningSignature::Thought(thought)) = ReasoningSignature::read(signature)
        {
            carried = Some(thought.into_owned());
            continue;
        }
        content.extend(write_block(block, carried.take(), lost));
    }
    if content.is_empty() {
        return None;
    }
    if role != Role::Assistant {
        return Some(fields(json!({ "role": "user", "content": content })));
    }
    let signatures = blocks.iter().filter_map(|block| match block {
        Block::Reasoning { signature, .. } => signature.as_deref().and_then(ReasoningSignature::read),
        _ => None,
    });
    let (api, provider) = signatures.map(|signature| api_of(&signature)).next().unwrap_or_else(|| api_for(model));
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }));
    let cost = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
    Some(fields(json!({
        "role": "assistant", "content": content, "api": api, "provider": provider, "model": model.unwrap_or("unknown"),
        "usage": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost },
        "stopReason": if calls { "toolUse" } else { "stop" },
    })))
}

/// The interface, and its vendor, to which a signature is sent back.
fn api_of(signature: &ReasoningSignature<'_>) -> (&'static str, &'static str) {
    match signature {
        ReasoningSignature::Thinking(_) | ReasoningSignature::Redacted(_) => ("anthropic-messages", "anthropic"),
        ReasoningSignature::Thought(_) => ("google-generative-ai", "google"),
        ReasoningSignature::Sealed(..) => ("openai-responses", "openai"),
        ReasoningSignature::Field(..) | ReasoningSignature::Opaque(_) => ("openai-completions", "unknown"),
    }
}

/// The interface and the vendor of a model.
fn api_for(model: Option<&str>) -> (&'static str, &'static str) {
    let model = model.unwrap_or_default();
    if model.starts_with("claude") {
        ("anthropic-messages", "anthropic")
    } else if model.starts_with("gemini") {
        ("google-generative-ai", "google")
    } else if model.starts_with("gpt") {
        ("openai-responses", "openai")
    } else {
        ("openai-completions", "unknown")
    }
}

fn write_block(block: &Block<'_>, signature: Option<String>, lost: Lost<'_>) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, signature, redacted } => {
            let mut thinking = json!({ "type": "thinking", "thinking": text });
            let signature = signature.as_deref().and_then(ReasoningSignature::read);
            let signature = signature.map(|signature| match signature {
                ReasoningSignature::Sealed(..) | ReasoningSignature::Field(..) => signature.write(),
                ReasoningSignature::Thinking(bare)
                | ReasoningSignature::Redacted(bare)
                | ReasoningSignature::Thought(bare)
                | ReasoningSignature::Opaque(bare) => bare.into_owned(),
            });
            if let Value::Object(fields) = &mut thinking {
                fields.extend(signature.map(|signature| ("thinkingSignature".to_owned(), signature.into())));
                fields.extend(redacted.then(|| ("redacted".to_owned(), true.into())));
            }
            thinking
        }
        Block::ToolCall { id, name, arguments, server } => {
            if *server {
                lost(LeftOut::Described("the mark of a call that the vendor answered"));
            }
            let arguments = arguments_object(*arguments.clone());
            let mut call = json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments });
            if let (Some(signature), Value::Object(fields)) = (signature, &mut call) {
                fields.insert("thoughtSignature".to_owned(), signature.into());
            }
            call
        }
        Block::Image(image) => match &image.media {
            Some(Media::Data(data)) => json!({ "type": "image", "data": data, "mimeType": image.mime_type }),
            _ => {
                lost(LeftOut::Described("an image at an address, written as a text"));
                json!({ "type": "text", "text": format!("[image: {}]", crate::vendors::blocks::image_url(image)) })
            }
        },
        Block::Audio(audio) => {
            lost(LeftOut::Described("a recording, written as its description"));
            json!({ "type": "text", "text": format!("[audio: {}]", audio.mime_type) })
        }
        Block::Vendor(vendor_block) => {
            let (text, what) = vendor_block.replacement();
            lost(what);
            json!({ "type": "text", "text": text? })
        }
        Block::ToolResult { .. } => return None,
    })
}
