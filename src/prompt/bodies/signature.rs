//! Signatures of reasoning: opaque, or the JSON text of the block that the provider gave.

use serde_json::Value;

use crate::json::Document;

/// The provider's block, if a signature is the JSON text of an object with a `type`.
pub(super) fn vendor_block(signature: &str) -> Option<Value> {
    let text = signature.trim_start();
    if !text.starts_with('{') {
        return None;
    }
    let document = Document::read(text.as_bytes(), &[]).ok()?;
    let block = document.root().to_json().ok()?;
    block.get("type").is_some_and(Value::is_string).then_some(block)
}

/// A string of such a block.
pub(super) fn string_of<'b>(block: &'b Value, kind: &str, field: &str) -> Option<&'b str> {
    let is = block.get("type").and_then(Value::as_str) == Some(kind);
    block.get(field).and_then(Value::as_str).filter(|_| is)
}

/// Whether a signature is opaque, or a block of this kind with this field.
pub(super) fn is_opaque_or(signature: Option<&str>, kind: &str, field: &str) -> bool {
    signature.is_some_and(|signature| match vendor_block(signature) {
        Some(block) => string_of(&block, kind, field).is_some(),
        None => !signature.is_empty(),
    })
}
