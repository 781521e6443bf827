//! Anthropic Messages.

use crate::content::Role;
use crate::error::Result;
use crate::json::Object;
use crate::vendors::anthropic::part::read;
use crate::vendors::anthropic::refused::add_cache_marks;
use crate::vendors::pieces::message::{Message, Path, Reader, TextShape};
use crate::vendors::pieces::parts::{Key, content, part_piece};

pub(crate) fn message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (role, overhead) = reader.role(message.need("role")?, None)?;
    content(&mut reader, vec![Key("content")], Some(message.need("content")?), &mut part)?;
    let clears = role == Role::System && message.get("clear_at")?.is_some_and(|at| at.is_string("next_user_message"));
    Ok(Message { clears, ..reader.message(role, overhead) })
}

/// Reads a block of a content.
fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, block: Object<'t>, kind: &str) -> Result<()> {
    if matches!(kind, "image" | "document") {
        block.need("source")?.object("a source, an object")?;
    }
    part_piece(reader, at.clone(), block, read(block, kind)?, TextShape::TextPart)?;
    reader.pieces.last_mut().into_iter().for_each(|piece| add_cache_marks(block.value(), &at, &mut piece.cache_marks));
    Ok(())
}
