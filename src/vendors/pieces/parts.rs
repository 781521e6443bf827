//! Shared code of the readers of all formats: contents, texts, calls and the contents of results.

use super::message::{Kind, PER_CALL, Path, Reader, Step, TextShape, path};
use crate::error::Result;
use crate::json::{self, Object, Value};
use crate::vendors::anthropic;
use crate::vendors::fields::text_in;
use crate::vendors::media::{self, Medium};
use crate::vendors::part::{Field, Part, SignatureForm};

pub(crate) use Step::{At, Key};

/// Reads a content that is a text, or a list of parts read by `part`.
pub(crate) fn content<'r, 't>(
    reader: &mut Reader<'r, 't>,
    at: Path,
    content: Option<Value<'t>>,
    part: &mut dyn FnMut(&mut Reader<'r, 't>, Path, Object<'t>, &str) -> Result<()>,
) -> Result<()> {
    let Some(content) = content else { return Ok(()) };
    if content.is_text() {
        reader.piece(Kind::Text, None).text(at, content)?;
        return Ok(());
    }
    for (index, value) in content.list("a string or a list of parts")?.enumerate() {
        let place = path(&at, &[At(index)]);
        if value.is_text() {
            reader.piece(Kind::Text, Some(place.clone())).text(place, value)?;
            continue;
        }
        let object = value.object("a part, an object")?;
        let kind = object.need("type")?.text()?;
        part(reader, place, object, &kind)?;
    }
    Ok(())
}

/// Whether a value is a text that is not empty.
pub(crate) fn is_given(value: Option<Value<'_>>) -> bool {
    value.is_some_and(|value| value.is_text() && !value.raw().is_empty())
}

/// A field of an object within an object, if present.
pub(crate) fn inner<'t>(value: Option<Value<'t>>, field: &str) -> Option<Value<'t>> {
    value?.plain_object()?.get(field).ok()?
}

/// Whether reasoning is signed by Anthropic: `thinking` with a signature, or redacted.
pub(crate) fn is_signed_thought(block: Value<'_>) -> bool {
    let part = block.as_object().map(|block| anthropic::part::read(block, &text_in(block, "type").unwrap_or_default()));
    matches!(part, Some(Ok(Part::Reasoning { signature, .. })) if is_given(signature))
}

/// Adds the piece of a classified part. `shape` is that of a text that replaces an image.
pub(crate) fn part_piece<'t>(
    reader: &mut Reader<'_, 't>,
    at: Path,
    part: Object<'t>,
    class: Part<Value<'t>>,
    shape: TextShape,
) -> Result<()> {
    let need = |field: Field<Value<'t>>| field.value.ok_or_else(|| part.value().lacks(field.name));
    match class {
        Part::Text(text) => {
            reader.piece(Kind::Text, Some(at.clone())).text(path(&at, &[Key(text.name)]), need(text)?)?;
        }
        Part::Reasoning { text, signature, form, .. } => {
            reader.piece(Kind::Reasoning, Some(at)).value(text.value).signed(is_given(signature));
            if form == SignatureForm::Redacted {
                reader.sealed(signature);
            }
        }
        Part::Call { id, name, input, caller, .. } => {
            call(reader, Some(at), need(id)?, name, input.value, &[Key(input.name)])?.caller(caller);
        }
        Part::Result { id, content, opaque, .. } => {
            reader.piece(Kind::Result { id: need(id)?.text()? }, Some(at.clone()));
            if opaque {
                reader.value(content.value);
            } else {
                let at = path(&at, &[Key(content.name)]);
                result_content(reader, at, content.value, TextShape::String, Content::Parts)?;
            }
        }
        Part::Compaction { signature, is_whole } => {
            reader.compaction(Some(at), part.value(), is_whole).signed(is_given(signature));
        }
        Part::Other => reader.other(at, part.value(), shape),
    }
    Ok(())
}

/// Reads a text part of a message: the field holds the text.
pub(crate) fn text_part<'t>(
    reader: &mut Reader<'_, 't>,
    at: Path,
    part: Object<'t>,
    field: &'static str,
) -> Result<()> {
    let text = part.need(field)?;
    reader.piece(Kind::Text, Some(at.clone())).text(path(&at, &[Key(field)]), text)?;
    Ok(())
}

/// Reads a call with its name and arguments, which are at `input` in it.
pub(crate) fn call<'r, 'm, 't>(
    reader: &'m mut Reader<'r, 't>,
    at: Option<Path>,
    id: Value<'t>,
    name: Option<Value<'t>>,
    arguments: Option<Value<'t>>,
    input: &[Step],
) -> Result<&'m mut Reader<'r, 't>> {
    let named = name.and_then(Value::as_text).unwrap_or_default();
    let kind = Kind::Call { id: id.text()?, name: named };
    let place = path(at.as_deref().unwrap_or_default(), input);
    Ok(reader.piece(kind, at).tokens(PER_CALL).json(name).input(place, arguments))
}

/// The origin of a result's content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The vendor's parts.
    Parts,
    /// The tool's output: parts are recognized by their content.
    Any,
}

/// Reads the content of a result, a text, a part or a list of parts, into the last piece: texts may be cut, images may
/// be replaced, and the rest has a fixed cost.
pub(crate) fn result_content<'t>(
    reader: &mut Reader<'_, 't>,
    at: Path,
    content: Option<Value<'t>>,
    shape: TextShape,
    kind: Content,
) -> Result<()> {
    reader.body(at.clone(), shape);
    let Some(content) = content else { return Ok(()) };
    if content.is_text() {
        reader.text(at, content)?;
        return Ok(());
    }
    let object = content.plain_object();
    if let Some((result, parts)) = object.and_then(|result| Some((result, media::mcp_parts(result)?))) {
        for (key, value) in result.entries().filter(|(key, _)| !key.is_string("content")) {
            reader.json(Some(key)).value(Some(value));
        }
        return result_parts(reader, &path(&at, &[Key("content")]), parts, kind);
    }
    if content.kind() == json::Kind::List {
        return result_parts(reader, &at, content, kind);
    }
    result_part(reader, at, content, kind)
}

fn result_parts<'t>(reader: &mut Reader<'_, 't>, at: &[Step], parts: Value<'t>, kind: Content) -> Result<()> {
    for (index, part) in parts.list("a string or a list of parts")?.enumerate() {
        result_part(reader, path(at, &[At(index)]), part, kind)?;
    }
    Ok(())
}

/// Reads one part of the content of a result.
fn result_part<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Value<'t>, content: Content) -> Result<()> {
    let object = part.plain_object();
    let [kind, text] = object.map(|part| part.fields(["type", "text"])).transpose()?.unwrap_or_default();
    let is = |name: &&str| kind.is_some_and(|kind| kind.is_string(name));
    if let (Some(text), true) = (text, ["text", "input_text", "output_text"].iter().any(is)) {
        reader.text(path(&at, &[Key("text")]), text)?;
        return Ok(());
    }
    let medium = object.and_then(|part| match media::medium_of(part) {
        medium @ Some(Medium::Image(_)) => medium,
        _ if content == Content::Any => media::medium_with_bytes(part),
        medium => medium,
    });
    match medium {
        Some(Medium::Image(source)) => {
            let is_input = kind.and_then(Value::as_text).is_some_and(|kind| kind.starts_with("input_"));
            reader.inner_image(at, Some(if is_input { TextShape::InputText } else { TextShape::TextPart }), source);
        }
        Some(medium) => {
            reader.tokens(reader.prices.medium(medium));
        }
        None => {
            reader.value(Some(part));
        }
    }
    Ok(())
}

/// An id for a call that has only a name.
pub(crate) fn call_by_name(message: usize, name: &str, before: usize) -> String {
    format!("\0{message}\0{name}\0{before}")
}

/// The name in such an id, and the number of earlier calls of that name, if the id belongs to this message.
pub(crate) fn called_by_name(id: &str, message: usize) -> Option<(&str, usize)> {
    let rest = id.strip_prefix('\0')?.strip_prefix(&*message.to_string())?;
    let (name, before) = rest.strip_prefix('\0')?.rsplit_once('\0')?;
    Some((name, before.parse().ok()?))
}
