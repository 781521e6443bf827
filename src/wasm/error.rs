//! Errors out.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// Objects, not `Map`s; no BigInts; absent stays absent.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// What is thrown is a plain object.
pub(super) type Thrown<T> = Result<T, JsValue>;

impl From<Error> for JsValue {
    #[cold]
    fn from(error: Error) -> Self {
        #[derive(Serialize)]
        struct Plain<'a> {
            code: crate::Code,
            message: &'a str,
            details: &'a crate::error::Details,
        }
        let plain = Plain { code: error.code(), message: error.message(), details: error.details() };
        plain.serialize(&SERIALIZER).unwrap_or_else(|_| Self::from_str(error.message()))
    }
}
