//! Joins JSONL by appending bytes (docs/session-formats.md).
//!
//! A newline is inserted only between a delta that ends without one and the next. A delta that does not end with a
//! whole record was truncated while it was written.

use crate::error::{Diagnostic, DiagnosticCode, Severity};

pub(super) fn push(out: &mut Vec<u8>, blob: &[u8], find: &mut impl FnMut(Diagnostic)) {
    if needs_newline(out.last().copied(), blob) {
        out.push(b'\n');
    }
    out.extend_from_slice(blob);
    torn(blob).into_iter().for_each(find);
}

/// Whether a newline is needed between bytes that end with `last` and a delta.
pub(crate) fn needs_newline(last: Option<u8>, blob: &[u8]) -> bool {
    let starts_with_newline = blob.starts_with(b"\n") || blob.starts_with(b"\r\n");
    !blob.is_empty() && last.is_some_and(|last| last != b'\n') && !starts_with_newline
}

/// Reports a delta whose last line is truncated.
pub(crate) fn torn(blob: &[u8]) -> Option<Diagnostic> {
    blob.trim_ascii_end().last().filter(|&&last| last != b'}')?;
    let message = "the delta does not end with a whole record; its last line was kept unchanged";
    Some(Diagnostic::new(DiagnosticCode::TornLine, Severity::Warning, message))
}
