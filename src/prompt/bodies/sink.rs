//! Diagnostics of a body.

use super::conversation::Conversation;
use crate::error::{Diagnostic, DiagnosticCode, Severity};

/// Collects what was changed on the way into a body.
#[derive(Debug)]
pub(super) struct DiagnosticSink<'d> {
    pub list: &'d mut Vec<Diagnostic>,
    /// The conversation whose messages the diagnostics speak of, where there is one.
    pub conversation: Option<Conversation<'d>>,
}

impl DiagnosticSink<'_> {
    pub(super) fn warn(&mut self, code: DiagnosticCode, message: Option<usize>, text: String) {
        self.add(code, Severity::Warning, message, text);
    }

    pub(super) fn info(&mut self, code: DiagnosticCode, message: Option<usize>, text: String) {
        self.add(code, Severity::Info, message, text);
    }

    /// A field of the target that is not in the body.
    #[cold]
    pub(super) fn unused_field(&mut self, path: String, text: String) {
        self.list.push(Diagnostic::new(DiagnosticCode::BodyFieldUnused, Severity::Warning, text).at_path(path));
    }

    #[cold]
    fn add(&mut self, code: DiagnosticCode, severity: Severity, message: Option<usize>, text: String) {
        let mut diagnostic = Diagnostic::new(code, severity, text);
        if let Some(at) = message {
            diagnostic = diagnostic.at_path(format!("messages[{at}]"));
            if let Some(only) = self.conversation.as_ref().and_then(|conversation| conversation.node(at)) {
                diagnostic = diagnostic.about_node(only);
            }
        }
        self.list.push(diagnostic);
    }
}
