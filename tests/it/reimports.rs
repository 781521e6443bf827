//! Importing a session again after it has grown (docs/sessions.md): both imports have the same commits in common.

use std::collections::BTreeMap;

use ctxweave::commits::formats::Format;
use ctxweave::commits::import::{ImportOptions, import_transcript};
use ctxweave::commits::{CommitGraph, Provenance, Record, Trigger};
use ctxweave::tokens::Heuristic;
use ctxweave::{Code, Limits};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::cases;
use crate::growing_sessions::claude_session;
use crate::imports::import_every;
use crate::transcripts::{SESSIONS, session};

/// Titles may change.
fn records(format: Format, file: &[u8], every: u32) -> Vec<Record> {
    let untitled = |record: Record| match record.commit_type.as_str() {
        "delta" => Record { summary: None, ..record },
        _ => record,
    };
    import_every(format, file, every).records.into_iter().map(untitled).collect()
}

fn options(limits: &Limits, every: u32) -> ImportOptions<'_> {
    ImportOptions {
        format_name: None,
        provenance: Provenance::default(),
        parent: None,
        created_at: Some("2026-03-02T12:00:00Z"),
        every,
        resume: None,
        growing: false,
        whole_file: false,
        counter: &Heuristic,
        limits,
    }
}

fn line_ends(file: &[u8]) -> impl Iterator<Item = usize> {
    file.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1)
}

/// The places in a file before which everything is settled.
fn boundaries(format: Format, file: &[u8], every: u32) -> Vec<usize> {
    let limits = Limits::default();
    let growing = ImportOptions { growing: true, ..options(&limits, every) };
    let resume = |end| import_transcript(format, &file[..end], &growing).unwrap().resume.unwrap();
    let mut boundaries: Vec<usize> = line_ends(file).map(|end| resume(end).consumed as usize).collect();
    boundaries.dedup();
    boundaries
}

/// A session that was over, and then was not.
fn continues(format: Format, file: &[u8], end: usize, every: u32) {
    let limits = Limits::default();
    let options = options(&limits, every);
    let first = import_transcript(format, &file[..end], &options).unwrap();
    let resume = first.resume.unwrap();
    let rest = ImportOptions { resume: Some(&resume), ..options };
    let rest = match import_transcript(format, &file[resume.offset as usize..], &rest) {
        Err(error) if error.code() == Code::ResumeIncomplete => return,
        rest => rest.unwrap(),
    };
    let mut graph = CommitGraph::default();
    for records in [first.records, rest.records] {
        graph.import_jsonl(&crate::commits::jsonl(records)).unwrap();
    }
}

/// Imports a prefix, then the whole.
fn again(format: Format, prefix: &[u8], whole: &[u8], every: u32) -> (Vec<Record>, Vec<Record>) {
    let (prefix, whole) = (records(format, prefix, every), records(format, whole, every));
    let mut graph = CommitGraph::default();
    for records in [&prefix, &whole, &prefix] {
        graph.import_jsonl(&crate::commits::jsonl(records.clone())).unwrap();
    }
    (prefix, whole)
}

fn check(format: Format, file: &[u8], every: u32) {
    for end in boundaries(format, file, every) {
        let (prefix, whole) = again(format, &file[..end], file, every);
        let whole: BTreeMap<&str, &Record> = whole.iter().map(|record| (record.id.as_str(), record)).collect();
        for record in &prefix {
            assert_eq!(whole.get(record.id.as_str()), Some(&record), "{format}, {end}");
        }
    }
    // Wherever a file ends, no commit of it collides with one of the file that it becomes.
    for end in line_ends(file) {
        again(format, &file[..end], file, every);
        continues(format, file, end, every);
    }
}

#[test]
fn a_longer_session_keeps_its_commits() {
    for (name, format) in SESSIONS.into_iter().filter(|(name, _)| name.ends_with("jsonl")) {
        for every in [1, 3] {
            check(format, &session(name), every);
        }
    }
}

/// `session_end` is written by a Checkpointer only.
#[test]
fn no_import_ends_a_session() {
    for (name, format) in SESSIONS {
        let import = import_every(format, &session(name), 1);
        assert!(import.records.iter().all(|record| record.checkpoint != Some(Trigger::SessionEnd)), "{name}");
        let last = import.records.iter().find(|record| Some(&record.id) == import.tip.as_ref()).unwrap();
        let expected = if format == Format::BureauAgentV1 { Trigger::Explicit } else { Trigger::TurnBoundary };
        assert_eq!(last.checkpoint, Some(expected), "{name}");
    }
}

/// An object is written again each time, with the current time.
#[test]
fn a_session_that_is_one_object_gives_the_commits_that_it_gave() {
    let mut messages: Vec<Value> = Vec::new();
    let mut imports: Vec<Vec<Record>> = Vec::new();
    for turn in 0..4 {
        messages.push(json!({ "id": format!("u{turn}"), "type": "user", "content": "question", "timestamp": format!("2026-03-02T09:0{turn}:00Z") }));
        messages.push(json!({ "id": format!("g{turn}"), "type": "gemini", "content": "answer", "timestamp": format!("2026-03-02T09:0{turn}:09Z") }));
        let object = json!({ "sessionId": "s", "projectHash": "p", "startTime": "2026-03-02T09:00:00Z",
            "lastUpdated": format!("2026-03-02T09:0{turn}:10Z"), "messages": messages });
        imports.push(records(Format::GeminiV1, object.to_string().as_bytes(), 1));
    }
    for pair in imports.windows(2) {
        assert_eq!(pair[0], pair[1][..pair[0].len()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    #[test]
    fn a_longer_session_with_branches_keeps_its_commits(
        steps in prop::collection::vec(any::<(u8, u16)>(), 1..16), every in prop::sample::select(vec![1_u32, 3]),
    ) {
        check(Format::ClaudeCodeV1, &claude_session(&steps), every);
    }
}
