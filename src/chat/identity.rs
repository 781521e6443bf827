//! Whether a value is a chat, and its possible formats.

use super::chat_input::ChatInput;
use crate::json::{Object, Value};
use crate::tokens::models;
use crate::vendors::detect::{Formats, ListField, bit, first_of, formats_next_to};
use crate::vendors::format::{FORMATS, Format};

/// The identity of a chat by its shape.
#[derive(Debug)]
pub(crate) struct ChatIdentity {
    /// The detected format.
    pub format: Format,
    /// All possible formats of its messages.
    pub formats: Vec<Format>,
    /// The field that holds the messages; empty for a list of them.
    pub field: &'static str,
    pub count: usize,
    /// The first message that determines the format.
    pub decided_by: usize,
    /// The provider whose request body it is.
    pub body: Option<&'static str>,
}

impl ChatIdentity {
    /// The identity of a list of messages or a container of them; `None` for anything else and for an empty list.
    pub(crate) fn of(value: Value<'_>) -> Option<Self> {
        let chat = ChatInput::read(value).ok()?;
        let field = chat.field().map_or("", ListField::name);
        let mut left = chat.field().map_or(Formats::MAX, ListField::formats);
        let (mut first, mut decided_by) = (None, 0);
        for (index, &message) in chat.list.iter().enumerate() {
            left &= formats_next_to(left, message, index).ok()?;
            if first.replace(first_of(left)) != Some(first_of(left)) {
                decided_by = index;
            }
        }
        first?;
        let (format, _) = chat.format(None).ok()?;
        let formats = FORMATS.iter().map(|&(_, format)| format).filter(|format| left & bit(*format) != 0).collect();
        let body = value.as_object().and_then(|object| body_of(object, field, format));
        Some(Self { format, formats, field, count: chat.list.len(), decided_by, body })
    }
}

/// The provider of a request body: by the field of the messages, their format, or the model.
fn body_of(body: Object<'_>, field: &str, format: Format) -> Option<&'static str> {
    let model = body.last("model").and_then(Value::as_text);
    let family = model.as_deref().and_then(models::family);
    match (field, format) {
        ("contents", _) => Some("gemini"),
        ("input", Format::Interactions) => Some("gemini-interactions"),
        ("input", _) => Some("openai-responses"),
        (_, Format::Anthropic) => Some("anthropic"),
        _ if body.last("anthropic_version").is_some() || family == Some("claude") => Some("anthropic"),
        (_, Format::OpenAi) => Some("openai"),
        (_, Format::Generic) if model.is_some() => Some("openai"),
        _ => None,
    }
}
