//! The results of tools as blocks, and the media in them and in messages.

use std::borrow::Cow;

use super::{ChatNormalizer, walk};
use crate::content::{Audio, Block, Image, Media, data_url};
use crate::error::Result;
use crate::json::{Kind as JsonKind, Value};
use crate::text::split_once;
use crate::vendors::ai_sdk;
use crate::vendors::ai_sdk::fields::DENIED;
use crate::vendors::ai_sdk::part::Output;
use crate::vendors::fields::{object_in, text_in};
use crate::vendors::gemini;
use crate::vendors::left_out::LeftOut;
use crate::vendors::media::{MEDIA, find};
use crate::vendors::message::placeholder;
use crate::vendors::pieces::message::{Step, TextShape};

impl<'t> ChatNormalizer<'t> {
    pub(super) fn result(
        &mut self,
        id: Cow<'t, str>,
        message: Value<'t>,
        part: Value<'t>,
        place: Option<(&[Step], TextShape)>,
    ) -> Result<Block<'t>> {
        let (holder, body) = match place {
            Some((path, _)) => {
                let before = path.split_last().map_or(path, |(_, before)| before);
                let (holder, body) = (self.at(message, before), walk(message, path));
                (holder, body.or_else(|| ai_sdk::part::null_output(holder?.plain_object()?)))
            }
            None => {
                let [content, output, result] =
                    part.object("a result, an object")?.fields(["content", "output", "result"])?;
                (Some(part), content.or(output).or(result).or(Some(part)))
            }
        };
        let mut is_error = false;
        let mut content = Vec::new();
        if let Some(holder) = holder.and_then(|holder| holder.plain_object()) {
            let [snake, camel, status, error, parts] =
                holder.fields(["is_error", "isError", "status", "errorText", "parts"])?;
            let is_true = |value: Option<Value<'_>>| value.is_some_and(|value| value.bool().unwrap_or(false));
            is_error = is_true(snake)
                || is_true(camel)
                || error.is_some()
                || status.is_some_and(|status| status.is_string("error"));
            if let (Some(parts), Some((_, TextShape::GeminiResponse))) = (parts, place) {
                self.shown(parts, &mut content)?;
            }
        }
        let object = body.and_then(|body| body.plain_object());
        match (place.map(|(_, shape)| shape), object) {
            (Some(TextShape::GeminiResponse), Some(response)) => {
                let (text, failed) = gemini::part::response_text(response)?;
                is_error |= failed;
                content.insert(0, Block::Text(text));
            }
            (Some(TextShape::AiSdkOutput), Some(output)) => {
                let (output, failed) = ai_sdk::part::read_output(output)?;
                is_error |= failed;
                match output {
                    Output::Content(value)
                    | Output::Json(value)
                    | Output::Denied(Some(value))
                    | Output::Other(value) => self.shown(value, &mut content)?,
                    Output::Denied(None) => content.push(Block::text(DENIED)),
                }
            }
            _ => body.map_or(Ok(()), |body| self.shown(body, &mut content))?,
        }
        let is_denied = part.plain_object().is_some_and(ai_sdk::part::is_denied);
        is_error |= is_denied;
        if content.is_empty() {
            content.push(Block::text(if is_denied { DENIED } else { "" }));
        }
        Ok(Block::ToolResult { tool_call_id: id, content, is_error: is_error.then_some(true), server: false })
    }

    /// The result of a tool: a text, parts, or any JSON.
    fn shown(&mut self, body: Value<'t>, out: &mut Vec<Block<'t>>) -> Result<()> {
        if let Some(text) = body.as_text() {
            out.push(Block::Text(text));
            return Ok(());
        }
        let is_part = |value: &Value<'t>| {
            value.plain_object().map(|part| part.fields(["type", "inlineData", "inline_data", "fileData"])).is_some_and(
                |fields| fields.is_ok_and(|[kind, ..]| kind.is_some_and(Value::is_text)) || media(*value).is_some(),
            )
        };
        let parts: Vec<Value<'t>> = match body.kind() {
            JsonKind::List => body.list("a list")?.collect(),
            _ => vec![body],
        };
        if parts.is_empty() || !parts.iter().all(is_part) {
            out.push(Block::Text(body.json()));
            return Ok(());
        }
        for part in parts {
            let object = part.object("a part, an object")?;
            let [kind, text] = object.fields(["type", "text"])?;
            let kind = kind.and_then(Value::as_text).unwrap_or_default();
            if let Some(text) = text.and_then(Value::as_text).filter(|_| kind.ends_with("text")) {
                self.out.notes.fields(object);
                out.push(Block::Text(text));
            } else if media(part).is_some() || MEDIA.contains(&&*kind) {
                let is_image = ["image", "screenshot"].iter().any(|name| split_once(&kind, name).is_some());
                self.out.notes.fields(object);
                let block = self.other(part, is_image);
                out.extend(block);
            } else {
                out.push(Block::Text(part.json()));
            }
        }
        Ok(())
    }

    /// An image, a recording or a file, as far as it can be expressed; a text if it is one.
    pub(super) fn other(&mut self, part: Value<'t>, is_image: bool) -> Option<Block<'t>> {
        let object = part.plain_object()?;
        let kind = text_in(object, "type").unwrap_or_default();
        let found = media(part);
        let mime = found.as_ref().map_or("", |(mime, _)| mime).to_owned();
        if is_image || mime.starts_with("image/") {
            let (mime_type, media) = found.map_or((Cow::default(), None), |(mime, media)| (mime, Some(media)));
            let mime_type = if mime_type.starts_with("image/") { mime_type } else { Cow::Borrowed("image/*") };
            let alt_text = text_in(object, "altText");
            return Some(Block::Image(Box::new(Image { mime_type, media, alt_text, ..Image::default() })));
        }
        if let (true, Some((mime_type, media))) = (mime.starts_with("audio/"), found) {
            return Some(Block::Audio(Box::new(Audio { mime_type, media: Some(media), ..Audio::default() })));
        }
        // A document that is a text.
        let source = object_in(object, "source")
            .filter(|source| text_in(*source, "type").is_some_and(|kind| kind == "text"))
            .and_then(|source| text_in(source, "data"));
        let tagged = || text_in(object_in(object, "data")?, "text");
        let plain = || text_in(object, "text").filter(|_| kind == "text-plain");
        if let Some(text) = source.or_else(tagged).or_else(plain) {
            return Some(Block::Text(text));
        }
        let is_file = MEDIA.contains(&&*kind) || !mime.is_empty();
        if is_file {
            let inner = || text_in(object_in(object, "file")?, "filename");
            let name = text_in(object, "filename").or_else(|| text_in(object, "title")).or_else(inner);
            self.out.notes.lost(LeftOut::Described("a file, written as its name"));
            return Some(Block::Text(Cow::Owned(placeholder("file", name.as_deref()))));
        }
        self.out.notes.lost(LeftOut::Type(&kind));
        None
    }
}

/// The type of an image, a recording or a file, and the place of its data.
fn media<'t>(value: Value<'t>) -> Option<(Cow<'t, str>, Media<'t>)> {
    let (mime, source) = find(value, None)?;
    let source = source.as_text()?;
    if let Some((mime, data)) = data_url(&source) {
        return Some((Cow::Owned(mime.to_owned()), Media::Data(Cow::Owned(data.to_owned()))));
    }
    let media = if split_once(&source, "://").is_some() { Media::Url(source) } else { Media::Data(source) };
    Some((mime.unwrap_or_default(), media))
}
