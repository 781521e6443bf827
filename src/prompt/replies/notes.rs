//! What has no place in blocks, counted, and what else there is to say of an answer.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::Counted;
use crate::content::vendor::Unknown;
use crate::error::{Diagnostic, DiagnosticCode, Severity};

/// In the place of a reply: all of the answer.
const ANSWER: usize = usize::MAX;

/// What was found while reading an answer.
#[derive(Debug)]
pub(crate) struct Notes {
    counted: Counted,
    changed: Counted,
    /// The reply that is being read.
    reply: usize,
    found: Vec<(Diagnostic, usize)>,
}

impl Default for Notes {
    fn default() -> Self {
        Self { counted: Counted::default(), changed: Counted::default(), reply: ANSWER, found: Vec::new() }
    }
}

impl Notes {
    /// What comes is about this reply.
    pub(super) fn begin(&mut self, reply: usize) {
        self.reply = reply;
    }

    /// Something that was said and is not kept, or not as it was.
    pub(super) fn lost(&mut self, what: impl Into<Cow<'static, str>>) {
        self.counted.add(what.into(), Severity::Warning, self.reply);
    }

    /// Something that is kept in another form; the text says which.
    pub(super) fn changed(&mut self, what: impl Into<Cow<'static, str>>) {
        self.changed.add(what.into(), Severity::Info, self.reply);
    }

    /// Something beside what was said.
    pub(super) fn aside(&mut self, what: impl Into<Cow<'static, str>>) {
        self.counted.add(what.into(), Severity::Info, self.reply);
    }

    /// Notes the fields that are not among those known, a list of words, and hold something.
    pub(super) fn fields(&mut self, fields: &Map<String, Value>, known: &str) {
        for (name, value) in fields {
            let is_empty = match value {
                Value::Null | Value::Bool(false) => true,
                Value::Array(list) => list.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                Value::String(text) => text.is_empty(),
                _ => false,
            };
            if !is_empty && !known.split(' ').any(|known| known == name) {
                let shown: String = name.chars().take(40).collect();
                self.aside(format!("the field `{shown}`"));
            }
        }
    }

    /// A finding about all of the answer.
    pub(super) fn find(&mut self, diagnostic: Diagnostic) {
        self.found.push((diagnostic, ANSWER));
    }

    /// A finding about a reply.
    pub(super) fn find_in(&mut self, reply: usize, diagnostic: Diagnostic) {
        self.found.push((diagnostic, reply));
    }

    /// All of it, with the ids of the nodes that the replies become.
    pub(super) fn finish(self, ids: &[String]) -> Vec<Diagnostic> {
        let code = DiagnosticCode::ReplyNotExpressed;
        let counted = self.counted.into_kinds().map(|kind| {
            let text = format!("{}: a node has no place for it", kind.times());
            (Diagnostic::new(code, kind.severity, text), kind.place)
        });
        let changed = self.changed.into_kinds();
        let changed = changed.map(|kind| (Diagnostic::new(code, kind.severity, kind.times()), kind.place));
        let all = self.found.into_iter().chain(counted).chain(changed);
        all.map(|(found, reply)| match ids.get(reply) {
            Some(id) => found.about_node(id),
            None => found,
        })
        .collect()
    }
}

impl Unknown for Notes {
    fn unknown(&mut self, kind: &str) {
        self.lost(kind.chars().take(80).collect::<String>());
    }
}
