//! Commits: the graph and the checkpointer, step by step.

use std::collections::BTreeMap;

use ctxweave::Error;
use ctxweave::commits::{self, AppendAction, CommitGraph, wire};
use serde_json::{Value, json};

use super::{bytes, thrown, written};

pub(super) fn call(name: &str, args: &[Value], steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let options = args.first().map_or(String::new(), Value::to_string);
    match name {
        "artifactRef" => Some(Ok(json!(commits::artifact_ref(&bytes(&args[0]))))),
        "shortRef" => Some(commits::short_ref(text(&args[0])).map(Value::from)),
        "CommitGraph" => Some(
            wire::new_graph(&options).map(|mut graph| each(steps, |method, args| graph_step(&mut graph, method, args))),
        ),
        "Checkpointer" => Some(
            wire::new_checkpointer(&options)
                .map(|mut checkpointer| each(steps, |method, args| checkpointer_step(&mut checkpointer, method, args))),
        ),
        _ => None,
    }
}

fn each(steps: Option<&[Value]>, mut step: impl FnMut(&str, &[Value]) -> Result<Value, Error>) -> Value {
    let steps = steps.unwrap_or_default().iter().map(|step| step.as_array().unwrap());
    steps.map(|given| step(text(&given[0]), &given[1..]).unwrap_or_else(|error| thrown(&error))).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no string"))
}

fn parsed(text: String) -> Value {
    serde_json::from_str(&text).unwrap()
}

fn graph_step(graph: &mut CommitGraph, method: &str, args: &[Value]) -> Result<Value, Error> {
    let json = |at: usize| args.get(at).map_or(String::new(), Value::to_string);
    let result = match method {
        "checkpoint" => wire::checkpoint(graph, &json(0)),
        "show" => wire::show(graph, text(&args[0])),
        "history" => wire::history(graph, text(&args[0]), &json(1)),
        "updateMetadata" => wire::update_metadata(graph, text(&args[0]), &json(1)),
        "commits" | "tips" | "lackingSummary" => wire::records(graph, method, ""),
        "byTicket" | "byThread" | "bySession" | "children" => wire::records(graph, method, text(&args[0])),
        "reachableArtifacts" => wire::reachable_artifacts(graph, &json(0)),
        "planMaterialization" => wire::plan(graph, &json(0)),
        "snapshot" => wire::snapshot(graph, &json(0), &json(1), &json(2)),
        "importJsonl" => {
            let jsonl = args[0].as_str().map_or_else(|| bytes(&args[0]), |text| text.as_bytes().to_vec());
            wire::import_jsonl(graph, &jsonl)
        }
        "resolve" => {
            let found = wire::resolve(graph, text(&args[0]), text(&args[1]))?;
            return Ok(found.map_or(Value::Null, parsed));
        }
        "commonAncestor" => {
            let found = wire::common_ancestor(graph, text(&args[0]), text(&args[1]))?;
            return Ok(found.map_or(Value::Null, parsed));
        }
        "resolveArtifact" => return graph.resolve_artifact(text(&args[0])).map(Value::from),
        "exportJsonl" => return Ok(written(&graph.export_jsonl())),
        "materialize" => return materialize(graph, &json(0), &args[1]),
        other => panic!("no method {other}"),
    };
    result.map(parsed)
}

fn materialize(graph: &CommitGraph, plan: &str, blobs: &Value) -> Result<Value, Error> {
    let pairs = blobs["$map"].as_array().unwrap();
    let blobs: BTreeMap<&str, Vec<u8>> = pairs.iter().map(|pair| (text(&pair[0]), bytes(&pair[1]))).collect();
    let mut work = wire::begin(graph, plan)?;
    let order: Vec<String> = work.order().map(str::to_owned).collect();
    let mut pieces = Vec::new();
    for artifact in order {
        let Some(blob) = blobs.get(artifact.as_str()) else { return Err(work.missing()) };
        match work.push(blob)? {
            AppendAction::Consumed => continue,
            AppendAction::AppendAfterNewline => pieces.push(b'\n'),
            AppendAction::Append => {}
        }
        pieces.extend_from_slice(blob);
    }
    let result = work.finish()?;
    let mut object = parsed(wire::materialized(&result));
    let bytes = if result.bytes.is_empty() { &pieces } else { &result.bytes };
    object.as_object_mut().unwrap().shift_insert(0, "bytes".to_owned(), written(bytes));
    Ok(object)
}

fn checkpointer_step(checkpointer: &mut commits::Checkpointer, method: &str, args: &[Value]) -> Result<Value, Error> {
    let json = |at: usize| args.get(at).map_or(String::new(), Value::to_string);
    let message = || match &args[0] {
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Object(object) if object.keys().any(|key| key.starts_with('$')) => bytes(&args[0]),
        object => object.to_string().into_bytes(),
    };
    let offered = match method {
        "push" => return checkpointer.push(&message()).map(|()| Value::Null),
        "stored" => return checkpointer.stored(text(&args[0])).map(|()| Value::Null),
        "checkpoint" => wire::checkpoint_due(checkpointer, text(&args[0]), &json(1))?,
        "compact" => wire::compact(checkpointer, &message(), &json(1))?,
        other => panic!("no method {other}"),
    };
    let with_blob = |offered: &commits::PendingCommit| {
        let mut object = parsed(wire::pending_commit(offered));
        object["blob"] = written(&offered.blob);
        object
    };
    Ok(offered.iter().map(with_blob).collect())
}
