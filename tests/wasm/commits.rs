//! Commits: the graph and the checkpointer, step by step.

use ctxweave::call::Call;
use ctxweave::commits::{CHECKPOINTER_CALLS, GRAPH_CALLS, WALK_CALLS};
use ctxweave::wasm::commits::{ChainWalk, Checkpointer, CommitGraph, artifact_ref, short_ref};
use js_sys::{Array, JSON, Map, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::calls::{request, result};
use crate::goldens::thrown;

type Thrown<T> = Result<T, JsValue>;

pub(crate) fn call(name: &str, args: &Array, steps: &Array) -> Option<Thrown<JsValue>> {
    let options = json_of(&args.get(0));
    match name {
        "artifactRef" => Some(Ok(artifact_ref(&bytes(&args.get(0))).into())),
        "shortRef" => Some(short_ref(&text(&args.get(0))).map(JsValue::from)),
        "CommitGraph" => Some(
            CommitGraph::new(&options)
                .map(|mut graph| each(steps, |method, args| graph_step(&mut graph, method, args))),
        ),
        "ChainWalk" => Some(ChainWalk::new(&options).map(|mut walk| {
            each(steps, |name, args| {
                // Records are given as text.
                let args = args.slice(0, args.length());
                if name == "push" {
                    args.set(0, Uint8Array::from(bytes(&args.get(0)).as_slice()).into());
                }
                method(WALK_CALLS, name, &args, |name, json, bytes| walk.call(name, json, bytes))
            })
        })),
        "Checkpointer" => Some(
            Checkpointer::new(&options)
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
        // JSON writes a missing item of a list like this.
        if result.is_undefined() { JsValue::NULL } else { result }
    });
    results.collect::<Array>().into()
}

fn text(value: &JsValue) -> String {
    value.as_string().expect("a string")
}

fn json_of(value: &JsValue) -> Vec<u8> {
    let json = JSON::stringify(value).ok().and_then(|json| json.as_string());
    json.unwrap_or_else(|| "null".to_owned()).into_bytes()
}

/// Bytes, or the text that stands for them.
fn bytes(value: &JsValue) -> Vec<u8> {
    if let Some(text) = value.as_string() {
        return text.into_bytes();
    }
    value.dyn_ref::<Uint8Array>().map_or_else(|| json_of(value), Uint8Array::to_vec)
}

/// Calls a method of a table.
fn method<T>(
    table: &[Call<T>],
    name: &str,
    args: &Array,
    run: impl FnOnce(&str, &[u8], &JsValue) -> Thrown<JsValue>,
) -> Thrown<JsValue> {
    let call = table.iter().find(|call| call.name == name).unwrap_or_else(|| panic!("no method {name}"));
    let (json, bytes) = request(call, args);
    run(name, json.as_bytes(), &bytes).map(|answer| result(&answer))
}

fn graph_step(graph: &mut CommitGraph, name: &str, args: &Array) -> Thrown<JsValue> {
    match name {
        "materialize" => materialize(graph, &args.get(0), args.get(1).unchecked_ref()),
        _ => method(GRAPH_CALLS, name, args, |name, json, bytes| graph.call(name, json, bytes)),
    }
}

fn materialize(graph: &CommitGraph, plan: &JsValue, blobs: &Map) -> Thrown<JsValue> {
    let mut work = graph.begin(&json_of(plan))?;
    let mut appended = Vec::new();
    for artifact in work.order().iter() {
        let Ok(blob) = blobs.get(&artifact).dyn_into::<Uint8Array>() else { return Err(work.missing()) };
        // No host verifies refs of other stores.
        match work.push(&blob, 0)? {
            2 => continue,
            1 => appended.push(b'\n'),
            _ => {}
        }
        appended.extend(blob.to_vec());
    }
    let result = result(&work.finish()?);
    let object = Object::new();
    Reflect::set(&object, &"bytes".into(), &Uint8Array::from(appended.as_slice()))?;
    Ok(Object::assign(&object, result.unchecked_ref()).into())
}

fn checkpointer_step(checkpointer: &mut Checkpointer, name: &str, args: &Array) -> Thrown<JsValue> {
    match name {
        "push" => checkpointer.push(&bytes(&args.get(0))).map(|()| JsValue::UNDEFINED),
        _ => {
            let args = args.slice(0, args.length());
            if name == "compact" {
                args.set(0, Uint8Array::from(bytes(&args.get(0)).as_slice()).into());
            }
            method(CHECKPOINTER_CALLS, name, &args, |name, json, bytes| checkpointer.call(name, json, bytes))
        }
    }
}
