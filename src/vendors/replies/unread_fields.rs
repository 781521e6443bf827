//! Counts content of an answer that blocks cannot hold, and collects other findings.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::stream::is_one_of;
use crate::content::Counted;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::blocks::Unknown;

/// Maximal bytes of a name in a finding.
const LONGEST_NAME: usize = 60;

fn shown(name: &str) -> &str {
    name.get(..name.floor_char_boundary(LONGEST_NAME)).unwrap_or_default()
}

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
        let name = shown(name);
        self.add([what, " `", name, "` that a node cannot hold"].concat().into(), Severity::Warning);
    }

    /// Reports content that is kept in another form, or fields without content; the text describes it.
    pub(crate) fn aside(&mut self, what: impl Into<Cow<'static, str>>) {
        self.add(what.into(), Severity::Info);
    }

    fn add(&mut self, what: Cow<'static, str>, severity: Severity) {
        self.counted.add(what, severity, self.reply);
    }

    /// Reports non-empty fields that are not among the known ones, a list of words.
    pub(crate) fn fields(&mut self, fields: &Map<String, Value>, known: &str) {
        for (name, value) in fields {
            let is_empty = match value {
                Value::Null | Value::Bool(false) => true,
                Value::Array(list) => list.is_empty(),
                // The caller of a tool is the model, unless a program called it.
                Value::Object(fields) => fields.values().all(|value| value == "direct"),
                Value::String(text) => text.is_empty(),
                _ => false,
            };
            if !is_empty && !is_one_of(known, name) {
                let name = shown(name);
                self.aside(["the field `", name, "` that a node cannot hold"].concat());
            }
        }
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
