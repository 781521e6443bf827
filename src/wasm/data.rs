//! Data in and out: JavaScript values to Rust values and back.

use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use super::read::Reader;
use crate::error::Error;

/// Objects, not `Map`s; no BigInts; absent stays absent.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// Reads a value; the error names the field that does not fit. What is read from JavaScript is never borrowed.
pub(super) fn decode<T: Deserialize<'static>>(value: JsValue) -> Result<T, Error> {
    Ok(T::deserialize(Reader(value))?)
}

/// Writes a result.
pub(super) fn encode(result: &impl Serialize) -> Result<JsValue, JsValue> {
    to_js(result).map_err(|error| throw(&error))
}

/// The same for a part of a result.
pub(super) fn to_js(part: &impl Serialize) -> Result<JsValue, Error> {
    part.serialize(&SERIALIZER)
        .map_err(|error| Error::new(crate::Code::InternalError, format!("the result cannot be written: {error}")))
}

/// Writes a result that holds bytes, each as a `Uint8Array` of its own.
#[cfg(feature = "commits")]
pub(super) fn encode_with_bytes(result: &impl Serialize) -> Result<JsValue, JsValue> {
    result.serialize(&SERIALIZER.serialize_bytes_as_arrays(false)).map_err(|error| {
        throw(&Error::new(crate::Code::InternalError, format!("the result cannot be written: {error}")))
    })
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
