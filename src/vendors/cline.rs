//! Messages of Cline and Roo Code: Anthropic's, with fields of their own.

use serde_json::{Map, Value, json};

use crate::content::{Block, Role};
use crate::vendors::blocks::{Unknown, list, object, read_said, text};
use crate::vendors::left_out::LeftOut;

/// The fields of messages. Those of Roo Code after `metrics` link summaries and truncations to the messages they replace.
const FIELDS: &str = "role content id ts model modelInfo metrics isSummary condenseId condenseParent \
     isTruncationMarker truncationId truncationParent";

/// The author and the blocks of a message; `None` for an unknown role.
pub(crate) fn read_message(
    message: &Map<String, Value>,
    notes: &mut dyn Unknown,
) -> Option<(Role, Vec<Block<'static>>)> {
    let role = match text(message, "role").unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        other => {
            notes.left_out(LeftOut::Role(other));
            return None;
        }
    };
    notes.unknown_fields(message, &[FIELDS]);
    let content = message.get("content").map(typed);
    Some((role, read_said(content.as_ref(), None, notes)))
}

/// The model of an answer.
pub(crate) fn model(message: &Map<String, Value>) -> Option<String> {
    object(message, "modelInfo").and_then(|info| text(info, "id")).or_else(|| text(message, "model")).map(str::to_owned)
}

/// A content whose results hold blocks: Cline's own results have no types, and their JSON is what the model reads.
fn typed(content: &Value) -> Value {
    let Value::Array(blocks) = content else { return content.clone() };
    Value::Array(blocks.iter().map(|block| block.as_object().and_then(typed_result).unwrap_or(block.clone())).collect())
}

/// A result with its untyped content as text; `None` for any other block.
fn typed_result(block: &Map<String, Value>) -> Option<Value> {
    let results = list(block, "content");
    let is_typed = |result: &Value| result.is_string() || result.get("type").is_some_and(Value::is_string);
    if text(block, "type") != Some("tool_result") || results.iter().all(is_typed) {
        return None;
    }
    let mut block = block.clone();
    let failed = results.iter().all(|result| result.get("success") == Some(&Value::Bool(false)));
    let content = crate::json::text(results);
    block.insert("content".to_owned(), json!([{ "type": "text", "text": content }]));
    if failed {
        block.insert("is_error".to_owned(), true.into());
    }
    Some(Value::Object(block))
}
