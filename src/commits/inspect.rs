//! Reports damaged lines and unknown kinds of records in blobs that are appended unparsed (docs/session-formats.md).

use std::borrow::Cow;

use crate::commits::formats::{BlobSource, Format, codex, gemini_lines};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::{Document, Object, Value};
use crate::jsonl;
use crate::maps::SortedMap;

#[derive(Debug)]
pub(crate) struct Inspector {
    format: Format,
    /// Whether compactions within the blobs are read through.
    through_compactions: bool,
    unknown: SortedMap<String, u32>,
    findings: Vec<Diagnostic>,
    /// The finding about the missing history of a fork, until a compaction replaces it.
    missing_base: Option<Diagnostic>,
}

impl Inspector {
    pub(crate) fn new(format: Format, through_compactions: bool) -> Self {
        Self { format, through_compactions, unknown: SortedMap::new(), findings: Vec::new(), missing_base: None }
    }

    pub(crate) fn push(&mut self, blob: &[u8], source: BlobSource<'_>) {
        let blob = match self.format {
            Format::GeminiV1 => gemini_lines(blob).unwrap_or_default(),
            _ => Cow::Borrowed(blob),
        };
        // The lines of an object are generated, so they are not lines of the blob.
        let line_of = |number: u32| Some(number).filter(|_| matches!(blob, Cow::Borrowed(_)));
        let mut lines = blob.split(|&byte| byte == b'\n').zip(1_u32..).peekable();
        while let Some((line, number)) = lines.next() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            match Document::read_first(&text) {
                Ok((document, end)) if text.get(end..).is_some_and(|rest| rest.trim().is_empty()) => {
                    match document.root().object("a record") {
                        Ok(record) => {
                            self.count(record);
                            self.follow_base(document.root(), line_of(number), source);
                            if matches!(text, Cow::Owned(_)) {
                                self.damaged(line, line_of(number), source);
                            }
                        }
                        Err(_) => self.damaged(line, line_of(number), source),
                    }
                }
                // `torn` reports a truncated end, with or without inspection.
                Err(stopped) if !text.is_empty() && stopped.at >= text.len() && lines.peek().is_none() => {}
                _ => self.damaged(line, line_of(number), source),
            }
        }
    }

    fn count(&mut self, record: Object<'_>) {
        let has = |field: &str| record.last(field).is_some_and(|value| !value.is_null());
        let kind = match self.format {
            Format::GenericV1 => record.last("role"),
            _ => record.last("type"),
        };
        let kind = kind.and_then(|kind| kind.as_text()).unwrap_or_default();
        if self.format.knows_record(&kind, has) {
            return;
        }
        let kind: String = if kind.is_empty() { "(none)".to_owned() } else { kind.chars().take(80).collect() };
        let is_listed = self.unknown.len() < jsonl::MAX_FINDINGS;
        let count = self.unknown.or_default(if is_listed { kind } else { "(others)".to_owned() });
        *count = count.saturating_add(1);
    }

    /// Records the base of a Codex fork.
    fn follow_base(&mut self, record: Value<'_>, line: Option<u32>, source: BlobSource<'_>) {
        if !matches!(self.format, Format::CodexV0 | Format::CodexV1) {
            return;
        }
        let Some(fields) = record.plain_object() else { return };
        let kind = fields.last("type").and_then(|kind| kind.as_text()).unwrap_or_default();
        let session = match &*kind {
            "session_meta" => fields.last("payload"),
            "compacted" => {
                if !self.through_compactions {
                    self.missing_base = None;
                }
                None
            }
            "" => Some(record).filter(|_| fields.last("history_base").is_some()),
            _ => None,
        };
        let session = session.and_then(|session| session.to_json().ok());
        let missing = session.as_ref().and_then(|session| codex::missing_base(session.as_object()?, line));
        if let Some(missing) = missing {
            self.missing_base.get_or_insert(source.place(missing));
        }
    }

    fn damaged(&mut self, line: &[u8], number: Option<u32>, source: BlobSource<'_>) {
        if self.findings.len() >= jsonl::MAX_FINDINGS {
            return;
        }
        let mut reader = jsonl::Reader::recovering(line, self.format.is_record());
        reader.by_ref().for_each(drop);
        for finding in reader.finish() {
            let message = "the line is not one JSON object; it was kept unchanged".to_owned();
            let finding = match finding.code {
                DiagnosticCode::InvalidUtf8 => finding,
                // For a single line, its end cannot be distinguished from the end of the file.
                DiagnosticCode::TornLine => Diagnostic { code: DiagnosticCode::MalformedLine, message, ..finding },
                _ => Diagnostic { message, ..finding },
            };
            self.findings.push(source.place(Diagnostic { line: number, ..finding }));
        }
    }

    /// The damage, then a count of each unknown kind.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut findings = self.findings;
        findings.extend(self.missing_base);
        for (kind, count) in self.unknown {
            let message = match count {
                1 => format!("a record of the unknown kind `{kind}` was kept unchanged"),
                count => format!("{count} records of the unknown kind `{kind}` were kept unchanged"),
            };
            findings.push(Diagnostic::new(DiagnosticCode::UnknownRecord, Severity::Info, message));
        }
        findings
    }
}
