//! The neutral transcript: the common model that all formats are read into and written from (docs/sessions.md).

use serde_json::{Map, Value};

use crate::content::{Block, Vendor, VendorBlock, times};
pub use crate::content::{Role, Turn};
pub(crate) use crate::content::{arguments_object, parse_arguments};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::SortedMap;
use crate::tokens::Counter;
use crate::vendors::blocks::{Unknown, fields_of_sessions};
pub(crate) use crate::vendors::blocks::{flag, list, object, objects, owned, text};
use crate::vendors::left_out::{self, LeftOut};
use crate::vendors::part::Part;
use crate::vendors::signature::ReasoningSignature;

/// A conversation: its turns, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The turns.
    pub turns: Vec<Turn>,
    /// The first turn before which the model saw something that the turns lack, if known. The signatures of thinking from
    /// there on are bound to it.
    pub changed_from: Option<usize>,
}

impl From<Vec<Turn>> for Transcript {
    fn from(turns: Vec<Turn>) -> Self {
        Self { turns, changed_from: None }
    }
}

/// The id of a commit, and its summary.
pub(crate) type Summary<'a> = (&'a str, &'a str);

/// The text that replaces an image or a recording.
pub(crate) fn type_placeholder(block: &Block<'_>) -> String {
    match block {
        Block::Image(image) => format!("[image: {}]", image.mime_type),
        Block::Audio(audio) => format!("[audio: {}]", audio.mime_type),
        _ => String::new(),
    }
}

impl Transcript {
    /// Marks each signature with its vendor, as in messages and trees that are passed between vendors
    /// (docs/sessions.md).
    pub(crate) fn name_vendor(&mut self, vendor: Vendor) {
        for block in self.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
            if let Block::Reasoning { signature: Some(signature), redacted, .. } = block
                && !signature.is_empty()
                && !signature.trim_start().starts_with('{')
            {
                let raw = std::mem::take(signature);
                *signature = ReasoningSignature::of_vendor(vendor, *redacted, raw).write().into();
            }
        }
    }

    /// The sum of the tokens of all texts. Images and encrypted reasoning cost nothing here.
    pub fn count(&self, counter: &dyn Counter) -> u32 {
        let mut tokens: u32 = 0;
        for block in self.turns.iter().flat_map(|turn| &turn.blocks) {
            let mut count = |text: &str| tokens = tokens.saturating_add(counter.count(text));
            block.counted_texts(&mut count);
            if let Block::Vendor(block) = block {
                block.counted_text().iter().for_each(|text| count(text));
            }
        }
        tokens
    }
}

/// The text of a result, with placeholders for its images.
pub(crate) fn result_text(content: &[Block]) -> String {
    let mut out = String::new();
    for (at, block) in content.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        match block {
            Block::Text(text) => out.push_str(text),
            other => out.push_str(&type_placeholder(other)),
        }
    }
    out
}

/// Kinds counted separately; further ones count as `others`.
const MAX_KINDS: usize = 100;

/// Characters of a name.
const MAX_NAME: usize = 60;

/// The report of reading or writing: findings, and counts of similar ones.
#[derive(Debug, Default)]
pub(crate) struct ConversionReport {
    findings: Vec<Diagnostic>,
    kinds: SortedMap<(DiagnosticCode, String), u32>,
    place: String,
}

impl ConversionReport {
    /// A report whose findings name `place`, unless it is empty.
    pub(crate) fn at(place: &str) -> Self {
        Self { place: place.to_owned(), ..Self::default() }
    }

    pub(crate) fn find(&mut self, code: DiagnosticCode, severity: Severity, message: impl Into<String>) {
        self.push(Diagnostic::new(code, severity, message));
    }

    pub(crate) fn push(&mut self, finding: Diagnostic) {
        self.findings.push(within(&self.place, finding));
    }

    pub(crate) fn extend(&mut self, findings: Vec<Diagnostic>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Counts a record of an unknown kind, or a damaged one.
    pub(crate) fn unknown(&mut self, kind: &str) {
        let kind = kind.chars().take(MAX_NAME).collect();
        self.count(DiagnosticCode::UnknownRecord, kind);
    }

    /// Reports lines that are out of order, given their number and what is wrong with them.
    pub(crate) fn out_of_order(&mut self, count: usize, what: &str) {
        if count > 0 {
            let message = format!("the lines are out of order: {count} {what}");
            self.find(DiagnosticCode::BrokenChain, Severity::Warning, message);
        }
    }

    /// Reports records that are before the ones that they follow, so that messages are not read.
    pub(crate) fn before_followed(&mut self, count: usize) {
        self.out_of_order(count, "records are before the record that they follow; messages are not read");
    }

    /// Reports that a file holds no conversation.
    pub(crate) fn no_messages(&mut self, bytes: &[u8]) {
        let what = if bytes.trim_ascii().is_empty() { "the file is empty" } else { "the file holds no conversation" };
        let message = format!("{what}, so there are no messages");
        self.find(DiagnosticCode::NoMessages, Severity::Warning, message);
    }

    /// Counts a recording, which no format can hold, and returns the text that replaces it.
    pub(crate) fn recording(&mut self, block: &Block<'_>) -> String {
        self.inexpressible("a recording, written as its description");
        type_placeholder(block)
    }

    /// Counts a block of another vendor's, and returns the text that replaces it, if any.
    pub(crate) fn replacement<'b>(&mut self, block: &'b VendorBlock<'_>) -> Option<&'b str> {
        let (text, lost) = block.replacement();
        self.left_out(lost);
        text
    }

    /// Counts content that the target format cannot hold.
    pub(crate) fn inexpressible(&mut self, what: &'static str) {
        self.left_out(LeftOut::Described(what));
    }

    fn count(&mut self, code: DiagnosticCode, kind: String) {
        let key = (code, if self.kinds.len() < MAX_KINDS { kind } else { "others".to_owned() });
        let count = self.kinds.or_default(key);
        *count = count.saturating_add(1);
    }

    /// Adds a later report.
    pub(crate) fn absorb(&mut self, later: Self) {
        self.findings.extend(later.findings);
        for (key, count) in later.kinds {
            let sum = self.kinds.or_default(key);
            *sum = sum.saturating_add(count);
        }
    }

    /// The findings in order, then the counts.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut all = self.findings;
        for ((code, kind), count) in self.kinds {
            let message = match code {
                DiagnosticCode::UnknownRecord => {
                    [&times(&format!("`{kind}`"), count), ": unknown, so not read as conversation"].concat()
                }
                _ => left_out::message(code, &times(&kind, count), ": the target format cannot hold it"),
            };
            let is_info = matches!(code, DiagnosticCode::UnknownRecord | DiagnosticCode::FieldLeftOut);
            let severity = if is_info { Severity::Info } else { Severity::Warning };
            all.push(within(&self.place, Diagnostic::new(code, severity, message)));
        }
        all
    }
}

impl Unknown for ConversionReport {
    fn unknown(&mut self, kind: &str) {
        Self::unknown(self, kind);
    }

    fn known_fields(&self, class: &Part<&Value>) -> &'static str {
        fields_of_sessions(class)
    }

    fn left_out(&mut self, what: LeftOut<'_>) {
        self.count(what.code(), what.name().into_owned());
    }
}

/// A finding with `place` before its path; an empty place changes nothing.
pub(crate) fn within(place: &str, mut finding: Diagnostic) -> Diagnostic {
    if !place.is_empty() {
        finding.path = Some(match finding.path.take() {
            Some(inner) => format!("{place}: {inner}"),
            None => place.to_owned(),
        });
    }
    finding
}

/// An id; an empty one counts as missing.
pub(crate) fn given_id(map: &Map<String, Value>, key: &str) -> Option<String> {
    owned(map, key).filter(|id: &String| !id.is_empty())
}

pub(crate) fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value.into());
    }
}
