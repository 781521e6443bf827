//! Records as JSONL, one a line: export and import (SPEC §5, TRAPS "Commits and JSONL").
//!
//! What cannot be read is a diagnostic with its line; what follows from its absence is an error of whoever walks the chain.

use crate::commits::graph::{CommitGraph, collision};
use crate::commits::id::is_own_form;
use crate::commits::record::{RECORD_VERSION, Record};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::maps::SortedMap;
use crate::{jsonl, limits, sorting};
use serde::Serialize;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Ids of the commits that are new, sorted.
    pub added: Vec<String>,
    /// Records that were there already.
    pub unchanged: u32,
    /// Records whose summary or tags were taken over.
    pub updated: u32,
    /// What was damaged, and what to look at.
    pub diagnostics: Vec<Diagnostic>,
}

/// Something found in a line.
fn finding(code: DiagnosticCode, severity: Severity, line: u32, message: String) -> Diagnostic {
    let diagnostic = Diagnostic::new(code, severity, message);
    if line == 0 { diagnostic } else { Diagnostic { line: Some(line), ..diagnostic } }
}

impl CommitGraph {
    /// All records as JSONL, parents before children; the order in which they came does not matter.
    pub fn export_jsonl(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for record in self.commits() {
            out.extend_from_slice(record.to_json().as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// Adds the records of a JSONL text, whatever their order. Ids from elsewhere are taken as they are. When it fails
    /// nothing is added.
    ///
    /// # Errors
    /// [`Code::IdCollision`](crate::Code::IdCollision) when two records have one id and differ in more than summary and
    /// tags, [`Code::LimitExceeded`](crate::Code::LimitExceeded).
    pub fn import_jsonl(&mut self, text: &[u8]) -> Result<ImportReport> {
        let mut report = ImportReport::default();
        limits::check("inputBytes", text.len(), self.limits().input_bytes)?;
        let records = read_lines(text, &mut report.diagnostics);
        self.import(records, report)
    }

    /// Adds records, whatever their order; as [`CommitGraph::import_jsonl`].
    ///
    /// # Errors
    /// As there.
    pub fn import_records(&mut self, records: Vec<Record>) -> Result<ImportReport> {
        self.import(records.into_iter().map(|record| (0, record)).collect(), ImportReport::default())
    }

    fn import(&mut self, records: Vec<(u32, Record)>, mut report: ImportReport) -> Result<ImportReport> {
        let mut staged: SortedMap<String, (u32, Record)> = SortedMap::new();
        for (line, record) in records {
            let Some((_, there)) = staged.get_mut(&record.id) else {
                staged.insert(record.id.clone(), (line, record));
                continue;
            };
            if !there.same_commit(&record) {
                return Err(collision(there, &record).with("line", line));
            }
            match merge_metadata(there, &record, line, &mut report.diagnostics) {
                Some((summary, tags)) => {
                    (there.summary, there.tags) = (summary, tags);
                    report.updated += 1;
                }
                None => report.unchanged += 1,
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
                match merge_metadata(there, &record, line, &mut report.diagnostics) {
                    Some((summary, tags)) => {
                        self.set_metadata(&id, summary, tags);
                        report.updated += 1;
                    }
                    None => report.unchanged += 1,
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

    /// What is odd about new records once all of them are there.
    fn check_added(&self, lines: &SortedMap<String, u32>, found: &mut Vec<Diagnostic>) {
        let (mut foreign, mut newer) = (Vec::new(), Vec::new());
        for (id, &line) in lines.iter() {
            let Some(record) = self.find(id) else { continue };
            if record.derived_id() != *id {
                if is_own_form(id) {
                    let message = format!(
                        "the id `{id}` does not follow from the fields of its record; something in it was changed"
                    );
                    found.push(finding(DiagnosticCode::CommitIdMismatch, Severity::Warning, line, message));
                } else {
                    foreign.push(id.as_str());
                }
            }
            if record.version > RECORD_VERSION {
                newer.push(id.as_str());
            }
            if record.time().is_none() {
                let message = format!(
                    "`created_at` of `{id}` is `{}`, which is not RFC 3339; no time leads to the commit",
                    record.created_at
                );
                found.push(finding(DiagnosticCode::InvalidTime, Severity::Warning, line, message));
            }
            if let Some(parent) = record.parent.as_deref().filter(|parent| self.find(parent).is_none()) {
                let message = format!(
                    "commit `{id}` has the parent `{parent}`, which is not in the graph; import its record too"
                );
                found.push(finding(DiagnosticCode::ParentMissing, Severity::Warning, line, message));
            }
        }
        if !foreign.is_empty() {
            let message = format!(
                "{} not made here and cannot be checked against the fields of the record",
                counted("id was", "ids were", &foreign)
            );
            found.push(finding(DiagnosticCode::ForeignCommitIds, Severity::Info, 0, message));
        }
        if !newer.is_empty() {
            let message =
                format!("{} of a later version: to be read, not changed", counted("record is", "records are", &newer));
            found.push(finding(DiagnosticCode::NewerVersion, Severity::Info, 0, message));
        }
        for id in self.cycles(lines) {
            let message = format!("the chain of `{id}` comes back to it; no chain through it can be used");
            let line = lines.get(id).copied().unwrap_or_default();
            found.push(finding(DiagnosticCode::CommitCycle, Severity::Error, line, message));
        }
    }

    /// The first id of each cycle that the new records are part of or lead to.
    fn cycles<'g>(&'g self, new: &'g SortedMap<String, u32>) -> Vec<&'g str> {
        let mut cycles = Vec::new();
        // In which walk each commit was seen.
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

/// A count with what is counted, and the first three of them.
fn counted(one: &str, many: &str, ids: &[&str]) -> String {
    let named: Vec<String> = ids.iter().take(3).map(|id| format!("`{id}`")).collect();
    let more = if ids.len() > named.len() { ", …" } else { "" };
    format!("{} {} ({}{more})", ids.len(), if ids.len() == 1 { one } else { many }, named.join(", "))
}

/// Summary and tags for two copies of one record; nothing where the first has them already. The same whichever came
/// first: what is there wins over what is not, and of two it is the one that sorts last.
fn merge_metadata(
    there: &Record,
    other: &Record,
    line: u32,
    found: &mut Vec<Diagnostic>,
) -> Option<(Option<String>, Vec<String>)> {
    let summary = there.summary.as_ref().max(other.summary.as_ref());
    let tags = (&there.tags).max(&other.tags);
    let conflict = there.summary != other.summary && there.summary.is_some() && other.summary.is_some()
        || there.tags != other.tags && !there.tags.is_empty() && !other.tags.is_empty();
    if conflict {
        let message =
            format!("two records of `{}` have different summaries or tags; those that sort last were kept", there.id);
        found.push(finding(DiagnosticCode::MetadataConflict, Severity::Warning, line, message));
    }
    (summary != there.summary.as_ref() || *tags != there.tags).then(|| (summary.cloned(), tags.clone()))
}

/// The records of a JSONL text with their lines.
fn read_lines(text: &[u8], found: &mut Vec<Diagnostic>) -> Vec<(u32, Record)> {
    let mut records = Vec::new();
    let mut reader = jsonl::Reader::new(text);
    for object in reader.by_ref() {
        match Record::from_json(object.bytes) {
            Ok(record) => records.push((object.line, record)),
            Err(error) => {
                let message = format!("the line is no record of a commit and was left out: {}", error.message());
                found.push(finding(DiagnosticCode::InvalidRecord, Severity::Error, object.line, message));
            }
        }
    }
    found.extend(reader.finish());
    records
}
