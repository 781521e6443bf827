//! Classifies the parts of contents, which have no type. REST also accepts snake case.

use std::borrow::Cow;

use crate::error;
use crate::json::{Object, Value};
use crate::vendors::part::Fields;

/// The fields of messages and parts that are read, or that can be dropped without loss. All others are reported.
pub(crate) const FIELDS: &str = "role parts id name text thought thoughtSignature thought_signature functionCall function_call \
     functionResponse function_response args inlineData inline_data fileData file_data mimeType mime_type \
     data uri response willContinue scheduling";

/// The data of a part, with the name of its field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Data<V> {
    Call(&'static str, V),
    Response(&'static str, V),
    Text(V),
    /// An image, a recording or a file, inline or in a store.
    Media(&'static str, V),
    /// Only the fields of reasoning, or content that only Gemini can read, such as executed code.
    Other,
}

/// A classified part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<V> {
    pub data: Data<V>,
    pub is_thought: bool,
    pub signature: Option<V>,
}

/// The fields of a call.
pub(crate) const CALL_FIELDS: &str = "id name args";

/// The fields of a result. The last two are about its delivery.
pub(crate) const RESPONSE_FIELDS: &str = "id name response parts willContinue scheduling";

impl<V> Data<V> {
    /// The fields of a part with these data.
    pub(crate) fn fields(&self) -> [&'static str; 2] {
        let name = match *self {
            Self::Call(name, _) | Self::Response(name, _) | Self::Media(name, _) => name,
            Self::Text(_) => "text",
            Self::Other => "",
        };
        ["thought thoughtSignature thought_signature", name]
    }
}

/// Classifies a part.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read<F: Fields>(part: F) -> Result<Part<F::Value>, F::Error> {
    let [text, thought, call, snake_call, response, snake_response, signature, snake_signature] = part.fields([
        "text",
        "thought",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "thoughtSignature",
        "thought_signature",
    ])?;
    let data = match (call, snake_call, response, snake_response, text) {
        (Some(call), ..) => Data::Call("functionCall", call),
        (_, Some(call), ..) => Data::Call("function_call", call),
        (_, _, Some(response), ..) => Data::Response("functionResponse", response),
        (_, _, _, Some(response), _) => Data::Response("function_response", response),
        (.., Some(text)) => Data::Text(text),
        _ => {
            const NAMES: [&str; 4] = ["inlineData", "inline_data", "fileData", "file_data"];
            let mut media = NAMES.into_iter().zip(part.fields(NAMES)?);
            media.find_map(|(name, value)| Some(Data::Media(name, value?))).unwrap_or(Data::Other)
        }
    };
    Ok(Part { data, is_thought: F::is_true(thought), signature: signature.or(snake_signature) })
}

/// The text of a function's response, its only text or its JSON, and whether the function failed.
pub(crate) fn response_text<'t>(response: Object<'t>) -> error::Result<(Cow<'t, str>, bool)> {
    let [output, result, error] = response.fields(["output", "result", "error"])?;
    let only = output.or(result).or(error).filter(|_| response.len() == 1).and_then(Value::as_text);
    Ok((only.unwrap_or_else(|| response.value().json()), error.is_some()))
}
