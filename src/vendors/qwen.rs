//! Messages of Qwen Code: Gemini's contents.

use serde_json::{Map, Value};

use crate::content::{Block, Role};
use crate::vendors::blocks::{Unknown, list, owned, text};
use crate::vendors::gemini::blocks::{
    call_of, failed, gemini_call, push_part, push_signature, response_of, result_content, tool_result,
};
use crate::vendors::gemini::part::FIELDS;

/// The author and the blocks of a content.
pub(crate) fn read_content(content: &Map<String, Value>, notes: &mut dyn Unknown) -> (Role, Vec<Block<'static>>) {
    let role = if text(content, "role") == Some("model") { Role::Assistant } else { Role::User };
    notes.unknown_fields(content, &["role parts"]);
    let mut blocks = Vec::new();
    for part in list(content, "parts") {
        let Some(fields) = part.as_object() else {
            notes.unknown("a part that is not an object");
            continue;
        };
        if let Some(call) = call_of(fields) {
            notes.unknown_fields(fields, &[FIELDS]);
            notes.unknown_fields(call, &[FIELDS]);
            push_signature(fields, &mut blocks);
            blocks.push(gemini_call(owned(call, "id").unwrap_or_default(), call));
        } else if let Some(response) = response_of(fields) {
            notes.unknown_fields(fields, &[FIELDS]);
            let id = owned(response, "id").unwrap_or_default();
            blocks.push(tool_result(id, result_content(part, notes), failed(response)));
        } else {
            push_part(fields, &mut blocks, notes);
        }
    }
    if blocks.is_empty() {
        notes.unknown("a message without content");
    }
    (role, blocks)
}
