//! The generic format: a role, and a content of text or blocks (docs/chat-formats.md).

use std::borrow::Cow;

use crate::content::{Vendor, VendorBlock};
use crate::error::Result;
use crate::json::Object;
use crate::vendors::generic::part::read;
use crate::vendors::pieces::message::{Kind, Message, Path, Reader, TextShape};
use crate::vendors::pieces::parts::{Key, content, part_piece};

pub(crate) fn message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (role, overhead) = reader.role(message.need("role")?, message.get("name")?)?;
    content(&mut reader, vec![Key("content")], Some(message.need("content")?), &mut part)?;
    Ok(reader.message(role, overhead))
}

fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, block: Object<'t>, kind: &str) -> Result<()> {
    match kind {
        "vendor" => {
            let [vendor, value] = block.fields(["vendor", "value"])?;
            let vendor = vendor.ok_or_else(|| block.value().lacks("vendor"))?.one_of(&Vendor::NAMES)?;
            let value = value.ok_or_else(|| block.value().lacks("value"))?.to_json()?;
            let value = VendorBlock { vendor, value: Cow::Owned(value) };
            let tokens = reader.prices.vendor_block(&value);
            reader.piece(Kind::Other, Some(at)).tokens(tokens).stands_for_all(value.is_compaction());
            reader.signed(value.is_signed() && vendor == Vendor::Anthropic);
        }
        _ => part_piece(reader, at, block, read(block, kind)?, TextShape::TextPart)?,
    }
    Ok(())
}
