//! The nodes on the path (docs/loom.md).

use crate::calls::loom::assemble_dialogue_json;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

/// A tree from a short notation: nodes by id, edges as `from,from>to`, sources primary unless marked `c:` or `i:`.
fn tree(nodes: &[&str], edges: &[&str]) -> Value {
    let node = |spec: &&str| {
        let (id, origin) = spec.split_once('<').map_or((*spec, None), |(id, origin)| (id, Some(origin)));
        let mut node = json!({ "id": id, "content": format!("text of {id}"), "authorType": "human" });
        if let Some(origin) = origin {
            node["editedFrom"] = json!(origin);
        }
        node
    };
    let edge = |(at, spec): (usize, &&str)| {
        let (sources, target) = spec.split_once('>').unwrap();
        let (target, kind) = target.strip_suffix('?').map_or((target, "continuation"), |target| (target, "annotation"));
        let source = |source: &str| match source.split_once(':') {
            Some(("c", id)) => json!({ "nodeId": id, "role": "context" }),
            Some(("i", id)) => json!({ "nodeId": id, "role": "instruction" }),
            _ => json!({ "nodeId": source, "role": "primary" }),
        };
        let sources: Vec<Value> = sources.split(',').filter(|source| !source.is_empty()).map(source).collect();
        json!({ "id": format!("e{at}"), "sources": sources, "targetNodeId": target, "edgeType": kind })
    };
    let nodes: Vec<Value> = nodes.iter().map(node).collect();
    let edges: Vec<Value> = edges.iter().enumerate().map(edge).collect();
    json!({ "nodes": nodes, "edges": edges })
}

fn assemble(tree: Value, more: Value) -> Result<Value, Error> {
    let mut request = json!({ "tree": tree, "contextWindow": 100_000 });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assemble_dialogue_json(request.to_string().as_bytes()).map(|result| serde_json::from_slice(&result).unwrap())
}

fn path(tree: Value, more: Value) -> Vec<String> {
    let result = assemble(tree, more).unwrap();
    result["report"]["path"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn code(tree: Value, more: Value) -> Code {
    assemble(tree, more).unwrap_err().code()
}

#[test]
fn walks_back_over_the_primary_source_else_the_first() {
    let primary = tree(&["a", "x", "b"], &["c:x,a>b"]);
    assert_eq!(path(primary, json!({ "tip": "b" })), ["a", "b"]);
    let first = tree(&["a", "x", "b"], &["c:a,c:x>b"]);
    assert_eq!(path(first, json!({ "tip": "b" })), ["a", "b"]);
}

#[test]
fn edits_in_a_circle_end() {
    let circle = || tree(&["a<b", "b<c", "c<a"], &[]);
    assert_eq!(path(circle(), json!({ "tip": "a" })), ["a"]);
    let versions = tree(&["a<b", "b<a", "t"], &["a,b>t"]);
    assert_eq!(path(versions, json!({ "tip": "t" })), ["b", "t"]);
}

#[test]
fn a_choice_is_asked_for_and_taken() {
    let fork = || tree(&["a", "b", "c", "d"], &["a>c", "b>c", "c>d"]);
    let error = assemble(fork(), json!({ "tip": "d" })).unwrap_err();
    assert_eq!(error.code(), Code::AmbiguousPath);
    assert_eq!(
        error.details()["candidates"],
        json!([{ "edgeId": "e0", "nodeIds": ["a"] }, { "edgeId": "e1", "nodeIds": ["b"] }])
    );
    assert_eq!(path(fork(), json!({ "tip": "d", "choices": { "c": "e1" } })), ["b", "c", "d"]);
    assert_eq!(path(fork(), json!({ "tip": "d", "choices": { "c": "a" } })), ["a", "c", "d"]);
    assert_eq!(code(fork(), json!({ "tip": "d", "choices": { "c": "e2" } })), Code::InvalidChoice);
    assert_eq!(code(fork(), json!({ "tip": "d", "choices": { "zzz": "e1" } })), Code::NodeNotFound);
}

#[test]
fn only_one_version_is_on_a_path() {
    let versions = || tree(&["r", "v1", "v2<v1", "v3<v2", "t"], &["r>v1", "v1,v2,v3>t"]);
    let latest = assemble(versions(), json!({ "tip": "t" })).unwrap();
    assert_eq!(
        latest["report"]["path"],
        json!(["r", "v3", "t"]),
        "an edit without an edge stands where its origin stands"
    );
    let skipped: Vec<_> =
        latest["report"]["nodes"].as_array().unwrap().iter().filter(|row| row["reason"] == "otherVersion").collect();
    assert_eq!(skipped.len(), 2);
    assert_eq!(path(versions(), json!({ "tip": "t", "versionSelections": { "v1": "v2" } })), ["r", "v2", "t"]);
    assert_eq!(path(versions(), json!({ "tip": "t", "versionSelections": { "v3": "v1" } })), ["r", "v1", "t"]);
    assert_eq!(code(versions(), json!({ "tip": "t", "versionSelections": { "v1": "r" } })), Code::InvalidChoice);
    assert_eq!(path(versions(), json!({ "path": ["r", "v2", "t"] })), ["r", "v2", "t"]);
    assert_eq!(code(versions(), json!({ "path": ["v1", "v2", "t"] })), Code::InvalidInput);
}

/// An edit that no edge names stands in for the version that the edge names, once it is selected.
#[test]
fn an_edit_without_an_edge_can_be_selected() {
    let edited = || tree(&["r", "a", "a2<a", "a3<a2", "t"], &["r>a", "a>t"]);
    assert_eq!(path(edited(), json!({ "tip": "t" })), ["r", "a", "t"]);
    for key in ["a", "a2", "a3"] {
        let result = assemble(edited(), json!({ "tip": "t", "versionSelections": { key: "a3" } })).unwrap();
        assert_eq!(result["report"]["path"], json!(["r", "a3", "t"]), "{key}");
        let rows = result["report"]["nodes"].as_array().unwrap();
        assert!(rows.iter().any(|row| row["nodeId"] == "a" && row["reason"] == "otherVersion"), "{rows:?}");
        assert_eq!(result["report"]["diagnostics"], json!([]));
    }
    // Where an edit stands on the edge of what it is an edit of, a choice may name either of them.
    let fork = tree(&["x", "y", "a", "a2<a"], &["x>a", "y>a"]);
    for key in ["a", "a2"] {
        assert_eq!(path(fork.clone(), json!({ "tip": "a2", "choices": { key: "y" } })), ["y", "a2"], "{key}");
    }
}

/// A selection without a choice is rejected, on the path or not; one of another path is reported.
#[test]
fn no_choice_is_ignored() {
    let forked = || tree(&["r", "a", "b", "m", "t", "u"], &["r>a", "r>b", "a>m", "b>m", "m>t", "r>u"]);
    for nonsense in [
        json!({ "versionSelections": { "t": "r" } }),
        json!({ "versionSelections": { "a": "b" } }),
        json!({ "choices": { "m": "r" } }),
        json!({ "choices": { "r": "a" } }),
        json!({ "choices": { "u": "e0" } }),
    ] {
        let mut request = nonsense.clone();
        request["tip"] = json!("u");
        assert_eq!(code(forked(), request), Code::InvalidChoice, "{nonsense}");
    }
    let choices = json!({ "m": "a", "u": "r", "t": "m" });
    let result =
        assemble(forked(), json!({ "tip": "u", "choices": choices, "versionSelections": { "a": "a" } })).unwrap();
    let found = &result["report"]["diagnostics"][0];
    assert_eq!((&found["code"], &found["severity"]), (&json!("selections_ignored"), &json!("info")));
    let message = "3 of `choices` and `versionSelections` name nodes that are not on this path";
    assert_eq!(found["message"], message);
    let used = assemble(forked(), json!({ "tip": "t", "choices": { "m": "a", "t": "m" } })).unwrap();
    assert_eq!(used["report"]["diagnostics"], json!([]));
}

#[test]
fn the_latest_edit_goes_by_links_then_by_time() {
    let mut two = tree(&["v1", "v2<v1", "v3<v1", "t"], &["v3,v1,v2>t"]);
    two["nodes"][1]["createdAt"] = json!("2026-03-01T00:00:00Z");
    two["nodes"][2]["createdAt"] = json!("2026-02-01T00:00:00Z");
    assert_eq!(path(two.clone(), json!({ "tip": "t" })), ["v2", "t"]);
    // By when they were, not by how they are written; and what cannot be read is the oldest, with a word about it.
    for (v2, v3, latest) in [
        ("2026-03-01T00:30:00+02:00", "2026-02-28T23:00:00Z", "v3"),
        ("2026-02-28T23:00:00Z", "2026-03-01T00:30:00+02:00", "v2"),
        ("2026-03-01T00:00:00.5Z", "2026-03-01T00:00:00Z", "v2"),
        ("2026-03-01T00:00:00Z", "2026-13-01T00:00:00Z", "v2"),
        ("2026-03-01T00:00:00Z", "2026-03-01t01:00:00+01:00", "v2"),
    ] {
        two["nodes"][1]["createdAt"] = json!(v2);
        two["nodes"][2]["createdAt"] = json!(v3);
        let result = assemble(two.clone(), json!({ "tip": "t" })).unwrap();
        assert_eq!(result["report"]["path"][0], latest, "{v2} {v3}");
        let unreadable = &result["report"]["diagnostics"][0]["code"];
        assert_eq!(unreadable == "timestamp_unreadable", v3.contains("-13-"), "{v2} {v3}");
    }
    let unlinked = assemble(tree(&["a", "b", "t"], &["a,b>t"]), json!({ "tip": "t" })).unwrap();
    assert_eq!(unlinked["report"]["path"], json!(["b", "t"]));
    assert_eq!(unlinked["report"]["diagnostics"][0]["code"], "versions_not_linked");
}

#[test]
fn damaged_graphs_are_errors_that_name_the_place() {
    let cycle = assemble(tree(&["a", "b"], &["a>b", "b>a"]), json!({ "tip": "a" })).unwrap_err();
    assert_eq!((cycle.code(), &cycle.details()["nodeId"]), (Code::PathCycle, &json!("a")));
    assert_eq!(code(tree(&["a"], &["a>a"]), json!({ "tip": "a" })), Code::PathCycle);
    let bare = assemble(tree(&["a"], &[">a"]), json!({ "tip": "a" })).unwrap_err();
    assert_eq!((bare.code(), &bare.details()["edgeId"]), (Code::EdgeWithoutSource, &json!("e0")));
    assert_eq!(code(tree(&["a"], &[]), json!({ "tip": "b" })), Code::NodeNotFound);
    assert_eq!(code(tree(&["a"], &["a>b"]), json!({ "tip": "a" })), Code::EdgeNodeNotFound);
    assert_eq!(code(tree(&["a"], &["b>a"]), json!({ "tip": "a" })), Code::EdgeNodeNotFound);
    assert_eq!(code(tree(&["a", "a"], &[]), json!({ "tip": "a" })), Code::DuplicateId);
    assert_eq!(code(tree(&["a"], &[]), json!({ "path": ["a", "a"] })), Code::PathCycle);
    assert_eq!(code(tree(&["a"], &[]), json!({})), Code::InvalidInput);
    assert_eq!(code(tree(&["a"], &[]), json!({ "tip": "a", "path": ["a"] })), Code::InvalidInput);
}

#[test]
fn an_explicit_path_may_skip_nodes_and_reports_it() {
    let result = assemble(tree(&["a", "b", "c"], &["a>b", "b>c"]), json!({ "path": ["a", "c"] })).unwrap();
    assert_eq!(result["report"]["diagnostics"][0]["code"], "edge_missing_on_path");
    assert_eq!(result["messages"][0]["content"], "text of a\n\ntext of c");
}

#[test]
fn long_paths_take_no_stack() {
    let names: Vec<String> = (0..50_000).map(|at| format!("n{at}")).collect();
    let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
    let edges: Vec<String> = (1..50_000).map(|at| format!("n{}>n{at}", at - 1)).collect();
    let edges: Vec<&str> = edges.iter().map(String::as_str).collect();
    let long = tree(&nodes, &edges);
    assert_eq!(path(long.clone(), json!({ "tip": "n49999" })).len(), 50_000);
    let error = assemble(long.clone(), json!({ "tip": "n49999", "limits": { "pathNodes": 100 } })).unwrap_err();
    assert_eq!((error.code(), &error.details()["limit"]), (Code::LimitExceeded, &json!("pathNodes")));
    assert_eq!(code(long, json!({ "tip": "n49999", "limits": { "nodes": 100 } })), Code::LimitExceeded);
}

#[test]
fn a_remark_as_tip_is_left_out_unless_included() {
    let remark = || tree(&["a", "b", "note"], &["a>b", "b>note?"]);
    let without = assemble(remark(), json!({ "tip": "note" })).unwrap();
    assert_eq!(without["report"]["path"], json!(["a", "b", "note"]));
    assert_eq!(without["messages"][0]["nodeIds"], json!(["a", "b"]));
    let with = assemble(remark(), json!({ "tip": "note", "includeAnnotations": ["note"] })).unwrap();
    assert_eq!(with["messages"][0]["nodeIds"], json!(["a", "b", "note"]));
}
