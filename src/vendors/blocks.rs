//! Content as vendors and tools write it in JSON: Anthropic's blocks, OpenAI's chat parts and calls, and the blocks of
//! a Loom tree.
//!
//! Their `type` names do not collide, so one reader handles them all. It is lenient: an unknown block is kept as its
//! vendor's, or reported and skipped.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::left_out::LeftOut;
use super::part::{Fields as _, Part, SignatureForm};
use super::signature::ReasoningSignature;
use super::{anthropic, generic, openai_chat};
use crate::content::{Block, Image, Media, Vendor, data_url, parse_arguments};

/// Counts unknown content.
pub(crate) trait Unknown {
    /// Counts one more of an unknown kind: damaged content, or known content in another form.
    fn unknown(&mut self, kind: &str);

    /// Counts a field or content that the result has no place for.
    fn left_out(&mut self, what: LeftOut<'_>);

    /// Counts the fields of an object that are neither empty nor among the known ones, lists of words.
    fn unknown_fields(&mut self, object: &Map<String, Value>, known: &[&str]) {
        object.each_unknown(known, &mut |name, _| self.left_out(LeftOut::Field(name)));
    }

    /// The fields of a part of a class that have no content, or that the reader of the format reads, a list of words.
    fn known_fields(&self, _class: &Part<&Value>) -> &'static str {
        "index type"
    }

    /// Counts the fields of a part that its block does not hold.
    fn unheld_fields(&mut self, part: &Map<String, Value>, class: &Part<&Value>) {
        part.each_unknown(&[self.known_fields(class)], &mut |name, _| {
            if !class.holds(name) {
                self.left_out(LeftOut::Field(name));
            }
        });
    }
}

/// The fields of a part in a session that have no content, or that the reader of the format reads, a list of words.
pub(crate) fn fields_of_sessions(class: &Part<&Value>) -> &'static str {
    match class {
        Part::Result { .. } => "index type id server thoughtSignature name",
        // An image, for which `detail` asks for a resolution.
        Part::Other => "index type id server thoughtSignature detail",
        _ => "index type id server thoughtSignature",
    }
}

/// The fields of the source of an image. `detail` asks for a resolution.
const FIELDS_OF_SOURCES: &str = "type media_type mimeType data url file_id detail";

/// The fields of an image that hold it, a list of words; `None` for a part of another type.
fn image_fields(part: &Map<String, Value>, kind: &str) -> Option<&'static str> {
    match kind {
        "image" if part.contains_key("source") => Some("source"),
        "image" => Some("data url mimeType media_type"),
        "image_url" | "input_image" => Some("image_url"),
        _ => None,
    }
}

/// Reads the content of a message, and reports if it is missing.
pub(crate) fn read_said(
    content: Option<&Value>,
    vendor: Option<Vendor>,
    notes: &mut dyn Unknown,
) -> Vec<Block<'static>> {
    if content.is_none_or(Value::is_null) {
        notes.unknown("a message without content");
    }
    read_content(content, vendor, notes)
}

/// Reads `content`: a string, one block or a list of blocks. Unknown blocks belong to `vendor`, if set.
pub(crate) fn read_content(
    content: Option<&Value>,
    vendor: Option<Vendor>,
    notes: &mut dyn Unknown,
) -> Vec<Block<'static>> {
    match content {
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![Block::text(text.clone())],
        Some(Value::Array(blocks)) => blocks.iter().filter_map(|block| read(block, vendor, notes)).collect(),
        Some(block @ Value::Object(_)) => read(block, vendor, notes).into_iter().collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(_) => {
            notes.unknown("content that is neither a text nor blocks");
            Vec::new()
        }
    }
}

/// Reads one block; an unknown kind without a vendor is reported.
fn read(block: &Value, vendor: Option<Vendor>, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    let map = match block {
        Value::String(text) => return Some(Block::text(text.clone())),
        Value::Object(map) => map,
        _ => {
            notes.unknown("a block that is not an object");
            return None;
        }
    };
    let kind = text(map, "type").unwrap_or_default();
    let class = part_of(map, kind);
    if !matches!(class, Part::Compaction { .. } | Part::Other) {
        notes.unheld_fields(map, &class);
        return classified(class, kind, notes);
    }
    if let Some(known) = image_fields(map, kind) {
        let of_class = notes.known_fields(&class);
        notes.unknown_fields(map, &[known, of_class]);
        let sources = ["source", "image_url"].into_iter().filter_map(|name| object(map, name));
        sources.for_each(|source| notes.unknown_fields(source, &[FIELDS_OF_SOURCES]));
    }
    Some(match kind {
        "image" if object(map, "source").is_some_and(|source| source.contains_key("file_id")) => {
            notes.unknown("an image in a store of files");
            let id = object(map, "source").and_then(|source| text(source, "file_id")).unwrap_or_default();
            Block::text(format!("[image: {id}]"))
        }
        "image" => Block::Image(Box::new(image_of(map).or_else(|| lacking(kind, notes))?)),
        "image_url" | "input_image" => {
            let url = text(map, "image_url").or_else(|| text(object(map, "image_url")?, "url"));
            Block::Image(Box::new(url.map(image_at).or_else(|| lacking(kind, notes))?))
        }
        "mixed" => {
            notes.unknown("a block within blocks");
            return None;
        }
        "tool_reference" => {
            Block::text(text(map, "tool_name").map(|name| format!("[tool: {name}]")).or_else(|| lacking(kind, notes))?)
        }
        "document" => {
            notes.unknown("document");
            Block::text(format!("[document: {}]", text(map, "title").unwrap_or("untitled")))
        }
        _ => return read_vendor_block(kind, map, vendor, notes),
    })
}

/// Classifies a block of any vendor's.
fn part_of<'m>(map: &'m Map<String, Value>, kind: &str) -> Part<&'m Value> {
    let Ok(part) = generic::part::read(map, kind);
    let Part::Other = part else { return part };
    let Ok(part) = anthropic::part::read(map, kind);
    let Part::Other = part else { return part };
    let Ok(part) = openai_chat::part::read(map, kind);
    part
}

/// The block of a classified part.
fn classified(class: Part<&Value>, kind: &str, notes: &mut dyn Unknown) -> Option<Block<'static>> {
    Some(match class {
        Part::Text(text) => Block::Text(string(text.value).or_else(|| lacking(kind, notes))?),
        Part::Reasoning { text, signature, form, redacted } => Block::Reasoning {
            text: string(text.value).or_else(|| if redacted { Some(Cow::default()) } else { lacking(kind, notes) })?,
            signature: string(signature).and_then(|signature: Cow<'static, str>| {
                let mark = match form {
                    SignatureForm::Any => return Some(signature),
                    SignatureForm::Thinking => ReasoningSignature::Thinking,
                    SignatureForm::Redacted => ReasoningSignature::Redacted,
                };
                (!signature.is_empty()).then(|| mark(signature).write().into())
            }),
            redacted,
        },
        Part::Call { id, name, input, server, .. } => Block::ToolCall {
            id: string(id.value).unwrap_or_default(),
            name: string(name).unwrap_or_default(),
            arguments: Box::new(Cow::Owned(match input.value {
                // A Loom tree may hold the JSON text of the arguments.
                Some(Value::String(json)) if kind == "toolCall" => parse_arguments(json),
                Some(value) => value.clone(),
                None => json!({}),
            })),
            server,
        },
        Part::Result { id, content, is_error, server, opaque } => Block::ToolResult {
            tool_call_id: string(id.value).unwrap_or_default(),
            content: match content.value {
                Some(content) if opaque && !content.is_string() => vec![Block::text(crate::json::text(content))],
                content => only_shown(read_content(content, None, notes), notes),
            },
            is_error: is_error.then_some(true),
            server,
        },
        Part::Compaction { .. } | Part::Other => return None,
    })
}

/// The types of Anthropic's blocks that no other vendor has, and that other blocks cannot contain.
const OF_ANTHROPIC: [&str; 2] = ["compaction", "fallback"];

/// Reads a block that only its vendor can read, in the vendor's form or as in a Loom tree.
fn read_vendor_block(
    kind: &str,
    block: &Map<String, Value>,
    vendor: Option<Vendor>,
    notes: &mut dyn Unknown,
) -> Option<Block<'static>> {
    if kind == "vendor"
        && let Some(&(_, vendor)) = Vendor::NAMES.iter().find(|(name, _)| text(block, "vendor") == Some(name))
        && let Some(value) = object(block, "value")
    {
        return Some(Block::vendor(vendor, value.clone()));
    }
    let vendor = OF_ANTHROPIC.contains(&kind).then_some(Vendor::Anthropic).or(vendor.filter(|_| !kind.is_empty()));
    if vendor.is_none() {
        notes.left_out(LeftOut::Type(kind));
    }
    vendor.map(|vendor| Block::vendor(vendor, block.clone()))
}

/// Reports a block without the content that its kind requires.
pub(crate) fn lacking<T>(kind: &str, notes: &mut dyn Unknown) -> Option<T> {
    notes.unknown(&format!("block {kind} without its content"));
    None
}

/// Keeps texts and images, the only content of a result.
pub(crate) fn only_shown(blocks: Vec<Block<'static>>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let shown = |block: &Block| match block {
        Block::Text(_) | Block::Image(_) => true,
        Block::Vendor(block) => {
            notes.left_out(LeftOut::Type(block.name()));
            false
        }
        _ => {
            notes.unknown("a call or reasoning within a result");
            false
        }
    };
    blocks.into_iter().filter(shown).collect()
}

fn image_of(map: &Map<String, Value>) -> Option<Image<'static>> {
    let from = object(map, "source").unwrap_or(map);
    let mime_type = text(from, "media_type").or_else(|| text(from, "mimeType")).unwrap_or("image/*").to_owned();
    Some(image(mime_type, owned(from, "data").map(Media::Data).or_else(|| owned(from, "url").map(Media::Url))?))
}

/// An image from a URL, which may be a `data:` URL.
pub(crate) fn image_at(url: &str) -> Image<'static> {
    let (mime_type, media) = match data_url(url) {
        Some((mime_type, data)) => (mime_type, Media::Data(data.to_owned().into())),
        None => ("image/*", Media::Url(url.to_owned().into())),
    };
    image(mime_type.to_owned(), media)
}

/// An image with its bytes or its URL.
pub(crate) fn image(mime_type: String, media: Media<'static>) -> Image<'static> {
    Image { mime_type: mime_type.into(), media: Some(media), ..Image::default() }
}

/// The URL of an image; a `data:` URL for data.
pub(crate) fn image_url(image: &Image<'_>) -> String {
    match &image.media {
        Some(Media::Data(data)) => format!("data:{};base64,{data}", image.mime_type),
        Some(Media::Url(url)) => url.to_string(),
        None => String::new(),
    }
}

/// A single text as a string, other blocks as the list that `write` returns.
pub(crate) fn text_or(blocks: &[Block<'_>], write: impl FnOnce(&[Block<'_>]) -> Vec<Value>) -> Value {
    match blocks {
        [Block::Text(text)] => Value::from(&**text),
        blocks => Value::Array(write(blocks)),
    }
}

pub(crate) fn text<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

pub(crate) fn owned<T: From<String>>(map: &Map<String, Value>, key: &str) -> Option<T> {
    string(map.get(key))
}

/// The text of a value.
pub(crate) fn string<T: From<String>>(value: Option<&Value>) -> Option<T> {
    value.and_then(Value::as_str).map(|text| text.to_owned().into())
}

/// The arguments of a call: JSON text, or an object.
pub(crate) fn arguments(value: Option<&Value>) -> Value {
    match value {
        Some(object @ Value::Object(_)) => object.clone(),
        other => parse_arguments(other.and_then(Value::as_str).unwrap_or_default()),
    }
}

pub(crate) fn flag(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).and_then(Value::as_bool).unwrap_or(false)
}

pub(crate) fn object<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Map<String, Value>> {
    map.get(key).and_then(Value::as_object)
}

/// The list under a key; empty if missing.
pub(crate) fn list<'m>(map: &'m Map<String, Value>, key: &str) -> &'m [Value] {
    map.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The objects of a list; other values are counted as `other`.
pub(crate) fn objects<'m>(list: &'m [Value], other: &str, notes: &mut dyn Unknown) -> Vec<&'m Map<String, Value>> {
    let objects: Vec<_> = list.iter().filter_map(Value::as_object).collect();
    (objects.len()..list.len()).for_each(|_| notes.unknown(other));
    objects
}
