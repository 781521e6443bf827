//! Classifies the parts of contents.

use crate::error::Result;
use crate::json::{Object, Value};
use crate::vendors::ai_sdk::fields::DENIED_STATE;

/// The kind of a part, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    Text,
    Reasoning,
    /// A file that reasoning refers to.
    ReasoningFile,
    /// A part of one vendor's, such as a compaction.
    Custom,
    Call,
    Result,
    /// The request or the answer of an approval.
    Approval,
    /// A call in a user interface, with its result if it has one.
    Tool,
    /// The beginning of an answer in a user interface.
    StepStart,
    /// A part that is displayed only.
    Display,
    /// An image, a file, or a part of an unknown type.
    Other,
}

impl PartKind {
    /// The kind of a part in both kinds of messages.
    fn of_any(kind: &str) -> Self {
        match kind {
            "text" => Self::Text,
            "custom" => Self::Custom,
            "reasoning" => Self::Reasoning,
            "reasoning-file" => Self::ReasoningFile,
            _ => Self::Other,
        }
    }

    /// The kind of a part of a model message.
    pub(crate) fn of_model(kind: &str) -> Self {
        match kind {
            "tool-call" => Self::Call,
            "tool-result" => Self::Result,
            "tool-approval-request" | "tool-approval-response" => Self::Approval,
            kind => Self::of_any(kind),
        }
    }

    /// The kind of a part of a message in a user interface. The type of a call has the name of its tool.
    pub(crate) fn of_ui(kind: &str) -> Self {
        match kind {
            "steering-message" => Self::Text,
            "step-start" => Self::StepStart,
            kind if kind == "dynamic-tool" || kind.starts_with("tool-") => Self::Tool,
            kind if kind.starts_with("source-") || kind.starts_with("data-") => Self::Display,
            kind => Self::of_any(kind),
        }
    }

    /// Whether only messages of the AI SDK have parts of this kind.
    pub(crate) fn is_of_ai_sdk(self) -> bool {
        !matches!(self, Self::Text | Self::Reasoning | Self::Other)
    }
}

/// The output of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output<'t> {
    /// A text, or a list of parts.
    Content(Value<'t>),
    /// JSON that the model reads as a text.
    Json(Value<'t>),
    /// Why the call was denied, if stated.
    Denied(Option<Value<'t>>),
    /// The whole output, in none of these forms.
    Other(Value<'t>),
}

/// Whether the call of a part in a user interface was denied.
pub(crate) fn is_denied(part: Object<'_>) -> bool {
    part.last("state").is_some_and(|state| state.is_string(DENIED_STATE))
}

/// The JSON `null` that the tool of a part in a user interface returned.
pub(crate) fn null_output(part: Object<'_>) -> Option<Value<'_>> {
    let is_available = || part.last("state").is_some_and(|state| state.is_string("output-available"));
    part.last("output").filter(|output| output.is_null() && is_available())
}

/// Classifies the output of a tool, and returns whether the tool failed.
///
/// # Errors
/// A field that occurs twice.
pub(crate) fn read_output(output: Object<'_>) -> Result<(Output<'_>, bool)> {
    let [kind, value, reason] = output.fields(["type", "value", "reason"])?;
    let named = kind.and_then(Value::as_text).unwrap_or_default();
    let (is_json, is_denied) = (named.ends_with("json"), named == "execution-denied");
    let output = match value {
        // The model reads JSON as text, regardless of its content.
        Some(value) if is_json && !value.is_text() => Output::Json(value),
        Some(value) => Output::Content(value),
        None if is_denied || reason.is_some() => Output::Denied(reason),
        None => match output.last("value").filter(|_| is_json) {
            Some(null) => Output::Json(null),
            None => Output::Other(output.value()),
        },
    };
    Ok((output, named.starts_with("error") || is_denied))
}
