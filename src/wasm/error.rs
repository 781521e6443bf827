//! Errors out.

use serde::ser::{Serialize, SerializeMap, Serializer};
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// Objects, not `Map`s; no BigInts; absent stays absent.
const SERIALIZER: serde_wasm_bindgen::Serializer = serde_wasm_bindgen::Serializer::json_compatible();

/// What is thrown is a plain object.
pub(super) type Thrown<T> = Result<T, JsValue>;

impl From<Error> for JsValue {
    #[cold]
    fn from(error: Error) -> Self {
        let plain = Plain(&error);
        plain.serialize(&SERIALIZER).unwrap_or_else(|_| Self::from_str(error.message()))
    }
}

/// What an error is for JavaScript.
struct Plain<'e>(&'e Error);

impl Serialize for Plain<'_> {
    // As a map: for the fields of a struct the serializer keeps a table of their names, in a hash map of its own.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("code", self.0.code().as_str())?;
        map.serialize_entry("message", self.0.message())?;
        map.serialize_entry("details", self.0.details())?;
        map.end()
    }
}
