//! Commits: the graph and the checkpointer, step by step.

use std::collections::BTreeMap;

use ctxweave::Error;
use ctxweave::call::{Call, CallContext};
use ctxweave::commits::{self, AppendAction, CHECKPOINTER_CALLS, CommitGraph, GRAPH_CALLS, WALK_CALLS};
use serde_json::{Value, json};

use super::{bytes, request, result, thrown, written};

pub(super) fn call(name: &str, args: &[Value], steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let options = json_of(args, 0);
    match name {
        "artifactRef" => Some(Ok(json!(commits::artifact_ref(&bytes(&args[0]))))),
        "shortRef" => Some(commits::short_ref(text(&args[0])).map(Value::from)),
        "CommitGraph" => Some(
            commits::graph(&options).map(|mut graph| each(steps, |method, args| graph_step(&mut graph, method, args))),
        ),
        "ChainWalk" => Some(
            commits::walk(&options).map(|mut walk| each(steps, |name, args| method(WALK_CALLS, &mut walk, name, args))),
        ),
        "Checkpointer" => Some(
            commits::checkpointer(&options)
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

fn json_of(args: &[Value], at: usize) -> Vec<u8> {
    args.get(at).unwrap_or(&Value::Null).to_string().into_bytes()
}

/// Calls a method of a table.
fn method<T>(table: &[Call<T>], this: &mut T, name: &str, args: &[Value]) -> Result<Value, Error> {
    let call = table.iter().find(|call| call.name == name).unwrap_or_else(|| panic!("no method {name}"));
    let (request, bytes) = request(call, args);
    call.answer(this, &request, &bytes, &CallContext::default()).map(|answer| result(&answer))
}

fn graph_step(graph: &mut CommitGraph, name: &str, args: &[Value]) -> Result<Value, Error> {
    match name {
        "materialize" => materialize(graph, &json_of(args, 0), &args[1]),
        _ => method(GRAPH_CALLS, graph, name, args),
    }
}

fn materialize(graph: &CommitGraph, plan: &[u8], blobs: &Value) -> Result<Value, Error> {
    let pairs = blobs["$map"].as_array().unwrap();
    let blobs: BTreeMap<&str, Vec<u8>> = pairs.iter().map(|pair| (text(&pair[0]), bytes(&pair[1]))).collect();
    let mut work = commits::begin(graph, plan)?;
    let order: Vec<String> = work.order().map(str::to_owned).collect();
    let mut appended = Vec::new();
    for artifact in order {
        let Some(blob) = blobs.get(artifact.as_str()) else { return Err(work.missing()) };
        match work.push(blob)? {
            AppendAction::Consumed | AppendAction::Verify => continue,
            AppendAction::AppendAfterNewline => appended.push(b'\n'),
            AppendAction::Append => {}
        }
        appended.extend_from_slice(blob);
    }
    let mut object = result(&commits::materialized(work.finish()?));
    let fields = object.as_object_mut().unwrap();
    if !fields.contains_key("bytes") {
        fields.shift_insert(0, "bytes".to_owned(), written(&appended));
    }
    Ok(object)
}

fn checkpointer_step(checkpointer: &mut commits::Checkpointer, name: &str, args: &[Value]) -> Result<Value, Error> {
    // A message may be given as text, as the object itself or as bytes.
    let message = |message: &Value| match message {
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Object(object) if object.keys().any(|key| key.starts_with('$')) => bytes(message),
        object => object.to_string().into_bytes(),
    };
    match name {
        "push" => checkpointer.push(&message(&args[0])).map(|()| Value::Null),
        "compact" => {
            let args = [&[written(&message(&args[0]))], &args[1..]].concat();
            method(CHECKPOINTER_CALLS, checkpointer, name, &args)
        }
        _ => method(CHECKPOINTER_CALLS, checkpointer, name, args),
    }
}
