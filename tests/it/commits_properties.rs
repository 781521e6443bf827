//! Commits: properties of every chain (docs/commits.md).

use ctxweave::commits::{
    CheckpointFields, Checkpointer, CheckpointerOptions, CommitGraph, CommitType, PlanRequest, Provenance, Record,
    Stop, Trigger, artifact_ref, materialize,
};
use ctxweave::{Code, Diagnostic, DiagnosticCode};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::commits::{Host, Seed, seed};

/// One commit of a random history: its parent, its kind and the text of its blob.
#[derive(Clone, Debug)]
struct Step {
    after: Option<Index>,
    kind: CommitType,
    blob: String,
}

fn blob() -> impl Strategy<Value = String> {
    // With and without line ends at either end, empty, and equal to others.
    "(\n)?(\\{\"n\":[0-9]\\}\n){0,3}(\\{\"t\":\"[a-zé\u{2028}]{0,5}\"\\})?"
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        8 => Just(CommitType::Delta),
        1 => Just(CommitType::Compaction),
        1 => Just(CommitType::Snapshot),
    ];
    (proptest::option::weighted(0.95, any::<Index>()), kind, blob()).prop_map(|(after, kind, blob)| Step {
        after,
        kind,
        blob,
    })
}

/// Carries the steps out; most go on from the newest commit.
fn carried_out(steps: &[Step]) -> (Host, Vec<String>) {
    let mut host = Host::default();
    let mut ids: Vec<String> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let newest = ids.last().cloned();
        let parent = match &step.after {
            _ if ids.is_empty() => None,
            Some(index) if at % 4 == 0 => Some(index.get(&ids).clone()),
            Some(_) => newest,
            None => None,
        };
        ids.push(host.commit(parent.as_deref(), step.kind.clone(), &step.blob));
    }
    (host, ids)
}

/// The conversation of a list of blobs, in the simplest form.
fn model(blobs: &[String]) -> String {
    let mut text = String::new();
    for blob in blobs.iter().filter(|blob| !blob.is_empty()) {
        if !text.is_empty() && !text.ends_with('\n') && !blob.starts_with('\n') && !blob.starts_with("\r\n") {
            text.push('\n');
        }
        text.push_str(blob);
    }
    text
}

/// What materialising must give, from the records alone.
fn expected(host: &Host, tip: &str, stop: &Stop) -> String {
    let mut chain = vec![];
    let mut at = Some(tip.to_owned());
    while let Some(id) = at {
        let record = host.graph.show(&id).unwrap();
        chain.push(record);
        let enough = match stop {
            Stop::Compaction => record.commit_type != CommitType::Delta,
            Stop::Root => false,
            Stop::At(stop) => record.id == *stop,
        };
        at = record.parent.clone().filter(|_| !enough);
    }
    chain.reverse();
    let mut blobs = Vec::new();
    for (place, record) in chain.iter().enumerate() {
        let counts = match record.commit_type {
            CommitType::Delta => true,
            CommitType::Snapshot if *stop == Stop::Root => place == 0 && record.parent.is_none(),
            _ => place == 0 && *stop != Stop::Root,
        };
        if counts {
            blobs.push(String::from_utf8(host.blobs[&record.artifact_ref].clone()).unwrap());
        }
    }
    model(&blobs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(96)))]

    /// The real thing agrees with a naive model, for every commit and every way to stop.
    #[test]
    fn materializing_equals_the_model(steps in proptest::collection::vec(step(), 1..24), stop in any::<Index>()) {
        let (host, ids) = carried_out(&steps);
        for tip in &ids {
            let chain = host.graph.history(tip, None).unwrap();
            let stop_at = stop.get(&chain).id.clone();
            for stop in [Stop::Compaction, Stop::Root, Stop::At(stop_at)] {
                let bytes = host.materialize(tip, stop.clone()).unwrap();
                prop_assert_eq!(String::from_utf8(bytes).unwrap(), expected(&host, tip, &stop));
            }
        }
    }

    /// Delta replay equals snapshot for every prefix and every batching.
    #[test]
    fn delta_replay_equals_snapshot(blobs in proptest::collection::vec(blob(), 1..16), cuts in any::<u32>()) {
        let mut host = Host::default();
        let (mut tip, mut batched, mut batch) = (None::<String>, None::<String>, Vec::new());
        for (at, blob) in blobs.iter().enumerate() {
            tip = Some(host.commit(tip.as_deref(), CommitType::Delta, blob));
            let whole = model(&blobs[..=at]);
            let replayed = host.materialize(tip.as_ref().unwrap(), Stop::Root).unwrap();
            prop_assert_eq!(std::str::from_utf8(&replayed).unwrap(), &whole);
            let snapshot = host.commit(tip.as_deref(), CommitType::Snapshot, &whole);
            prop_assert_eq!(&host.materialize(&snapshot, Stop::Compaction).unwrap(), &replayed);
            batch.push(blob.clone());
            if cuts >> (at % 32) & 1 == 1 || at + 1 == blobs.len() {
                batched = Some(host.commit(batched.as_deref(), CommitType::Delta, &model(&batch)));
                batch.clear();
                prop_assert_eq!(&host.materialize(batched.as_ref().unwrap(), Stop::Root).unwrap(), &replayed);
            }
        }
    }

    /// A fork is the prefix plus its own deltas.
    #[test]
    fn a_fork_is_the_prefix_and_its_own(prefix in proptest::collection::vec(blob(), 1..8), own in proptest::collection::vec(blob(), 1..8), more in proptest::collection::vec(blob(), 0..8)) {
        let mut host = Host::default();
        let mut tip: Option<String> = None;
        for blob in &prefix {
            tip = Some(host.commit(tip.as_deref(), CommitType::Delta, blob));
        }
        let shared = tip.clone().unwrap();
        for blob in &more {
            tip = Some(host.commit(tip.as_deref(), CommitType::Delta, blob));
        }
        let mut fork = shared.clone();
        for blob in &own {
            fork = host.commit(Some(&fork), CommitType::Delta, blob);
        }
        let before = String::from_utf8(host.materialize(&shared, Stop::Root).unwrap()).unwrap();
        let forked = String::from_utf8(host.materialize(&fork, Stop::Root).unwrap()).unwrap();
        prop_assert_eq!(&forked, &model(&[vec![before], own].concat()));
        let common = host.graph.common_ancestor(&fork, tip.as_ref().unwrap()).unwrap();
        prop_assert_eq!(common.map(|record| record.id.clone()), Some(shared));
    }

    /// Export then import is identity, and the order of the records does not matter, at once or one by one.
    #[test]
    fn export_then_import_is_identity_in_any_order(steps in proptest::collection::vec(step(), 1..24), seed in any::<u64>()) {
        let (host, ids) = carried_out(&steps);
        let text = host.graph.export_jsonl();
        let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        let mut random = seed | 1;
        for at in (1..lines.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lines.swap(at, (random >> 33) as usize % (at + 1));
        }
        let mut shuffled = CommitGraph::default();
        let report = shuffled.import_jsonl(&lines.concat()).unwrap();
        prop_assert_eq!((report.added.len(), report.diagnostics), (ids.len(), vec![]));
        let mut one_by_one = CommitGraph::default();
        for line in lines {
            one_by_one.import_jsonl(line).unwrap();
        }
        for graph in [&shuffled, &one_by_one] {
            prop_assert_eq!(&graph.export_jsonl(), &text);
            prop_assert_eq!(graph.commits(), host.graph.commits());
            prop_assert_eq!(graph.tips(), host.graph.tips());
            for id in &ids {
                prop_assert_eq!(graph.children(id).unwrap(), host.graph.children(id).unwrap());
            }
        }
        let again = shuffled.import_jsonl(&text).unwrap();
        prop_assert_eq!((again.added.len(), again.unchanged as usize, again.updated), (0, ids.len(), 0));
    }

    /// Parents come before their children, in an export and in every list.
    #[test]
    fn parents_come_first(steps in proptest::collection::vec(step(), 1..24)) {
        let (host, _) = carried_out(&steps);
        let mut seen = std::collections::BTreeSet::new();
        for record in host.graph.commits() {
            prop_assert!(record.parent.as_ref().is_none_or(|parent| seen.contains(parent)));
            seen.insert(record.id.clone());
        }
        prop_assert_eq!(seen.len(), host.graph.len());
    }

    /// Checkpointing every turn or every N turns materialises the same bytes, whatever could not be stored.
    #[test]
    fn every_turn_or_every_n_turns_is_the_same(
        messages in proptest::collection::vec("\\{\"n\":[0-9]\\}\n?", 1..24),
        ends in any::<u32>(),
        failures in any::<u32>(),
        every in 2..5_u32,
        tool_calls in any::<bool>(),
    ) {
        let mut results = Vec::new();
        for (every, tool_calls, failures) in [(1, false, 0), (every, false, 0), (1, tool_calls, failures), (every, tool_calls, failures)] {
            let mut host = Host::default();
            let options = CheckpointerOptions { every, tool_calls, ..CheckpointerOptions::new("claude-code-v1") };
            let mut session = Checkpointer::new(options, &Default::default()).unwrap();
            let mut tried = 0;
            for (at, message) in messages.iter().enumerate() {
                session.push(message.as_bytes()).unwrap();
                let trigger = match ends >> (at % 32) & 1 {
                    0 => Trigger::ToolCall,
                    _ => Trigger::TurnBoundary,
                };
                let fields = CheckpointFields { created_at: host.now(), ..Default::default() };
                for offered in session.checkpoint(trigger, &fields).unwrap() {
                    tried += 1;
                    if failures >> (tried % 32) & 1 == 0 {
                        keep(&mut host, &mut session, offered);
                    }
                }
            }
            let fields = CheckpointFields { created_at: host.now(), ..Default::default() };
            for offered in session.checkpoint(Trigger::SessionEnd, &fields).unwrap() {
                keep(&mut host, &mut session, offered);
            }
            prop_assert_eq!(session.pending(), 0);
            results.push(String::from_utf8(host.materialize(session.head().unwrap(), Stop::Root).unwrap()).unwrap());
        }
        prop_assert_eq!(&results[0], &model(&messages));
        prop_assert!(results.iter().all(|result| *result == results[0]));
    }
}

/// Stores what a checkpointer offers.
fn keep(host: &mut Host, session: &mut Checkpointer, offered: ctxweave::commits::PendingCommit) {
    assert_eq!(artifact_ref(&offered.blob), offered.record.artifact_ref);
    host.blobs.insert(offered.record.artifact_ref.clone(), offered.blob);
    assert_eq!(host.graph.checkpoint(offered.record.clone()).unwrap(), &offered.record);
    session.stored(&offered.record.id).unwrap();
}

/// A damaged chain is never a shorter history: every single changed byte and every truncation of each blob is an error.
#[test]
fn every_damage_to_a_blob_is_an_error() {
    let Seed { host, ids, .. } = seed();
    let tip = &ids[4];
    let mut damaged = 0;
    for stop in [Stop::Compaction, Stop::Root] {
        let good = host.materialize(tip, stop.clone()).unwrap();
        for (artifact, blob) in &host.blobs {
            let used =
                host.graph.plan(PlanRequest { commit: Some(tip.clone()), stop: stop.clone(), ..Default::default() });
            let used = used.unwrap().refs.contains(artifact);
            let mut wrong: Vec<Vec<u8>> = (0..blob.len()).map(|length| blob[..length].to_vec()).collect();
            for at in 0..blob.len() {
                for flip in [1, 0x20, 0x80, 0xff] {
                    let mut blob = blob.clone();
                    blob[at] ^= flip;
                    wrong.push(blob);
                }
            }
            wrong.push([blob.as_slice(), b"\n"].concat());
            for blob in wrong {
                let mut host = host.clone();
                host.blobs.insert(artifact.clone(), blob);
                match host.materialize(tip, stop.clone()) {
                    Err(error) => assert!(used && error.code() == Code::BlobMismatch),
                    Ok(bytes) => assert!(!used && bytes == good),
                }
                damaged += usize::from(used);
            }
        }
    }
    assert!(damaged > 200);
}

/// Every single changed byte and every truncation of the exported JSONL gives an error or a diagnostic, and never wrong
/// bytes without one.
#[test]
fn every_damage_to_the_records_is_noticed() {
    let Seed { host, ids, .. } = seed();
    let text = host.graph.export_jsonl();
    let tips = [&ids[4], &ids[3], &ids[2]];
    let stops = [Stop::Compaction, Stop::Root, Stop::At(ids[1].clone())];
    let outcome = |text: &[u8]| {
        let mut damaged = host.clone();
        damaged.graph = CommitGraph::default();
        let noticed = match damaged.graph.import_jsonl(text) {
            Ok(report) => !report.diagnostics.is_empty(),
            Err(_) => true,
        };
        let mut results = Vec::new();
        for tip in tips {
            for stop in &stops {
                let request = PlanRequest { commit: Some(tip.clone()), stop: stop.clone(), ..PlanRequest::default() };
                let result = materialize(&damaged.graph, request, |blob| damaged.blobs.get(blob).map(Vec::as_slice));
                // The records of the sample are of an unknown kind, which is reported every time.
                let told = |found: &Diagnostic| found.code != DiagnosticCode::UnknownRecord;
                results.push(result.ok().map(|result| (result.diagnostics.iter().any(told), result.bytes)));
            }
        }
        (noticed, results)
    };
    let (noticed, good) = outcome(&text);
    assert!(!noticed);
    let check = |text: &[u8], what: String| {
        let (noticed, results) = outcome(text);
        for (result, good) in results.iter().zip(&good) {
            let told = noticed || result.as_ref().is_none_or(|(told, _)| *told);
            assert!(told || result == good, "{what} gives other bytes without a report");
        }
    };
    for length in 0..text.len() {
        check(&text[..length], format!("cut after {length} bytes"));
    }
    for at in 0..text.len() {
        for flip in [1, 2, 4, 0x20, 0x80] {
            let mut text = text.clone();
            text[at] ^= flip;
            check(&text, format!("byte {at} changed by {flip:#x}"));
        }
    }
}

/// A cut within a record is reported; one between two records leaves a smaller graph, which reports the missing commits.
#[test]
fn every_truncation_of_the_records_is_noticed_or_harmless() {
    let Seed { host, .. } = seed();
    let text = host.graph.export_jsonl();
    for length in 0..text.len() {
        let mut graph = CommitGraph::default();
        let report = graph.import_jsonl(&text[..length]).unwrap();
        let whole = length == 0 || text[length - 1] == b'\n' || text[length] == b'\n';
        let torn = report.diagnostics.iter().any(|found| found.code == DiagnosticCode::TornLine);
        assert_eq!(torn, !whole, "cut after {length} bytes");
        // The remaining commits are complete: parents are exported first.
        for record in graph.commits() {
            graph.history(&record.id, None).unwrap();
        }
    }
}

/// Checkpointer: when a delta is due.
#[test]
fn a_checkpoint_is_due_by_its_trigger() {
    let due = |every: u32, tool_calls: bool, triggers: &[Trigger]| {
        let options = CheckpointerOptions { every, tool_calls, ..CheckpointerOptions::new("generic-v1") };
        let mut session = Checkpointer::new(options, &Default::default()).unwrap();
        let mut counts = Vec::new();
        for (at, trigger) in triggers.iter().enumerate() {
            session.push(br#"{"role":"user","content":"more"}"#).unwrap();
            let fields = CheckpointFields { created_at: format!("2026-03-01T00:00:{at:02}Z"), ..Default::default() };
            let offered = session.checkpoint(trigger.clone(), &fields).unwrap();
            assert!(offered.iter().all(|offered| offered.record.checkpoint.as_ref() == Some(trigger)));
            counts.push(offered.iter().map(|offered| offered.record.message_count.unwrap()).sum::<u64>());
            for offered in offered {
                session.stored(&offered.record.id).unwrap();
            }
        }
        counts
    };
    use Trigger::{Explicit, SessionEnd, ToolCall, TurnBoundary};
    let turns = [TurnBoundary, TurnBoundary, TurnBoundary, TurnBoundary, TurnBoundary];
    assert_eq!(due(1, false, &turns), [1, 1, 1, 1, 1], "every turn by default");
    assert_eq!(due(2, false, &turns), [0, 2, 0, 2, 0], "every N on demand");
    assert_eq!(due(1, false, &[ToolCall, ToolCall, TurnBoundary]), [0, 0, 3]);
    assert_eq!(due(9, true, &[ToolCall, TurnBoundary, ToolCall]), [1, 0, 2]);
    assert_eq!(due(9, false, &[ToolCall, Explicit, TurnBoundary, SessionEnd]), [0, 2, 0, 2]);
    assert_eq!(
        due(2, false, &[TurnBoundary, Explicit, TurnBoundary, TurnBoundary]),
        [0, 2, 0, 2],
        "and counts from the last commit"
    );
}

fn fields(second: u32) -> CheckpointFields {
    CheckpointFields { created_at: format!("2026-03-01T00:00:{second:02}Z"), ..Default::default() }
}

/// Checkpointer: a checkpoint that the host failed to store changes nothing.
#[test]
fn what_was_not_stored_changes_nothing() {
    let mut session = Checkpointer::new(CheckpointerOptions::new("claude-code-v1"), &Default::default()).unwrap();
    assert!(session.checkpoint(Trigger::SessionEnd, &fields(0)).unwrap().is_empty(), "nothing new, nothing due");
    session.push(b"{\"n\":1}").unwrap();
    let lost = session.checkpoint(Trigger::TurnBoundary, &fields(1)).unwrap().remove(0);
    assert_eq!((session.head(), session.pending(), session.position()), (None, 1, 1));
    let again = session
        .checkpoint(Trigger::Explicit, &CheckpointFields { created_at: fields(1).created_at, ..fields(1) })
        .unwrap();
    assert_eq!(again[0].record.id, lost.record.id, "the same messages at the same time are the same commit");
    session.push(b"{\"n\":2}").unwrap();
    let both = session.checkpoint(Trigger::TurnBoundary, &fields(2)).unwrap().remove(0);
    assert_eq!((both.blob.as_slice(), &both.record.parent), (b"{\"n\":1}\n{\"n\":2}".as_slice(), &None));
    // What comes in while the host stores is not lost.
    session.push(b"{\"n\":3}").unwrap();
    session.stored(&both.record.id).unwrap();
    assert_eq!((session.head(), session.pending(), session.position()), (Some(both.record.id.as_str()), 1, 3));
    session.stored(&both.record.id).unwrap();
    assert_eq!(session.stored("ctx-0123456789abcdef").unwrap_err().code(), Code::CommitNotFound);
    let last = session.checkpoint(Trigger::SessionEnd, &fields(3)).unwrap().remove(0);
    assert_eq!((last.blob.as_slice(), last.record.parent), (b"{\"n\":3}".as_slice(), Some(both.record.id)));
}

/// Stores take their time, and end in any order: the chain to the head holds each message up to there once, and no other.
#[test]
fn stores_may_end_in_any_order() {
    let mut seed = 11_u32;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    let (mut late, mut ignored) = (0, 0);
    for _ in 0..200 {
        let mut session = Checkpointer::new(CheckpointerOptions::new("claude-code-v1"), &Default::default()).unwrap();
        let mut given: Vec<(String, Option<String>, Vec<u8>)> = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for at in 0..40_u32 {
            match random(4) {
                0 | 1 => session.push(format!("{{\"n\":{at}}}").as_bytes()).unwrap(),
                2 => {
                    for commit in session.checkpoint(Trigger::Explicit, &fields(at)).unwrap() {
                        open.push(commit.record.id.clone());
                        given.push((commit.record.id, commit.record.parent, commit.blob));
                    }
                }
                _ if open.is_empty() => {}
                _ => {
                    let place = random(open.len());
                    late += usize::from(place + 1 < open.len());
                    let (id, before) = (open.remove(place), session.head().map(str::to_owned));
                    session.stored(&id).unwrap();
                    ignored += usize::from(session.head() == before.as_deref());
                }
            }
            let mut blobs: Vec<&[u8]> = Vec::new();
            let mut head = session.head();
            while let Some(id) = head {
                let (_, parent, blob) = given.iter().find(|(other, ..)| other == id).unwrap();
                blobs.push(blob);
                head = parent.as_deref();
            }
            let text = blobs.iter().rev().map(|blob| String::from_utf8_lossy(blob)).collect::<Vec<_>>().join("\n");
            let lines = text.split('\n').filter(|line| !line.is_empty()).collect::<Vec<_>>();
            assert_eq!(lines.len(), session.position() as usize - session.pending(), "{text}");
            assert!(lines.windows(2).all(|two| number(two[0]) < number(two[1])), "{text}");
        }
    }
    assert!(late > 100 && ignored > 50, "{late} {ignored}");
}

fn number(line: &str) -> u32 {
    line.trim_matches(|ch: char| !ch.is_ascii_digit()).parse().unwrap()
}

/// Checkpointer: a compaction first saves everything before it.
#[test]
fn a_compaction_first_saves_what_came_before() {
    let mut host = Host::default();
    let provenance = Provenance { principal: Some("iris".into()), ..Provenance::default() };
    let options = CheckpointerOptions { every: 9, provenance, ..CheckpointerOptions::new("claude-code-v1") };
    let mut session = Checkpointer::new(options, &Default::default()).unwrap();
    session.push(b"{\"n\":1}\n").unwrap();
    session.push(b"{\"n\":2}\n").unwrap();
    let begun = session.position();
    session.push(b"{\"n\":3}\n").unwrap();
    let said = CheckpointFields { summary: Some("compacted".into()), ..fields(1) };
    let offered = session.compact(b"{\"s\":12}\n", Some(begun), &said).unwrap();
    assert_eq!(offered.len(), 2);
    assert_eq!(
        (&offered[0].record.commit_type, offered[0].blob.as_slice()),
        (&CommitType::Delta, b"{\"n\":1}\n{\"n\":2}\n".as_slice())
    );
    assert_eq!(
        (&offered[1].record.commit_type, offered[1].blob.as_slice()),
        (&CommitType::Compaction, b"{\"s\":12}\n".as_slice())
    );
    assert_eq!(offered[1].record.parent.as_ref(), Some(&offered[0].record.id));
    assert!(offered.iter().all(|offered| offered.record.checkpoint == Some(Trigger::Compaction)));
    assert_eq!((&offered[0].record.summary, offered[1].record.summary.as_deref()), (&None, Some("compacted")));
    // The host stores the first and fails at the second: nothing but the delta counts.
    let (delta, lost) = (offered[0].clone(), offered[1].clone());
    keep(&mut host, &mut session, delta.clone());
    assert_eq!((session.head(), session.pending()), (Some(delta.record.id.as_str()), 1));
    let again = session.compact(b"{\"s\":12}\n", Some(begun), &said).unwrap();
    assert_eq!(again.iter().map(|offered| &offered.record.id).collect::<Vec<_>>(), [&lost.record.id]);
    keep(&mut host, &mut session, again[0].clone());
    session.push(b"{\"n\":4}\n").unwrap();
    for offered in session.checkpoint(Trigger::SessionEnd, &fields(2)).unwrap() {
        keep(&mut host, &mut session, offered);
    }
    let head = session.head().unwrap().to_owned();
    assert_eq!(host.materialize(&head, Stop::Compaction).unwrap(), b"{\"s\":12}\n{\"n\":3}\n{\"n\":4}\n");
    assert_eq!(host.materialize(&head, Stop::Root).unwrap(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
    let time = ctxweave::time::Timestamp::parse("2026-03-01T00:00:01Z").unwrap();
    assert_eq!(host.graph.resolve("iris", time).unwrap().unwrap().id, lost.record.id, "both were made at one moment");

    // A compaction made from a head that has since moved.
    let error = session.compact(b"{}", Some(begun), &fields(3)).unwrap_err();
    assert_eq!(error.code(), Code::CompactionStale);
    assert_eq!((error.details()["covered"].as_u64(), error.details()["stored"].as_u64()), (Some(2), Some(4)));
    assert_eq!(session.compact(b"{}", Some(5), &fields(3)).unwrap_err().code(), Code::InvalidInput);
}

#[test]
fn a_checkpointer_reports_errors() {
    let new = |format: &str, every: u32| {
        Checkpointer::new(CheckpointerOptions { every, ..CheckpointerOptions::new(format) }, &Default::default())
    };
    assert_eq!(new("no-such-format", 1).unwrap_err().code(), Code::UnknownValue);
    assert_eq!(new("generic-v1", 0).unwrap_err().code(), Code::InvalidInput);
    let mut session = new("generic-v1", 1).unwrap();
    assert_eq!(session.push(b" \n").unwrap_err().code(), Code::InvalidInput);
    session.push(b"{}").unwrap();
    for (trigger, created_at) in [(Trigger::Explicit, "now"), (Trigger::Compaction, "2026-03-01T00:00:00Z")] {
        let fields = CheckpointFields { created_at: created_at.into(), ..Default::default() };
        assert_eq!(session.checkpoint(trigger, &fields).unwrap_err().code(), Code::InvalidInput);
    }
}

/// The bureau format: an item for each message, spliced into one array.
#[test]
fn messages_in_cbor_become_one_array() {
    let mut host = Host::default();
    let mut session = Checkpointer::new(CheckpointerOptions::new("bureau-agent-v1"), &Default::default()).unwrap();
    // { "Role": "user" }, an item; and an array of two of them.
    let item = b"\xa1\x64Role\x64user";
    session.push(item).unwrap();
    session.push(&[b"\x82".as_slice(), item, item].concat()).unwrap();
    assert_eq!(session.push(b"\xa1\x64Role").unwrap_err().code(), Code::InvalidBlob);
    for offered in session.checkpoint(Trigger::TurnBoundary, &fields(1)).unwrap() {
        assert_eq!(offered.record.message_count, Some(3));
        keep(&mut host, &mut session, offered);
    }
    session.push(item).unwrap();
    for offered in session.checkpoint(Trigger::TurnBoundary, &fields(2)).unwrap() {
        keep(&mut host, &mut session, offered);
    }
    let bytes = host.materialize(session.head().unwrap(), Stop::Root).unwrap();
    assert_eq!(bytes, [b"\x84".as_slice(), item, item, item, item].concat());
}

/// Records without counts are counted from the blob.
#[test]
fn what_records_do_not_count_is_counted() {
    let mut graph = CommitGraph::default();
    let blob = b"{\"role\":\"user\",\"content\":\"hello there\"}\n{\"role\":\"assistant\",\"content\":\"hi\"}\n";
    let record = Record::new(CommitType::Delta, &artifact_ref(blob), "generic-v1", "2026-03-01T00:00:00Z");
    let tip = graph.checkpoint(record).unwrap().id.clone();
    let request = PlanRequest { commit: Some(tip), ..PlanRequest::default() };
    let result = materialize(&graph, request, |_| Some(blob.as_slice())).unwrap();
    assert_eq!(result.message_count, 2);
    assert!(result.token_count > 2);
}
