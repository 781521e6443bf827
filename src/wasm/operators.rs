//! Operators: XML task templates, assembly, runs.

use js_sys::{JsString, Uint8Array};
use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use super::surrogates::lone_surrogates;
use super::tokens::tokenizers;
use crate::error::Error;
use crate::operators::wire;

/// Calls and encodes; what fails is thrown.
fn answer<T: serde::Serialize>(run: impl FnOnce() -> Result<T, Error>) -> Result<JsValue, JsValue> {
    encode(&run().map_err(|error| throw(&error))?)
}

/// Calls and writes JSON, which for what is as large as a template is faster than an object made field by field; what
/// fails is thrown.
fn text<T: serde::Serialize>(run: impl FnOnce() -> Result<T, Error>) -> Result<String, JsValue> {
    run().and_then(|result| wire::text(&result)).map_err(|error| throw(&error))
}

/// Parses a task template; gives JSON; see `parseTask` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = parseTask)]
pub fn parse_task(xml: JsValue, options: JsValue) -> Result<String, JsValue> {
    text(|| {
        let options = decode(options)?;
        let Some(said) = xml.dyn_ref::<JsString>() else {
            let bytes = xml.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).unwrap_or_default();
            return wire::parse_of_bytes(&bytes, options);
        };
        wire::parse(&String::from(said), lone_surrogates_of(said), options)
    })
}

/// How many halves of surrogate pairs a string holds, and the offset of the first.
fn lone_surrogates_of(text: &JsString) -> Option<(usize, usize)> {
    if text.is_valid_utf16() {
        return None;
    }
    let (mut count, mut first, mut at) = (0usize, 0, 0usize);
    for unit in char::decode_utf16(text.iter()) {
        if unit.is_err() {
            first = if count == 0 { at } else { first };
            count = count.saturating_add(1);
        }
        at = at.saturating_add(unit.map_or(1, char::len_utf16));
    }
    Some((count, first))
}

/// Writes a task with its defaults made explicit; see `writeTask` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = writeTask)]
pub fn write_task(task: JsValue) -> Result<String, JsValue> {
    decode(task).and_then(|task| wire::write(&task)).map_err(|error| throw(&error))
}

/// Says what each operator will see; gives JSON; see `explainTask` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = explainTask)]
pub fn explain_task(task: JsValue) -> Result<String, JsValue> {
    text(|| wire::explain_task(decode(task)?))
}

/// Begins an assembly; see `beginContextAssembly` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = beginContextAssembly)]
pub fn begin_context_assembly(request: JsValue) -> Result<JsValue, JsValue> {
    answer(|| {
        let decoded = decode::<wire::AssemblyIn>(request.clone())?;
        let found = if decoded.holds_replacement() { lone_surrogates(&request) } else { Vec::new() };
        wire::begin_assembly(decoded, &tokenizers(), found)
    })
}

/// Finishes an assembly; see `finishContextAssembly` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = finishContextAssembly)]
pub fn finish_context_assembly(state: JsValue, reply: JsValue) -> Result<JsValue, JsValue> {
    answer(|| {
        let decoded = decode::<wire::AnswerIn>(reply.clone())?;
        let found = if decoded.holds_replacement() { lone_surrogates(&reply) } else { Vec::new() };
        wire::finish_assembly(decode(state)?, decoded, &tokenizers(), found)
    })
}

/// What a sequential task of which a step failed gives; see `sequentialFailure` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = sequentialFailure)]
pub fn sequential_failure(input: JsValue) -> Result<JsValue, JsValue> {
    answer(|| wire::sequential_failure_of(decode(input)?))
}

/// What a reduce task in which something failed gives; see `reduceFailure` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = reduceFailure)]
pub fn reduce_failure(input: JsValue) -> Result<JsValue, JsValue> {
    answer(|| Ok(wire::reduce_failure_of(decode(input)?)))
}

/// Begins a run; see `startRun` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = startRun)]
pub fn start_run(input: JsValue) -> Result<JsValue, JsValue> {
    answer(|| wire::start_run(decode(input)?))
}

/// What comes next in a run; see `nextRequest` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = nextRequest)]
pub fn next_request(run: JsValue) -> Result<JsValue, JsValue> {
    answer(|| wire::next_request(decode(run)?))
}

/// The run after what came of what came next; see `recordResult` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = recordResult)]
pub fn record_result(run: JsValue, result: JsValue) -> Result<JsValue, JsValue> {
    answer(|| wire::record_result(decode(run)?, decode(result)?))
}
