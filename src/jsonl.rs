//! Reading JSONL: one JSON object per line, as agents and tools append it to their files.
//!
//! Damage does not hide readable records:
//!
//! - lines end at LF only (a CR before it is white space); U+2028 and other separators are ordinary text;
//! - the last line may lack its newline; if it also stops in the middle it is *torn* (`torn_line`);
//! - a line that is not a JSON object is skipped (`malformed_line`);
//! - two objects on one line, `{…}{…}`, are both read (`glued_records`);
//! - a whole record on one line after one without its end or beginning, or after NUL bytes, is read if the reader can
//!   recognize a record ([`Reader::recovering`]); the damage before it is `malformed_line`;
//! - half of a surrogate pair becomes U+FFFD (`lone_surrogate_replaced`), and so do invalid bytes (`invalid_utf8`);
//! - a byte order mark at the start of a line is ignored, as are blank lines.
//!
//! Every finding has its line. After [`MAX_FINDINGS`] the rest is only counted.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Document;
use crate::limits::JSON_DEPTH_MAX;
use crate::text;

/// Findings listed; more are only counted.
pub(crate) const MAX_FINDINGS: usize = 100;

const BOM: &[u8] = b"\xef\xbb\xbf";

const REPLACED: usize = char::REPLACEMENT_CHARACTER.len_utf8();

pub(crate) fn not_utf8() -> Diagnostic {
    let message = "not UTF-8: invalid bytes are read as U+FFFD";
    Diagnostic::new(DiagnosticCode::InvalidUtf8, Severity::Warning, message)
}

/// One record of a JSONL file.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    /// The line, from 1.
    pub line: u32,
    /// The bytes without white space around them, except a CR at the end of the line.
    pub bytes: &'a [u8],
    /// The object. Numbers are as in JavaScript.
    pub value: Map<String, Value>,
}

/// Whether an object has the shape of a record of a format. After damage this distinguishes a record from a part of a
/// truncated one.
pub(crate) type IsRecord = fn(&Map<String, Value>) -> bool;

/// Why no record begins at a place.
#[derive(Clone, Copy, Debug)]
struct SyntaxError {
    /// The byte of the line at which reading stopped.
    at: usize,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// JSON, but no object.
    NoObject,
    TooDeep,
    /// The line ends within the record.
    CutOff,
    NoJson,
}

/// An object within a line.
struct Found {
    /// The range of bytes in the line.
    start: usize,
    end: usize,
    value: Map<String, Value>,
    repaired: Vec<Diagnostic>,
}

/// Reads the records of a JSONL file one by one; [`Reader::finish`] returns the findings.
///
/// Takes time linear in the bytes and memory for one line.
#[derive(Debug, Default)]
pub(crate) struct Reader<'a> {
    rest: Option<&'a [u8]>,
    line: u32,
    /// The unread rest of the current line, and all bytes of that line.
    current: Cow<'a, str>,
    bytes: &'a [u8],
    /// Places in the current line where U+FFFD replaces invalid bytes, with the added length; the last one first.
    replaced: Vec<(usize, usize)>,
    /// Bytes of the current line that were read, and bytes that replacements added to them.
    column: usize,
    longer: usize,
    /// Recognizes a record, if whole records after damage are read.
    is_record: Option<IsRecord>,
    findings: Vec<Diagnostic>,
    more: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: Some(bytes), ..Self::default() }
    }

    /// Also reads whole records after damage on their line.
    pub(crate) fn recovering(bytes: &'a [u8], is_record: IsRecord) -> Self {
        Self { is_record: Some(is_record), ..Self::new(bytes) }
    }

    /// Like [`Self::recovering`], for the bytes after the first `line` lines of the file.
    pub(crate) fn after_lines(bytes: &'a [u8], line: u32, is_record: IsRecord) -> Self {
        Self { line, ..Self::recovering(bytes, is_record) }
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

    /// The next object on the current line. Reads no further than its end, so that many objects on one line take linear
    /// time.
    fn next_on_line(&mut self) -> Option<Record<'a>> {
        let glued = self.column > 0;
        let current = std::mem::take(&mut self.current);
        let at = skip_white(&current, self.column);
        if at >= current.len() {
            return None;
        }
        let stopped = match object_at(&current, at) {
            Ok(found) => {
                let record = self.take(&current, found);
                if glued {
                    let message = "two records are on one line; both were read";
                    self.find(Diagnostic::new(DiagnosticCode::GluedRecords, Severity::Warning, message), None);
                }
                self.current = current;
                return Some(record);
            }
            Err(stopped) => stopped,
        };
        let is_record = self.is_record.filter(|_| stopped.reason != Reason::TooDeep);
        let found = is_record.and_then(|is_record| recover(&current, at, stopped, is_record));
        self.report_damage(&current, at, stopped, glued, found.is_some());
        let record = self.take(&current, found?);
        self.current = current;
        Some(record)
    }

    /// Takes the record found on the current line.
    fn take(&mut self, current: &str, found: Found) -> Record<'a> {
        let longer = |replaced: &mut Vec<(usize, usize)>, end: usize| {
            let mut sum = 0_usize;
            while let Some((_, longer)) = replaced.pop_if(|&mut (place, _)| place < end) {
                sum = sum.saturating_add(longer);
            }
            sum
        };
        self.longer = self.longer.saturating_add(longer(&mut self.replaced, found.start));
        let start = found.start.saturating_sub(self.longer);
        let replaced = self.replaced.last().map(|&(place, _)| place).filter(|&place| place < found.end);
        self.longer = self.longer.saturating_add(longer(&mut self.replaced, found.end));
        self.column = found.end;
        let cr = usize::from(current.get(self.column..) == Some("\r"));
        let end = self.column.saturating_add(cr).saturating_sub(self.longer);
        if let Some(place) = replaced {
            let before = text::utf16_len(current.get(found.start..place).unwrap_or_default());
            self.find(not_utf8(), Some(found.start.saturating_add(before)));
        }
        found.repaired.into_iter().for_each(|repaired| self.find(repaired, None));
        Record { line: self.line, bytes: self.bytes.get(start..end).unwrap_or_default(), value: found.value }
    }

    /// Reports damage that begins at a byte of the current line.
    fn report_damage(&mut self, current: &str, at: usize, stopped: SyntaxError, glued: bool, is_recovered: bool) {
        let text = current.get(at..).unwrap_or_default();
        let is_cut_off = stopped.reason == Reason::CutOff;
        if is_cut_off && !is_recovered && self.rest.is_none() {
            let message = "the last line stops in the middle; it was skipped";
            self.find(Diagnostic::new(DiagnosticCode::TornLine, Severity::Warning, message), None);
            return;
        }
        if glued && !is_recovered && !text.starts_with('{') {
            self.malformed("text follows the record on its line; it was skipped", self.column);
            return;
        }
        let message = match stopped.reason {
            _ if is_recovered && text.starts_with('\0') => "NUL bytes precede a record; the record was read".to_owned(),
            _ if is_recovered => {
                "a damaged record precedes another on its line; only the later one was read".to_owned()
            }
            Reason::NoObject => "the line is not a JSON object; it was skipped".to_owned(),
            Reason::TooDeep => format!("the line is nested deeper than {JSON_DEPTH_MAX} levels; it was skipped"),
            Reason::CutOff => "the line stops in the middle; it was skipped".to_owned(),
            Reason::NoJson => "the line is not JSON; it was skipped".to_owned(),
        };
        if self.findings.len() >= MAX_FINDINGS {
            return self.malformed(&message, at);
        }
        // If a line stops in the middle, the column is that of its last character.
        let read = current.get(at..stopped.at).unwrap_or_default();
        let column = text::utf16_len(read).saturating_sub(usize::from(is_cut_off));
        self.malformed(&message, at.saturating_add(column));
    }

    fn malformed(&mut self, message: &str, column: usize) {
        self.find(Diagnostic::new(DiagnosticCode::MalformedLine, Severity::Error, message), Some(column));
    }

    /// Adds a finding about the current line; `column` is from 0.
    fn find(&mut self, finding: Diagnostic, column: Option<usize>) {
        if self.findings.len() >= MAX_FINDINGS {
            self.more = self.more.saturating_add(1);
            return;
        }
        let column = column.map(|column| u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1));
        self.findings.push(Diagnostic { line: Some(self.line), column, ..finding });
    }
}

/// The byte of the next character that is not white space.
fn skip_white(line: &str, from: usize) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    line.len().saturating_sub(rest.trim_start_matches([' ', '\t', '\r']).len())
}

/// The object that begins at a byte of a line.
fn object_at(line: &str, start: usize) -> Result<Found, SyntaxError> {
    let text = line.get(start..).unwrap_or_default();
    let stopped = |at: usize, reason| SyntaxError { at: start.saturating_add(at), reason };
    let (document, end) = Document::read_first(text).map_err(|found| match found.at {
        at if found.is_too_deep => stopped(at, Reason::TooDeep),
        at if at >= text.len() => stopped(at, Reason::CutOff),
        at => stopped(at, Reason::NoJson),
    })?;
    match document.root().to_json() {
        Ok(Value::Object(value)) => {
            Ok(Found { start, end: start.saturating_add(end), value, repaired: document.diagnostics() })
        }
        Ok(_) => Err(stopped(0, Reason::NoObject)),
        Err(_) => Err(stopped(0, Reason::TooDeep)),
    }
}

/// The first whole record of a line after damage that begins at `start`. A whole record is followed by the end of the
/// line, by another record or by NUL bytes. If the damage is a record without its beginning, the whole record follows
/// its `}`: after any other text, an object may be a part of something else.
///
/// A truncated record makes its successor a part of itself: of a text, which then ends at the first quote of the
/// successor; or of a list or an object, which then lacks its end. So reading stops at the beginning of the successor
/// or directly after it. No byte is read more than a few times.
fn recover(line: &str, mut start: usize, mut stopped: SyntaxError, is_record: IsRecord) -> Option<Found> {
    let bytes = line.as_bytes();
    let has_beginning = matches!(bytes.get(start), Some(b'{' | 0));
    let ends_record = |found: &Found| {
        let is_whole = matches!(bytes.get(skip_white(line, found.end)), None | Some(b'{' | 0));
        let before = bytes.get(..found.start).unwrap_or_default().trim_ascii_end().last();
        // A record never contains NUL bytes.
        let is_after_nul = before == Some(&0);
        let follows = has_beginning || is_after_nul || before == Some(&b'}');
        is_whole && follows && (is_record(&found.value) || (is_after_nul && !found.value.is_empty()))
    };
    loop {
        // A value inside the truncated record that has the shape of a record.
        let swallowed = object_before(bytes, start, stopped.at).and_then(|place| object_at(line, place).ok());
        if let Some(found) = swallowed.filter(|found| found.end <= stopped.at && ends_record(found)) {
            return Some(found);
        }
        let read = bytes.get(start.saturating_add(1)..=stopped.at.min(bytes.len().saturating_sub(1)));
        let last = read.and_then(|read| read.iter().rposition(|&byte| byte == b'{'));
        let mut next = last
            .map(|at| start.saturating_add(1).saturating_add(at))
            .or_else(|| brace_from(bytes, stopped.at.max(start.saturating_add(1))))?;
        loop {
            match object_at(line, next) {
                Ok(found) if ends_record(&found) => return Some(found),
                Ok(found) => next = brace_from(bytes, found.end)?,
                Err(other) => {
                    // Reading from an earlier place would get no further.
                    (start, stopped) = (next, SyntaxError { at: other.at.max(stopped.at), ..other });
                    break;
                }
            }
        }
    }
}

/// The first `{` from a byte on.
fn brace_from(bytes: &[u8], from: usize) -> Option<usize> {
    let at = bytes.get(from..)?.iter().position(|&byte| byte == b'{')?;
    Some(from.saturating_add(at))
}

/// The start, after `start`, of the object that ends directly before byte `end` (white space aside). The text before
/// `end` must be JSON.
fn object_before(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let text = bytes.get(start..end)?.trim_ascii_end();
    let (mut depth, mut in_string, mut at) = (0_usize, false, text.len());
    if text.last() != Some(&b'}') {
        return None;
    }
    while let Some(before) = at.checked_sub(1) {
        at = before;
        match text.get(at)? {
            b'"' => {
                let escapes = text.get(..at)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
                in_string ^= escapes % 2 == 0;
            }
            _ if in_string => {}
            b'}' | b']' => depth = depth.saturating_add(1),
            brace @ (b'{' | b'[') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(start.saturating_add(at)).filter(|&at| *brace == b'{' && at > start);
                }
            }
            _ => {}
        }
    }
    None
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
