//! The arguments of a tool call, as a JSON object and as JSON text.

use std::borrow::Cow;

use serde_json::Value;

use super::turns::Notes;
use crate::error::DiagnosticCode;

/// The arguments as the JSON text of an object, and whether they had to be wrapped in one.
///
/// A string is the JSON text of the arguments; where that is an object it is taken as it stands, with its numbers and
/// white space. No arguments are an empty object.
pub(super) fn object(arguments: &Value) -> (Cow<'_, str>, bool) {
    match arguments {
        Value::Object(_) => (Cow::Owned(arguments.to_string()), false),
        Value::Null => (Cow::Borrowed("{}"), false),
        Value::String(text) if text.trim().is_empty() => (Cow::Borrowed("{}"), false),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(_)) => (Cow::Borrowed(text.trim()), false),
            Ok(Value::Null) => (Cow::Borrowed("{}"), false),
            Ok(_) => (wrapped(text.trim()), true),
            Err(_) => (wrapped(&arguments.to_string()), true),
        },
        _ => (wrapped(&arguments.to_string()), true),
    }
}

fn wrapped(json: &str) -> Cow<'static, str> {
    Cow::Owned(format!("{{\"arguments\":{json}}}"))
}

/// The arguments as JSON text, for providers that have them as a string.
pub(super) fn text(arguments: &Value) -> Cow<'_, str> {
    match arguments {
        Value::String(text) if text.trim().is_empty() => Cow::Borrowed("{}"),
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed("{}"),
        _ => Cow::Owned(arguments.to_string()),
    }
}

/// Says that the arguments of a call were wrapped.
#[cold]
pub(super) fn note(notes: &mut Notes<'_>, tool: &str, message: Option<usize>) {
    let text = format!("the arguments of a call of `{tool}` are no JSON object; they stand in one, under `arguments`");
    notes.warn(DiagnosticCode::BodyArgumentsWrapped, message, text);
}
