//! Request bodies.

use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use super::data::{encode, throw};
use super::loom::with_request;
use super::tokens::tokenizers;
use crate::error::Error;
use crate::loom::wire::Request;

/// The body for a request's target; the request is an object, or bytes of its JSON.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = requestBody)]
pub fn request_body_js(request: JsValue) -> Result<JsValue, JsValue> {
    with_body_request(request, |request| Ok(Ok(bytes(&request.body_bytes()?))))
}

/// The same with the report: see `RequestBodyWithReport` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = requestBodyWithReport)]
pub fn request_body_with_report_js(request: JsValue) -> Result<JsValue, JsValue> {
    with_body_request(request, |request| {
        let body = request.body()?;
        Ok(encode(&body.report).and_then(|report| {
            let result = Object::new();
            Reflect::set(&result, &"body".into(), &bytes(&body.bytes))?;
            Reflect::set(&result, &"report".into(), &report)?;
            Ok(result.into())
        }))
    })
}

fn with_body_request(
    value: JsValue,
    answer: impl FnOnce(&Request<'_>) -> Result<Result<JsValue, JsValue>, Error>,
) -> Result<JsValue, JsValue> {
    let Some(bytes) = value.dyn_ref::<Uint8Array>() else { return with_request(value, answer) };
    let text = bytes.to_vec();
    Request::from_json(&text, &tokenizers()).and_then(|request| answer(&request)).map_err(|error| throw(&error))?
}

/// A copy in the memory of JavaScript.
fn bytes(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}
