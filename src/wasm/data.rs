//! Data in and out: JavaScript values to Rust values and back.

use js_sys::{Array, JsString, Object, Reflect};
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use super::read::Reader;
use crate::error::{Diagnostic, Error};
use crate::json;
use crate::limits::JSON_DEPTH_MAX;

/// Objects, not `Map`s; no BigInts; absent stays absent.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// Reads a value; the error names the field that does not fit. What is read from JavaScript is never borrowed.
pub(super) fn decode<T: Deserialize<'static>>(value: JsValue) -> Result<T, Error> {
    Ok(T::deserialize(Reader(value))?)
}

/// Writes a result.
pub(super) fn encode(result: &impl Serialize) -> Result<JsValue, JsValue> {
    result.serialize(&SERIALIZER).map_err(|error| {
        throw(&Error::new(crate::Code::InternalError, format!("the result cannot be written: {error}")))
    })
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

/// A diagnostic for each string in `value` that holds half of a surrogate pair; crossing made U+FFFD of it.
pub(super) fn lone_surrogates(value: &JsValue) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    find_lone(value, &mut String::new(), JSON_DEPTH_MAX, &mut found);
    found
}

fn find_lone(value: &JsValue, path: &mut String, depth: u32, found: &mut Vec<Diagnostic>) {
    let start = path.len();
    if let Some(text) = value.dyn_ref::<JsString>() {
        let count = lone_count(text);
        if count > 0 {
            found.push(json::surrogate_diagnostic(count, path.clone()));
        }
    } else if let Some(depth) = depth.checked_sub(1).filter(|_| value.is_object()) {
        if let Some(list) = value.dyn_ref::<Array>() {
            for (index, value) in list.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                find_lone(&value, path, depth, found);
                path.truncate(start);
            }
        } else {
            for key in Object::keys(value.unchecked_ref::<Object>()).iter() {
                path.push_str(if start == 0 { "" } else { "." });
                path.push_str(&key.as_string().unwrap_or_default());
                find_lone(&Reflect::get(value, &key).unwrap_or(JsValue::UNDEFINED), path, depth, found);
                path.truncate(start);
            }
        }
    }
}

fn lone_count(text: &JsString) -> usize {
    if text.is_valid_utf16() {
        return 0;
    }
    char::decode_utf16(text.iter()).filter(Result::is_err).count()
}
