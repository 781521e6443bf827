//! Anthropic Messages.

use crate::content::Role;
use crate::error::Result;
use crate::json::Object;
use crate::vendors::pieces::message::{Kind, Message, Path, Reader, TextShape, path};
use crate::vendors::pieces::parts::{
    Content, Key, call, content, is_given, is_signed_thought, result_content, text_part,
};

pub(crate) fn message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (role, overhead) = reader.role(message.need("role")?, None)?;
    content(&mut reader, vec![Key("content")], Some(message.need("content")?), &mut part)?;
    let clears = role == Role::System && message.get("clear_at")?.is_some_and(|at| at.is_string("next_user_message"));
    Ok(Message { clears, ..reader.message(role, overhead) })
}

/// Reads a block of a content.
pub(crate) fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, block: Object<'t>, kind: &str) -> Result<()> {
    match kind {
        "text" => text_part(reader, at, block, "text")?,
        "image" | "document" => {
            block.need("source")?.object("a source, an object")?;
            reader.other(at, block.value(), TextShape::TextPart);
        }
        "thinking" => {
            reader
                .piece(Kind::Reasoning, Some(at))
                .value(block.get("thinking")?)
                .signed(is_signed_thought(block.value()));
        }
        "redacted_thinking" => {
            reader.piece(Kind::Reasoning, Some(at)).sealed(block.get("data")?).signed(is_signed_thought(block.value()));
        }
        "compaction" => {
            let [content, sealed, signature] = block.fields(["content", "encrypted_content", "signature"])?;
            // Without content the compaction has failed and replaces nothing.
            let is_whole = content.or(sealed).is_some();
            reader.compaction(Some(at), block.value(), is_whole).signed(is_given(signature));
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let [id, name, input, caller] = block.fields(["id", "name", "input", "caller"])?;
            let id = id.ok_or_else(|| block.value().lacks("id"))?;
            call(reader, Some(at), id, name, input, &[Key("input")])?.caller(caller);
        }
        "tool_result" | "mcp_tool_result" => {
            let id = block.text("tool_use_id")?;
            reader.piece(Kind::Result { id }, Some(at.clone()));
            result_content(
                reader,
                path(&at, &[Key("content")]),
                block.get("content")?,
                TextShape::String,
                Content::Parts,
            )?;
        }
        kind if kind.ends_with("_tool_result") => {
            let id = block.text("tool_use_id")?;
            reader.piece(Kind::Result { id }, Some(at)).value(block.get("content")?);
        }
        _ => reader.other(at, block.value(), TextShape::TextPart),
    }
    Ok(())
}
