//! Walks over CBOR items within limits (RFC 8949): declared lengths, depth, indefinite lengths.

use minicbor::Decoder;
use minicbor::data::Type;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// The error, and its byte offset.
    Malformed(&'static str, usize),
    TooDeep,
}

#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    /// Remaining items, or `None` up to a break.
    left: Option<u64>,
    /// Whether a break would leave a key without its value.
    awaits_value: bool,
    map: bool,
}

/// Skips one item, without recursion. Declared lengths are checked against the available bytes.
pub(super) fn skip(decoder: &mut Decoder<'_>, max_depth: u32) -> Result<(), Damage> {
    let mut open: Vec<OpenContainer> = Vec::new();
    loop {
        let at = decoder.position();
        let remaining = decoder.input().len().saturating_sub(at);
        let entered = match decoder.datatype().map_err(|_| Damage::Malformed("it stops in the middle", at))? {
            Type::Break => {
                match open.last() {
                    Some(OpenContainer { left: None, awaits_value: false, .. }) => {}
                    _ => return Err(Damage::Malformed("a break is at an invalid place", at)),
                }
                decoder.set_position(at.saturating_add(1));
                open.pop();
                None
            }
            kind @ (Type::Array | Type::ArrayIndef | Type::Map | Type::MapIndef) => {
                let map = matches!(kind, Type::Map | Type::MapIndef);
                let declared = if map { decoder.map() } else { decoder.array() };
                let declared = declared.map_err(|_| Damage::Malformed("a length stops in the middle", at))?;
                let left = declared.map(|count| if map { count.saturating_mul(2) } else { count });
                if left.is_some_and(|left| left > remaining as u64) {
                    return Err(Damage::Malformed("it declares more items than there are bytes", at));
                }
                Some(OpenContainer { left, awaits_value: false, map })
            }
            Type::Tag => {
                decoder.tag().map_err(|_| Damage::Malformed("a tag stops in the middle", at))?;
                Some(OpenContainer { left: Some(1), awaits_value: false, map: false })
            }
            scalar => {
                skip_scalar(decoder, scalar)?;
                None
            }
        };
        if let Some(entered) = entered {
            open.push(entered);
            if open.len() > max_depth as usize {
                return Err(Damage::TooDeep);
            }
            if entered.left != Some(0) {
                continue;
            }
            open.pop();
        }
        // An item has ended, and possibly its containers.
        loop {
            let Some(around) = open.last_mut() else { return Ok(()) };
            around.awaits_value = around.map && !around.awaits_value;
            match &mut around.left {
                None => break,
                Some(left) => {
                    *left = left.saturating_sub(1);
                    if *left > 0 {
                        break;
                    }
                    open.pop();
                }
            }
        }
    }
}

fn skip_scalar(decoder: &mut Decoder<'_>, kind: Type) -> Result<(), Damage> {
    let at = decoder.position();
    let malformed = |what| move |_| Damage::Malformed(what, at);
    match kind {
        Type::Bytes => drop(decoder.bytes().map_err(malformed("a byte string stops in the middle"))?),
        Type::String => drop(decoder.str().map_err(malformed("a text is truncated or not UTF-8"))?),
        Type::BytesIndef => {
            for chunk in decoder.bytes_iter().map_err(malformed("a byte string cannot be read"))? {
                chunk.map_err(malformed("a byte string in chunks is damaged"))?;
            }
        }
        Type::StringIndef => {
            for chunk in decoder.str_iter().map_err(malformed("a text cannot be read"))? {
                chunk.map_err(malformed("a text in chunks is damaged"))?;
            }
        }
        Type::Bool | Type::Null | Type::Undefined => fixed(decoder, 1)?,
        Type::F16 => fixed(decoder, 3)?,
        Type::F32 => fixed(decoder, 5)?,
        Type::F64 => fixed(decoder, 9)?,
        Type::Simple => drop(decoder.simple().map_err(malformed("a simple value cannot be read"))?),
        Type::Unknown(_) | Type::Break | Type::Tag | Type::Array | Type::ArrayIndef | Type::Map | Type::MapIndef => {
            return Err(Damage::Malformed("a byte does not begin an item", at));
        }
        _ => drop(decoder.int().map_err(malformed("a number stops in the middle"))?),
    }
    Ok(())
}

/// Skips an item of `length` bytes, including its first byte.
fn fixed(decoder: &mut Decoder<'_>, length: usize) -> Result<(), Damage> {
    let at = decoder.position();
    let end = at.saturating_add(length);
    if end > decoder.input().len() {
        return Err(Damage::Malformed("a number stops in the middle", at));
    }
    decoder.set_position(end);
    Ok(())
}

/// A CBOR item without its tags.
#[derive(Debug, PartialEq)]
pub(super) enum Item<'a> {
    /// Null, undefined, simple values: not used by messages.
    Other,
    Bool(bool),
    /// An integer or a float.
    Number(f64),
    Text(String),
    Bytes(std::borrow::Cow<'a, [u8]>),
    Array(Vec<Item<'a>>),
    /// A map, in the order it came in.
    Map(Vec<(Item<'a>, Item<'a>)>),
}

impl<'a> Item<'a> {
    /// Reads an item that [`skip`] has checked for depth and lengths.
    pub(super) fn read(decoder: &mut Decoder<'a>) -> Result<Self, minicbor::decode::Error> {
        Ok(match decoder.datatype()? {
            Type::Bool => Self::Bool(decoder.bool()?),
            Type::F32 => Self::Number(decoder.f32()?.into()),
            Type::F64 => Self::Number(decoder.f64()?),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => {
                Self::Number(i128::from(decoder.int()?) as f64)
            }
            Type::String | Type::StringIndef => {
                let mut text = String::new();
                for chunk in decoder.str_iter()? {
                    text.push_str(chunk?);
                }
                Self::Text(text)
            }
            Type::Bytes => Self::Bytes(std::borrow::Cow::Borrowed(decoder.bytes()?)),
            Type::BytesIndef => {
                let mut bytes = Vec::new();
                for chunk in decoder.bytes_iter()? {
                    bytes.extend_from_slice(chunk?);
                }
                Self::Bytes(std::borrow::Cow::Owned(bytes))
            }
            Type::Array | Type::ArrayIndef => {
                let left = decoder.array()?;
                let mut items = Vec::new();
                while has_more_items(decoder, left, items.len())? {
                    items.push(Self::read(decoder)?);
                }
                Self::Array(items)
            }
            Type::Map | Type::MapIndef => {
                let left = decoder.map()?;
                let mut entries = Vec::new();
                while has_more_items(decoder, left, entries.len())? {
                    let key = Self::read(decoder)?;
                    entries.push((key, Self::read(decoder)?));
                }
                Self::Map(entries)
            }
            Type::Tag => {
                decoder.tag()?;
                Self::read(decoder)?
            }
            _ => {
                decoder.skip()?;
                Self::Other
            }
        })
    }

    /// The value of a key of a map; the first if there are several.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| matches!(name, Self::Text(name) if name == key)).map(|(_, value)| value)
    }

    /// The text, or the bytes if they are UTF-8.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// Whether an array or a map has more items; skips the break at the end of an indefinite-length one.
fn has_more_items(
    decoder: &mut Decoder<'_>,
    declared: Option<u64>,
    read: usize,
) -> Result<bool, minicbor::decode::Error> {
    if let Some(count) = declared {
        return Ok((read as u64) < count);
    }
    if decoder.datatype()? != Type::Break {
        return Ok(true);
    }
    decoder.set_position(decoder.position().saturating_add(1));
    Ok(false)
}
