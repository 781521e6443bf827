//! The creation time of a node.

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::tree::Node;
use crate::time::Timestamp;

/// The creation time of a node. An unreadable time is reported and counts as absent.
pub(crate) fn created(node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<Timestamp> {
    let text = node.created_at.as_deref()?;
    let found = Timestamp::parse(text);
    if found.is_none() {
        let message = format!("`createdAt` is `{text}`, which is not an RFC 3339 date and time; it counts as absent");
        let diagnostic = Diagnostic::new(DiagnosticCode::TimestampUnreadable, Severity::Warning, message);
        diagnostics.push(diagnostic.about_node(&node.id));
    }
    found
}
