//! Data out: from Rust values to JavaScript's.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// Objects, not `Map`s; no BigInts; absent stays absent.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// Writes a part of a result.
pub(super) fn to_js(part: &impl Serialize) -> Result<JsValue, Error> {
    part.serialize(&SERIALIZER)
        .map_err(|error| Error::new(crate::Code::InternalError, format!("the result cannot be written: {error}")))
}

/// What an error is thrown as.
pub(super) fn throw(error: &Error) -> JsValue {
    #[derive(Serialize)]
    struct Thrown<'a> {
        code: crate::Code,
        message: &'a str,
        details: &'a serde_json::Map<String, serde_json::Value>,
    }
    let thrown = Thrown { code: error.code(), message: error.message(), details: error.details() };
    thrown.serialize(&SERIALIZER).unwrap_or_else(|_| JsValue::from_str(error.message()))
}
