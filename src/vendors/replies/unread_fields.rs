//! What has no place in blocks, counted, and what else there is to say of an answer.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::stream::is_one_of;
use crate::content::Counted;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::blocks::Unknown;

/// More bytes of a name are not shown.
const LONGEST_NAME: usize = 60;

fn shown(name: &str) -> &str {
    name.get(..name.floor_char_boundary(LONGEST_NAME)).unwrap_or_default()
}

/// What was found while reading an answer.
#[derive(Debug, Default)]
pub(crate) struct UnreadFields {
    /// By the replies that they are in.
    counted: Counted,
    /// The reply that is being read.
    reply: usize,
    diagnostics: Vec<(Diagnostic, Option<usize>)>,
}

impl UnreadFields {
    /// What comes is about this reply.
    pub(crate) fn begin(&mut self, reply: usize) {
        self.reply = reply;
    }

    /// Something that was said and is not kept: of a kind, with this name.
    pub(crate) fn lost(&mut self, what: &str, name: &str) {
        let name = shown(name);
        self.add([what, " `", name, "` that a node has no place for"].concat().into(), Severity::Warning);
    }

    /// Something that is kept in another form, or stands next to what was said; the text says which.
    pub(crate) fn aside(&mut self, what: impl Into<Cow<'static, str>>) {
        self.add(what.into(), Severity::Info);
    }

    fn add(&mut self, what: Cow<'static, str>, severity: Severity) {
        self.counted.add(what, severity, self.reply);
    }

    /// Notes the fields that are not among those known, a list of words, and hold something.
    pub(crate) fn fields(&mut self, fields: &Map<String, Value>, known: &str) {
        for (name, value) in fields {
            let is_empty = match value {
                Value::Null | Value::Bool(false) => true,
                Value::Array(list) => list.is_empty(),
                // What called a tool is the model, unless a program of its own did.
                Value::Object(fields) => fields.values().all(|value| value == "direct"),
                Value::String(text) => text.is_empty(),
                _ => false,
            };
            if !is_empty && !is_one_of(known, name) {
                let name = shown(name);
                self.aside(["the field `", name, "` that a node has no place for"].concat());
            }
        }
    }

    /// A finding about a reply, or without one about the whole answer.
    pub(crate) fn find(&mut self, reply: Option<usize>, diagnostic: Diagnostic) {
        self.diagnostics.push((diagnostic, reply));
    }

    /// All of it; `name` says which node a reply becomes.
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
        self.add([kind, " that a node has no place for"].concat().into(), Severity::Warning);
    }
}
