//! Commits: the rules of docs/commits.md, one after another.

use std::collections::BTreeMap;

use ctxweave::commits::{
    CommitGraph, CommitType, GRAPH_CALLS, MetadataUpdate, PlanRequest, Provenance, Reason, Record, Stop, Trigger,
    artifact_ref, begin, commit_id, materialize, materialized, short_ref,
};
use ctxweave::time::Timestamp;
use ctxweave::{Code, DiagnosticCode, Error, Limits};
use serde_json::{Value, json};

/// Records as lines, to be imported.
pub(crate) fn jsonl(records: impl IntoIterator<Item = Record>) -> Vec<u8> {
    records.into_iter().flat_map(|record| (record.to_json() + "\n").into_bytes()).collect()
}

/// A graph with the blobs that its host would have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub(crate) graph: CommitGraph,
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
    clock: u32,
}

impl Host {
    pub(crate) fn now(&mut self) -> String {
        self.clock += 1;
        format!("2026-03-01T{:02}:{:02}:{:02}Z", self.clock / 3600, self.clock / 60 % 60, self.clock % 60)
    }

    pub(crate) fn blob(&mut self, blob: &str) -> String {
        let artifact = artifact_ref(blob.as_bytes());
        self.blobs.insert(artifact.clone(), blob.as_bytes().to_vec());
        artifact
    }

    pub(crate) fn draft(&mut self, parent: Option<&str>, kind: CommitType, blob: &str) -> Record {
        let (artifact, now) = (self.blob(blob), self.now());
        Record {
            parent: parent.map(str::to_owned),
            provenance: Provenance {
                principal: Some("iris".to_owned()),
                template: Some("reviewer".to_owned()),
                ..Provenance::default()
            },
            checkpoint: Some(Trigger::TurnBoundary),
            ..Record::new(kind, &artifact, "claude-code-v1", &now)
        }
    }

    pub(crate) fn commit(&mut self, parent: Option<&str>, kind: CommitType, blob: &str) -> String {
        let record = self.draft(parent, kind, blob);
        self.graph.checkpoint(record).unwrap().id.clone()
    }

    pub(crate) fn materialize(&self, commit: &str, stop: Stop) -> Result<Vec<u8>, Error> {
        let request = PlanRequest { commit: Some(commit.to_owned()), stop, ..PlanRequest::default() };
        materialize(&self.graph, request, |blob| self.blobs.get(blob).map(Vec::as_slice)).map(|result| result.bytes)
    }

    fn text(&self, commit: &str, stop: Stop) -> String {
        String::from_utf8(self.materialize(commit, stop).unwrap()).unwrap()
    }
}

/// The chain of the seed: three deltas, a compaction, a delta; and a fork after the second.
pub(crate) struct Seed {
    pub(crate) host: Host,
    pub(crate) ids: Vec<String>,
    pub(crate) fork: String,
}

pub(crate) fn seed() -> Seed {
    let mut host = Host::default();
    let mut ids: Vec<String> = Vec::new();
    for (kind, blob) in [
        (CommitType::Delta, "{\"n\":1}\n"),
        (CommitType::Delta, "{\"n\":2}\n"),
        (CommitType::Delta, "{\"n\":3}"),
        (CommitType::Compaction, "{\"summary\":\"1 to 3\"}\n"),
        (CommitType::Delta, "{\"n\":4}\n"),
    ] {
        let id = host.commit(ids.last().map(String::as_str), kind, blob);
        ids.push(id);
    }
    let fork = host.commit(Some(&ids[1]), CommitType::Delta, "{\"n\":\"fork\"}\n");
    Seed { host, ids, fork }
}

/// Calls a method of the graph with its request as JSON text.
fn ask(graph: &mut CommitGraph, method: &str, request: impl ToString) -> Result<Value, Error> {
    let call = GRAPH_CALLS.iter().find(|call| call.name == method).unwrap();
    let answer = call.answer(graph, request.to_string().as_bytes(), &[], &ctxweave::call::CallContext::default())?;
    Ok(serde_json::from_slice(&answer.to_json()).unwrap())
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> Code {
    result.unwrap_err().code()
}

fn ids(records: &[&Record]) -> Vec<String> {
    records.iter().map(|record| record.id.clone()).collect()
}

// Record

/// A number that JavaScript cannot hold is a text in results, and stays a number in exports.
#[test]
fn a_number_that_is_too_large_is_its_text() {
    let stored =
        Record::new(CommitType::Delta, &artifact_ref(b""), "generic-v1", "2026-03-01T09:30:00Z").seal().to_json();
    let line = stored.replacen('{', "{\"own\":{\"b\":[1e400,1e2],\"a\":true},", 1);
    let mut graph = CommitGraph::default();
    graph.import_jsonl(line.as_bytes()).unwrap();
    let commits = ask(&mut graph, "commits", json!({})).unwrap();
    assert_eq!(commits[0]["own"].to_string(), "{\"b\":[\"1e400\",100],\"a\":true}");
    assert!(String::from_utf8(graph.export_jsonl()).unwrap().contains("[1e400,1e2]"));
}

/// A record has its fields in snake_case plus `version: 1`.
#[test]
fn a_record_has_the_fields_of_the_data_model() {
    let blob = artifact_ref(b"");
    let request = json!({
        "commit_type": "delta", "artifact_ref": blob, "format": "claude-code-v1", "template": "t", "principal": "p",
        "machine": "m", "session_id": "s", "checkpoint": "tool_call", "ticket_id": "tkt-1", "thread_id": "th", "summary": "x",
        "tags": ["a"], "message_count": 3, "token_count": 40, "created_at": "2026-03-01T09:30:00Z"
    });
    let mut graph = CommitGraph::default();
    let made: Value = ask(&mut graph, "checkpoint", &request).unwrap();
    let record = made["record"].as_object().unwrap();
    let expected = "id version commit_type artifact_ref format template principal machine session_id checkpoint \
                    ticket_id thread_id summary tags message_count token_count created_at";
    assert_eq!(record.keys().map(String::as_str).collect::<Vec<_>>().join(" "), expected);
    assert_eq!(record["version"], 1);
    assert_eq!(record["id"], made["id"]);
    for (name, value) in request.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name}");
    }
}

/// Unknown fields of a record survive a read-write trip.
#[test]
fn unknown_fields_survive() {
    let line = r#"{"id":"ctx-x","version":1,"commit_type":"delta","artifact_ref":"REF","format":"f","created_at":"2026-03-01T09:30:00Z","later":{"big":12345678901234567890,"a":[1.50]},"é":null}"#;
    let line = line.replace("REF", &artifact_ref(b""));
    let mut graph = CommitGraph::default();
    graph.import_jsonl(line.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(graph.export_jsonl()).unwrap(), line + "\n");
}

/// A record of a version above 1 can be read, but not changed.
#[test]
fn a_later_version_can_be_read_not_changed() {
    let Seed { mut host, ids, .. } = seed();
    let line = host.graph.show(&ids[4]).unwrap().to_json().replace("\"version\":1", "\"version\":2");
    let mut graph = CommitGraph::default();
    let mut all = line.clone();
    for id in &ids[..4] {
        all = format!("{all}\n{}", host.graph.show(id).unwrap().to_json());
    }
    let report = graph.import_jsonl(all.as_bytes()).unwrap();
    assert_eq!(report.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>(), [DiagnosticCode::NewerVersion]);
    host.graph = graph;
    assert_eq!(host.graph.show(&ids[4]).unwrap().to_json(), line);
    assert_eq!(host.graph.history(&ids[4], None).unwrap().len(), 5);
    assert!(host.text(&ids[4], Stop::Compaction).ends_with("{\"n\":4}\n"));
    let error =
        host.graph.update_metadata(&ids[4], MetadataUpdate { tags: Some(vec![]), ..Default::default() }).unwrap_err();
    assert_eq!(error.code(), Code::UnsupportedVersion);
    assert_eq!((&error.details()["commitId"], &error.details()["version"]), (&json!(ids[4]), &json!(2)));
    assert_eq!(
        code(host.graph.checkpoint(Record { version: 2, ..host.graph.show(&ids[0]).unwrap().clone() })),
        Code::UnsupportedVersion
    );
}

// id

/// An id is derive-key BLAKE3 over length-prefixed parent, artifact ref, created_at, template.
#[test]
fn an_id_is_computed_as_documented() {
    let mut hasher = blake3::Hasher::new_derive_key("ctxweave 2026-11-22 context commit id, version 1");
    for field in ["ctx-p", "blake3:x", "2026-03-01T09:30:00Z", "t"] {
        hasher.update(&(field.len() as u64).to_le_bytes()).update(field.as_bytes());
    }
    let id = commit_id(Some("ctx-p"), "blake3:x", "2026-03-01T09:30:00Z", Some("t"));
    assert_eq!(id, format!("ctx-{}", &hasher.finalize().to_hex()[..16]));
    // Fixed for ever: records that are stored somewhere have it.
    assert_eq!(commit_id(None, &artifact_ref(b""), "2026-03-01T09:30:00Z", None), "ctx-a512e4596f1fae73");
}

/// The same inputs give the same record (idempotent); the same id with other inputs is `id_collision`.
#[test]
fn checkpoints_are_idempotent_and_collisions_are_errors() {
    let mut host = Host::default();
    let record = host.draft(None, CommitType::Delta, "{}\n");
    let first = host.graph.checkpoint(record.clone()).unwrap().clone();
    host.graph.update_metadata(&first.id, MetadataUpdate { summary: Some(Some("later".into())), tags: None }).unwrap();
    let again = host.graph.checkpoint(record.clone()).unwrap().clone();
    assert_eq!((again.id.as_str(), again.summary.as_deref()), (first.id.as_str(), Some("later")));
    assert_eq!(host.graph.checkpoint(again.clone()).unwrap(), &again, "with its id, too");
    assert_eq!(host.graph.len(), 1);
    let error = host
        .graph
        .checkpoint({
            let provenance = Provenance { principal: Some("otto".into()), ..record.provenance.clone() };
            Record { provenance, ..record.clone() }
        })
        .unwrap_err();
    assert_eq!(error.code(), Code::IdCollision);
    assert_eq!(error.details()["commitId"], json!(first.id));
    assert_eq!(error.details()["artifactRef"], json!(first.artifact_ref));
    let error = host.graph.checkpoint(Record { id: "ctx-mine".into(), ..record }).unwrap_err();
    assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!("id")));
    assert_eq!(host.graph.len(), 1);
}

/// Any `ctx-*` id from elsewhere is accepted on import.
#[test]
fn ids_from_elsewhere_are_accepted_on_import() {
    let mut host = Host::default();
    let (one, two) = (host.blob("{\"n\":1}\n"), host.blob("{\"n\":2}\n"));
    let line = |id: &str, parent: &str, blob: &str| {
        format!(
            r#"{{"id":"{id}","parent":"{parent}","commit_type":"delta","artifact_ref":"{blob}","format":"claude-code-v1","created_at":"2026-03-01T09:30:00Z"}}"#
        )
    };
    let text = format!("{}\n{}", line("ctx-b002", "ctx-a001", &two), line("ctx-a001", "", &one));
    let report = host.graph.import_jsonl(text.as_bytes()).unwrap();
    assert_eq!(report.added, ["ctx-a001", "ctx-b002"]);
    assert_eq!(
        report.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>(),
        [DiagnosticCode::ForeignCommitIds]
    );
    assert_eq!(host.text("ctx-b002", Stop::Compaction), "{\"n\":1}\n{\"n\":2}\n");
    let child = host.commit(Some("ctx-b002"), CommitType::Delta, "{\"n\":3}\n");
    assert_eq!(host.text(&child, Stop::Root), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
}

#[test]
fn a_checkpoint_reports_missing_fields() {
    let mut host = Host::default();
    let good = host.draft(None, CommitType::Delta, "{}");
    let error = host.graph.checkpoint(Record { created_at: "yesterday".into(), ..good.clone() }).unwrap_err();
    assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!("created_at")));
    let error = host.graph.checkpoint(Record { parent: Some("ctx-no".into()), ..good.clone() }).unwrap_err();
    assert_eq!((error.code(), &error.details()["commitId"]), (Code::CommitNotFound, &json!("ctx-no")));
    assert_eq!(error.details()["artifactRef"], json!(good.artifact_ref));
    for wrong in ["{}", "[]", "5", "{\"format\":\"f\"}", "{"] {
        assert_eq!(code(ask(&mut host.graph, "checkpoint", wrong)), Code::InvalidInput, "{wrong}");
    }
    let request = json!({ "artifact_ref": good.artifact_ref, "format": "f", "created_at": "2026-03-01T09:30:00Z", "commit_type": "merge" });
    assert_eq!(code(ask(&mut host.graph, "checkpoint", &request)), Code::UnknownValue);
    assert!(host.graph.is_empty());
}

#[test]
fn lone_surrogates_are_replaced_and_reported() {
    let request = format!(
        r#"{{"artifact_ref":"{}","format":"f","created_at":"2026-03-01T09:30:00Z","summary":"a\ud800"}}"#,
        artifact_ref(b"")
    );
    let made: Value = ask(&mut CommitGraph::default(), "checkpoint", &request).unwrap();
    assert_eq!(made["record"]["summary"], "a\u{fffd}");
    assert_eq!(made["diagnostics"][0]["code"], "lone_surrogate_replaced");
    assert_eq!(made["diagnostics"][0]["path"], "summary");
}

// Artifact ref

/// The short form of an artifact ref is `art-` + 12 hex, resolved if unambiguous.
#[test]
fn short_refs_are_resolved_when_unambiguous() {
    let Seed { mut host, ids, .. } = seed();
    let full = host.graph.show(&ids[0]).unwrap().artifact_ref.clone();
    let short = short_ref(&full).unwrap();
    assert_eq!(host.graph.resolve_artifact(&short).unwrap(), full);
    assert_eq!(host.graph.resolve_artifact(&full).unwrap(), full);
    let mut record = host.draft(Some(&ids[0]), CommitType::Delta, "");
    record.artifact_ref = short.clone();
    let record = host.graph.checkpoint(record).unwrap().clone();
    assert_eq!(record.artifact_ref, full, "a checkpoint keeps the full one");
    let error = host.graph.resolve_artifact("art-000000000000").unwrap_err();
    assert_eq!((error.code(), &error.details()["artifactRef"]), (Code::ArtifactNotFound, &json!("art-000000000000")));
    // Two artifacts that begin alike can only come from outside.
    let alike = full[..30].to_owned() + &"0".repeat(full.len() - 30);
    let line = host.graph.show(&ids[0]).unwrap().to_json().replace(&full, &alike).replace(&ids[0], "ctx-alike");
    host.graph.import_jsonl(line.as_bytes()).unwrap();
    let error = host.graph.resolve_artifact(&short).unwrap_err();
    assert_eq!(error.code(), Code::AmbiguousRef);
    assert_eq!(error.details()["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(code(host.graph.resolve_artifact("sha256:0")), Code::ArtifactNotFound);
    assert_eq!(code(host.graph.resolve_artifact("sha256")), Code::InvalidInput);
}

/// Every incoming blob is hashed before it is used: `blob_mismatch`, `blob_missing`.
#[test]
fn every_blob_is_verified() {
    let Seed { mut host, ids, .. } = seed();
    let artifact = host.graph.show(&ids[1]).unwrap().artifact_ref.clone();
    host.blobs.insert(artifact.clone(), b"{\"n\":9}\n".to_vec());
    let error = host.materialize(&ids[2], Stop::Root).unwrap_err();
    assert_eq!(error.code(), Code::BlobMismatch);
    assert_eq!(error.details()["commitId"], json!(ids[1]));
    assert_eq!(error.details()["artifactRef"], json!(artifact));
    assert_eq!(error.details()["actualRef"], json!(artifact_ref(b"{\"n\":9}\n")));
    host.blobs.remove(&artifact);
    let error = host.materialize(&ids[2], Stop::Root).unwrap_err();
    assert_eq!((error.code(), &error.details()["commitId"]), (Code::BlobMissing, &json!(ids[1])));
    assert_eq!(error.details()["artifactRef"], json!(artifact));
}

// CommitGraph

/// `show`, `history` (tip to root, depth limit).
#[test]
fn history_goes_from_tip_to_root() {
    let Seed { host, ids: chain, .. } = seed();
    let mut back = chain.clone();
    back.reverse();
    assert_eq!(ids(&host.graph.history(&chain[4], None).unwrap()), back);
    assert_eq!(ids(&host.graph.history(&chain[4], Some(2)).unwrap()), back[..2]);
    assert!(host.graph.history(&chain[4], Some(0)).unwrap().is_empty());
    assert_eq!(host.graph.history(&chain[4], Some(99)).unwrap().len(), 5);
    assert_eq!(host.graph.show(&chain[0]).unwrap().parent, None);
    let error = host.graph.show("ctx-no").unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::CommitNotFound, "commit `ctx-no` is not in the graph"));
    assert_eq!(code(host.graph.history("ctx-no", Some(0))), Code::CommitNotFound);
}

/// `resolve`: latest at or before a time, RFC 3339 with offsets.
#[test]
fn resolve_gives_the_latest_at_or_before() {
    let mut host = Host::default();
    let mut at = |parent: Option<&str>, time: &str, blob: &str| {
        let mut record = host.draft(parent, CommitType::Delta, blob);
        record.created_at = time.to_owned();
        host.graph.checkpoint(record).unwrap().id.clone()
    };
    let one = at(None, "2026-03-01T10:00:00+01:00", "1");
    let two = at(Some(&one), "2026-03-01T09:30:00Z", "2");
    let same = at(Some(&two), "2026-03-01T09:30:00.000Z", "3");
    let resolve = |time: &str| {
        host.graph.resolve("iris", Timestamp::parse(time).unwrap()).unwrap().map(|record| record.id.clone())
    };
    assert_eq!(resolve("2026-03-01T08:59:59.999Z"), None);
    assert_eq!(resolve("2026-03-01T09:00:00Z"), Some(one.clone()));
    assert_eq!(resolve("2026-03-01T14:29:59+05:00"), Some(one.clone()));
    assert_eq!(resolve("2026-03-01T04:30:00-05:00"), Some(same.clone()), "of one moment the one that the other led to");
    assert_eq!(resolve("9999-12-31T23:59:59Z"), Some(same.clone()));
    assert_eq!(host.graph.resolve("nobody", Timestamp::parse("2026-03-01T09:00:00Z").unwrap()).unwrap(), None);
    let noon = json!({ "principal": "iris", "time": "noon" });
    assert_eq!(code(ask(&mut host.graph, "resolve", noon)), Code::InvalidInput);
    let mut other = host.draft(Some(&one), CommitType::Delta, "4");
    other.created_at = "2026-03-01T09:30:00Z".into();
    let other = host.graph.checkpoint(other).unwrap().id.clone();
    let error = host.graph.resolve("iris", Timestamp::parse("2026-03-01T09:30:00Z").unwrap()).unwrap_err();
    assert_eq!(error.code(), Code::AmbiguousCommit, "two heads");
    let mut candidates = vec![same, other];
    candidates.sort();
    assert_eq!(error.details()["candidates"], json!(candidates));
}

/// `updateMetadata` changes summary and tags only.
#[test]
fn only_summary_and_tags_change() {
    let Seed { mut host, ids, .. } = seed();
    let update = |host: &mut Host, fields: Value| {
        ask(&mut host.graph, "updateMetadata", json!({ "id": ids[0], "fields": fields }))
    };
    let before = host.graph.show(&ids[0]).unwrap().clone();
    let record = update(&mut host, json!({ "summary": "s", "tags": ["a", "b"] })).unwrap();
    assert_eq!((&record["summary"], &record["tags"], &record["id"]), (&json!("s"), &json!(["a", "b"]), &json!(ids[0])));
    update(&mut host, json!({ "tags": [] })).unwrap();
    assert_eq!(host.graph.show(&ids[0]).unwrap(), &Record { summary: Some("s".into()), ..before.clone() });
    update(&mut host, json!({ "summary": null })).unwrap();
    assert_eq!(host.graph.show(&ids[0]).unwrap(), &before);
    for field in ["parent", "artifact_ref", "created_at", "id", "other"] {
        let error = update(&mut host, json!({ "summary": "t", field: "x" })).unwrap_err();
        assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!(field)));
    }
    assert_eq!(host.graph.show(&ids[0]).unwrap(), &before, "and a rejected update changes nothing");
    let nothing = json!({ "id": "ctx-no", "fields": {} });
    assert_eq!(code(ask(&mut host.graph, "updateMetadata", nothing)), Code::CommitNotFound);
}

/// By ticket, by thread, by session; commits lacking a summary.
#[test]
fn commits_are_found_by_what_they_belong_to() {
    let mut host = Host::default();
    let mut made = Vec::new();
    for (ticket, thread, session, summary) in
        [("tkt-1", "th-1", "s-1", ""), ("tkt-1", "th-2", "s-1", "  "), ("tkt-2", "th-1", "s-2", "said")]
    {
        let record = host.draft(made.last().map(String::as_str), CommitType::Delta, ticket);
        let some = |text: &str| Some(text.to_owned());
        let (ticket_id, thread_id, session_id) = (some(ticket), some(thread), some(session));
        let record = Record {
            provenance: Provenance { ticket_id, thread_id, session_id, ..record.provenance },
            summary: some(summary),
            ..record
        };
        made.push(host.graph.checkpoint(record).unwrap().id.clone());
    }
    assert_eq!(ids(&host.graph.by_ticket("tkt-1")), made[..2]);
    assert_eq!(ids(&host.graph.by_thread("th-1")), [made[0].clone(), made[2].clone()]);
    assert_eq!(ids(&host.graph.by_session("s-2")), made[2..]);
    assert_eq!(ids(&host.graph.lacking_summary()), made[..2]);
    assert!(host.graph.by_ticket("tkt-3").is_empty());
}

/// Branches: children, tips, common ancestor.
#[test]
fn branches_have_tips_and_a_common_ancestor() {
    let Seed { mut host, ids: chain, fork } = seed();
    assert_eq!(ids(&host.graph.children(&chain[1]).unwrap()), [chain[2].clone(), fork.clone()]);
    assert!(host.graph.children(&fork).unwrap().is_empty());
    assert_eq!(code(host.graph.children("ctx-no")), Code::CommitNotFound);
    let mut tips = ids(&host.graph.tips());
    tips.sort();
    let mut expected = vec![chain[4].clone(), fork.clone()];
    expected.sort();
    assert_eq!(tips, expected);
    let common = |host: &Host, one: &str, other: &str| {
        host.graph.common_ancestor(one, other).unwrap().map(|record| record.id.clone())
    };
    assert_eq!(common(&host, &chain[4], &fork), Some(chain[1].clone()));
    assert_eq!(common(&host, &chain[4], &chain[2]), Some(chain[2].clone()));
    assert_eq!(common(&host, &fork, &fork), Some(fork.clone()));
    let alone = host.commit(None, CommitType::Delta, "{}\n");
    assert_eq!(common(&host, &alone, &fork), None);
    assert_eq!(code(host.graph.common_ancestor(&alone, "ctx-no")), Code::CommitNotFound);
}

/// Artifacts reachable from given tips, for a host's garbage collection.
#[test]
fn reachable_artifacts_are_what_must_be_kept() {
    let Seed { host, ids: chain, fork } = seed();
    let refs = |of: &[&String]| {
        let mut refs: Vec<String> = of.iter().map(|id| host.graph.show(id).unwrap().artifact_ref.clone()).collect();
        refs.sort();
        refs
    };
    assert_eq!(host.graph.reachable_artifacts(&[&fork]).unwrap(), refs(&[&chain[0], &chain[1], &fork]));
    let all: Vec<&String> = chain.iter().chain([&fork]).collect();
    assert_eq!(host.graph.reachable_artifacts(&[&chain[4], &fork]).unwrap(), refs(&all));
    assert_eq!(host.graph.reachable_artifacts(&[] as &[&str]).unwrap(), [] as [String; 0]);
    assert_eq!(code(host.graph.reachable_artifacts(&["ctx-no"])), Code::CommitNotFound);
}

// Damage

/// Records that only an import can bring.
fn foreign(lines: &[(&str, &str)]) -> (Host, Vec<DiagnosticCode>) {
    let mut host = Host::default();
    let mut text = String::new();
    for (id, parent) in lines {
        let blob = host.blob(&format!("{{\"id\":\"{id}\"}}\n"));
        text += &format!(
            r#"{{"id":"{id}","parent":"{parent}","commit_type":"delta","artifact_ref":"{blob}","format":"claude-code-v1","principal":"iris","created_at":"2026-03-01T09:30:00Z"}}"#
        );
        text.push('\n');
    }
    let report = host.graph.import_jsonl(text.as_bytes()).unwrap();
    let found =
        report.diagnostics.iter().map(|found| found.code).filter(|code| *code != DiagnosticCode::ForeignCommitIds);
    (host, found.collect())
}

/// Cycles and self-parents are errors, never a shorter history, in every query.
#[test]
fn cycles_are_errors() {
    for lines in [
        [("ctx-a", "ctx-c"), ("ctx-b", "ctx-a"), ("ctx-c", "ctx-b"), ("ctx-d", "ctx-c")].as_slice(),
        &[("ctx-a", "ctx-a"), ("ctx-d", "ctx-a")],
    ] {
        let (host, found) = foreign(lines);
        assert_eq!(found, [DiagnosticCode::CommitCycle], "each cycle once");
        let history = host.graph.history("ctx-d", None).unwrap_err();
        assert_eq!(history.code(), Code::ChainCycle);
        let on_it = history.details()["commitId"].as_str().unwrap().to_owned();
        assert!(lines[..lines.len() - 1].iter().any(|(id, _)| *id == on_it));
        assert_eq!(history.details()["artifactRef"], json!(host.graph.show(&on_it).unwrap().artifact_ref));
        assert_eq!(code(host.materialize("ctx-d", Stop::Root)), Code::ChainCycle);
        assert_eq!(code(host.materialize("ctx-d", Stop::Compaction)), Code::ChainCycle);
        assert_eq!(code(host.materialize("ctx-d", Stop::At("ctx-x".into()))), Code::ChainCycle);
        assert_eq!(code(host.graph.reachable_artifacts(&["ctx-d"])), Code::ChainCycle);
        assert_eq!(code(host.graph.common_ancestor("ctx-d", "ctx-a")), Code::ChainCycle);
        assert_eq!(host.graph.commits().len(), lines.len(), "and nothing is lost in an export");
        assert_eq!(host.graph.history("ctx-d", Some(1)).unwrap().len(), 1);
        assert_eq!(code(host.graph.history("ctx-d", Some(lines.len() + 1))), Code::ChainCycle);
    }
}

/// A missing parent is an error that names both, never a shorter history.
#[test]
fn a_missing_parent_is_an_error() {
    let (host, found) = foreign(&[("ctx-b", "ctx-a"), ("ctx-c", "ctx-b")]);
    assert_eq!(found, [DiagnosticCode::ParentMissing]);
    for error in [
        host.graph.history("ctx-c", None).unwrap_err(),
        host.materialize("ctx-c", Stop::Root).unwrap_err(),
        host.materialize("ctx-c", Stop::Compaction).unwrap_err(),
        host.graph.reachable_artifacts(&["ctx-c"]).unwrap_err(),
        host.graph.common_ancestor("ctx-b", "ctx-c").unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::CommitNotFound);
        assert_eq!((&error.details()["commitId"], &error.details()["childId"]), (&json!("ctx-a"), &json!("ctx-b")));
        assert_eq!(error.details()["artifactRef"], json!(host.graph.show("ctx-b").unwrap().artifact_ref));
    }
    assert_eq!(
        host.text("ctx-c", Stop::At("ctx-b".into())),
        "{\"id\":\"ctx-b\"}\n{\"id\":\"ctx-c\"}\n",
        "unneeded blobs may be missing"
    );
}

/// Exceeded limits are named (docs/limits.md).
#[test]
fn limits_hold() {
    let defaults = Limits::default;
    let Seed { host, ids, .. } = seed();
    let text = host.graph.export_jsonl();
    let mut graph = CommitGraph::new(Limits { commits: 5, ..defaults() });
    let error = graph.import_jsonl(&text).unwrap_err();
    assert_eq!((error.code(), &error.details()["limit"]), (Code::LimitExceeded, &json!("commits")));
    assert!(graph.is_empty(), "a failed import adds nothing");
    let with = |limits: Limits| {
        let mut host = host.clone();
        host.graph = CommitGraph::new(limits);
        host.graph.import_jsonl(&text).unwrap();
        let error = host.materialize(&ids[4], Stop::Root).unwrap_err();
        (error.code(), error.details()["limit"].clone(), error.details().get("commitId").is_some())
    };
    assert_eq!(with(Limits { chain_depth: 4, ..defaults() }), (Code::LimitExceeded, json!("chainDepth"), false));
    assert_eq!(with(Limits { blob_bytes: 7, ..defaults() }), (Code::LimitExceeded, json!("blobBytes"), true));
    assert_eq!(
        with(Limits { materialized_bytes: 20, ..defaults() }),
        (Code::LimitExceeded, json!("materializedBytes"), true)
    );
}

/// What counts is the result, with the newlines that are put between.
#[test]
fn the_bound_on_a_result_is_that_of_its_bytes() {
    let mut host = Host::default();
    let mut tip: Option<String> = None;
    for blob in ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"] {
        tip = Some(host.commit(tip.as_deref(), CommitType::Delta, blob));
    }
    let tip = tip.unwrap();
    assert_eq!(host.materialize(&tip, Stop::Root).unwrap().len(), 3 * 7 + 2);
    let records = host.graph.export_jsonl();
    for (bound, fits) in [(23, true), (22, false)] {
        host.graph = CommitGraph::new(Limits { materialized_bytes: bound, ..Limits::default() });
        host.graph.import_jsonl(&records).unwrap();
        assert_eq!(host.materialize(&tip, Stop::Root).is_ok(), fits, "{bound}");
    }
}

// Import and export

/// Import and export as JSONL, one record per line; a torn tail is tolerated.
#[test]
fn damaged_lines_are_diagnostics_with_their_line() {
    let Seed { host, .. } = seed();
    let text = String::from_utf8(host.graph.export_jsonl()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let import = |text: &str| {
        let mut graph = CommitGraph::default();
        let report = graph.import_jsonl(text.as_bytes()).unwrap();
        let found: Vec<_> = report.diagnostics.iter().map(|found| (found.code, found.line)).collect();
        (graph, found)
    };
    let whole = |text: &str| {
        let (graph, found) = import(text);
        assert_eq!(found, [], "{text:?}");
        assert_eq!(graph.export_jsonl(), host.graph.export_jsonl());
    };
    whole(&text);
    whole(text.trim_end());
    whole(&text.replace('\n', "\r\n"));
    whole(&format!("\u{feff}\n{}\n\n", text.replace('\n', "\n\n")));
    let (graph, found) = import(&text[..text.len() - 10]);
    assert_eq!((graph.len(), found), (5, vec![(DiagnosticCode::TornLine, Some(6))]));
    let (graph, found) = import(&text.replacen('\n', "", 1));
    assert_eq!((graph.len(), found), (6, vec![(DiagnosticCode::GluedRecords, Some(1))]));
    let (graph, found) = import(&format!("{}\n[1]\n{{}}\nnonsense\n{}\n", lines[0], lines[1]));
    assert_eq!(graph.len(), 2);
    assert_eq!(
        found,
        [
            (DiagnosticCode::MalformedLine, Some(2)),
            (DiagnosticCode::InvalidRecord, Some(3)),
            (DiagnosticCode::MalformedLine, Some(4))
        ]
    );
    let mut graph = CommitGraph::default();
    let mut record = host.graph.commits()[0].clone();
    record.summary = Some("one\u{2028}two\u{2029}three\u{85}\n\0".into());
    graph.import_jsonl(&jsonl([record])).unwrap();
    let text = graph.export_jsonl();
    let mut again = CommitGraph::default();
    assert_eq!(again.import_jsonl(&text).unwrap().diagnostics, []);
    assert_eq!(again.commits(), graph.commits());
}

#[test]
fn a_contradicting_import_adds_nothing() {
    let Seed { mut host, ids, .. } = seed();
    let line = host.graph.show(&ids[0]).unwrap().to_json().replace("iris", "otto");
    let other = host.graph.show(&ids[1]).unwrap().to_json().replace(&ids[1], "ctx-new");
    let before = host.graph.export_jsonl();
    let error = host.graph.import_jsonl(format!("{other}\n{line}\n").as_bytes()).unwrap_err();
    assert_eq!((error.code(), &error.details()["commitId"]), (Code::IdCollision, &json!(ids[0])));
    assert_eq!(error.details()["line"], json!(2));
    assert_eq!(host.graph.export_jsonl(), before);
}

#[test]
fn summaries_of_two_copies_are_brought_together() {
    let Seed { host, ids, .. } = seed();
    let line = host.graph.show(&ids[0]).unwrap().to_json();
    let with = |summary: &str| line.replace("\"created_at\"", &format!("\"summary\":\"{summary}\",\"created_at\""));
    let import = |lines: &[&String]| {
        let mut graph = CommitGraph::default();
        let mut codes = Vec::new();
        for line in lines {
            codes.extend(graph.import_jsonl(line.as_bytes()).unwrap().diagnostics.iter().map(|found| found.code));
        }
        (graph.show(&ids[0]).unwrap().summary.clone(), codes)
    };
    let (a, b) = (with("a"), with("b"));
    assert_eq!(import(&[&line, &a]), (Some("a".into()), vec![DiagnosticCode::MetadataConflict]));
    assert_eq!(import(&[&a, &line]), (Some("a".into()), vec![DiagnosticCode::MetadataConflict]));
    assert_eq!(import(&[&a, &a]), (Some("a".into()), vec![]));
    assert_eq!(import(&[&a, &b]), (Some("b".into()), vec![DiagnosticCode::MetadataConflict]));
    assert_eq!(import(&[&b, &a]), (Some("b".into()), vec![DiagnosticCode::MetadataConflict]));
    assert_eq!(import(&[&format!("{b}\n{a}\n")]), (Some("b".into()), vec![DiagnosticCode::MetadataConflict]));
}

/// Steps on a new graph, as JavaScript makes them.
fn steps(steps: Value) -> Vec<Value> {
    let done = crate::calls::call("CommitGraph", &[], steps.as_array().map(Vec::as_slice)).unwrap();
    done.as_array().unwrap().clone()
}

fn codes(result: &Value) -> Vec<&str> {
    let found = result["diagnostics"].as_array().map_or(&[][..], Vec::as_slice);
    found.iter().filter_map(|found| found["code"].as_str()).collect()
}

/// The caller chooses which summary and tags stay, and a difference is reported.
#[test]
fn the_caller_chooses_which_summary_stays() {
    let Seed { host, ids, .. } = seed();
    let line = host.graph.show(&ids[0]).unwrap().to_json();
    let with = |summary: &str| line.replace("\"created_at\"", &format!("\"summary\":\"{summary}\",\"created_at\""));
    let (a, b) = (with("a"), with("b"));
    let merged = |first: &str, second: &str, metadata: Option<&str>| {
        let options = metadata.map_or(json!({}), |metadata| json!({ "metadata": metadata }));
        let done = steps(json!([["importJsonl", first], ["importJsonl", second, options], ["show", ids[0]]]));
        (done[2]["summary"].as_str().map(str::to_owned), codes(&done[1]).join(","), done[1]["updated"].as_u64())
    };
    let told = "metadata_conflict";
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(merged(&b, &a, None), (some("b"), told.into(), Some(0)));
    assert_eq!(merged(&b, &a, Some("merge")), (some("b"), told.into(), Some(0)));
    assert_eq!(merged(&b, &a, Some("keep")), (some("b"), told.into(), Some(0)));
    assert_eq!(merged(&b, &a, Some("replace")), (some("a"), told.into(), Some(1)));
    assert_eq!(merged(&a, &b, Some("keep")), (some("a"), told.into(), Some(0)));
    // One that was deleted stays deleted, or is deleted.
    assert_eq!(merged(&line, &a, Some("keep")), (None, told.into(), Some(0)));
    assert_eq!(merged(&a, &line, Some("replace")), (None, told.into(), Some(1)));
    assert_eq!(merged(&line, &a, None), (some("a"), told.into(), Some(1)));
    assert_eq!(merged(&a, &line, None), (some("a"), told.into(), Some(0)));
    assert_eq!(merged(&a, &a, Some("replace")), (some("a"), String::new(), Some(0)));
    let wrong = steps(json!([["importJsonl", a, { "metadata": "mine" }], ["importJsonl", a, { "metdata": "keep" }]]));
    assert_eq!(wrong[0]["error"]["code"], "unknown_value");
    assert_eq!(codes(&wrong[1]), ["unknown_option"]);
}

/// Requesting a commit again is a no-op, and reports a different request.
#[test]
fn an_existing_checkpoint_reports_that_its_summary_stays() {
    let artifact = artifact_ref(b"x");
    let request = |more: Value| {
        let mut request =
            json!({ "artifact_ref": artifact, "format": "generic-v1", "created_at": "2026-03-01T09:00:00Z" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!(["checkpoint", request])
    };
    let done = steps(json!([
        request(json!({ "summary": "one" })),
        request(json!({ "summary": "two" })),
        request(json!({ "tags": ["x"] })),
        request(json!({ "summary": "one" })),
        request(json!({})),
    ]));
    let told: Vec<_> = done.iter().map(|result| codes(result).join(",")).collect();
    assert_eq!(told, ["", "metadata_conflict", "metadata_conflict", "", ""]);
    assert!(done.iter().all(|result| result["record"]["summary"] == "one"));
    assert!(done[1]["diagnostics"][0]["message"].as_str().unwrap().contains("updateMetadata"));
}

/// A digest at the end of an export proves that its records are unchanged, however their lines are written.
#[test]
fn a_digest_detects_altered_records() {
    let Seed { host, .. } = seed();
    let plain = String::from_utf8(host.graph.export_jsonl()).unwrap();
    let records =
        |text: &str| steps(json!([["importJsonl", text], ["exportJsonl", { "digest": true }], ["exportJsonl"]]));
    let text = |value: &Value| value["$text"].as_str().unwrap().to_owned();
    let done = records(&plain);
    let whole = text(&done[1]);
    assert_eq!(text(&done[2]), plain, "only on demand");
    assert!(whole.starts_with(&plain) && whole.lines().count() == plain.lines().count() + 1);
    assert!(done[0].get("verified").is_none(), "there was none to check");
    let import = |text: &str| {
        let done = records(text);
        let codes = codes(&done[0]).join(",");
        (codes, done[0]["verified"].as_u64(), done[0]["added"].as_array().map_or(0, Vec::len))
    };
    assert_eq!(import(&whole), (String::new(), Some(6), 6));
    // How lines are written is not what they say, and two exports are two.
    assert_eq!(import(&whole.replace('\n', "\r\n\r\n").replace(",\"format\"", " , \"format\"")).1, Some(6));
    assert_eq!(import(&(whole.clone() + &whole)), (String::new(), Some(12), 6));
    for (what, by) in [
        ("claude-code-v1", "codex-v1"),
        ("\"checkpoint\":\"turn_boundary\"", "\"checkpoint\":\"turn_boundary\",\"session_id\":\"s\""),
        ("\"version\":1", "\"verison\":1"),
    ] {
        let altered = whole.replacen(what, by, 1);
        assert_ne!(altered, whole, "{what}");
        assert_eq!(import(&altered), ("digest_mismatch".into(), None, 6), "{what}");
    }
    let (_, without_first) = whole.split_once('\n').unwrap();
    assert!(import(without_first).0.contains("digest_mismatch"));
    let line = whole.lines().last().unwrap();
    let broken = whole.replace(line, "{\"digest\":5}");
    assert_eq!(import(&broken).0, "digest_mismatch", "a digest that is none agrees with nothing");
}

// Materialise

/// `compaction` stops at the nearest compaction or snapshot and includes it.
#[test]
fn by_default_it_stops_at_the_nearest_compaction() {
    let Seed { mut host, ids, fork } = seed();
    assert_eq!(host.text(&ids[4], Stop::Compaction), "{\"summary\":\"1 to 3\"}\n{\"n\":4}\n");
    assert_eq!(host.text(&ids[3], Stop::Compaction), "{\"summary\":\"1 to 3\"}\n");
    assert_eq!(host.text(&ids[2], Stop::Compaction), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}");
    assert_eq!(host.text(&fork, Stop::Compaction), "{\"n\":1}\n{\"n\":2}\n{\"n\":\"fork\"}\n");
    let snapshot = host.commit(Some(&ids[4]), CommitType::Snapshot, "{\"snapshot\":1}\n");
    let after = host.commit(Some(&snapshot), CommitType::Delta, "{\"n\":5}\n");
    assert_eq!(host.text(&after, Stop::Compaction), "{\"snapshot\":1}\n{\"n\":5}\n");
}

/// `root` returns all deltas from the root and leaves compaction summaries out; a snapshot counts only if it is the
/// root itself (an import).
#[test]
fn root_gives_all_deltas_and_nothing_twice() {
    let Seed { mut host, ids, .. } = seed();
    let all = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n";
    assert_eq!(host.text(&ids[4], Stop::Root), all, "a newline is put where a delta ends without one");
    assert_eq!(host.text(&ids[3], Stop::Root), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}");
    let snapshot = host.commit(Some(&ids[4]), CommitType::Snapshot, "{\"snapshot\":1}\n");
    let after = host.commit(Some(&snapshot), CommitType::Delta, "{\"n\":5}\n");
    assert_eq!(host.text(&after, Stop::Root), format!("{all}{{\"n\":5}}\n"));
    let imported = host.commit(None, CommitType::Snapshot, "{\"imported\":1}\n");
    let after = host.commit(Some(&imported), CommitType::Delta, "{\"n\":6}\n");
    assert_eq!(host.text(&after, Stop::Root), "{\"imported\":1}\n{\"n\":6}\n");
    let compacted = host.commit(None, CommitType::Compaction, "{\"summary\":\"lost\"}\n");
    let after = host.commit(Some(&compacted), CommitType::Delta, "{\"n\":7}\n");
    assert_eq!(host.text(&after, Stop::Root), "{\"n\":7}\n");
    let plan = host.graph.plan(PlanRequest { commit: Some(after), stop: Stop::Root, ..Default::default() }).unwrap();
    assert_eq!(plan.diagnostics[0].code, DiagnosticCode::CompactionLeftOut, "but never silently");
}

/// Materialization from a commit id (inclusive).
#[test]
fn a_commit_to_stop_at_is_included() {
    let Seed { host, ids, fork } = seed();
    let at = |tip: &str, stop: &String| {
        host.materialize(tip, Stop::At(stop.clone())).map(|bytes| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(at(&ids[2], &ids[1]).unwrap(), "{\"n\":2}\n{\"n\":3}");
    assert_eq!(
        at(&ids[4], &ids[1]).unwrap(),
        "{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n",
        "past a compaction the deltas are whole"
    );
    assert_eq!(at(&ids[4], &ids[3]).unwrap(), "{\"summary\":\"1 to 3\"}\n{\"n\":4}\n");
    assert_eq!(at(&ids[2], &ids[2]).unwrap(), "{\"n\":3}");
    for (tip, stop) in [(&ids[4], &fork), (&ids[1], &ids[2]), (&ids[1], &"ctx-no".to_owned())] {
        let error = at(tip, stop).unwrap_err();
        assert_eq!(error.code(), Code::StopNotInChain);
        assert_eq!((&error.details()["commitId"], &error.details()["stop"]), (&json!(tip), &json!(stop)));
    }
    assert_eq!(code(host.materialize("ctx-no", Stop::Compaction)), Code::CommitNotFound);
    assert_eq!(code(Stop::from_name("head")), Code::UnknownValue);
}

/// An empty commit gives an empty conversation; fresh start, resume and fork are one call.
#[test]
fn nothing_materialises_to_nothing() {
    let mut host = Host::default();
    let empty = host.commit(None, CommitType::Delta, "");
    assert_eq!(host.text(&empty, Stop::Compaction), "");
    let child = host.commit(Some(&empty), CommitType::Delta, "{\"n\":1}");
    let child = host.commit(Some(&child), CommitType::Delta, "");
    let child = host.commit(Some(&child), CommitType::Delta, "{\"n\":2}");
    assert_eq!(host.text(&child, Stop::Root), "{\"n\":1}\n{\"n\":2}");
    for (format, nothing) in [("claude-code-v1", b"".as_slice()), ("generic-v1", b""), ("bureau-agent-v1", b"\x80")] {
        let request = PlanRequest { format: Some(format.to_owned()), ..PlanRequest::default() };
        let result = materialize(&host.graph, request, |_| None).unwrap();
        assert_eq!((result.bytes.as_slice(), result.format.as_str(), result.message_count), (nothing, format, 0));
        assert_eq!(result.artifact_ref, artifact_ref(nothing));
    }
}

/// The plan lists the refs to fetch and a `cacheKey`.
#[test]
fn a_plan_lists_refs_in_order_with_reasons() {
    let Seed { mut host, ids, .. } = seed();
    let plan = |host: &Host, tip: &str, stop: Stop| {
        host.graph.plan(PlanRequest { commit: Some(tip.to_owned()), stop, ..PlanRequest::default() }).unwrap()
    };
    let root = plan(&host, &ids[4], Stop::Root);
    let reasons: Vec<_> = root.steps.iter().map(|step| (step.reason, step.included)).collect();
    assert_eq!(
        reasons,
        [
            (Reason::Start, true),
            (Reason::Delta, true),
            (Reason::Delta, true),
            (Reason::Summarised, false),
            (Reason::Delta, true)
        ]
    );
    let refs: Vec<String> =
        [0, 1, 2, 4].iter().map(|at| host.graph.show(&ids[*at]).unwrap().artifact_ref.clone()).collect();
    assert_eq!(root.refs, refs);
    let again = host.commit(Some(&ids[4]), CommitType::Delta, "{\"n\":1}\n");
    let twice = plan(&host, &again, Stop::Root);
    assert_eq!(twice.refs, refs, "a blob that is needed twice is fetched once");
    assert!(host.text(&again, Stop::Root).ends_with("{\"n\":4}\n{\"n\":1}\n"));

    let keys = [
        root.cache_key.clone(),
        twice.cache_key,
        plan(&host, &ids[4], Stop::Compaction).cache_key,
        plan(&host, &ids[3], Stop::Root).cache_key,
        plan(&host, &ids[1], Stop::Root).cache_key,
    ];
    assert!(keys.iter().all(|key| key.starts_with("mat-") && key.len() == 36));
    assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len());
    assert_eq!(
        plan(&host, &ids[1], Stop::Compaction).cache_key,
        keys[4],
        "the same blobs, the same bytes, the same key"
    );
    host.graph.update_metadata(&ids[1], MetadataUpdate { summary: Some(Some("s".into())), tags: None }).unwrap();
    assert_eq!(plan(&host, &ids[4], Stop::Root).cache_key, keys[0]);
}

#[test]
fn a_plan_of_another_graph_is_refused() {
    let Seed { mut host, ids, .. } = seed();
    let plan = ask(&mut host.graph, "planMaterialization", json!({ "commit": ids[4] })).unwrap().to_string();
    assert!(begin(&host.graph, plan.as_bytes()).is_ok());
    let error = begin(&host.graph, plan.replace("mat-", "mat-0").as_bytes()).unwrap_err();
    assert_eq!((error.code(), &error.details()["commitId"]), (Code::PlanMismatch, &json!(ids[4])));
}

/// The result has bytes, their ref, format, counts, the tier used and diagnostics.
#[test]
fn a_result_names_its_format() {
    let mut host = Host::default();
    let mut parent: Option<String> = None;
    for (blob, messages, tokens) in [("{\"n\":1}", Some(2), Some(10)), ("{\"n\":2}\n{\"n\":", Some(3), Some(20))] {
        let record = host.draft(parent.as_deref(), CommitType::Delta, blob);
        let record = Record { message_count: messages, token_count: tokens, ..record };
        parent = Some(host.graph.checkpoint(record).unwrap().id.clone());
    }
    let tip = parent.unwrap();
    let request = PlanRequest { commit: Some(tip.clone()), ..PlanRequest::default() };
    let result = materialize(&host.graph, request, |blob| host.blobs.get(blob).map(Vec::as_slice)).unwrap();
    assert_eq!(result.bytes, b"{\"n\":1}\n{\"n\":2}\n{\"n\":");
    assert_eq!(result.artifact_ref, artifact_ref(&result.bytes));
    assert_eq!((result.message_count, result.token_count, result.format.as_str()), (5, 30, "claude-code-v1"));
    assert_eq!(result.diagnostics[0].code, DiagnosticCode::TornLine);
    assert_eq!(result.diagnostics[0].path.as_deref(), Some(tip.as_str()));
}

/// Snapshot commits can be made from a result.
#[test]
fn a_result_becomes_a_snapshot() {
    let Seed { mut host, ids, .. } = seed();
    let request = PlanRequest { commit: Some(ids[4].clone()), ..PlanRequest::default() };
    let result = materialize(&host.graph, request, |blob| host.blobs.get(blob).map(Vec::as_slice)).unwrap();
    host.blobs.insert(result.artifact_ref.clone(), result.bytes.clone());
    let request = |stop: &str| {
        json!({
            "plan": { "commit": ids[4], "stop": stop },
            "result": serde_json::from_slice::<Value>(&materialized(result.clone()).json).unwrap(),
            "fields": { "created_at": "2026-03-02T00:00:00Z", "tags": ["cache"] },
        })
    };
    let made = ask(&mut host.graph, "snapshot", request("compaction")).unwrap();
    let record = &made["record"];
    assert_eq!((&record["commit_type"], &record["parent"]), (&json!("snapshot"), &json!(ids[4])));
    assert_eq!((&record["principal"], &record["template"]), (&json!("iris"), &json!("reviewer")));
    assert_eq!((&record["tags"], &record["checkpoint"]), (&json!(["cache"]), &json!("explicit")));
    let id = made["id"].as_str().unwrap();
    assert_eq!(host.materialize(id, Stop::Compaction).unwrap(), result.bytes);
    let tip = host.commit(Some(id), CommitType::Delta, "{\"n\":5}\n");
    assert_eq!(host.materialize(&tip, Stop::Compaction).unwrap(), [result.bytes.as_slice(), b"{\"n\":5}\n"].concat());
    let error = ask(&mut host.graph, "snapshot", request(&ids[1])).unwrap_err();
    assert_eq!(error.code(), Code::InvalidInput, "a part is no snapshot");
}

/// Issue "Commits": ten thousand commits and more, without recursion.
#[test]
fn long_chains_take_no_stack() {
    const LENGTH: usize = 20_000;
    let work = || {
        let mut graph = CommitGraph::default();
        let blob = artifact_ref(b"{}\n");
        let mut tip: Option<String> = None;
        for at in 0..LENGTH {
            let record = Record {
                parent: tip.take(),
                message_count: Some(1),
                token_count: Some(1),
                ..Record::new(CommitType::Delta, &blob, "claude-code-v1", &format!("2026-03-01T00:00:00.{at:06}Z"))
            };
            tip = Some(graph.checkpoint(record).unwrap().id.clone());
        }
        let tip = tip.unwrap();
        let request = PlanRequest { commit: Some(tip.clone()), ..PlanRequest::default() };
        let result = materialize(&graph, request, |_| Some(b"{}\n".as_slice())).unwrap();
        assert_eq!((result.bytes.len(), result.message_count), (3 * LENGTH, LENGTH as u64));
        assert_eq!(graph.history(&tip, None).unwrap().len(), LENGTH);
        let mut again = CommitGraph::default();
        assert_eq!(again.import_jsonl(&graph.export_jsonl()).unwrap().diagnostics, []);
        assert_eq!(again.commits(), graph.commits());
    };
    // A quarter of what WebAssembly has.
    std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap().join().unwrap();
}

// Checkpointer

/// Turns are counted from the stored messages, whenever they are reported.
#[test]
fn turns_are_counted_from_what_was_stored() {
    use ctxweave::commits::{CheckpointFields, Checkpointer, CheckpointerOptions};
    let at = CheckpointFields { created_at: "2026-03-01T09:30:00Z".into(), ..CheckpointFields::default() };
    let options = CheckpointerOptions { every: 3, ..CheckpointerOptions::new("generic-v1") };
    let mut session = Checkpointer::new(options, &ctxweave::Limits::default()).unwrap();
    let turn = |session: &mut Checkpointer, text: &str| {
        session.push(format!("{{\"role\":\"user\",\"content\":\"{text}\"}}").as_bytes()).unwrap();
        session.checkpoint(Trigger::TurnBoundary, &at).unwrap()
    };
    assert!(turn(&mut session, "one").is_empty());
    let early = session.checkpoint(Trigger::Explicit, &at).unwrap();
    session.push(br#"{"role":"assistant","content":"more"}"#).unwrap();
    let offered = session.checkpoint(Trigger::Explicit, &at).unwrap();
    assert_eq!(session.head(), None);
    assert!(turn(&mut session, "two").is_empty());
    session.stored(&offered[0].record.id).unwrap();
    // That it is stored, too, changes nothing any more.
    session.stored(&early[0].record.id).unwrap();
    assert_eq!(session.head(), Some(offered[0].record.id.as_str()));
    assert!(turn(&mut session, "three").is_empty());
    assert_eq!(turn(&mut session, "four").len(), 1, "the third turn since what was stored");
}
