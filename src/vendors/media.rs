//! Images, recordings and files in messages, in the forms of all vendors: which parts hold one, and the place of their
//! data.

use std::borrow::Cow;

use crate::json::{BYTES_SIZE, Kind, Object, Value};
use crate::text::split_once;

/// A part that is not a text of the message itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Medium<'t> {
    /// An image, with its data or URL.
    Image(Option<Value<'t>>),
    /// A recording or a file, with its data or URL, and whether the data are a text.
    File(Option<Value<'t>>, bool),
    /// A file that is a text.
    Text(Value<'t>),
    /// A file that is a list of parts.
    Parts(Value<'t>),
}

/// The types of parts that are an image, a recording or a file.
pub(crate) const MEDIA: [&str; 24] = [
    "image",
    "image_url",
    "input_image",
    "image-data",
    "image-url",
    "image-file-id",
    "image-file-reference",
    "computer_screenshot",
    "media",
    "file",
    "input_file",
    "file-data",
    "file-url",
    "file-id",
    "file-reference",
    "document",
    "audio",
    "input_audio",
    "audio_url",
    "video",
    "video_url",
    "reasoning-file",
    "text-plain",
    "resource",
];

/// The fields that lead to data, or hold them.
const PLACES: [&str; 24] = [
    "image_url",
    "source",
    "image",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "input_audio",
    "audio",
    "audio_url",
    "video",
    "video_url",
    "file",
    "resource",
    "data",
    "blob",
    "bytes",
    "url",
    "fileUri",
    "file_uri",
    "file_url",
    "base64",
    "output",
    "uri",
];

/// The fields that hold a media type.
const TYPES: [&str; 4] = ["mediaType", "mimeType", "mime_type", "media_type"];

/// Whether a field of a part with an image, a recording or a file is read.
pub(crate) fn is_field(name: &str) -> bool {
    name == "format" || TYPES.contains(&name) || PLACES.contains(&name)
}

/// Fewer characters of base64 without a media type do not count as data.
const MIN_BASE64: usize = 100;

/// The kind of a part by its type, or by the fields that Gemini uses instead.
pub(crate) fn medium_of(part: Object<'_>) -> Option<Medium<'_>> {
    let [kind, name, inline, snake, file, snake_file] =
        part.fields(["type", "name", "inlineData", "inline_data", "fileData", "file_data"]).ok()?;
    if [kind, name].into_iter().flatten().any(|name| name.is_string("image_generation_call")) {
        let bytes = ["result", "output"].iter().find_map(|name| part.last(name));
        return bytes.filter(|&bytes| is_bytes(bytes, MIN_BASE64)).map(|bytes| Medium::Image(Some(bytes)));
    }
    let kind = kind.and_then(Value::as_text).unwrap_or_default();
    let mut inline = [inline, snake, file, snake_file].into_iter().flatten();
    if !MEDIA.contains(&&*kind) && !inline.any(|value| value.kind() == Kind::Object) {
        return None;
    }
    if let Some(text) = text_of(part, &kind) {
        return Some(text);
    }
    let found = find(part.value(), None);
    let source = found.as_ref().map(|(_, source)| *source);
    Some(match found.and_then(|(mime, _)| mime) {
        Some(mime) if mime.starts_with("image") => Medium::Image(source),
        Some(mime) => Medium::File(source, mime.starts_with("text") || mime == "application/json"),
        None if ["image", "screenshot"].iter().any(|name| split_once(&kind, name).is_some()) => Medium::Image(source),
        None => Medium::File(source, false),
    })
}

/// Like [`medium_of`], for arbitrary JSON: a part only counts if its data are present.
pub(crate) fn medium_with_bytes(part: Object<'_>) -> Option<Medium<'_>> {
    let medium = medium_of(part)?;
    let (Medium::Image(Some(source)) | Medium::File(Some(source), _)) = medium else { return None };
    let mime = find(part.value(), None).and_then(|(mime, _)| mime);
    is_bytes(source, if mime.is_some() { 1 } else { MIN_BASE64 }).then_some(medium)
}

/// Visits each medium with data in arbitrary JSON, in order, with the data.
pub(crate) fn media_in<'t>(value: Value<'t>, each: &mut dyn FnMut(Medium<'t>, Value<'t>)) {
    match value.kind() {
        Kind::String => {
            if let (Some(mime), true) = (find(value, None).and_then(|(mime, _)| mime), is_bytes_address(value)) {
                let is_image = mime.starts_with("image");
                each(if is_image { Medium::Image(Some(value)) } else { Medium::File(Some(value), false) }, value);
            }
        }
        Kind::List => value.list("a list").into_iter().flatten().for_each(|item| media_in(item, each)),
        Kind::Object => {
            let Some(object) = value.as_object() else { return };
            if object.last(BYTES_SIZE).is_some() {
                return each(Medium::File(Some(value), false), value);
            }
            match medium_with_bytes(object) {
                Some(medium @ (Medium::Image(Some(source)) | Medium::File(Some(source), _))) => each(medium, source),
                _ => object.entries().for_each(|(_, value)| media_in(value, each)),
            }
        }
        _ => {}
    }
}

/// The parts of a result of an MCP tool: `{ content }`, each part with one of the MCP types.
pub(crate) fn mcp_parts(result: Object<'_>) -> Option<Value<'_>> {
    const PARTS: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];
    let content = result.last("content").filter(|content| content.kind() == Kind::List)?;
    let is_part = |part: Value<'_>| {
        part.object("a part").is_ok_and(|part| text_in(part, "type").is_some_and(|kind| PARTS.contains(&&*kind)))
    };
    let mut parts = content.as_list()?;
    (parts.len() > 0 && parts.all(is_part)).then_some(content)
}

/// The text or the parts of a file that has these instead of data.
fn text_of<'t>(part: Object<'t>, kind: &str) -> Option<Medium<'t>> {
    let inner = |name| part.last(name)?.plain_object();
    if let Some(source) = inner("source") {
        if text_in(source, "type").is_some_and(|kind| kind == "text") {
            return source.last("data").map(Medium::Text);
        }
        if let Some(parts) = source.last("content") {
            return Some(Medium::Parts(parts));
        }
    }
    let tagged = || ["data", "resource"].iter().find_map(|name| inner(name)?.last("text"));
    let text = tagged().or_else(|| part.last("text").filter(|_| matches!(kind, "file" | "text-plain")));
    text.filter(|text| text.is_text()).map(Medium::Text)
}

/// The media type, if stated, and the data (base64, a `data:` URL or bytes outside the module) or the URL.
pub(crate) fn find<'t>(value: Value<'t>, mime: Option<Cow<'t, str>>) -> Option<(Option<Cow<'t, str>>, Value<'t>)> {
    if let Some(source) = value.as_text() {
        let named = source.strip_prefix("data:").and_then(|rest| rest.split([';', ',']).next());
        let named = named.filter(|named| !named.is_empty()).map(|named| Cow::Owned(named.to_owned()));
        return Some((named.or(mime), value));
    }
    let object = value.as_object()?;
    if object.last(BYTES_SIZE).is_some() {
        return Some((mime, value));
    }
    let format = || text_in(object, "format").map(|format| Cow::Owned(["audio/", &format].concat()));
    let given = TYPES.iter().find_map(|name| text_in(object, name));
    let mime = given.or_else(format).or(mime);
    PLACES.iter().find_map(|name| find(object.last(name)?, mime.clone()))
}

/// Whether a value is data, not a URL or a name: a `data:` URL, base64 with at least `least` characters, or bytes
/// outside the module.
pub(crate) fn is_bytes(value: Value<'_>, least: usize) -> bool {
    let Some(text) = value.as_text() else {
        return value.as_object().is_some_and(|object| object.last(BYTES_SIZE).is_some());
    };
    is_data_url(&text) || (text.len() >= least && text.bytes().take(1024).all(is_base64))
}

/// Whether a value is a `data:` URL with base64.
fn is_bytes_address(value: Value<'_>) -> bool {
    value.as_text().is_some_and(|text| is_data_url(&text))
}

fn is_data_url(text: &str) -> bool {
    /// Maximal bytes of a media type with its parameters.
    const MAX_TYPE_BYTES: usize = 256;
    let head = text.as_bytes().get(..text.len().min(MAX_TYPE_BYTES)).unwrap_or_default();
    head.starts_with(b"data:") && head.windows(8).any(|part| part == b";base64,")
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\r' | b'\n')
}

/// The text of a field.
fn text_in<'t>(object: Object<'t>, name: &str) -> Option<Cow<'t, str>> {
    object.last(name)?.as_text()
}
