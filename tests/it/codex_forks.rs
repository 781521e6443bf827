//! Rollouts of Codex that are forks (docs/sessions.md): without its base a history is never shorter without an error.

use ctxweave::commits::formats::{BlobSource, Format, fork_base, join_fork_base};
use ctxweave::commits::import::import_transcript;
use ctxweave::commits::translate::{CrossFamily, Delta, TranslateOptions, translate};
use ctxweave::commits::{CommitGraph, PlanRequest, Stop, materialize};
use ctxweave::tokens::Heuristic;
use ctxweave::{Code, Diagnostic, DiagnosticCode, Limits, Severity};
use serde_json::{Value, json};

use crate::imports::{import_every, plain_options};
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
    let options =
        TranslateOptions { cross_family, through_compactions, limits: &limits, counter: &counter, formats: &[] };
    let part = Delta { format: "codex-v1", blob: file, source: BlobSource::default(), summary: None, time: None };
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
            for format in Format::WRITTEN.iter().map(|format| format.name()).chain(["unknown"]) {
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

/// A rollout of a thread whose lines have ordinals, from `first` on.
fn thread(id: &str, base: Value, first: u64, texts: &[&str]) -> Vec<u8> {
    let mut records = vec![line("session_meta", json!({ "id": id, "history_base": base }))];
    for pair in texts.chunks(2) {
        records.extend([message("user", pair[0]), message("assistant", pair[1])]);
    }
    for (record, ordinal) in records.iter_mut().zip(first..) {
        record["ordinal"] = json!(ordinal);
    }
    lines(&records)
}

fn on(thread: &str, end: u64) -> Value {
    json!({ "thread_id": thread, "end_ordinal_exclusive": end })
}

/// The base of a fork is asked for and joined at `end_ordinal_exclusive`; the base may be a fork itself.
#[test]
fn a_fork_is_joined_with_its_bases() {
    let root = thread("root", Value::Null, 0, &["one", "1", "two", "2"]);
    let middle = thread("middle", on("root", 3), 3, &["three", "3", "four", "4"]);
    let fork = thread("fork", on("middle", 6), 6, &["five", "5"]);
    let base = fork_base(&fork).unwrap();
    assert_eq!((base.thread_id.as_str(), base.end_ordinal_exclusive), ("middle", 6));
    let joined = join_fork_base(&fork, &middle).unwrap();
    assert_eq!(joined.diagnostics, []);
    assert_eq!(fork_base(&joined.bytes).unwrap().thread_id, "root");
    let whole = join_fork_base(&joined.bytes, &root).unwrap().bytes;
    assert_eq!(fork_base(&whole), None);
    let (transcript, found) = read(Format::CodexV1, &whole, false);
    assert_eq!(found, []);
    let said = ["user: one", "assistant: 1", "user: three", "assistant: 3", "user: five", "assistant: 5"];
    assert_eq!(texts(&transcript), said);
    let import = import_every(Format::CodexV1, &whole, 1);
    assert_eq!(import.diagnostics, []);
    assert_eq!(import.records[0].provenance.session_id.as_deref(), Some("fork"));
    // Older rollouts count their lines.
    let unnumbered = |file: &[u8]| {
        let text = String::from_utf8_lossy(file).into_owned();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let bare = records.map(|mut record| {
            record.as_object_mut().unwrap().remove("ordinal");
            record
        });
        lines(&bare.collect::<Vec<_>>())
    };
    let joined = join_fork_base(&unnumbered(&fork), &unnumbered(&middle)).unwrap().bytes;
    let joined = join_fork_base(&joined, &unnumbered(&root)).unwrap().bytes;
    assert_eq!(texts(&read(Format::CodexV1, &joined, false).0), said);
}

#[test]
fn another_base_is_refused() {
    let root = thread("root", Value::Null, 0, &["one", "1"]);
    let fork = thread("fork", on("root", 3), 3, &["two", "2"]);
    for (fork, base, said) in [
        (
            &fork,
            thread("other", Value::Null, 0, &["one", "1"]),
            "the base is the rollout of thread `other`; pass that of",
        ),
        (
            &fork,
            thread("root", Value::Null, 0, &[]),
            "the base ends before ordinal 1, and the fork continues ordinal 3;",
        ),
        (&fork, Vec::new(), "the base is the rollout of no thread; pass that of thread `root`"),
        (&root, root.clone(), "the rollout is not a fork: it lacks a `history_base` with thread and end"),
        (&fork, b"\x28\xb5\x2f\xfd rest".to_vec(), "it is compressed by zstd; decompress it first"),
    ] {
        let message = join_fork_base(fork, &base).unwrap_err().message().to_owned();
        assert!(message.contains(said) && message.len() < 160, "{message}");
    }
    // Damage in the base is reported.
    let damaged = [&root[..root.len() - 1], b"\n{\"cut"].concat();
    assert_eq!(join_fork_base(&fork, &damaged).unwrap().diagnostics.len(), 1);
}

/// Codex compresses its older rollouts.
#[test]
fn compressed_rollouts_are_refused_by_name() {
    let (zstd, gzip) = (b"\x28\xb5\x2f\xfd\x04\x00", b"\x1f\x8b\x08\x00\x00\x00");
    for (file, name, advice) in [(zstd, "zstd", "`zstd -d`"), (gzip, "gzip", "`gzip -d`")] {
        let limits = Limits::default();
        let read = Format::CodexV1.read(file, Default::default(), &limits).unwrap_err();
        let options = plain_options(&limits);
        let import = import_transcript(Format::CodexV1, file, &options).unwrap_err();
        for error in [read, import] {
            assert_eq!(error.code(), Code::InvalidBlob);
            assert!(error.message().contains(name) && error.message().contains(advice), "{error}");
        }
    }
}
