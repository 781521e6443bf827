//! Errors out.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// Objects, not `Map`s; no BigInts; absent stays absent.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// What an error is thrown as.
pub(super) fn throw(error: &Error) -> JsValue {
    #[derive(Serialize)]
    struct Thrown<'a> {
        code: crate::Code,
        message: &'a str,
        details: &'a crate::error::Details,
    }
    let thrown = Thrown { code: error.code(), message: error.message(), details: error.details() };
    thrown.serialize(&SERIALIZER).unwrap_or_else(|_| JsValue::from_str(error.message()))
}
