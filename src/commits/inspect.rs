//! What native materialisation passes through without knowing it (SPEC §5): looked at a line at a time, and no more of it
//! than the kind of each record.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::commits::formats::{BlobSource, Format};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::jsonl;

/// Looks at the lines of one conversation.
#[derive(Debug)]
pub(crate) struct Inspector {
    format: Format,
    unknown: BTreeMap<String, u32>,
    findings: Vec<Diagnostic>,
}

/// The fields that say what a record is. They are read as any JSON, since a record may be anything.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LineHead {
    r#type: OptionalText,
    role: OptionalText,
    payload: Option<IgnoredAny>,
    record_type: Option<IgnoredAny>,
    id: Option<IgnoredAny>,
}

/// A short text, or something else.
#[derive(Debug, Default)]
struct OptionalText(Option<String>);

impl<'de> Deserialize<'de> for OptionalText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Other(IgnoredAny),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => Self(Some(text)),
            Either::Other(IgnoredAny) => Self(None),
        })
    }
}

impl Inspector {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, unknown: BTreeMap::new(), findings: Vec::new() }
    }

    /// Looks at a blob.
    pub(crate) fn push(&mut self, blob: &[u8], source: BlobSource<'_>) {
        let mut lines = blob.split(|&byte| byte == b'\n').zip(1_u32..).peekable();
        while let Some((line, number)) = lines.next() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<LineHead>(line) {
                Ok(head) => self.count(&head),
                // A torn end is said of every delta that has one, whether it is looked at or not.
                Err(error) if error.is_eof() && lines.peek().is_none() => {}
                Err(_) => self.damaged(line, number, source),
            }
        }
    }

    fn count(&mut self, head: &LineHead) {
        let has = |field: &Option<IgnoredAny>| field.is_some();
        let record = [has(&head.payload), has(&head.record_type), has(&head.id)];
        let kind = match self.format {
            Format::GenericV1 => &head.role,
            _ => &head.r#type,
        };
        let kind = kind.0.as_deref().unwrap_or_default();
        if self.format.knows_record(kind, record) {
            return;
        }
        let kind: String = if kind.is_empty() { "(none)".to_owned() } else { kind.chars().take(80).collect() };
        let room = self.unknown.len() < jsonl::MAX_FINDINGS;
        let count = self.unknown.entry(if room { kind } else { "(others)".to_owned() }).or_default();
        *count = count.saturating_add(1);
    }

    #[cold]
    fn damaged(&mut self, line: &[u8], number: u32, source: BlobSource<'_>) {
        if self.findings.len() >= jsonl::MAX_FINDINGS {
            return;
        }
        let mut reader = jsonl::Reader::new(line);
        reader.by_ref().for_each(drop);
        for finding in reader.finish() {
            let code = match finding.code {
                // To a line by itself every end is the end of the file.
                DiagnosticCode::TornLine => DiagnosticCode::MalformedLine,
                code => code,
            };
            let message = "the line is not one JSON object; it was kept as it is".to_owned();
            self.findings.push(source.place(Diagnostic { line: Some(number), code, message, ..finding }));
        }
    }

    /// What was found: the damage, then a count of each kind that is not known.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut findings = self.findings;
        for (kind, count) in self.unknown {
            let message = match count {
                1 => format!("a record of the unknown kind `{kind}` was kept as it is"),
                count => format!("{count} records of the unknown kind `{kind}` were kept as they are"),
            };
            findings.push(Diagnostic::new(DiagnosticCode::UnknownRecord, Severity::Info, message));
        }
        findings
    }
}
