//! Assembly of Loom trees.

use wasm_bindgen::prelude::*;

use super::data::{decode, encode, lone_surrogates, throw};
use crate::error::Error;
use crate::loom::wire::{Request, RequestIn};
use crate::loom::{assemble_buffer, assemble_dialogue};

/// Assembles a dialogue; see `DialogueRequest` and `DialogueAssembly` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = assembleDialogue)]
pub fn assemble_dialogue_js(request: JsValue) -> Result<JsValue, JsValue> {
    let request = read(request).map_err(|error| throw(&error))?;
    let mut result =
        assemble_dialogue(&request.tree, &request.options, request.counter.as_ref()).map_err(|error| throw(&error))?;
    result.report.diagnostics.splice(0..0, request.diagnostics.iter().cloned());
    encode(&result)
}

/// Assembles a document; see `BufferRequest` and `BufferAssembly` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = assembleBuffer)]
pub fn assemble_buffer_js(request: JsValue) -> Result<JsValue, JsValue> {
    let request = read(request).map_err(|error| throw(&error))?;
    let mut result =
        assemble_buffer(&request.tree, &request.options, request.counter.as_ref()).map_err(|error| throw(&error))?;
    result.report.diagnostics.splice(0..0, request.diagnostics.iter().cloned());
    encode(&result)
}

fn read(value: JsValue) -> Result<Request, Error> {
    let mut request = decode::<RequestIn>(value.clone())?.finish()?;
    if request.holds_replacement() {
        request.diagnostics = lone_surrogates(&value);
    }
    Ok(request)
}
