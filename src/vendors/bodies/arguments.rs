//! The arguments of a tool call, as a JSON object and as JSON text.

use std::borrow::Cow;

use serde_json::Value;

use super::sink::DiagnosticSink;
use crate::error::DiagnosticCode;
use crate::json::{self, Document, Kind};

/// The arguments of a call of `tool` as the JSON text of an object. Anything else is wrapped in one and reported.
///
/// A string is the JSON text of the arguments; if that is an object it is used unchanged, with its numbers and white
/// space. Missing arguments are an empty object.
pub(crate) fn object<'a>(
    arguments: &'a Value,
    tool: &str,
    message: Option<usize>,
    sink: &mut DiagnosticSink<'_>,
) -> Cow<'a, str> {
    let no_object = match arguments {
        Value::Object(_) => return Cow::Owned(json::text(arguments)),
        Value::Null => return Cow::Borrowed("{}"),
        Value::String(text) if text.trim().is_empty() => return Cow::Borrowed("{}"),
        Value::String(text) => match kind_of(text) {
            Some(Kind::Object) => return Cow::Borrowed(text.trim()),
            Some(Kind::Null) => return Cow::Borrowed("{}"),
            Some(_) => Cow::Borrowed(text.trim()),
            None => Cow::Owned(json::text(arguments)),
        },
        _ => Cow::Owned(json::text(arguments)),
    };
    report_wrapped(sink, tool, message);
    Cow::Owned(format!("{{\"arguments\":{no_object}}}"))
}

/// The JSON kind of a text; `None` if a provider would not accept it as JSON.
fn kind_of(text: &str) -> Option<Kind> {
    let document = Document::read(text.as_bytes(), &[]).ok()?;
    document.diagnostics().is_empty().then(|| document.root().kind())
}

/// The arguments as JSON text, for providers that require a string.
pub(crate) fn text(arguments: &Value) -> Cow<'_, str> {
    match arguments {
        Value::String(text) if text.trim().is_empty() => Cow::Borrowed("{}"),
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed("{}"),
        _ => Cow::Owned(json::text(arguments)),
    }
}

/// Reports that the arguments of a call were wrapped.
fn report_wrapped(sink: &mut DiagnosticSink<'_>, tool: &str, message: Option<usize>) {
    let text = format!(
        "the arguments of a call of `{tool}` are not a JSON object; they were wrapped in one, under `arguments`"
    );
    sink.warn(DiagnosticCode::BodyArgumentsWrapped, message, text);
}
