//! Classifies the blocks of a content.

use crate::vendors::part::{Field, Fields, Part, SignatureForm, field};

/// The fields of messages and parts that are read, or that can be dropped without loss. All others are reported.
pub(crate) const FIELDS: &str = "index type role content id text thinking signature data name input tool_use_id is_error source url \
     media_type title filename";

/// Classifies a block by its type.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read<F: Fields>(block: F, kind: &str) -> Result<Part<F::Value>, F::Error> {
    Ok(match kind {
        "text" => Part::Text(field(block, "text")?),
        "thinking" => {
            let [text, signature] = block.fields(["thinking", "signature"])?;
            let text = Field { name: "thinking", value: text };
            Part::Reasoning { text, signature, form: SignatureForm::Thinking, redacted: false }
        }
        "redacted_thinking" => {
            let Field { value: signature, .. } = field(block, "data")?;
            let text = Field { name: "thinking", value: None };
            Part::Reasoning { text, signature, form: SignatureForm::Redacted, redacted: true }
        }
        "compaction" => {
            let [content, sealed, signature] = block.fields(["content", "encrypted_content", "signature"])?;
            // Without content the compaction has failed and replaces nothing.
            Part::Compaction { signature, is_whole: content.or(sealed).is_some() }
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let [id, name, input, caller] = block.fields(["id", "name", "input", "caller"])?;
            let [id, input] = [("id", id), ("input", input)].map(|(name, value)| Field { name, value });
            Part::Call { id, name, input, caller, server: kind != "tool_use" }
        }
        kind if kind == "tool_result" || kind.ends_with("_tool_result") => {
            let [id, content, failed] = block.fields(["tool_use_id", "content", "is_error"])?;
            let [id, content] = [("tool_use_id", id), ("content", content)].map(|(name, value)| Field { name, value });
            // The results of Anthropic's own tools have special shapes.
            let opaque = !matches!(kind, "tool_result" | "mcp_tool_result");
            Part::Result { id, content, is_error: F::is_true(failed), server: kind != "tool_result", opaque }
        }
        _ => Part::Other,
    })
}

/// Whether blocks of this type are Anthropic's, in its chats and LangChain's.
pub(crate) fn is_block_type(kind: &str) -> bool {
    let is_of_result = kind == "tool_result" || kind.ends_with("_tool_result");
    let is_of_call = matches!(kind, "tool_use" | "server_tool_use" | "mcp_tool_use");
    let is_of_reasoning = matches!(kind, "thinking" | "redacted_thinking" | "compaction" | "fallback");
    is_of_call || is_of_result || is_of_reasoning || matches!(kind, "document" | "search_result" | "container_upload")
}
