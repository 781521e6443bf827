//! Errors and small results as plain values.

use js_sys::{Array, Object};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::prelude::*;

use crate::call::SmallResult;
use crate::error::{Code, Error, Result};

/// The serializer's defaults would be `Map`s for maps and undefined for null.
const SERIALIZER: serde_wasm_bindgen::Serializer =
    serde_wasm_bindgen::Serializer::new().serialize_maps_as_objects(true).serialize_missing_as_null(true);

/// A small result as a JavaScript value.
pub(super) fn plain(small: &SmallResult) -> Result<JsValue> {
    let failed = |_| Error::new(Code::InternalError, "the result cannot be converted for JavaScript");
    SmallValue(small).serialize(&SERIALIZER).map_err(failed)
}

/// An error as it is thrown: `{ code, message, details }`.
pub(super) fn thrown(error: &Error) -> JsValue {
    Thrown(error).serialize(&SERIALIZER).unwrap_or_else(JsValue::from)
}

struct Thrown<'e>(&'e Error);

struct Details<'e>(&'e Error);

struct Plain<'v>(&'v Value);

struct SmallValue<'s>(&'s SmallResult);

// Serialized as maps, even with fixed names: the names of a struct would be kept in a table of JavaScript strings.
impl Serialize for Thrown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.0.code().as_str())?;
        map.serialize_entry("message", self.0.message())?;
        map.serialize_entry("details", &Details(self.0))?;
        map.end()
    }
}

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.0.details().iter() {
            map.serialize_entry(name, &Plain(value))?;
        }
        map.end()
    }
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            // A large integer would be an error or a BigInt.
            Value::Number(number) => serializer.serialize_f64(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Plain)),
            // Set as a field, it would become the prototype.
            Value::Object(fields) if fields.contains_key("__proto__") => {
                let entries = fields.iter().map(|(name, value)| {
                    // Without the original error: displaying it would be another import.
                    let value = Plain(value).serialize(&SERIALIZER);
                    let value = value.map_err(|_| S::Error::custom("the value cannot be converted for JavaScript"))?;
                    Ok(Array::of2(&name.into(), &value))
                });
                let entries = entries.collect::<std::result::Result<Array, S::Error>>()?;
                let object = Object::from_entries(&entries);
                preserve::serialize(&object.map_err(|_| S::Error::custom("no entries"))?, serializer)
            }
            Value::Object(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, Plain(value)))),
        }
    }
}

impl Serialize for SmallValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            SmallResult::Null => serializer.serialize_unit(),
            SmallResult::Bool(value) => serializer.serialize_bool(*value),
            // `serialize_u64` would import the code of its error for large numbers.
            SmallResult::Number(number) => serializer.serialize_f64(*number as f64),
            SmallResult::Decimal(number) => serializer.serialize_f64(*number),
            SmallResult::Object(fields) => {
                let given = fields.iter().filter_map(|(name, value)| Some((name, SmallValue(value.as_ref()?))));
                serializer.collect_map(given)
            }
            SmallResult::Text(text) => serializer.serialize_str(text),
        }
    }
}
