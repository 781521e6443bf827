//! Errors out.

use wasm_bindgen::prelude::*;

use super::plain::thrown;
use crate::error::Error;

/// What is thrown is a plain object.
pub(super) type Thrown<T> = Result<T, JsValue>;

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        thrown(&error)
    }
}
