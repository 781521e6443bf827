//! Operators: XML task templates, assembly, runs.

use ctxweave::wasm::operators::{
    begin_context_assembly, explain_task, finish_context_assembly, next_request, parse_task, record_result,
    reduce_failure, sequential_failure, start_run, write_task,
};
use js_sys::{Array, JSON};
use wasm_bindgen::JsValue;

/// What the package makes of JSON.
fn parsed(text: String) -> JsValue {
    JSON::parse(&text).expect("what is given is JSON")
}

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    let (first, second) = (args.get(0), args.get(1));
    match name {
        "parseTask" => Some(parse_task(first, second).map(parsed)),
        "writeTask" => Some(write_task(first).map(JsValue::from)),
        "explainTask" => Some(explain_task(first).map(parsed)),
        "beginContextAssembly" => Some(begin_context_assembly(first)),
        "finishContextAssembly" => Some(finish_context_assembly(first, second)),
        "sequentialFailure" => Some(sequential_failure(first)),
        "reduceFailure" => Some(reduce_failure(first)),
        "startRun" => Some(start_run(first)),
        "nextRequest" => Some(next_request(first)),
        "recordResult" => Some(record_result(first, second)),
        _ => None,
    }
}
