//! Records as JSONL, one per line: export and import (docs/commits.md).
//!
//! An unreadable line yields a diagnostic. A chain without its record is an error when it is walked.

use crate::commits::artifact::{ArtifactHasher, artifact_ref};
use crate::commits::graph::{CommitGraph, collision, missing_parent};
use crate::commits::id::is_own_form;
use crate::commits::record::{RECORD_VERSION, Record};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::maps::SortedMap;
use crate::{jsonl, limits, sorting};
use serde::Serialize;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Ids of the new commits, sorted.
    pub added: Vec<String>,
    /// The number of records that were already present.
    pub unchanged: u32,
    /// The number of records whose summary or tags were replaced.
    pub updated: u32,
    /// The number of records that a digest confirms.
    #[serde(skip_serializing_if = "is_zero")]
    pub verified: u32,
    /// Diagnostics: damage and inconsistencies.
    pub diagnostics: Vec<Diagnostic>,
}

/// Which summary and tags are kept if two records of one commit differ in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataChoice {
    /// A present one over a missing one, and of two the one that sorts last: independent of the order.
    #[default]
    Merge,
    /// Those of the first record; may be empty.
    Keep,
    /// Those of the last record; may be empty.
    Replace,
}

impl MetadataChoice {
    pub(crate) const NAMES: &'static [(&'static str, Self)] =
        &[("merge", Self::Merge), ("keep", Self::Keep), ("replace", Self::Replace)];
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn finding(code: DiagnosticCode, severity: Severity, line: u32, message: String) -> Diagnostic {
    let diagnostic = Diagnostic::new(code, severity, message);
    if line == 0 { diagnostic } else { Diagnostic { line: Some(line), ..diagnostic } }
}

impl CommitGraph {
    /// All records as JSONL, in the order of [`CommitGraph::commits`].
    pub fn export_jsonl(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for record in self.commits() {
            out.extend_from_slice(record.to_json().as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// Like [`Self::export_jsonl`], with a last line `{ "digest": … }`, the BLAKE3 hash of the lines before it.
    pub fn export_with_digest(&self) -> Vec<u8> {
        let mut out = self.export_jsonl();
        let digest = artifact_ref(&out);
        out.extend_from_slice(format!("{{\"digest\":\"{digest}\"}}\n").as_bytes());
        out
    }

    /// Adds the records of a JSONL text, in any order, or on an error none of them. Ids of other tools are preserved.
    ///
    /// # Errors
    /// [`Code::IdCollision`](crate::Code::IdCollision) if two records have one id and differ in more than summary and
    /// tags, [`Code::LimitExceeded`](crate::Code::LimitExceeded).
    pub fn import_jsonl(&mut self, text: &[u8]) -> Result<ImportReport> {
        self.import_jsonl_with(text, MetadataChoice::default())
    }

    /// Like [`Self::import_jsonl`], with a choice of the summaries and tags to keep.
    ///
    /// # Errors
    /// The errors of [`CommitGraph::import_jsonl`].
    pub fn import_jsonl_with(&mut self, text: &[u8], metadata: MetadataChoice) -> Result<ImportReport> {
        let mut report = ImportReport::default();
        limits::check("inputBytes", text.len(), self.limits().input_bytes)?;
        let mut staged: SortedMap<String, (u32, Record)> = SortedMap::new();
        for (line, record) in read_lines(text, &mut report) {
            let Some((_, there)) = staged.get_mut(&record.id) else {
                staged.insert(record.id.clone(), (line, record));
                continue;
            };
            if !there.same_commit(&record) {
                return Err(collision(there, &record).with("line", line));
            }
            if let Some((summary, tags)) = merge_metadata(there, &record, metadata, line, &mut report) {
                (there.summary, there.tags) = (summary, tags);
            }
        }
        for (line, record) in staged.values() {
            if let Some(there) = self.find(&record.id).filter(|there| !there.same_commit(record)) {
                return Err(collision(there, record).with("line", *line));
            }
        }
        limits::check("commits", self.len().saturating_add(staged.len()), self.limits().commits)?;
        let mut lines = SortedMap::new();
        for (id, (line, record)) in staged {
            if let Some(there) = self.find(&id) {
                if let Some((summary, tags)) = merge_metadata(there, &record, metadata, line, &mut report) {
                    self.set_metadata(&id, summary, tags);
                }
            } else {
                lines.insert(id.clone(), line);
                report.added.push(id);
                self.insert(record);
            }
        }
        self.check_added(&lines, &mut report.diagnostics);
        sorting::sort_by_key(&mut report.diagnostics, |diagnostic| diagnostic.line.unwrap_or(u32::MAX));
        Ok(report)
    }

    /// Reports inconsistencies of the new records.
    fn check_added(&self, lines: &SortedMap<String, u32>, diagnostics: &mut Vec<Diagnostic>) {
        let (mut foreign, mut newer) = (Vec::new(), Vec::new());
        for (id, &line) in lines.iter() {
            let Some(record) = self.find(id) else { continue };
            if record.derived_id() != *id {
                if is_own_form(id) {
                    let message =
                        format!("the id `{id}` does not match the fields of its record; the record was changed");
                    diagnostics.push(finding(DiagnosticCode::CommitIdMismatch, Severity::Warning, line, message));
                } else {
                    foreign.push(id.as_str());
                }
            }
            if record.version > RECORD_VERSION {
                newer.push(id.as_str());
            }
            if record.time().is_none() {
                let message = format!(
                    "`created_at` of `{id}` is `{}`, which is not RFC 3339; the commit cannot be found by time",
                    record.created_at
                );
                diagnostics.push(finding(DiagnosticCode::InvalidTime, Severity::Warning, line, message));
            }
            if let Some(parent) = record.parent.as_deref().filter(|parent| self.find(parent).is_none()) {
                let message = missing_parent(id, parent);
                diagnostics.push(finding(DiagnosticCode::ParentMissing, Severity::Warning, line, message));
            }
        }
        if !foreign.is_empty() {
            let message = format!(
                "{} of another origin and cannot be checked against the fields of the record",
                counted("id", &foreign)
            );
            diagnostics.push(finding(DiagnosticCode::ForeignCommitIds, Severity::Info, 0, message));
        }
        if !newer.is_empty() {
            let message = format!("{} of a later version and can be read but not changed", counted("record", &newer));
            diagnostics.push(finding(DiagnosticCode::NewerVersion, Severity::Info, 0, message));
        }
        for id in self.cycles(lines) {
            let message = format!("the chain of `{id}` has a cycle; no chain through it can be used");
            let line = lines.get(id).copied().unwrap_or_default();
            diagnostics.push(finding(DiagnosticCode::CommitCycle, Severity::Error, line, message));
        }
    }

    /// The first id of each cycle that the new records are part of or lead to.
    fn cycles<'g>(&'g self, new: &'g SortedMap<String, u32>) -> Vec<&'g str> {
        let mut cycles = Vec::new();
        // The number of the walk that visited each commit.
        let mut seen: SortedMap<&str, usize> = SortedMap::new();
        for (walk, start) in new.keys().enumerate() {
            let mut at = self.find(start);
            while let Some(record) = at {
                match seen.insert(&record.id, walk) {
                    None => at = record.parent.as_deref().and_then(|parent| self.find(parent)),
                    Some(before) => {
                        if before == walk {
                            cycles.push(self.first_of_cycle(record));
                        }
                        break;
                    }
                }
            }
        }
        cycles
    }

    fn first_of_cycle<'g>(&'g self, on_it: &'g Record) -> &'g str {
        let mut first = on_it.id.as_str();
        let mut at = on_it;
        while let Some(next) = at.parent.as_deref().and_then(|parent| self.find(parent)) {
            first = first.min(&next.id);
            if next.id == on_it.id {
                break;
            }
            at = next;
        }
        first
    }
}

/// A count with ids and a verb: "4 ids (`a`, `b`, `c`, …) are".
fn counted(noun: &str, ids: &[&str]) -> String {
    let named: Vec<String> = ids.iter().take(3).map(|id| format!("`{id}`")).collect();
    let more = if ids.len() > named.len() { ", …" } else { "" };
    let (plural, verb) = if ids.len() == 1 { ("", "is") } else { ("s", "are") };
    format!("{} {noun}{plural} ({}{more}) {verb}", ids.len(), named.join(", "))
}

/// Merges the summary and tags of two records of one commit. Returns them if they differ from the first's. A difference
/// is reported.
fn merge_metadata(
    there: &Record,
    other: &Record,
    metadata: MetadataChoice,
    line: u32,
    report: &mut ImportReport,
) -> Option<(Option<String>, Vec<String>)> {
    if there.summary == other.summary && there.tags == other.tags {
        report.unchanged += 1;
        return None;
    }
    let (summary, tags, kept) = match metadata {
        MetadataChoice::Merge => {
            let kept = "present values, and of two the ones that sort last, were kept";
            (there.summary.as_ref().max(other.summary.as_ref()), (&there.tags).max(&other.tags), kept)
        }
        MetadataChoice::Keep => (there.summary.as_ref(), &there.tags, "those of the first were kept"),
        MetadataChoice::Replace => (other.summary.as_ref(), &other.tags, "those of the last were kept"),
    };
    let both = there.summary != other.summary && there.summary.is_some() && other.summary.is_some()
        || there.tags != other.tags && !there.tags.is_empty() && !other.tags.is_empty();
    let severity = if both { Severity::Warning } else { Severity::Info };
    let message = format!("two records of `{}` have different summaries or tags; {kept}", there.id);
    report.diagnostics.push(finding(DiagnosticCode::MetadataConflict, severity, line, message));
    let changes = summary != there.summary.as_ref() || *tags != there.tags;
    *(if changes { &mut report.updated } else { &mut report.unchanged }) += 1;
    changes.then(|| (summary.cloned(), tags.clone()))
}

/// The records of a JSONL text with their lines. A digest covers those since the previous one.
fn read_lines(text: &[u8], report: &mut ImportReport) -> Vec<(u32, Record)> {
    let found = &mut report.diagnostics;
    let mut records: Vec<(u32, Record)> = Vec::new();
    let mut checked = 0;
    let is_record: jsonl::IsRecord = |map| ["id", "artifact_ref"].iter().all(|&key| map.contains_key(key));
    let mut reader = jsonl::Reader::recovering(text, is_record);
    for object in reader.by_ref() {
        if let Some(digest) = object.value.get("digest").filter(|_| !object.value.contains_key("id")) {
            let mut hasher = ArtifactHasher::default();
            let since = records.get(checked..).unwrap_or_default();
            for (_, record) in since {
                hasher.update(record.to_json().as_bytes());
                hasher.update(b"\n");
            }
            if *digest == hasher.artifact_ref() {
                let count = u32::try_from(since.len()).unwrap_or(u32::MAX);
                report.verified = report.verified.saturating_add(count);
            } else {
                let message = "the records before the digest do not match it; some were altered, added or lost";
                found.push(finding(DiagnosticCode::DigestMismatch, Severity::Warning, object.line, message.to_owned()));
            }
            checked = records.len();
            continue;
        }
        match Record::from_json(String::from_utf8_lossy(object.bytes).as_bytes()) {
            Ok(record) => records.push((object.line, record)),
            Err(error) => {
                let message = format!("the line is not a record of a commit and was left out: {}", error.message());
                found.push(finding(DiagnosticCode::InvalidRecord, Severity::Error, object.line, message));
            }
        }
    }
    found.extend(reader.finish());
    records
}
