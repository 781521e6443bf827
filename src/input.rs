//! Files as the host passes them: text, bytes, or the reason why they cannot be read (docs/workspace.md).

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::Value;
use crate::markdown;
use crate::text::utf16_len;

/// The content of a file.
///
/// On the wire it is a string, bytes (a `Uint8Array`; in JSON a list of numbers), or `{ "unreadable": "why" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// Bytes that should be UTF-8.
    Bytes(Vec<u8>),
    /// The reason why the host could not read the file.
    Unreadable(String),
}

impl Content {
    /// The size in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Unreadable(_) => 0,
        }
    }

    /// Whether the content has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a file's content: a string, bytes, or `{ unreadable: "why" }`.
    pub(crate) fn read(value: Value<'_>) -> Result<Self> {
        if let Some(text) = value.as_text() {
            return Ok(Self::Text(text.into_owned()));
        }
        if let Some(bytes) = value.bytes() {
            return Ok(Self::Bytes(bytes.into_owned()));
        }
        let why =
            value.plain_object().filter(|object| object.len() == 1).and_then(|object| object.get("unreadable").ok()?);
        why.ok_or_else(|| value.mismatch("a string or bytes"))?.string().map(Self::Unreadable)
    }

    /// The text, or `None` with a diagnostic. `path` is the file's name in it.
    pub(crate) fn text(&self, path: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<&str> {
        let (code, message, place) = match self {
            Self::Text(text) => return Some(text),
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => return Some(text),
                Err(error) => {
                    let message = format!("`{path}` is not UTF-8 and was not used; save it as UTF-8");
                    (DiagnosticCode::InvalidUtf8, message, Some(place_after(bytes, error.valid_up_to())))
                }
            },
            Self::Unreadable(why) => {
                let message = format!("`{path}` could not be read: {why}");
                (DiagnosticCode::FileUnreadable, message, None)
            }
        };
        let (line, column) = place.unzip();
        let diagnostic = Diagnostic::new(code, Severity::Error, message).at_path(path);
        diagnostics.push(Diagnostic { line, column, ..diagnostic });
        None
    }
}

/// Line and column, from 1, of the first byte after the first `valid` bytes, which are UTF-8.
fn place_after(bytes: &[u8], valid: usize) -> (u32, u32) {
    let head = bytes.get(..valid).and_then(|head| std::str::from_utf8(head).ok()).unwrap_or_default();
    let mut lines = 0_usize;
    let mut column = 0;
    for line in markdown::lines(head) {
        lines = lines.saturating_add(1);
        column = if line.text_end() == line.end { utf16_len(line.text) } else { 0 };
    }
    let open = !head.is_empty() && !head.ends_with(['\n', '\r']);
    let line = if open { lines } else { lines.saturating_add(1) };
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (number(line), number(column).saturating_add(1))
}

#[cfg(test)]
#[path = "../tests/unit/input.rs"]
mod tests;
