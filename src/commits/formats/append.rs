//! Joining JSONL: bytes are appended as they are (SPEC §5, `claude-code-v1`).
//!
//! Where one delta ends without a newline and the next does not start with one, a newline is put between, since two
//! records would be glued together otherwise; nothing else changes. The seams tell of torn lines: a delta that does not
//! end with a whole record was cut while it was written.

use crate::error::{Diagnostic, DiagnosticCode, Severity};

/// Appends a delta.
pub(super) fn push(out: &mut Vec<u8>, blob: &[u8], find: &mut impl FnMut(Diagnostic)) {
    if blob.is_empty() {
        return;
    }
    let starts_with_newline = blob.starts_with(b"\n") || blob.starts_with(b"\r\n");
    if out.last().is_some_and(|&last| last != b'\n') && !starts_with_newline {
        out.push(b'\n');
    }
    out.extend_from_slice(blob);
    if blob.trim_ascii_end().last().is_some_and(|&last| last != b'}') {
        let message = "the delta does not end with a whole record; its last line was kept as it is";
        find(Diagnostic::new(DiagnosticCode::TornLine, Severity::Warning, message));
    }
}
