//! Errors thrown to JavaScript.

use wasm_bindgen::prelude::*;

use super::plain::thrown;
use crate::error::Error;

/// A plain object is thrown.
pub(super) type Thrown<T> = Result<T, JsValue>;

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        thrown(&error)
    }
}
