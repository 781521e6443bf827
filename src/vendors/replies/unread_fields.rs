//! Counts content of an answer that blocks cannot hold, and collects other findings.

use std::borrow::Cow;

use crate::content::Counted;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::blocks::Unknown;
use crate::vendors::left_out::{self, LeftOut};

/// The findings of reading an answer.
#[derive(Debug, Default)]
pub(crate) struct UnreadFields {
    /// The counts, by reply.
    counted: Counted,
    /// The current reply.
    reply: usize,
    diagnostics: Vec<(Diagnostic, Option<usize>)>,
}

impl UnreadFields {
    /// Starts the findings of this reply.
    pub(crate) fn begin(&mut self, reply: usize) {
        self.reply = reply;
    }

    /// Reports content that is kept in another form, or fields without content; the text describes it.
    pub(crate) fn aside(&mut self, what: impl Into<Cow<'static, str>>) {
        self.add(what.into(), Severity::Info);
    }

    fn add(&mut self, what: Cow<'static, str>, severity: Severity) {
        self.counted.add(DiagnosticCode::ReplyNotExpressed, what, severity, self.reply);
    }

    /// Adds a finding about a reply, or about the whole answer without one.
    pub(crate) fn find(&mut self, reply: Option<usize>, diagnostic: Diagnostic) {
        self.diagnostics.push((diagnostic, reply));
    }

    /// All findings; `name` returns the node of a reply.
    pub(crate) fn finish(self, name: &dyn Fn(usize) -> Option<String>) -> Vec<Diagnostic> {
        let mut all = Vec::new();
        for (mut found, reply) in self.diagnostics {
            found.node_id = reply.and_then(name);
            all.push(found);
        }
        for kind in self.counted.into_kinds() {
            let mut found = Diagnostic::new(kind.code, kind.severity, left_out::message(kind.code, &kind.times(), ""));
            found.node_id = name(kind.place);
            all.push(found);
        }
        all
    }
}

impl Unknown for UnreadFields {
    fn unknown(&mut self, kind: &str) {
        self.add([kind, " that a node cannot hold"].concat().into(), Severity::Warning);
    }

    fn left_out(&mut self, what: LeftOut<'_>) {
        self.counted.add(what.code(), what.name(), what.severity(), self.reply);
    }
}
