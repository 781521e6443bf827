//! Walks over records stored elsewhere give the results of the graph, a page at a time.

use std::collections::BTreeMap;

use ctxweave::commits::{ChainWalk, CommitGraph, CommitType, Materializer, PlanRequest, Record, Stop};
use ctxweave::{Code, Error, Limits};
use proptest::prelude::*;

use crate::commits::{Host, jsonl, seed};

/// Records by id, as a store has them.
type Records = BTreeMap<String, Record>;

fn records(graph: &CommitGraph) -> Records {
    graph.commits().into_iter().map(|record| (record.id.clone(), record.clone())).collect()
}

/// The record of a commit and of those before it, up to `page` of them.
fn page(records: &Records, id: &str, page: usize) -> Vec<u8> {
    let mut found = Vec::new();
    let mut at = records.get(id);
    while let Some(record) = at.filter(|_| found.len() < page) {
        found.push(record.clone());
        at = record.parent.as_deref().and_then(|parent| records.get(parent));
    }
    jsonl(found)
}

fn walked(store: &Records, request: &PlanRequest, size: usize) -> Result<ChainWalk, Error> {
    let mut walk = ChainWalk::new(request.clone(), Limits::default());
    while let Some(wanted) = walk.wanted().map(str::to_owned) {
        walk.push(&page(store, &wanted, size))?;
    }
    Ok(walk)
}

/// The result of a materialisation, or its code.
fn joined(work: Result<Materializer, Error>, host: &Host) -> Result<(Vec<String>, String, u64), Code> {
    let run = || -> Result<_, Error> {
        let mut work = work?;
        let order: Vec<String> = work.order().map(str::to_owned).collect();
        for artifact in &order {
            work.push(host.blobs.get(artifact).unwrap())?;
        }
        let result = work.finish()?;
        Ok((order, result.artifact_ref, result.message_count))
    };
    run().map_err(|error| error.code())
}

fn histories() -> impl Strategy<Value = (Host, Vec<String>)> {
    let step = (0..4_usize, 0..8_usize, 0..6_u32);
    proptest::collection::vec(step, 1..24).prop_map(|steps| {
        let mut host = Host::default();
        let mut ids: Vec<String> = Vec::new();
        for (kind, back, text) in steps {
            let kind = match kind {
                0 => CommitType::Compaction,
                1 => CommitType::Snapshot,
                _ => CommitType::Delta,
            };
            let parent = ids.len().checked_sub(1 + back / 4).map(|at| ids[at].clone());
            ids.push(host.commit(parent.as_deref(), kind, &format!("{{\"n\":{text}}}")));
        }
        (host, ids)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(64)))]

    /// Plan, result and history are those of the graph, whatever the size of a page, and so are the errors.
    #[test]
    fn a_walk_equals_the_graph((host, ids) in histories(), size in 1..9_usize, lost in 0..40_usize) {
        let mut store = records(&host.graph);
        let mut graph = host.graph.clone();
        if let Some(id) = ids.get(lost) {
            store.remove(id);
            graph = CommitGraph::default();
            graph.import_jsonl(&jsonl(store.values().cloned())).unwrap();
        }
        for id in &ids {
            for stop in [Stop::Compaction, Stop::Root, Stop::At(ids[0].clone()), Stop::At("ctx-elsewhere".to_owned())] {
                let request = PlanRequest { commit: Some(id.clone()), stop, ..PlanRequest::default() };
                let walk = walked(&store, &request, size);
                let of_walk = walk.as_ref().map_err(Clone::clone).and_then(|walk| walk.plan(request.clone()));
                prop_assert_eq!(&of_walk, &graph.plan(request.clone()));
                let begun = walk.and_then(|walk| walk.begin(request.clone(), None));
                prop_assert_eq!(joined(begun, &host), joined(Materializer::new(&graph, request, None), &host));
            }
            let request = PlanRequest { commit: Some(id.clone()), stop: Stop::Root, ..PlanRequest::default() };
            let mut walk = ChainWalk::new(request, Limits::default()).passing();
            let mut passed = Vec::new();
            let mut failed = None;
            while let Some(wanted) = walk.wanted().map(str::to_owned) {
                match walk.push(&page(&store, &wanted, size)) {
                    Ok(records) => passed.extend(records),
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            let history = graph.history(id, None).map(|records| records.into_iter().cloned().collect::<Vec<_>>());
            prop_assert_eq!(failed.map_or(Ok(passed), Err), history);
        }
    }
}

/// A walk reports an unexpected answer, and can continue from its position.
#[test]
fn a_walk_takes_no_other_records() {
    let seed = seed();
    let store = records(&seed.host.graph);
    let tip = seed.ids.last().unwrap();
    let request = PlanRequest { commit: Some(tip.clone()), stop: Stop::Root, ..PlanRequest::default() };
    let mut walk = ChainWalk::new(request.clone(), Limits::default());
    let code = |walk: &mut ChainWalk, page: &[u8]| walk.push(page).unwrap_err().code();
    assert_eq!(walk.plan(request.clone()).unwrap_err().code(), Code::InvalidInput, "records are wanted");
    assert_eq!(code(&mut walk, b""), Code::CommitNotFound);
    let other = page(&store, &seed.fork, 1);
    let error = walk.push(&other).unwrap_err();
    assert_eq!((error.code(), error.details()["actualId"].as_str()), (Code::RecordMismatch, Some(seed.fork.as_str())));
    assert_eq!(code(&mut walk, b"{\"id\":"), Code::RecordMismatch);
    // The id does not match the record.
    let altered = String::from_utf8(page(&store, tip, 1)).unwrap().replace("reviewer", "somebody");
    assert_eq!(code(&mut walk, altered.as_bytes()), Code::RecordMismatch);
    // Damage later in a page does not affect earlier records, and is reported at that record.
    let mut torn = page(&store, tip, 3);
    torn.truncate(torn.len() - 9);
    assert_eq!(walk.push(&torn).unwrap().len(), 2);
    assert_eq!(walk.wanted(), Some(seed.ids[2].as_str()));
    assert_eq!(code(&mut walk, &torn), Code::RecordMismatch);
    assert_eq!(walk.push(&page(&store, &seed.ids[2], 99)).unwrap().len(), 3);
    assert_eq!(walk.wanted(), None);
    assert_eq!(code(&mut walk, &torn), Code::InvalidInput, "it is over");
    assert_eq!(walk.plan(request.clone()), seed.host.graph.plan(request.clone()));
    let elsewhere = PlanRequest { commit: Some(seed.fork.clone()), ..request.clone() };
    assert_eq!(walk.plan(elsewhere).unwrap_err().details()["path"], "commit");
    let another = PlanRequest { stop: Stop::Compaction, ..request };
    assert_eq!(walk.plan(another).unwrap_err().details()["path"], "stop");
    let without = ChainWalk::new(PlanRequest::default(), Limits::default());
    assert_eq!(without.plan(PlanRequest::default()), CommitGraph::default().plan(PlanRequest::default()));
}

/// A chain that returns to itself is an error after each of its commits once, and so is one that is too long.
#[test]
fn a_walk_ends() {
    let record = |id: &str, parent: &str| {
        let line = format!(
            r#"{{"id":"{id}","parent":"{parent}","commit_type":"delta","artifact_ref":"{}","format":"generic-v1","created_at":"2026-03-01T09:00:00Z"}}"#,
            ctxweave::commits::artifact_ref(b"")
        );
        (id.to_owned(), Record::from_json(line.as_bytes()).unwrap())
    };
    let store: Records = [record("ctx-a", "ctx-b"), record("ctx-b", "ctx-c"), record("ctx-c", "ctx-b")].into();
    for size in 1..5 {
        let request = PlanRequest { commit: Some("ctx-a".to_owned()), stop: Stop::Root, ..PlanRequest::default() };
        assert_eq!(walked(&store, &request, size).unwrap_err().code(), Code::ChainCycle);
        let limits = Limits { chain_depth: 2, ..Limits::default() };
        let mut walk = ChainWalk::new(request, limits);
        let mut code = None;
        while let (None, Some(wanted)) = (code, walk.wanted().map(str::to_owned)) {
            code = walk.push(&page(&store, &wanted, size)).err().map(|error| error.code());
        }
        assert_eq!(code, Some(Code::LimitExceeded));
    }
}
