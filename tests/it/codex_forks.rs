//! Rollouts of Codex that are forks (docs/sessions.md): without its base a history is never shorter without an error.

use ctxweave::commits::formats::{BlobSource, Format};
use ctxweave::commits::translate::{CrossFamily, Delta, TranslateOptions, translate};
use ctxweave::commits::{CommitGraph, PlanRequest, Stop, materialize};
use ctxweave::tokens::Heuristic;
use ctxweave::{Diagnostic, DiagnosticCode, Limits, Severity};
use serde_json::{Value, json};

use crate::imports::import_every;
use crate::transcripts::{lines, read, texts};

const THREAD: &str = "01a21571-ddf2-7340-b3d0-974b0e78b52f";

fn line(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-11-26T01:21:53.705Z", "type": kind, "payload": payload })
}

fn message(role: &str, text: &str) -> Value {
    line(
        "response_item",
        json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] }),
    )
}

fn rollout(base: Value, compacted: bool) -> Vec<u8> {
    let mut records = vec![
        line("session_meta", json!({ "id": "fork", "cli_version": "0.146.0", "history_base": base })),
        message("user", "and now?"),
        message("assistant", "now this"),
    ];
    if compacted {
        let history =
            json!([{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "summary" }] }]);
        records.push(line("compacted", json!({ "message": "", "replacement_history": history })));
        records.extend([message("user", "go on"), message("assistant", "done")]);
    }
    lines(&records)
}

fn base() -> Value {
    json!({ "thread_id": THREAD, "end_ordinal_exclusive": 42, "end_byte_offset": 1000 })
}

/// Exactly one finding, an error that names the thread and the end.
fn is_reported(found: &[Diagnostic]) -> bool {
    let missing: Vec<_> = found.iter().filter(|found| found.code == DiagnosticCode::MissingBase).collect();
    assert!(missing.len() <= 1, "{found:?}");
    for found in &missing {
        assert_eq!(found.severity, Severity::Error);
        assert!(found.message.contains(THREAD) && found.message.contains("42"), "{found:?}");
        assert!(found.message.len() < 160, "{found:?}");
    }
    !missing.is_empty()
}

fn translated(file: &[u8], to: &str, cross_family: CrossFamily, through_compactions: bool) -> Vec<Diagnostic> {
    let (limits, counter) = (Limits::default(), Heuristic);
    let options = TranslateOptions { cross_family, through_compactions, limits: &limits, counter: &counter };
    let part = Delta { format: "codex-v1", blob: file, source: BlobSource::default(), summary: None };
    translate(&[part], to, &options).unwrap().diagnostics
}

#[test]
fn a_fork_without_its_base_is_an_error_wherever_it_is_read() {
    let file = rollout(base(), false);
    let (transcript, found) = read(Format::CodexV1, &file, false);
    assert_eq!(texts(&transcript), ["user: and now?", "assistant: now this"]);
    assert!(is_reported(&found), "{found:?}");
    assert_eq!(found.iter().find(|it| it.code == DiagnosticCode::MissingBase).unwrap().line, Some(1));
    for through in [false, true] {
        for cross_family in [CrossFamily::Render, CrossFamily::Transcode] {
            for format in Format::ALL.iter().map(|format| format.name()).chain(["unknown"]) {
                assert!(is_reported(&translated(&file, format, cross_family, through)), "{format}");
            }
        }
    }
    let import = import_every(Format::CodexV1, &file, 1);
    assert!(is_reported(&import.diagnostics), "{:?}", import.diagnostics);
    let mut graph = CommitGraph::default();
    graph.import_jsonl(&crate::commits::jsonl(import.records.clone())).unwrap();
    for format in [None, Some("codex-v0"), Some("claude-code-v1")] {
        for stop in [Stop::Compaction, Stop::Root] {
            let format = format.map(str::to_owned);
            let request = PlanRequest { commit: import.tip.clone(), stop, format, ..PlanRequest::default() };
            let find = |name: &str| import.blobs.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
            let found = materialize(&graph, request, find).unwrap().diagnostics;
            assert!(is_reported(&found), "{found:?}");
        }
    }
    let to_v0 = translated(&file, "codex-v0", CrossFamily::Render, false);
    assert!(is_reported(&to_v0));
}

/// A compaction replaces the history before it, that of the base too.
#[test]
fn after_a_compaction_nothing_of_the_base_is_missing() {
    let file = rollout(base(), true);
    assert!(!is_reported(&read(Format::CodexV1, &file, false).1));
    assert!(is_reported(&read(Format::CodexV1, &file, true).1));
    let import = import_every(Format::CodexV1, &file, 1);
    assert!(is_reported(&import.diagnostics), "the chain from the root misses it");
    let mut graph = CommitGraph::default();
    graph.import_jsonl(&crate::commits::jsonl(import.records.clone())).unwrap();
    for (stop, reported) in [(Stop::Compaction, false), (Stop::Root, true)] {
        let request = PlanRequest { commit: import.tip.clone(), stop, ..PlanRequest::default() };
        let find = |name: &str| import.blobs.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
        assert_eq!(is_reported(&materialize(&graph, request, find).unwrap().diagnostics), reported);
    }
}

/// Errors quote no empty id.
#[test]
fn a_fork_without_a_thread_id_is_described() {
    for base in [json!({}), json!({ "thread_id": " " }), json!({ "thread_id": 5, "end_ordinal_exclusive": 42 })] {
        let (_, found) = read(Format::CodexV1, &rollout(base.clone(), false), false);
        let found = found.iter().find(|it| it.code == DiagnosticCode::MissingBase).unwrap();
        let end = if base.get("end_ordinal_exclusive").is_some() { "`end_ordinal_exclusive` 42" } else { "the fork" };
        let expected = format!(
            "the session is a fork of a thread whose id is missing in `history_base`; its history before {end} is missing"
        );
        assert_eq!(found.message, expected);
    }
}

#[test]
fn a_session_that_is_no_fork_is_none() {
    for base in [Value::Null, json!(false)] {
        let file = rollout(base.clone(), false);
        let missing = |found: &[Diagnostic]| found.iter().any(|it| it.code == DiagnosticCode::MissingBase);
        assert_eq!(
            missing(&read(Format::CodexV1, &file, false).1),
            !base.is_null(),
            "a base of another shape is reported"
        );
        assert_eq!(missing(&import_every(Format::CodexV1, &file, 1).diagnostics), !base.is_null());
    }
}
