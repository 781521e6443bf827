//! Errors for what does not have the shape that it should.

use crate::error::{Code, Error};
use crate::limits::{self, JSON_DEPTH_MAX};

/// Turns what the decoder says into an error for the person who wrote the request.
#[cold]
pub(crate) fn shape_error(path: &str, message: &str) -> Error {
    if message.starts_with(TOO_DEEP) || message.starts_with("recursion limit exceeded") {
        return limits::exceeded("jsonDepth", JSON_DEPTH_MAX as usize + 1, JSON_DEPTH_MAX);
    }
    let place = if path.is_empty() { "the request".to_owned() } else { format!("`{path}`") };
    let said = match (message.strip_prefix("missing field `"), message.rsplit_once(", expected ")) {
        (Some(field), _) => {
            let field = field.split('`').next().unwrap_or_default();
            format!("{place} lacks `{field}`")
        }
        (None, Some((_, expected))) => {
            let expected = expected.split(" at line ").next().unwrap_or(expected);
            let expected = match expected {
                "f64" => "a number",
                "u32" => "a whole number",
                other => other,
            };
            format!("{place} must be {expected}")
        }
        (None, None) => format!("{place} cannot be read: {}", message.trim_end_matches('.')),
    };
    let error = Error::new(Code::InvalidInput, said);
    if path.is_empty() { error } else { error.with("path", path) }
}

/// The path that goes through an object: `key.rest`.
pub(crate) fn under_key(key: &str, rest: &str) -> String {
    let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
    format!("{key}{dot}{rest}")
}

/// The path that goes through a list: `[index].rest`.
pub(crate) fn under_index(index: usize, rest: &str) -> String {
    under_key(&format!("[{index}]"), rest)
}

/// How the decoder's error for nesting that goes too deep begins.
pub(crate) const TOO_DEEP: &str = "json is too deep";
