//! Reading messages of each format into pieces. Unknown content is left unchanged and costs its JSON.

use super::format::Format;
use super::pieces::message::{Kind, Message, Reader, TextShape};
use super::price::Prices;
use super::{ai_sdk, anthropic, gemini, gemini_interactions, generic, langchain, openai_chat, openai_responses};
use crate::error::Result;
use crate::json::{Value, object};

/// Reads the messages of a chat.
///
/// # Errors
/// [`crate::Code::InvalidInput`] and [`crate::Code::UnknownValue`] for a value that is not a message of the format.
pub(crate) fn read<'t>(format: Format, messages: &[Value<'t>], prices: Prices<'_>) -> Result<Vec<Message<'t>>> {
    read_after(&[], format, messages, prices)
}

/// Reads messages that follow others.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_after<'t>(
    before: &[Message<'_>],
    format: Format,
    messages: &[Value<'t>],
    prices: Prices<'_>,
) -> Result<Vec<Message<'t>>> {
    let mut gemini = gemini::pieces::Contents::default();
    if format == Format::Gemini {
        gemini = gemini::pieces::Contents::after(before);
    }
    let mut read = |message: &Value<'t>| {
        let object = message.object("a chat message, an object")?;
        let reader = Reader::new(prices);
        match format {
            Format::OpenAi => openai_chat::pieces::message(object, reader),
            Format::Responses | Format::Agents => openai_responses::pieces::item(object, reader),
            Format::Anthropic => anthropic::pieces::message(object, reader),
            Format::Gemini => gemini.message(object, reader),
            Format::Interactions => gemini_interactions::pieces::step(object, reader),
            Format::AiSdk => ai_sdk::pieces::model_message(object, reader),
            Format::AiSdkUi => ai_sdk::pieces::ui_message(object, reader),
            Format::LangChain => langchain::pieces::message(object, reader),
            Format::Generic => generic::pieces::message(object, reader),
        }
    };
    let messages = messages.iter().enumerate();
    messages.map(|(index, message)| read(message).map_err(|error| error.with("index", before.len() + index))).collect()
}

/// A user message with this text, in a format.
pub(crate) fn user_message(format: Format, text: &str) -> serde_json::Value {
    match format {
        Format::Gemini => object([("role", "user".into()), ("parts", vec![TextShape::GeminiPart.write(text)].into())]),
        Format::Interactions => {
            let content = vec![TextShape::TextPart.write(text)];
            object([("type", "user_input".into()), ("content", content.into())])
        }
        Format::AiSdkUi => {
            let parts = vec![TextShape::TextPart.write(text)];
            object([("id", "ctxweave".into()), ("role", "user".into()), ("parts", parts.into())])
        }
        _ => object([("role", "user".into()), ("content", text.into())]),
    }
}

/// The text of a message that consists of one text.
pub(crate) fn text_of<'m>(message: &'m Message<'_>) -> Option<&'m str> {
    match message.pieces.as_slice() {
        [piece] if piece.kind == Kind::Text => match piece.texts.as_slice() {
            [text] => Some(&text.text),
            _ => None,
        },
        _ => None,
    }
}
