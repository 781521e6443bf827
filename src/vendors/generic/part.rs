//! Classifies the blocks of a content.

use crate::vendors::part::{Field, Fields, Part, SignatureForm, field};

/// The fields of messages and parts that are read, or that can be dropped without loss. All others are reported.
pub(crate) const FIELDS: &str = "type role content id name text signature data url mimeType altText width height ref arguments \
     toolCallId isError redacted format phase";

/// Classifies a block by its type.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read<F: Fields>(block: F, kind: &str) -> Result<Part<F::Value>, F::Error> {
    Ok(match kind {
        "text" => Part::Text(field(block, "text")?),
        "reasoning" => {
            let [text, signature, redacted] = block.fields(["text", "signature", "redacted"])?;
            let text = Field { name: "text", value: text };
            Part::Reasoning { text, signature, form: SignatureForm::Any, redacted: F::is_true(redacted) }
        }
        "toolCall" => {
            let [id, name, input, server] = block.fields(["id", "name", "arguments", "server"])?;
            let [id, input] = [("id", id), ("arguments", input)].map(|(name, value)| Field { name, value });
            Part::Call { id, name, input, caller: None, server: F::is_true(server) }
        }
        "toolResult" => {
            let [id, content, failed, server] = block.fields(["toolCallId", "content", "isError", "server"])?;
            let [id, content] = [("toolCallId", id), ("content", content)].map(|(name, value)| Field { name, value });
            let [is_error, server] = [failed, server].map(F::is_true);
            Part::Result { id, content, is_error, server, opaque: false }
        }
        _ => Part::Other,
    })
}

/// Whether only the blocks of this crate have this type.
pub(crate) fn is_block_type(kind: &str) -> bool {
    matches!(kind, "toolCall" | "toolResult")
}
