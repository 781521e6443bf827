//! Compactions of Claude Code that preserve messages (docs/sessions.md): no message is lost or repeated.

use ctxweave::commits::formats::{Concatenator, Format};
use ctxweave::commits::translate::CrossFamily;
use ctxweave::commits::{CommitGraph, CommitType, PlanRequest, Stop, materialize};
use ctxweave::{DiagnosticCode, Limits};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::cases;
use crate::growing_sessions::{Kept, in_pieces};
use crate::imports::{blob, chain, import_every};
use crate::transcripts::{lines, read, texts};

/// A session under construction, and its texts.
#[derive(Default)]
struct Session {
    records: Vec<Value>,
    /// The uuids and texts of all messages, and of those that the model sees.
    all: Vec<(String, String)>,
    seen: Vec<(String, String)>,
    parent: Option<String>,
}

impl Session {
    fn time(&self) -> String {
        format!("2026-11-26T01:{:02}:{:02}.000Z", self.records.len() / 60, self.records.len() % 60)
    }

    fn say(&mut self, kind: &str) {
        let uuid = format!("{kind}-{}", self.records.len());
        let text = format!("text {uuid}");
        let mut message = json!({ "role": kind, "content": text });
        if kind == "assistant" {
            message["id"] = json!(format!("msg-{uuid}"));
        }
        let (time, parent) = (self.time(), self.parent.replace(uuid.clone()));
        self.records.push(json!({ "parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
            "uuid": uuid, "sessionId": "s", "timestamp": time }));
        self.all.push((uuid.clone(), format!("{kind}: {text}")));
        self.seen.push((uuid, format!("{kind}: {text}")));
    }

    fn turn(&mut self) {
        self.say("user");
        self.say("assistant");
    }

    /// Compacts all but the last few messages; what follows continues from the last of them, or from the summary.
    fn compact(&mut self, preserved: usize, from_tail: bool) {
        let kept = self.seen.split_off(self.seen.len().saturating_sub(preserved));
        let uuids: Vec<&String> = kept.iter().map(|(uuid, _)| uuid).collect();
        let (boundary, summary) =
            (format!("boundary-{}", self.records.len()), format!("summary-{}", self.records.len()));
        let time = self.time();
        self.records.push(
            json!({ "parentUuid": null, "logicalParentUuid": self.parent, "isSidechain": false, "type": "system",
            "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": boundary, "timestamp": time,
            "sessionId": "s", "compactMetadata": { "trigger": "manual", "preTokens": 11, "preservedMessages":
                { "anchorUuid": summary, "uuids": uuids, "allUuids": uuids } } }),
        );
        let text = format!("what happened until {summary}");
        self.records.push(json!({ "parentUuid": boundary, "isSidechain": false, "type": "user", "uuid": summary,
            "isVisibleInTranscriptOnly": true, "isCompactSummary": true, "timestamp": time, "sessionId": "s",
            "message": { "role": "user", "content": text } }));
        self.seen = vec![(summary.clone(), format!("user: {text}"))];
        self.parent = Some(match kept.last() {
            Some((tail, _)) if from_tail => tail.clone(),
            _ => summary,
        });
        self.seen.extend(kept);
    }

    fn file(&self) -> Vec<u8> {
        lines(&self.records)
    }
}

fn said(list: &[(String, String)]) -> Vec<String> {
    list.iter().map(|(_, text)| text.clone()).collect()
}

/// All that a reader, an import and a materialization give.
fn check(session: &Session) {
    let file = session.file();
    for (through, expected) in [(false, said(&session.seen)), (true, said(&session.all))] {
        let (transcript, found) = read(Format::ClaudeCodeV1, &file, through);
        assert_eq!(texts(&transcript), expected, "through {through}");
        assert_eq!(found, []);
    }
    let import = import_every(Format::ClaudeCodeV1, &file, 1);
    assert_eq!(import.diagnostics, []);
    assert_eq!(import.branches, [], "nothing of it is a branch");
    let mut graph = CommitGraph::default();
    graph.import_jsonl(&crate::commits::jsonl(import.records.clone())).unwrap();
    for (stop, expected) in [(Stop::Compaction, said(&session.seen)), (Stop::Root, said(&session.all))] {
        for format in [None, Some("generic-v1")] {
            let request = PlanRequest {
                commit: import.tip.clone(),
                stop: stop.clone(),
                format: format.map(str::to_owned),
                cross_family: CrossFamily::Transcode,
                ..PlanRequest::default()
            };
            let find = |name: &str| import.blobs.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
            let result = materialize(&graph, request, find).unwrap();
            let (format, through) = match format {
                None => (Format::ClaudeCodeV1, stop == Stop::Root),
                Some(_) => (Format::GenericV1, false),
            };
            assert_eq!(texts(&read(format, &result.bytes, through).0), expected, "{stop:?} {format}");
        }
    }
    // What was materialized is a session file like any other.
    let request = PlanRequest { commit: import.tip.clone(), ..PlanRequest::default() };
    let find = |name: &str| import.blobs.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
    let result = materialize(&graph, request, find).unwrap().bytes;
    let again = import_every(Format::ClaudeCodeV1, &result, 1);
    assert_eq!(again.branches, []);
    let mut joined = Concatenator::new(Format::ClaudeCodeV1, &Limits::default(), 0);
    for record in chain(&again, again.tip.as_ref().unwrap()) {
        joined.push(blob(&again, record), Default::default()).unwrap();
    }
    assert_eq!(texts(&read(Format::ClaudeCodeV1, &joined.finish().unwrap().bytes, false).0), said(&session.seen));
}

#[test]
fn preserved_messages_are_in_the_commit_of_their_compaction() {
    let mut session = Session::default();
    session.turn();
    session.turn();
    session.compact(3, false);
    check(&session);
    session.turn();
    check(&session);
    let import = import_every(Format::ClaudeCodeV1, &session.file(), 1);
    let chain = chain(&import, import.tip.as_ref().unwrap());
    let kinds: Vec<_> = chain.iter().map(|record| record.commit_type == CommitType::Compaction).collect();
    assert_eq!(kinds, [false, false, true, false]);
    assert_eq!(chain[2].message_count, Some(4));
    let compaction = String::from_utf8(blob(&import, chain[2]).to_vec()).unwrap();
    let file = String::from_utf8(session.file()).unwrap();
    let file: Vec<&str> = file.lines().collect();
    assert_eq!(compaction.lines().collect::<Vec<_>>(), [file[4], file[5], file[1], file[2], file[3]], "byte for byte");
}

/// The order is that of the list, whatever that of the file.
#[test]
fn preserved_messages_stand_in_the_order_of_the_list() {
    let mut session = Session::default();
    session.turn();
    session.turn();
    session.compact(2, false);
    let list = json!(["assistant-3", "user-0", "assistant-3", "user-2"]);
    session.records[4]["compactMetadata"]["preservedMessages"]["uuids"] = list;
    let (transcript, _) = read(Format::ClaudeCodeV1, &session.file(), false);
    assert_eq!(
        texts(&transcript),
        [
            "user: what happened until summary-4",
            "assistant: text assistant-3",
            "user: text user-0",
            "user: text user-2"
        ]
    );
}

#[test]
fn a_preserved_message_that_is_lost_is_reported() {
    let mut session = Session::default();
    session.turn();
    session.compact(1, false);
    session.turn();
    session.records.remove(1);
    let (transcript, found) = read(Format::ClaudeCodeV1, &session.file(), false);
    assert_eq!(transcript.turns.len(), 3);
    let import = import_every(Format::ClaudeCodeV1, &session.file(), 1);
    for found in [found, import.diagnostics] {
        let lost = found.iter().filter(|it| it.message.contains("preserves")).map(|it| it.code).collect::<Vec<_>>();
        assert_eq!(lost, [DiagnosticCode::BrokenChain]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]

    #[test]
    fn a_compacted_session_is_what_the_model_sees(
        steps in prop::collection::vec((0..4_u8, 0..6_usize, any::<bool>()), 1..12),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut session = Session::default();
        session.turn();
        for (step, preserved, from_tail) in steps {
            if step == 0 {
                session.compact(preserved, from_tail);
            }
            session.turn();
        }
        check(&session);
        let host = in_pieces(Format::ClaudeCodeV1, &session.file(), 1, &cuts);
        prop_assert_eq!(host.kept, Kept::of(Format::ClaudeCodeV1, &session.file(), 1));
    }
}

/// The second compaction names a record before the first one, or one that is missing: it continues the record before it.
#[test]
fn a_compaction_with_a_wrong_parent_continues_the_messages_before_it() {
    for wrong in ["user-0", "nobody"] {
        for preserved in [0, 1] {
            let mut session = Session::default();
            session.turn();
            session.compact(preserved, false);
            session.turn();
            let at = session.records.len();
            session.compact(0, false);
            session.turn();
            session.records[at]["logicalParentUuid"] = json!(wrong);
            let file = session.file();
            for (through, expected) in [(false, said(&session.seen)), (true, said(&session.all))] {
                let (transcript, found) = read(Format::ClaudeCodeV1, &file, through);
                assert_eq!(texts(&transcript), expected, "{wrong}, through {through}");
                assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), [DiagnosticCode::BrokenChain]);
            }
            let import = import_every(Format::ClaudeCodeV1, &file, 1);
            assert_eq!(import.branches, [], "{wrong}");
            assert_eq!(import.diagnostics.iter().map(|it| it.code).collect::<Vec<_>>(), [DiagnosticCode::BrokenChain]);
            let mut joined = Concatenator::new(Format::ClaudeCodeV1, &Limits::default(), 0);
            let deltas = chain(&import, import.tip.as_ref().unwrap());
            for record in deltas.iter().filter(|record| record.commit_type == CommitType::Delta) {
                joined.push(blob(&import, record), Default::default()).unwrap();
            }
            assert_eq!(texts(&read(Format::ClaudeCodeV1, &joined.finish().unwrap().bytes, true).0), said(&session.all));
            // In parts it gives the same commits, whatever part the record is in.
            for pieces in [2, 5] {
                let host = in_pieces(Format::ClaudeCodeV1, &file, 1, &cuts(&file, pieces));
                assert_eq!(host.kept, Kept::of(Format::ClaudeCodeV1, &file, 1), "{wrong}, {pieces} pieces");
            }
        }
    }
}

fn cuts(file: &[u8], pieces: usize) -> Vec<usize> {
    (1..pieces).map(|piece| file.len() * piece / pieces).collect()
}
