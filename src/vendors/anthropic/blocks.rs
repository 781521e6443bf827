//! Content blocks in Anthropic's form, and their ids.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Media, Vendor, arguments_object};
use crate::vendors::blocks::{image_url, text, text_or};
use crate::vendors::signature::bare_signature;

/// The fields of a message: its content, and those that describe the answer.
pub(crate) const MESSAGE_FIELDS: &str =
    "id type role model content stop_reason stop_sequence stop_details usage container context_management diagnostics";

/// The id of a call block; if `client_only`, only of calls that the client answers.
pub(crate) fn call_id(block: &Map<String, Value>, client_only: bool) -> Option<&str> {
    let kind = text(block, "type").unwrap_or_default();
    let is_call = if client_only { kind == "tool_use" } else { kind.ends_with("tool_use") };
    text(block, "id").filter(|_| is_call)
}

/// The id of the call that a block is the result of.
pub(crate) fn answered_id(block: &Map<String, Value>) -> Option<&str> {
    text(block, "tool_use_id")
}

/// Whether an id of a call is that of a server tool of Anthropic.
pub(crate) fn is_server_call_id(id: &str) -> bool {
    ["srvtoolu_", "mcptoolu_"].iter().any(|prefix| id.starts_with(prefix))
}

/// Returns the text that replaces a block, if any.
type TextFor<'n> = &'n mut dyn FnMut(&Block<'_>) -> Option<String>;

/// Writes blocks; a recording or another vendor's block is replaced by the text that `text_for` returns, if any.
pub(crate) fn write(blocks: &[Block<'_>], text_for: TextFor<'_>) -> Vec<Value> {
    blocks.iter().filter_map(|block| write_block(block, text_for)).collect()
}

fn write_block(block: &Block<'_>, text_for: TextFor<'_>) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, signature, redacted } => {
            let signature = signature.as_deref().map_or_else(Cow::default, bare_signature);
            if *redacted {
                json!({ "type": "redacted_thinking", "data": signature })
            } else {
                json!({ "type": "thinking", "thinking": text, "signature": signature })
            }
        }
        Block::ToolCall { id, name, arguments, server } => {
            let kind = if *server { "server_tool_use" } else { "tool_use" };
            json!({ "type": kind, "id": id, "name": name, "input": arguments_object(*arguments.clone()) })
        }
        Block::ToolResult { tool_call_id, content, is_error, server } => {
            let content = text_or(content, |blocks| write(blocks, text_for));
            let kind = if *server { "server_tool_result" } else { "tool_result" };
            let mut result = json!({ "type": kind, "tool_use_id": tool_call_id, "content": content });
            if let (Some(true), Value::Object(fields)) = (is_error, &mut result) {
                fields.insert("is_error".to_owned(), true.into());
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
        Block::Vendor(block) if block.vendor == Vendor::Anthropic => block.value.clone().into_owned(),
        Block::Audio(_) | Block::Vendor(_) => json!({ "type": "text", "text": text_for(block)? }),
    })
}
