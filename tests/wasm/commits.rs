//! Commits: the graph and the checkpointer, step by step.

use ctxweave::wasm::commits::{Checkpointer, CommitGraph, artifact_ref, short_ref};
use js_sys::{Array, JSON, Map, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::goldens::thrown;

type Thrown<T> = Result<T, JsValue>;

pub(crate) fn call(name: &str, args: &Array, steps: &Array) -> Option<Thrown<JsValue>> {
    match name {
        "artifactRef" => Some(Ok(artifact_ref(&bytes(&args.get(0))).into())),
        "shortRef" => Some(short_ref(&text(&args.get(0))).map(JsValue::from)),
        "CommitGraph" => Some(
            CommitGraph::new(&args.get(0))
                .map(|mut graph| each(steps, |method, args| graph_step(&mut graph, method, args))),
        ),
        "Checkpointer" => Some(
            Checkpointer::new(&args.get(0))
                .map(|mut checkpointer| each(steps, |method, args| checkpointer_step(&mut checkpointer, method, args))),
        ),
        _ => None,
    }
}

fn each(steps: &Array, mut step: impl FnMut(&str, &Array) -> Thrown<JsValue>) -> JsValue {
    let given = steps.iter().map(|given| given.unchecked_into::<Array>());
    let results = given.map(|given| {
        let result = step(&text(&given.get(0)), &given.slice(1, given.length()));
        let result = result.unwrap_or_else(|error| thrown(&error));
        // As JSON writes what is not there in a list.
        if result.is_undefined() { JsValue::NULL } else { result }
    });
    results.collect::<Array>().into()
}

fn text(value: &JsValue) -> String {
    value.as_string().expect("a string")
}

/// Bytes, or the text that stands for them.
fn bytes(value: &JsValue) -> Vec<u8> {
    if let Some(text) = value.as_string() {
        return text.into_bytes();
    }
    value
        .dyn_ref::<Uint8Array>()
        .map(Uint8Array::to_vec)
        .unwrap_or_else(|| String::from(JSON::stringify(value).expect("a message is JSON")).into_bytes())
}

fn graph_step(graph: &mut CommitGraph, method: &str, args: &Array) -> Thrown<JsValue> {
    let (first, second) = (args.get(0), args.get(1));
    match method {
        "checkpoint" => graph.checkpoint(&first),
        "show" => graph.show(&text(&first)),
        "history" => graph.history(&text(&first), &second),
        "updateMetadata" => graph.update_metadata(&text(&first), &second),
        "commits" | "tips" | "lackingSummary" => graph.records(method, ""),
        "byTicket" | "byThread" | "bySession" | "children" => graph.records(method, &text(&first)),
        "reachableArtifacts" => graph.reachable_artifacts(&first),
        "planMaterialization" => graph.plan_materialization(&first),
        "snapshot" => graph.snapshot(&first, &second, &args.get(2)),
        "importJsonl" => graph.import_jsonl(&bytes(&first)),
        "resolve" => graph.resolve(&text(&first), &text(&second)),
        "commonAncestor" => graph.common_ancestor(&text(&first), &text(&second)),
        "resolveArtifact" => graph.resolve_artifact(&text(&first)).map(JsValue::from),
        "exportJsonl" => Ok(graph.export_jsonl().into()),
        "materialize" => materialize(graph, &first, second.unchecked_ref()),
        other => panic!("no method {other}"),
    }
}

fn materialize(graph: &CommitGraph, plan: &JsValue, blobs: &Map) -> Thrown<JsValue> {
    let mut work = graph.begin(plan)?;
    let mut pieces = Vec::new();
    for artifact in work.order().iter() {
        let Ok(blob) = blobs.get(&artifact).dyn_into::<Uint8Array>() else { return Err(work.missing()) };
        match work.push(&blob)? {
            2 => continue,
            1 => pieces.push(b'\n'),
            _ => {}
        }
        pieces.extend(blob.to_vec());
    }
    let result = work.finish()?;
    let object = Object::new();
    Reflect::set(&object, &"bytes".into(), &Uint8Array::from(pieces.as_slice()))?;
    Ok(Object::assign(&object, result.unchecked_ref()).into())
}

fn checkpointer_step(checkpointer: &mut Checkpointer, method: &str, args: &Array) -> Thrown<JsValue> {
    let (first, second) = (args.get(0), args.get(1));
    match method {
        "push" => checkpointer.push(&bytes(&first)).map(|()| JsValue::UNDEFINED),
        "stored" => checkpointer.stored(&text(&first)).map(|()| JsValue::UNDEFINED),
        "checkpoint" => checkpointer.checkpoint(&text(&first), &second).map(JsValue::from),
        "compact" => checkpointer.compact(&bytes(&first), &second).map(JsValue::from),
        other => panic!("no method {other}"),
    }
}
