//! Counts content of an answer that blocks cannot hold, and collects other findings.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::Counted;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::blocks::{Unknown, each_unheld, image_fields, part_of};
use crate::vendors::part::{Fields, Part, shown_name, unknown_field};
use crate::vendors::replies::stream::kind;

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

    /// Reports content that is dropped: its kind and name.
    pub(crate) fn lost(&mut self, what: &str, name: &str) {
        let name = shown_name(name);
        self.add([what, " `", name, "` that a node cannot hold"].concat().into(), Severity::Warning);
    }

    /// Reports content that is kept in another form, or fields without content; the text describes it.
    pub(crate) fn aside(&mut self, what: impl Into<Cow<'static, str>>) {
        self.add(what.into(), Severity::Info);
    }

    fn add(&mut self, what: Cow<'static, str>, severity: Severity) {
        self.counted.add(what, severity, self.reply);
    }

    /// Reports non-empty fields that are not among the known ones, lists of words.
    pub(crate) fn fields(&mut self, fields: &Map<String, Value>, known: &[&str]) {
        fields.each_unknown(known, &mut |name, _| self.field(name));
    }

    /// Reports the fields of a part that its block does not hold. Other kinds of parts are kept or reported as a whole.
    pub(crate) fn part(&mut self, part: &Map<String, Value>) {
        let kind = kind(part);
        let class = part_of(part, kind);
        let of_image = match class {
            Part::Other | Part::Compaction { .. } => {
                let Some(fields) = image_fields(part, kind) else { return };
                fields
            }
            _ => "",
        };
        each_unheld(part, &class, &["index type", of_image], &mut |name, _| self.field(name));
    }

    /// Reports a field.
    pub(crate) fn field(&mut self, name: &str) {
        self.aside([&unknown_field(name), " that a node cannot hold"].concat());
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
            let mut found = Diagnostic::new(DiagnosticCode::ReplyNotExpressed, kind.severity, kind.times());
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
}
