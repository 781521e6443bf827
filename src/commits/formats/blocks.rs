//! Content blocks as vendors write them in JSON: read by [`vendor`](crate::content::vendor), written here as Anthropic's.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::commits::transcript::{ConversionReport, arguments_object, image_url, set};
use crate::content::signature::ReasoningSignature;
pub(super) use crate::content::vendor::{
    chat_calls, chat_thought, gemini_call, gemini_part, only_shown, read_content, read_said, responses_thought,
};
use crate::content::{Block, Media};

/// One text alone as that text, other blocks as the list that `write` makes.
pub(super) fn text_or(blocks: &[Block], write: impl FnOnce(&[Block]) -> Vec<Value>) -> Value {
    match blocks {
        [Block::Text(text)] => Value::from(&**text),
        blocks => Value::Array(write(blocks)),
    }
}

/// A signature without the block that names its vendor.
pub(super) fn bare_signature(signature: &str) -> Cow<'_, str> {
    match ReasoningSignature::read(signature) {
        Some(
            ReasoningSignature::Thinking(bare)
            | ReasoningSignature::Redacted(bare)
            | ReasoningSignature::Thought(bare)
            | ReasoningSignature::Sealed(_, bare),
        ) => bare,
        _ => Cow::Borrowed(signature),
    }
}

pub(super) fn to_anthropic(blocks: &[Block], notes: &mut ConversionReport) -> Vec<Value> {
    blocks.iter().map(|block| anthropic(block, notes)).collect()
}

fn anthropic(block: &Block, notes: &mut ConversionReport) -> Value {
    match block {
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
