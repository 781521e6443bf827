//! Joins a fork of Codex with the beginning of the rollout that it continues (docs/sessions.md).
//!
//! Since 0.146 a fork does not copy its history: `session_meta.history_base` names the thread that has it, and the
//! ordinal of the first line that is not part of it. A line's ordinal counts the lines of the whole history. The base
//! may be a fork itself.

use serde_json::{Map, Value};

use super::codex::{self, HistoryBase, history_base};
use super::format::Format;
use crate::commits::transcript::text;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json;
use crate::jsonl::{Reader, Record};

/// The thread and the end of the history that a fork continues.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkBase {
    /// The id of the thread whose rollout begins the history.
    pub thread_id: String,
    /// The ordinal of the first line of that rollout that is not part of the fork.
    pub end_ordinal_exclusive: u64,
}

/// A fork with the history before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedFork {
    /// A rollout; a fork if the base is one.
    pub bytes: Vec<u8>,
    /// Damaged lines.
    pub diagnostics: Vec<Diagnostic>,
}

/// The base of a rollout that is a fork; `None` for another file, and for a base without thread or end.
pub fn fork_base(bytes: &[u8]) -> Option<ForkBase> {
    Reader::recovering(bytes, codex::is_record(true)).find_map(|record| base_of(session_of(&record.value)?))
}

/// Puts the lines of the base before those of the fork, unchanged. The first line is that of the fork; its
/// `history_base` becomes that of the base.
///
/// # Errors
/// [`Code::InvalidInput`] if the rollout is no fork, or if `base` is another thread or ends too early;
/// [`Code::InvalidBlob`] for compressed files.
pub fn join_fork_base(bytes: &[u8], base: &[u8]) -> Result<JoinedFork> {
    for file in [bytes, base] {
        Format::CodexV1.refuse_compressed(file, super::BlobSource::default())?;
    }
    let (fork, mut diagnostics) = records(bytes);
    let (earlier, found) = records(base);
    diagnostics.extend(found);
    let expected = fork.iter().find_map(|record| base_of(session_of(&record.value)?));
    let Some(expected) = expected else {
        return Err(invalid(
            "bytes",
            "the rollout is not a fork: it lacks a `history_base` with thread and end".to_owned(),
        ));
    };
    let session = earlier.iter().find_map(|record| session_of(&record.value));
    let thread = session.and_then(|session| text(session, "id").or_else(|| text(session, "session_id")));
    if thread != Some(expected.thread_id.as_str()) {
        let found = thread.map_or("no thread".to_owned(), |thread| format!("thread `{thread}`"));
        let wanted = &expected.thread_id;
        return Err(invalid("base", format!("the base is the rollout of {found}; pass that of thread `{wanted}`")));
    }
    let first = session.and_then(base_of).map_or(0, |base| base.end_ordinal_exclusive);
    let ordinals: Vec<u64> = earlier.iter().map(|record| ordinal(record, first)).collect();
    let end = ordinals.iter().max().map_or(0, |last| last.saturating_add(1));
    if end < expected.end_ordinal_exclusive {
        let wanted = expected.end_ordinal_exclusive;
        return Err(invalid(
            "base",
            format!(
                "the base ends before ordinal {end}, and the fork continues ordinal {wanted}; pass the whole rollout"
            ),
        ));
    }
    let history = earlier.iter().zip(ordinals).filter(|(_, ordinal)| *ordinal < expected.end_ordinal_exclusive);
    let history = history.map(|(record, _)| record).filter(|record| session_of(&record.value).is_none());
    let older = session.and_then(|session| session.get("history_base")).cloned().unwrap_or_default();
    let mut out = Vec::with_capacity(bytes.len().saturating_add(base.len()));
    let mut history = Some(history);
    for record in &fork {
        let is_fork = session_of(&record.value).and_then(base_of).is_some();
        let Some(history) = history.take_if(|_| is_fork) else {
            push(&mut out, record.bytes);
            continue;
        };
        let mut line = record.value.clone();
        if let Some(session) = line.get_mut("payload").and_then(Value::as_object_mut) {
            session.insert("history_base".to_owned(), older.clone());
        }
        push(&mut out, json::text(&line).as_bytes());
        history.for_each(|record| push(&mut out, record.bytes));
    }
    Ok(JoinedFork { bytes: out, diagnostics })
}

fn records(bytes: &[u8]) -> (Vec<Record<'_>>, Vec<Diagnostic>) {
    let mut reader = Reader::recovering(bytes, codex::is_record(true));
    let records = reader.by_ref().collect();
    (records, reader.finish())
}

fn push(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    out.push(b'\n');
}

/// The fields of a line with the session.
fn session_of(line: &Map<String, Value>) -> Option<&Map<String, Value>> {
    line.get("payload").and_then(Value::as_object).filter(|_| text(line, "type") == Some("session_meta"))
}

fn base_of(session: &Map<String, Value>) -> Option<ForkBase> {
    let HistoryBase { thread_id, end_ordinal_exclusive } = history_base(session)?;
    Some(ForkBase { thread_id: thread_id?.to_owned(), end_ordinal_exclusive: end_ordinal_exclusive? })
}

/// The ordinal of a line. Rollouts without ordinals count their lines, `first` those of their base.
fn ordinal(record: &Record<'_>, first: u64) -> u64 {
    let counted = || first.saturating_add(u64::from(record.line.saturating_sub(1)));
    record.value.get("ordinal").and_then(Value::as_u64).unwrap_or_else(counted)
}

fn invalid(path: &str, message: String) -> Error {
    Error::new(Code::InvalidInput, message).with("path", path)
}
