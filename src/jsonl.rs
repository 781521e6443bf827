//! Reading JSONL: one JSON object a line, as agents and tools append it to their files.
//!
//! Damage does not hide what is readable:
//!
//! - lines end at LF only (a CR before it is white space); U+2028 and other separators are ordinary text;
//! - the last line may lack its newline; one that also stops in the middle is *torn* (`torn_line`);
//! - a line that is no JSON object is skipped (`malformed_line`);
//! - two objects on one line, `{…}{…}`, are both read (`glued_records`);
//! - half of a surrogate pair becomes U+FFFD (`lone_surrogate_replaced`), and so do invalid bytes (`invalid_utf8`);
//! - a byte order mark at the start of a line is ignored, as are blank lines.
//!
//! Every finding has its line. After [`MAX_FINDINGS`] the rest is counted in one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Document;
use crate::limits::JSON_DEPTH_MAX;
use crate::text;

/// More findings than these are only counted.
pub(crate) const MAX_FINDINGS: usize = 100;

const BOM: &[u8] = b"\xef\xbb\xbf";

const REPLACED: usize = char::REPLACEMENT_CHARACTER.len_utf8();

pub(crate) fn not_utf8() -> Diagnostic {
    let message = "not UTF-8: what is not is read as U+FFFD";
    Diagnostic::new(DiagnosticCode::InvalidUtf8, Severity::Warning, message)
}

/// One record of a JSONL file.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    /// From 1.
    pub line: u32,
    /// Without white space around them, but for a CR at the end of the line.
    pub bytes: &'a [u8],
    /// Numbers are as JavaScript has them.
    pub value: Map<String, Value>,
}

/// Reads the records of a JSONL file one by one; what was wrong with the file is in [`Reader::finish`].
///
/// Takes time linear in the bytes and memory for one line.
#[derive(Debug, Default)]
pub(crate) struct Reader<'a> {
    rest: Option<&'a [u8]>,
    line: u32,
    /// The unread rest of the current line, and all bytes of that line.
    current: Cow<'a, str>,
    bytes: &'a [u8],
    /// Where in the current line U+FFFD replaces invalid bytes, and how much longer it is; the last one first.
    replaced: Vec<(usize, usize)>,
    /// How much of the current line has been read, and how many bytes replacements have added to that.
    column: usize,
    longer: usize,
    findings: Vec<Diagnostic>,
    more: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: Some(bytes), ..Self::default() }
    }

    /// Reads what comes after so many lines of the file.
    pub(crate) fn after_lines(bytes: &'a [u8], line: u32) -> Self {
        Self { line, ..Self::new(bytes) }
    }

    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if self.more > 0 {
            let message = format!("{} more findings about later lines are not listed", self.more);
            self.findings.push(Diagnostic::new(DiagnosticCode::MalformedLine, Severity::Warning, message));
        }
        self.findings
    }

    fn next_line(&mut self) -> bool {
        let Some(rest) = self.rest else { return false };
        self.line = self.line.saturating_add(1);
        let end = rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = match end.and_then(|at| rest.split_at_checked(at)) {
            Some((line, rest)) => (line, rest.get(1..)),
            None => (rest, None),
        };
        self.rest = rest;
        (self.column, self.longer) = (0, 0);
        self.bytes = line.strip_prefix(BOM).unwrap_or(line);
        self.current = String::from_utf8_lossy(self.bytes);
        self.replaced.clear();
        if matches!(self.current, Cow::Owned(_)) {
            let mut at = 0_usize;
            for chunk in self.bytes.utf8_chunks() {
                at = at.saturating_add(chunk.valid().len());
                if !chunk.invalid().is_empty() {
                    self.replaced.push((at, REPLACED.saturating_sub(chunk.invalid().len())));
                    at = at.saturating_add(REPLACED);
                }
            }
            self.replaced.reverse();
        }
        true
    }

    /// The next object on the current line. Reads no further than its end, so that many on one line cost no more than
    /// they are long.
    fn next_on_line(&mut self) -> Option<Record<'a>> {
        let glued = self.column > 0;
        let current = std::mem::take(&mut self.current);
        let text = current.get(self.column..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
        if text.is_empty() {
            return None;
        }
        let at = current.len().saturating_sub(text.len());
        if glued && !text.starts_with('{') {
            self.malformed("the line goes on after its record; the rest was skipped", self.column);
            return None;
        }
        let stopped = match Document::read_first(text) {
            Ok((document, end)) => {
                let value = document.root().to_json();
                if let Ok(Value::Object(value)) = value {
                    self.column = at.saturating_add(end);
                    let start = at.saturating_sub(self.longer);
                    let replaced = self.replaced.last().map(|&(place, _)| place).filter(|&place| place < self.column);
                    while let Some((_, longer)) = self.replaced.pop_if(|&mut (place, _)| place < self.column) {
                        self.longer = self.longer.saturating_add(longer);
                    }
                    let cr = usize::from(current.get(self.column..) == Some("\r"));
                    let end = self.column.saturating_add(cr).saturating_sub(self.longer);
                    let bytes = self.bytes.get(start..end).unwrap_or_default();
                    if let Some(place) = replaced {
                        let before = text::utf16_len(current.get(at..place).unwrap_or_default());
                        self.find(not_utf8(), Some(at.saturating_add(before)));
                    }
                    document.diagnostics().into_iter().for_each(|found| self.find(found, None));
                    if glued {
                        let message = "two records stand on one line; both were read";
                        self.find(Diagnostic::new(DiagnosticCode::GluedRecords, Severity::Warning, message), None);
                    }
                    self.current = current;
                    return Some(Record { line: self.line, bytes, value });
                }
                value.err().map(|_| (0, true))
            }
            Err(stopped) => Some((stopped.at, stopped.is_too_deep)),
        };
        let Some((stopped_at, is_too_deep)) = stopped else {
            self.malformed("the line is not a JSON object; it was skipped", at);
            return None;
        };
        let is_torn = !is_too_deep && stopped_at >= text.len();
        if is_torn && self.rest.is_none() {
            let message = "the last line stops in the middle; it was skipped";
            self.find(Diagnostic::new(DiagnosticCode::TornLine, Severity::Warning, message), None);
            return None;
        }
        let message = match (is_too_deep, is_torn) {
            (true, _) => format!("the line is nested deeper than {JSON_DEPTH_MAX} levels; it was skipped"),
            (_, true) => "the line stops in the middle; it was skipped".to_owned(),
            _ => "the line is not JSON; it was skipped".to_owned(),
        };
        // For a line that stops in the middle the last character is named.
        let read = text.get(..stopped_at).unwrap_or_default();
        let column = text::utf16_len(read).saturating_sub(usize::from(is_torn));
        self.malformed(&message, at.saturating_add(column));
        None
    }

    #[cold]
    fn malformed(&mut self, message: &str, column: usize) {
        self.find(Diagnostic::new(DiagnosticCode::MalformedLine, Severity::Error, message), Some(column));
    }

    /// Adds a finding about the current line; `column` is from 0.
    #[cold]
    fn find(&mut self, finding: Diagnostic, column: Option<usize>) {
        if self.findings.len() >= MAX_FINDINGS {
            self.more = self.more.saturating_add(1);
            return;
        }
        let column = column.map(|column| u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1));
        self.findings.push(Diagnostic { line: Some(self.line), column, ..finding });
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            if let Some(record) = self.next_on_line() {
                return Some(record);
            }
            if !self.next_line() {
                return None;
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/jsonl.rs"]
mod tests;
