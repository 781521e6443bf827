//! Assembly of Loom trees.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use super::own::OwnCounter;
use super::surrogates::lone_surrogates;
use super::tokens::tokenizers;
use crate::error::Error;
use crate::loom::wire::{Request, RequestIn};
use crate::loom::{assemble_buffer, assemble_dialogue};
use crate::tokens::Counter;

/// Assembles a dialogue; see `DialogueRequest` and `DialogueAssembly` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = assembleDialogue)]
pub fn assemble_dialogue_js(request: JsValue) -> Result<JsValue, JsValue> {
    with_request(request, |request| {
        let mut result = assemble_dialogue(&request.tree, &request.options, request.counter.as_ref())?;
        result.report.diagnostics.splice(0..0, request.diagnostics.iter().cloned());
        Ok(encode(&result))
    })
}

/// Assembles a document; see `BufferRequest` and `BufferAssembly` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = assembleBuffer)]
pub fn assemble_buffer_js(request: JsValue) -> Result<JsValue, JsValue> {
    with_request(request, |request| {
        let mut result = assemble_buffer(&request.tree, &request.options, request.counter.as_ref())?;
        result.report.diagnostics.splice(0..0, request.diagnostics.iter().cloned());
        Ok(encode(&result))
    })
}

/// Reads a request and answers it. What a caller's own tokenizer threw comes before what followed from it.
pub(super) fn with_request(
    value: JsValue,
    answer: impl FnOnce(&Request<'_>) -> Result<Result<JsValue, JsValue>, Error>,
) -> Result<JsValue, JsValue> {
    let own = OwnCounter::of(&value);
    let run = || {
        let request = read(value, own.clone())?;
        let result = answer(&request);
        own.as_ref().map_or(Ok(()), |own| own.check())?;
        result
    };
    run().map_err(|error| throw(&error))?
}

fn read(value: JsValue, own: Option<Rc<OwnCounter>>) -> Result<Request<'static>, Error> {
    let own = own.map(|own| own as Rc<dyn Counter>);
    let mut request = decode::<RequestIn>(value.clone())?.finish(&tokenizers(), own)?;
    if request.holds_replacement() {
        request.diagnostics = lone_surrogates(&value);
    }
    Ok(request)
}
