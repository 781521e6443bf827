//! Commits: what the graph's indexes answer is what looking through all records would.

use ctxweave::Code;
use ctxweave::commits::{CommitGraph, CommitType, MetadataUpdate, Provenance, Record, artifact_ref, short_ref};
use proptest::prelude::*;
use proptest::sample::Index;

/// The fields of a random record, as small numbers so that they meet.
#[derive(Clone, Debug)]
struct Draft {
    parent: Option<Index>,
    /// Minutes; clocks differ, so a child may be older than its parent.
    minute: u8,
    artifact: u8,
    of: [Option<u8>; 3],
    summary: Option<&'static str>,
}

/// What changes a graph.
#[derive(Clone, Debug)]
enum Change {
    Checkpoint(Draft),
    /// Records with ids of their own, whose parents may come later, never, or lead back to them.
    Import(Vec<(Draft, u8, bool)>),
    Update(Index, Option<&'static str>),
}

fn summary() -> impl Strategy<Value = Option<&'static str>> {
    proptest::sample::select(vec![None, Some(""), Some(" \n"), Some("what it is about")])
}

fn draft() -> impl Strategy<Value = Draft> {
    let of = proptest::option::of(0..3_u8);
    (proptest::option::weighted(0.9, any::<Index>()), 0..20_u8, 0..6_u8, [of.clone(), of.clone(), of], summary())
        .prop_map(|(parent, minute, artifact, of, summary)| Draft { parent, minute, artifact, of, summary })
}

fn change() -> impl Strategy<Value = Change> {
    let imported = (draft(), 0..24_u8, any::<bool>());
    prop_oneof![
        4 => draft().prop_map(Change::Checkpoint),
        2 => proptest::collection::vec(imported, 1..6).prop_map(Change::Import),
        1 => (any::<Index>(), summary()).prop_map(|(at, summary)| Change::Update(at, summary)),
    ]
}

fn artifact(number: u8) -> String {
    artifact_ref(&[number % 5])
}

fn record(draft: &Draft, parent: Option<String>) -> Record {
    let text = |kind: &str, number: Option<u8>| number.map(|number| format!("{kind}{number}"));
    let [ticket, thread, session] = draft.of;
    // One minute in twenty is no time at all, which only an import may bring.
    let created_at = format!("2026-03-01T09:{:02}:00Z", draft.minute);
    Record {
        parent,
        provenance: Provenance {
            ticket_id: text("ticket", ticket),
            thread_id: text("thread", thread),
            session_id: text("session", session),
            ..Provenance::default()
        },
        summary: draft.summary.filter(|summary| !summary.is_empty()).map(str::to_owned),
        ..Record::new(CommitType::Delta, &artifact(draft.artifact), "generic-v1", &created_at)
    }
}

/// A graph after a change. A contradicting change is rejected and changes nothing, which is tested as well.
fn change_graph(graph: &mut CommitGraph, change: &Change) {
    let ids: Vec<String> = graph.commits().into_iter().map(|record| record.id.clone()).collect();
    match change {
        Change::Checkpoint(draft) => {
            let parent = draft.parent.filter(|_| !ids.is_empty()).map(|index| index.get(&ids).clone());
            let _ = graph.checkpoint(record(draft, parent));
        }
        Change::Import(records) => {
            let records = records.iter().map(|(draft, number, foreign)| {
                let mut made = match (draft.parent, *foreign || ids.is_empty()) {
                    (Some(index), true) => record(draft, Some(format!("ctx-foreign{}", index.index(24)))),
                    (Some(index), false) => record(draft, Some(index.get(&ids).clone())),
                    (None, _) => record(draft, None),
                };
                if draft.minute == 0 {
                    made.created_at = "in spring".to_owned();
                }
                if draft.artifact == 5 {
                    made.artifact_ref = short_ref(&made.artifact_ref).unwrap();
                }
                // Within some distance of each other, two refs that begin alike.
                if draft.minute == 1 {
                    made.artifact_ref = format!("{}{}", &artifact(0)[..70], draft.artifact);
                }
                Record { id: format!("ctx-foreign{number}"), ..made }
            });
            let _ = graph.import_jsonl(&crate::commits::jsonl(records));
        }
        Change::Update(at, summary) if !ids.is_empty() => {
            let summary = Some(summary.map(str::to_owned));
            graph.update_metadata(at.get::<String>(&ids), MetadataUpdate { summary, tags: None }).unwrap();
        }
        Change::Update(..) => {}
    }
}

/// The commits of a list, in the order of all commits, found by looking at each.
fn scan(graph: &CommitGraph, is: impl Fn(&Record) -> bool) -> Vec<&Record> {
    graph.commits().into_iter().filter(|record| is(record)).collect()
}

/// `commits` in its simplest form: repeatedly the least of those whose parents are already listed.
fn order(graph: &CommitGraph) -> Vec<&Record> {
    let mut left = graph.commits();
    left.sort_by_key(|record| (record.time().is_none(), record.time(), record.id.clone()));
    let mut ordered: Vec<&Record> = Vec::new();
    while !left.is_empty() {
        let waits = |record: &&Record| {
            record.parent.as_ref().is_some_and(|parent| left.iter().any(|other| other.id == *parent))
        };
        match left.iter().position(|record| !waits(record)) {
            Some(next) => ordered.push(left.remove(next)),
            None => {
                left.sort_by_key(|record| record.id.clone());
                ordered.append(&mut left);
            }
        }
    }
    ordered
}

fn check(graph: &CommitGraph) -> Result<(), TestCaseError> {
    let commits = graph.commits();
    prop_assert_eq!(&commits, &order(graph));
    let is_parent = |id: &str| commits.iter().any(|record| record.parent.as_deref() == Some(id));
    prop_assert_eq!(graph.tips(), scan(graph, |record| !is_parent(&record.id)));
    prop_assert_eq!(
        graph.lacking_summary(),
        scan(graph, |record| crate::model::trimmed(record.summary.as_deref().unwrap_or_default()).is_empty())
    );
    for number in 0..4 {
        let of = |kind: &str| Some(format!("{kind}{number}"));
        let (ticket, thread, session) = (of("ticket"), of("thread"), of("session"));
        prop_assert_eq!(
            graph.by_ticket(ticket.as_ref().unwrap()),
            scan(graph, |record| record.provenance.ticket_id == ticket)
        );
        prop_assert_eq!(
            graph.by_thread(thread.as_ref().unwrap()),
            scan(graph, |record| record.provenance.thread_id == thread)
        );
        prop_assert_eq!(
            graph.by_session(session.as_ref().unwrap()),
            scan(graph, |record| record.provenance.session_id == session)
        );
    }
    for record in &commits {
        let mut children = scan(graph, |child| child.parent.as_deref() == Some(&record.id));
        children.sort_by_key(|child| (child.time().is_none(), child.time(), child.id.clone()));
        prop_assert_eq!(graph.children(&record.id).unwrap(), children);
        check_chain(graph, record)?;
    }
    for number in 0..5 {
        let short = short_ref(&artifact(number)).unwrap();
        let mut full: Vec<&str> = commits.iter().map(|record| record.artifact_ref.as_str()).collect();
        full.retain(|full| full.starts_with("blake3:") && short_ref(full).unwrap() == short);
        full.sort_unstable();
        full.dedup();
        match graph.resolve_artifact(&short) {
            Ok(found) => prop_assert_eq!(vec![found.as_str()], full),
            Err(error) if full.is_empty() => prop_assert_eq!(error.code(), Code::ArtifactNotFound),
            Err(error) => {
                prop_assert_eq!(error.code(), Code::AmbiguousRef);
                prop_assert_eq!(&error.details()["candidates"], &serde_json::json!(full));
            }
        }
    }
    Ok(())
}

/// The chain of a commit, and the first thing that is wrong with it.
fn check_chain(graph: &CommitGraph, tip: &Record) -> Result<(), TestCaseError> {
    let mut chain: Vec<&Record> = vec![tip];
    let wrong = loop {
        let Some(parent) = chain[chain.len() - 1].parent.as_deref() else { break None };
        let Some(next) = graph.find(parent) else { break Some((Code::CommitNotFound, parent)) };
        if chain.iter().any(|record| record.id == next.id) {
            break Some((Code::ChainCycle, parent));
        }
        chain.push(next);
    };
    match (graph.history(&tip.id, None), wrong) {
        (Ok(history), None) => prop_assert_eq!(history, chain),
        (Err(error), Some((code, at))) => {
            prop_assert_eq!(error.code(), code);
            prop_assert_eq!(&error.details()["commitId"], at);
        }
        (other, wrong) => prop_assert!(false, "{other:?} where {wrong:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(192)))]

    /// Whatever was done in whatever order, each list is what looking at every record gives. The graph is asked after every
    /// change, or only after the last, so that indexes that are made when they are needed are tried both ways.
    #[test]
    fn indexes_agree_with_a_scan(changes in proptest::collection::vec(change(), 1..16), ask_always in any::<bool>()) {
        let mut graph = CommitGraph::default();
        for (at, change) in changes.iter().enumerate() {
            change_graph(&mut graph, change);
            if ask_always || at + 1 == changes.len() {
                check(&graph)?;
                check(&graph.clone())?;
            }
        }
    }
}
