//! Our own messages: a role, and a content of text or blocks (SPEC §1).

use super::{Key, call, content, result_content, source_of, text_part};
use crate::chat::message::{Kind, Message, Path, Reader, TextShape, path};
use crate::error::Result;
use crate::json::Object;

pub(super) fn message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (role, overhead) = reader.role(message.need("role")?, message.get("name")?)?;
    content(&mut reader, vec![Key("content")], Some(message.need("content")?), &mut part)?;
    Ok(reader.message(role, overhead))
}

fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, block: Object<'t>, kind: &str) -> Result<()> {
    match kind {
        "text" => text_part(reader, at, block, "text")?,
        "image" => reader.image(at, TextShape::TextPart, source_of(block)),
        "audio" => reader.file(at, block.get("data")?),
        "toolCall" => {
            let [id, name, arguments] = block.fields(["id", "name", "arguments"])?;
            call(reader, Some(at), id.ok_or_else(|| block.value().lacks("id"))?, name, arguments)?;
        }
        "toolResult" => {
            let id = block.text("toolCallId")?;
            reader.piece(Kind::Result { id }, Some(at.clone()));
            result_content(reader, path(&at, &[Key("content")]), block.get("content")?, TextShape::String)?;
        }
        "reasoning" => {
            reader.piece(Kind::Reasoning, Some(at)).value(block.get("text")?);
        }
        _ => reader.other(at, block.value()),
    }
    Ok(())
}
