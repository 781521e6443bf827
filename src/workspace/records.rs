//! The recent log and the recent gaps, from JSONL (docs/workspace.md).

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Diagnostic;
use crate::input::Content;
use crate::jsonl;

/// One entry of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LogEntry {
    /// The time; empty if missing.
    pub timestamp: String,
    /// The operation; empty if missing.
    pub op: String,
    /// Every other key, in order.
    pub details: Map<String, Value>,
}

/// A vocabulary-gap record, with defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gap {
    /// The time; empty if missing.
    pub timestamp: String,
    /// The image.
    pub image_id: String,
    /// The missing vocabulary.
    pub description: String,
    /// The workaround; present in older records.
    pub workaround: String,
    /// The session id, or null.
    pub session_id: Value,
    /// The snapshot hash, or null.
    pub snapshot_hash: Value,
    /// The intended result, or null.
    pub intent: Value,
    /// Its category; defaults to `uncategorized`.
    pub intent_category: String,
    /// The missing capability, or null.
    pub missing_capability: Value,
    /// The operations involved.
    pub operations_involved: Vec<Value>,
    /// The vocabulary used.
    pub vocabulary_used: Vec<Value>,
    /// The satisfaction, or null.
    pub satisfaction: Value,
    /// Further notes.
    pub notes: String,
}

/// The last entries of a log, newest first.
pub(super) fn recent_log(
    content: Option<&Content>,
    path: &str,
    count: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<LogEntry> {
    let entry = |mut record: Map<String, Value>| LogEntry {
        timestamp: text(record.shift_remove("timestamp")),
        op: text(record.shift_remove("op")),
        details: record,
    };
    newest(content, path, count, diagnostics).map(entry).collect()
}

/// The last gap records, newest first.
pub(super) fn recent_gaps(
    content: Option<&Content>,
    path: &str,
    count: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Gap> {
    let gap = |mut record: Map<String, Value>| {
        let mut take = |key: &str| record.shift_remove(key);
        let category = text(take("intent_category"));
        Gap {
            timestamp: text(take("timestamp")),
            image_id: text(take("image_id")),
            description: text(take("description")),
            workaround: text(take("workaround")),
            session_id: take("session_id").unwrap_or_default(),
            snapshot_hash: take("snapshot_hash").unwrap_or_default(),
            intent: take("intent").unwrap_or_default(),
            intent_category: if category.is_empty() { "uncategorized".to_owned() } else { category },
            missing_capability: take("missing_capability").unwrap_or_default(),
            operations_involved: list(take("operations_involved")),
            vocabulary_used: list(take("vocabulary_used")),
            satisfaction: take("satisfaction").unwrap_or_default(),
            notes: text(take("notes")),
        }
    };
    newest(content, path, count, diagnostics).map(gap).collect()
}

fn newest(
    content: Option<&Content>,
    path: &str,
    count: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> impl Iterator<Item = Map<String, Value>> {
    let mut recent = VecDeque::new();
    if let Some(text) = content.and_then(|content| content.text(path, diagnostics)) {
        let mut reader = jsonl::Reader::new(text.as_bytes());
        for record in reader.by_ref() {
            recent.push_back(record.value);
            if recent.len() > count {
                recent.pop_front();
            }
        }
        diagnostics.extend(reader.finish().into_iter().map(|found| found.at_path(path)));
    }
    recent.into_iter().rev()
}

/// Absent and null become empty; other values become JSON text.
fn text(value: Option<Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

/// Absent and null become empty; other values become a list of one.
fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values,
        Some(other) => vec![other],
    }
}
