//! Imports of whole session files as commits (docs/sessions.md, `importTranscript`).

use std::collections::BTreeMap;

use ctxweave::commits::formats::{BlobSource, Concatenator, Format};
use ctxweave::commits::import::{Import, ImportOptions, import_transcript};
use ctxweave::commits::translate::CrossFamily;
use ctxweave::commits::{CommitGraph, CommitType, PlanRequest, Provenance, Record, Stop, artifact_ref, materialize};
use ctxweave::tokens::Heuristic;
use ctxweave::{Code, DiagnosticCode, Limits};
use serde_json::{Value, json};

use crate::transcripts::{SESSIONS, lines, read, session, texts};

/// A commit for each turn, without an origin.
pub(crate) fn plain_options(limits: &Limits) -> ImportOptions<'_> {
    ImportOptions {
        format_name: None,
        provenance: Provenance::default(),
        parent: None,
        created_at: None,
        every: 1,
        resume: None,
        growing: false,
        whole_file: false,
        counter: &Heuristic,
        limits,
    }
}

/// The blobs are ranges of the bytes, which a test does not want to keep.
pub(crate) fn import_every(format: Format, bytes: &[u8], every: u32) -> Import<'static> {
    let bytes: &'static [u8] = Box::leak(bytes.into());
    let limits = Limits::default();
    let options = ImportOptions {
        provenance: Provenance { template: Some("reviewer".to_owned()), ..Provenance::default() },
        created_at: Some("2026-03-02T12:00:00Z"),
        every,
        ..plain_options(&limits)
    };
    import_transcript(format, bytes, &options).unwrap()
}

pub(crate) fn blob<'i>(import: &'i Import<'_>, record: &Record) -> &'i [u8] {
    &import.blobs.iter().find(|(name, _)| *name == record.artifact_ref).unwrap().1
}

/// From the root to a commit.
pub(crate) fn chain<'i>(import: &'i Import<'_>, tip: &str) -> Vec<&'i Record> {
    let find = |id: &str| import.records.iter().find(|record| record.id == id).unwrap();
    let mut chain = vec![find(tip)];
    while let Some(parent) = &chain[chain.len() - 1].parent {
        chain.push(find(parent));
    }
    chain.reverse();
    chain
}

/// The bytes from the root to the newest commit, without summaries: what `materialize` gives with the stop `root`.
fn whole(import: &Import<'_>, tip: &str) -> Vec<u8> {
    let kept = chain(import, tip).into_iter().filter(|record| record.commit_type != CommitType::Compaction);
    kept.flat_map(|record| blob(import, record).to_vec()).collect()
}

fn said(transcript: &ctxweave::commits::transcript::Transcript) -> Vec<String> {
    transcript.turns.iter().map(|turn| format!("{:?} {:?}", turn.role, turn.blocks)).collect()
}

/// Refs are hashes of the blobs, ids follow from the fields, parents come before children.
#[test]
fn records_and_blobs_fit_together() {
    for (name, format) in SESSIONS {
        let import = import_every(format, &session(name), 1);
        let mut known: Vec<&str> = Vec::new();
        for record in &import.records {
            assert_eq!(artifact_ref(blob(&import, record)), record.artifact_ref, "{name}");
            assert_eq!(record.derived_id(), record.id, "{name}");
            assert!(record.parent.as_deref().is_none_or(|parent| known.contains(&parent)), "{name}");
            assert_eq!(record.format, format.name());
            known.push(&record.id);
        }
        assert!(import.tip.as_deref().is_some_and(|tip| known.contains(&tip)), "{name}");
        let mut unique = known.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), known.len(), "{name}: ids are unique");
    }
}

/// Every line is in exactly one blob, byte for byte, but for the header that a compaction repeats.
#[test]
fn every_line_is_in_exactly_one_blob() {
    for (name, format) in SESSIONS.into_iter().filter(|(name, _)| name.ends_with("jsonl")) {
        let file = session(name);
        for every in [1, 2, 100] {
            let import = import_every(format, &file, every);
            let mut found: BTreeMap<&[u8], usize> = BTreeMap::new();
            let lines = import.records.iter().flat_map(|record| blob(&import, record).split(|&byte| byte == b'\n'));
            for line in lines.filter(|line| !line.is_empty()) {
                *found.entry(line).or_default() += 1;
            }
            for line in file.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let left = found.get_mut(line).unwrap_or_else(|| panic!("{name}: {}", String::from_utf8_lossy(line)));
                *left -= 1;
            }
            for (line, left) in found {
                let header = String::from_utf8_lossy(line).contains("session_meta");
                assert!(left == 0 || (header && left == 1), "{name}, every {every}: {left} too many");
            }
        }
    }
}

/// Checkpointing every turn or every N turns materializes the same bytes, with the texts of the file.
#[test]
fn the_chain_has_the_texts_of_the_file() {
    for (name, format) in SESSIONS.into_iter().filter(|(_, format)| *format != Format::BureauAgentV1) {
        let file = session(name);
        let once = import_every(format, &file, 1);
        let bytes = whole(&once, once.tip.as_ref().unwrap());
        for every in [2, 3, 100] {
            let seldom = import_every(format, &file, every);
            assert!(seldom.records.len() <= once.records.len());
            let seldom = whole(&seldom, seldom.tip.as_ref().unwrap());
            if format == Format::ClaudeCodeV1 {
                // A branch may leave in the middle of a commit: its lines there are not part of the result.
                assert_eq!(
                    said(&read(format, &seldom, true).0),
                    said(&read(format, &bytes, true).0),
                    "{name}, every {every}"
                );
            } else {
                assert_eq!(seldom, bytes, "{name}, every {every}");
            }
        }
        assert_eq!(said(&read(format, &bytes, true).0), said(&read(format, &file, true).0), "{name}");
        // From the newest compaction on: what the model had before it.
        let chain = chain(&once, once.tip.as_ref().unwrap());
        let from = chain.iter().rposition(|record| record.commit_type == CommitType::Compaction).unwrap_or(0);
        let recent: Vec<u8> = chain[from..].iter().flat_map(|record| blob(&once, record).to_vec()).collect();
        assert_eq!(said(&read(format, &recent, false).0), said(&read(format, &file, false).0), "{name}");
    }
}

/// A `compact_boundary` and the summary after it become a compaction commit on import; everything before it is saved
/// first.
#[test]
fn compactions_become_compaction_commits() {
    let import = import_every(Format::ClaudeCodeV1, &session("claude-code.jsonl"), 1);
    let chain = chain(&import, import.tip.as_ref().unwrap());
    let at = chain.iter().position(|record| record.commit_type == CommitType::Compaction).unwrap();
    let lines = String::from_utf8(blob(&import, chain[at]).to_vec()).unwrap();
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.contains("compact_boundary") && lines.contains("isCompactSummary"));
    assert!(chain[at].summary.as_deref().unwrap().starts_with("This session is being continued"));
    assert_eq!(chain[at].checkpoint.as_ref().unwrap().as_str(), "compaction");
    assert_eq!(chain[at - 1].checkpoint.as_ref().unwrap().as_str(), "turn_boundary", "what came before is saved first");
    assert_eq!(chain[at].message_count, Some(1));
    let import = import_every(Format::CodexV1, &session("codex-v1.jsonl"), 1);
    assert_eq!(import.records.iter().filter(|record| record.commit_type == CommitType::Compaction).count(), 1);
}

/// Other leaves become branches, and so do side chains.
#[test]
fn branches_and_side_chains_are_distinguished() {
    let import = import_every(Format::ClaudeCodeV1, &session("claude-code.jsonl"), 100);
    assert_eq!(import.branches.len(), 2);
    let side = import.branches.iter().find(|branch| branch.side_chain).unwrap();
    let record = import.records.iter().find(|record| record.id == side.tip).unwrap();
    assert_eq!(record.parent, None, "another agent has not seen the conversation");
    assert_eq!(record.other[0].0, "side_chain_of");
    assert!(String::from_utf8_lossy(blob(&import, record)).contains("Find every place"));
    let left = import.branches.iter().find(|branch| !branch.side_chain).unwrap();
    let from = left.from.as_deref().unwrap();
    let record = import.records.iter().find(|record| record.id == left.tip).unwrap();
    assert_eq!(record.parent.as_deref(), Some(from));
    // The commit that it leaves from ends exactly there, however seldom there are commits.
    let before = whole(&import, from);
    assert!(String::from_utf8_lossy(&before).contains("Shall I run all tests?"));
    assert!(!String::from_utf8_lossy(&before).contains("Use decimals instead"));
    assert!(String::from_utf8_lossy(&whole(&import, &left.tip)).ends_with("pass.\"}],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":812,\"output_tokens\":64}},\"requestId\":\"req_04D\",\"uuid\":\"c1a0de0e-0000-4000-8000-00000000000e\",\"timestamp\":\"2026-03-02T09:00:14.000Z\"}\n"));
}

/// Many branches, and branches of branches, take linear time and no stack.
#[test]
fn many_branches_are_no_problem() {
    let user = |uuid: usize, parent: Option<usize>| -> Value {
        let parent = parent.map(|parent| parent.to_string());
        json!({ "type": "user", "uuid": uuid.to_string(), "parentUuid": parent, "timestamp": "2026-03-02T09:00:00Z",
            "message": { "role": "user", "content": format!("text {uuid}") } })
    };
    let file = |parent: fn(usize) -> usize| -> Vec<u8> {
        (0..4_000).map(|n| format!("{}\n", user(n, (n > 0).then(|| parent(n))))).collect::<String>().into_bytes()
    };
    for (parent, branches) in [((|_| 0) as fn(usize) -> usize, 3_998), (|n| n - 1, 0), (|n| n / 2, 1_999)] {
        let import = import_every(Format::ClaudeCodeV1, &file(parent), 1);
        assert_eq!(import.branches.len(), branches);
        for branch in import.branches.iter().take(50) {
            assert!(branch.from.is_some());
        }
    }
}

/// A materialization stops at the named compaction unless requested otherwise, so its summary is in either result, in any
/// format.
#[test]
fn a_compaction_that_is_named_is_the_beginning() {
    let import = import_every(Format::ClaudeCodeV1, &session("claude-code.jsonl"), 1);
    let (mut graph, tip) = (CommitGraph::default(), import.tip.clone().unwrap());
    graph.import_jsonl(&crate::commits::jsonl(import.records.clone())).unwrap();
    let named = chain(&import, &tip).into_iter().rfind(|record| record.commit_type == CommitType::Compaction).unwrap();
    let materialized = |stop: Stop| {
        let request = PlanRequest {
            commit: Some(tip.clone()),
            stop,
            format: Some("generic-v1".to_owned()),
            cross_family: CrossFamily::Transcode,
            ..PlanRequest::default()
        };
        let find = |name: &str| import.blobs.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
        String::from_utf8(materialize(&graph, request, find).unwrap().bytes).unwrap()
    };
    let by_default = materialized(Stop::Compaction);
    assert_eq!(materialized(Stop::At(named.id.clone())), by_default);
    assert!(materialized(Stop::Root).lines().count() > by_default.lines().count());
}

#[test]
fn misuse_is_reported() {
    let limits = Limits::default();
    let options = plain_options(&limits);
    let line = b"{\"role\":\"user\",\"content\":\"x\"}\n";
    let wrong = [
        options.clone(),
        ImportOptions { created_at: Some("yesterday"), ..options.clone() },
        ImportOptions { every: 0, ..options.clone() },
    ];
    for options in wrong {
        let error = import_transcript(Format::GenericV1, line, &options).unwrap_err();
        assert_eq!(error.code(), Code::InvalidInput);
    }
    assert!(import_transcript(Format::GenericV1, b"", &options).unwrap().tip.is_none(), "an empty file needs no time");
}

/// Every line becomes conversation, known metadata or a diagnostic, whether it is read or imported; older or looser
/// lines are read.
#[test]
fn no_line_vanishes_without_a_word() {
    use Format::{ClaudeCodeV1, CodexV0, CodexV1, GeminiV1, GenericV1};
    let codes = |found: &[ctxweave::Diagnostic]| found.iter().map(|found| found.code).collect::<Vec<_>>();
    let item =
        |payload: Value| json!({ "timestamp": "2026-03-02T09:00:00Z", "type": "response_item", "payload": payload });
    let claude = |message: Value| json!({ "type": "user", "uuid": "a", "message": message });
    let ok = |kind: &str| json!({ "type": kind, "text": "ok" });
    let part = |part: Value| claude(json!({ "role": "user", "content": [part, ok("text")] }));
    let hello = json!({ "role": "user", "content": "hello" });
    for (format, record) in [
        (CodexV1, item(hello.clone())),
        (CodexV1, json!({ "payload": { "type": "message", "role": "user", "content": "hello" } })),
        (CodexV0, json!({ "id": "m", "role": "user", "content": "hello" })),
        (ClaudeCodeV1, claude(json!("hello"))),
        (GeminiV1, json!({ "type": "user", "content": "hello" })),
    ] {
        let file = lines(&[record]);
        let (transcript, found) = read(format, &file, false);
        assert_eq!((texts(&transcript), codes(&found)), (vec!["user: hello".to_owned()], vec![]), "{format}");
        let import = import_every(format, &file, 1);
        assert_eq!((import.records[0].message_count, codes(&import.diagnostics)), (Some(1), vec![]), "{format}");
    }
    let model = lines(&[json!({ "id": "1", "type": "model", "content": "hello" })]);
    assert_eq!(texts(&read(GeminiV1, &model, false).0), ["assistant: hello"]);

    let (unknown, nothing) = (DiagnosticCode::UnknownRecord, DiagnosticCode::NoMessages);
    for (format, record, speaks) in [
        (CodexV1, item(json!({})), false),
        (CodexV1, item(json!({ "type": "message", "role": "user", "content": 42 })), false),
        (CodexV1, item(json!({ "role": "user" })), false),
        (ClaudeCodeV1, claude(json!({ "role": "user", "content": 42 })), false),
        (ClaudeCodeV1, claude(json!({ "role": "user", "content": null })), false),
        (ClaudeCodeV1, claude(json!({ "role": "user" })), false),
        (ClaudeCodeV1, claude(json!(42)), false),
        (ClaudeCodeV1, json!({ "type": "user", "uuid": "a" }), false),
        (GeminiV1, json!({ "id": "1", "type": "user", "content": 5 }), false),
        (GeminiV1, json!({ "id": "1", "type": "user" }), false),
        (GeminiV1, json!({ "id": "1", "content": "x" }), false),
        (GeminiV1, json!({ "id": "1", "type": "gemini", "content": "x", "thoughts": ["y"] }), true),
        (GeminiV1, json!({ "id": "1", "type": "gemini", "content": "x", "toolCalls": [5] }), true),
        (GeminiV1, json!({ "sessionId": "s", "messages": [5] }), false),
        (GenericV1, json!({ "role": "user", "content": 5 }), true),
        (GenericV1, json!({ "role": "user" }), true),
        (GenericV1, json!({ "role": "nobody", "content": "x" }), false),
        (GenericV1, json!({ "role": "assistant", "content": "x", "tool_calls": [5] }), true),
        (GenericV1, json!({ "role": "assistant", "content": "x", "tool_calls": [{ "id": "1" }] }), true),
        (CodexV1, json!({ "type": "compacted", "payload": { "message": "x", "replacement_history": [5] } }), true),
        // Parts that lack what they are there for.
        (ClaudeCodeV1, part(json!({ "type": "text", "text": 7 })), true),
        (ClaudeCodeV1, part(json!({ "type": "thinking", "thinking": null })), true),
        (ClaudeCodeV1, part(json!({ "type": "image", "source": 5 })), true),
        (ClaudeCodeV1, part(json!({ "type": "image", "source": { "type": "base64", "data": 5 } })), true),
        (
            CodexV1,
            item(json!({ "role": "user", "content": [{ "type": "input_text", "text": 7 }, ok("input_text")] })),
            true,
        ),
        (CodexV1, item(json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": 7 }] })), false),
        (
            CodexV1,
            item(json!({ "role": "user", "content": [{ "type": "input_image", "image_url": 5 }, ok("input_text")] })),
            true,
        ),
        (GenericV1, json!({ "role": "assistant", "content": [{ "type": "reasoning", "text": 7 }, ok("text")] }), true),
        (GenericV1, json!({ "role": "user", "content": [{ "type": "tool_reference" }, ok("text")] }), true),
        (GeminiV1, json!({ "id": "1", "type": "gemini", "content": "ok", "thoughts": [{ "subject": 7 }] }), true),
        (GeminiV1, json!({ "id": "1", "type": "user", "content": [{ "text": 7 }, { "text": "ok" }] }), true),
        (
            GeminiV1,
            json!({ "id": "1", "type": "user", "content": [{ "inlineData": { "mimeType": "image/png" } }, "ok"] }),
            true,
        ),
    ] {
        let file = lines(std::slice::from_ref(&record));
        let unknown = if record["role"] == "nobody" { DiagnosticCode::ContentLeftOut } else { unknown };
        let expected = if speaks { vec![unknown] } else { vec![nothing, unknown] };
        let (transcript, said) = read(format, &file, false);
        assert_eq!(codes(&said), expected, "{format} {record}");
        if record.to_string().contains("\"ok\"") {
            assert!(texts(&transcript)[0].ends_with(": ok"), "nothing is made up: {record}: {transcript:?}");
        }
        let found = import_every(format, &file, 1).diagnostics;
        assert!(codes(&found).contains(&unknown), "{format} {record}: {found:?}");
        assert_eq!(codes(&found).contains(&nothing), !speaks, "{format} {record}: {found:?}");
    }
    // Only known metadata: the only finding is that it has no conversation.
    for (format, record) in [
        (ClaudeCodeV1, json!({ "type": "summary", "summary": "title", "leafUuid": "x" })),
        (CodexV1, json!({ "timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": { "id": "s" } })),
        (GeminiV1, json!({ "sessionId": "s", "projectHash": "" })),
    ] {
        let file = lines(&[record]);
        assert_eq!(codes(&read(format, &file, false).1), [nothing], "{format}");
        assert_eq!(codes(&import_every(format, &file, 1).diagnostics), [nothing], "{format}");
    }
    assert_eq!(codes(&import_every(Format::BureauAgentV1, &[0x80], 1).diagnostics), [nothing]);
    for format in Format::ALL.iter().filter(|format| !matches!(format, Format::BureauAgentV1 | Format::EventsV1)) {
        for empty in [&b""[..], b"\n"] {
            assert_eq!(codes(&read(*format, empty, false).1), [nothing], "{format}");
            assert_eq!(codes(&import_every(*format, empty, 1).diagnostics), [nothing], "{format}");
        }
    }
    let without_content = b"\x81\xa1\x64Role\x64user";
    assert_eq!(codes(&import_every(Format::BureauAgentV1, without_content, 1).diagnostics), [unknown]);
    // Content that a branch or another agent cannot hold is reported too.
    let side =
        json!({ "type": "user", "uuid": "s", "isSidechain": true, "message": { "role": "user", "content": 42 } });
    let import = import_every(ClaudeCodeV1, &lines(&[claude(hello), side]), 1);
    assert_eq!(codes(&import.diagnostics), [unknown]);
}

/// Records of Gemini CLI without an id are in the blobs too.
#[test]
fn messages_without_an_id_are_imported() {
    let file = json!({ "sessionId": "s", "messages": [
        { "type": "user", "content": "one" },
        { "id": "2", "type": "gemini", "content": "two" },
        { "type": "user", "content": "three" },
    ] });
    let file = file.to_string().into_bytes();
    let import = import_every(Format::GeminiV1, &file, 1);
    assert_eq!(import.diagnostics, []);
    let bytes = whole(&import, import.tip.as_ref().unwrap());
    let expected = texts(&read(Format::GeminiV1, &file, true).0);
    assert_eq!(expected.len(), 3);
    assert_eq!(texts(&read(Format::GeminiV1, &bytes, true).0), expected);
}

/// An empty id is no id: it does not make one of two.
#[test]
fn an_empty_id_is_no_id() {
    let message = |kind: &str, content: &str| json!({ "id": "", "type": kind, "content": content });
    let call = |args: Value| json!({ "id": "", "name": "n", "args": args });
    let mut calls = message("gemini", "");
    calls["toolCalls"] = json!([call(json!({ "a": 1 })), call(json!({ "a": 2 }))]);
    let messages = [message("user", "e1"), message("gemini", "e2"), calls];
    let object = json!({ "sessionId": "s", "messages": messages }).to_string().into_bytes();
    let said = ["user: e1", "assistant: e2", "assistant: call call_1, call call_2"];
    for file in [&object, &lines(&messages)] {
        let (transcript, found) = read(Format::GeminiV1, file, false);
        assert_eq!((texts(&transcript), found), (said.map(str::to_owned).to_vec(), vec![]));
    }
    let mut joined = Concatenator::new(Format::GeminiV1, &Limits::default(), 0);
    for blob in [&object, &object] {
        joined.push(blob, BlobSource::default()).unwrap();
    }
    assert_eq!(read(Format::GeminiV1, &joined.finish().unwrap().bytes, false).0.turns.len(), 6);
    let answer = |text: &str| json!({ "type": "assistant", "uuid": "", "message": { "id": "", "role": "assistant", "content": text } });
    let (transcript, found) = read(Format::ClaudeCodeV1, &lines(&[answer("one"), answer("two")]), false);
    assert_eq!((texts(&transcript), found), (vec!["assistant: one".to_owned(), "assistant: two".to_owned()], vec![]));
}

/// A byte that is not UTF-8 costs a character of the read text, nothing of the stored text, and is reported.
#[test]
fn a_byte_that_is_no_utf8_loses_no_record() {
    let broken = b"{\"role\":\"user\",\"content\":\"a\xff\xe2\x82z\"}";
    let file = [&b"{\"role\":\"user\",\"content\":\"one\"}\n"[..], broken, broken, b"\n"].concat();
    let (transcript, found) = read(Format::GenericV1, &file, false);
    assert_eq!(texts(&transcript), ["user: one", "user: a\u{fffd}\u{fffd}z", "user: a\u{fffd}\u{fffd}z"]);
    let told: Vec<_> = found.iter().map(|found| (found.code, found.line, found.column)).collect();
    let (utf8, glued) = (DiagnosticCode::InvalidUtf8, DiagnosticCode::GluedRecords);
    // U+FFFD has three bytes, and there were one and two of them.
    let second = broken.len() as u32 + 3;
    assert_eq!(told, [(utf8, Some(2), Some(28)), (utf8, Some(2), Some(28 + second)), (glued, Some(2), None)]);
    let import = import_every(Format::GenericV1, &file, 1);
    assert!(import.diagnostics.iter().any(|found| found.code == utf8), "{:?}", import.diagnostics);
    let stored = whole(&import, import.tip.as_ref().unwrap());
    assert_eq!(stored.windows(broken.len()).filter(|window| window == broken).count(), 2);
    // And so it is materialised: byte for byte, with a word about it.
    let mut graph = CommitGraph::default();
    graph.import_jsonl(&crate::commits::jsonl(import.records.clone())).unwrap();
    let request = PlanRequest { commit: import.tip.clone(), ..PlanRequest::default() };
    let find = |name: &str| import.blobs.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
    let result = materialize(&graph, request, find).unwrap();
    assert_eq!(result.bytes, stored);
    assert!(result.diagnostics.iter().all(|found| found.code == utf8) && result.diagnostics.len() == 2);
    // A session of Gemini CLI that is one object, on several lines.
    let object =
        [&b"{\n\"sessionId\":\"s\",\n\"messages\":[{\"type\":\"user\",\"content\":\"a\xffb\"}]\n}"[..]].concat();
    let (transcript, found) = read(Format::GeminiV1, &object, false);
    assert_eq!((texts(&transcript), found[0].code), (vec!["user: a\u{fffd}b".to_owned()], utf8));
    let import = import_every(Format::GeminiV1, &object, 1);
    assert_eq!((import.records[0].message_count, import.diagnostics[0].code), (Some(1), utf8));
    // Its blobs are written from the read records, which are texts: neither is stored unchanged, and no finding reports it.
    assert!(!import.blobs.iter().any(|(_, bytes)| bytes.contains(&0xff)));
    assert!(!import.diagnostics[0].message.contains("stored as it is"), "{:?}", import.diagnostics);
    let record = crate::commits::jsonl(vec![Record { summary: Some("sum".to_owned()), ..import.records[0].clone() }]);
    let at = record.windows(3).position(|window| window == b"sum").unwrap();
    let mut graph = CommitGraph::default();
    let found = graph.import_jsonl(&[&record[..at], b"\xff", &record[at..]].concat()).unwrap().diagnostics;
    assert!(found[0].code == utf8 && !found[0].message.contains("stored as it is"), "{found:?}");
    // A line that was cut within a character was cut.
    let cut = &b"{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"user\",\"content\":\"\xe2\x82"[..];
    assert_eq!(read(Format::GenericV1, cut, false).1[0].code, DiagnosticCode::TornLine);
}

/// A damaged line costs a session of Gemini CLI no more at the beginning than in the middle.
#[test]
fn a_damaged_first_line_loses_no_session() {
    let (said, header) = ("{\"id\":\"1\",\"type\":\"user\",\"content\":\"x\"}\n", "{\"sessionId\":\"s\"}\n");
    for damaged in ["{\"sessionId\":\"s", "5", "\"s\"", "{\"id\":\"0\",", "{\"id\":", "\u{feff}}"] {
        for (file, line) in [(format!("{damaged}\n{said}"), 1), (format!("{header}{damaged}\n{said}"), 2)] {
            let (transcript, found) = read(Format::GeminiV1, file.as_bytes(), false);
            assert_eq!(texts(&transcript), ["user: x"], "{file}");
            let import = import_every(Format::GeminiV1, file.as_bytes(), 1);
            assert_eq!(import.records[0].message_count, Some(1));
            for found in [found, import.diagnostics] {
                let found: Vec<_> = found.iter().map(|found| (found.code, found.line)).collect();
                assert_eq!(found, [(DiagnosticCode::MalformedLine, Some(line))], "{file}");
            }
            let mut joined = Concatenator::new(Format::GeminiV1, &Limits::default(), 0);
            joined.push(file.as_bytes(), BlobSource::default()).unwrap();
            assert_eq!(joined.finish().unwrap().bytes, file.as_bytes());
        }
    }
}

/// Blobs of `gemini-v1` that are joined in their own format are looked through as those of the other formats are.
#[test]
fn sessions_of_gemini_are_inspected_too() {
    let said = "{\"id\":\"1\",\"type\":\"user\",\"content\":\"x\"}";
    let known = "{\"sessionId\":\"s\"}\n{\"$set\":{\"a\":1}}\n{\"$rewindTo\":\"1\"}\n{\"id\":\"2\",\"type\":\"info\",\"content\":\"x\"}\n";
    let (damaged, unknown, utf8) =
        (DiagnosticCode::MalformedLine, DiagnosticCode::UnknownRecord, DiagnosticCode::InvalidUtf8);
    let object = |message: &str| format!("{{\"sessionId\":\"s\",\"messages\":[{said},{message}]}}").into_bytes();
    let lines = |line: &[u8]| [known.as_bytes(), line, b"\n", said.as_bytes(), b"\n"].concat();
    let odd = b"{\"id\":\"3\",\"type\":\"odd\"}";
    for (blob, expected) in [
        (lines(b""), vec![]),
        (lines(b"{\"id\":"), vec![(damaged, Some(5))]),
        (lines(odd), vec![(unknown, None)]),
        (lines(b"{\"odd\":1}"), vec![(unknown, None)]),
        (lines(b"{\"id\":\"3\",\"type\":\"user\",\"content\":\"\xff\"}"), vec![(utf8, Some(5))]),
        (object(said), vec![]),
        (object("{\"id\":\"3\",\"type\":\"odd\"}"), vec![(unknown, None)]),
        (object("5"), vec![(damaged, None)]),
    ] {
        let record = Record::new(CommitType::Delta, &artifact_ref(&blob), "gemini-v1", "2026-03-02T12:00:00Z");
        let mut graph = CommitGraph::default();
        let tip = graph.checkpoint(record).unwrap().id.clone();
        for skip_inspection in [false, true] {
            let request = PlanRequest { commit: Some(tip.clone()), skip_inspection, ..PlanRequest::default() };
            let result = materialize(&graph, request, |_| Some(blob.as_slice())).unwrap();
            assert_eq!(result.bytes, blob);
            let found: Vec<_> = result.diagnostics.iter().map(|found| (found.code, found.line)).collect();
            assert_eq!(
                found,
                if skip_inspection { vec![] } else { expected.clone() },
                "{}",
                String::from_utf8_lossy(&blob)
            );
        }
    }
}

/// CRLF survives untouched.
#[test]
fn line_ends_are_imported_as_they_are() {
    let line = "{\"role\":\"user\",\"content\":\"x\"}";
    let file = format!("\u{feff}{line}\r\n\r\n{line}\n {line}\r\n");
    let import = import_every(Format::GenericV1, file.as_bytes(), 1);
    assert_eq!(import.diagnostics, []);
    let stored = String::from_utf8(whole(&import, import.tip.as_ref().unwrap())).unwrap();
    assert_eq!(stored, format!("{line}\r\n{line}\n{line}\r\n"));
}
