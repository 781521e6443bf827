//! Messages of pi, as its session files hold them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::{Block, Role};
use crate::vendors::blocks::{Unknown, flag, lacking, only_shown, owned, read_content, read_said, text};
use crate::vendors::signature::ReasoningSignature;

/// The author and the blocks of a message; `None` for one that the model does not see, or of an unknown role.
pub(crate) fn read_message(
    message: &Map<String, Value>,
    notes: &mut dyn Unknown,
) -> Option<(Role, Vec<Block<'static>>)> {
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
            notes.unknown(&format!("role {other}"));
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
            None => read_content(Some(block), None, notes),
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
