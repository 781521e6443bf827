//! Diagnostics of a body.

use super::conversation::Conversation;
use crate::error::{Diagnostic, DiagnosticCode, Severity};

/// Collects the changes made for a body.
#[derive(Debug)]
pub(crate) struct DiagnosticSink<'d> {
    pub list: &'d mut Vec<Diagnostic>,
    pub conversation: Option<Conversation<'d>>,
}

impl DiagnosticSink<'_> {
    pub(crate) fn warn(&mut self, code: DiagnosticCode, message: Option<usize>, text: String) {
        self.add(code, Severity::Warning, message, text);
    }

    pub(crate) fn info(&mut self, code: DiagnosticCode, message: Option<usize>, text: String) {
        self.add(code, Severity::Info, message, text);
    }

    pub(crate) fn unused_field(&mut self, path: String, text: String) {
        self.list.push(Diagnostic::new(DiagnosticCode::BodyFieldUnused, Severity::Warning, text).at_path(path));
    }

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
