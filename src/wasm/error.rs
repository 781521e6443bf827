//! Errors out.

use js_sys::{Array, Object, Reflect};
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// What an error is thrown as.
pub(super) fn throw(error: &Error) -> JsValue {
    let thrown = object(error.details().iter());
    let fields = [("code", error.code().as_str().into()), ("message", error.message().into()), ("details", thrown)];
    fields.into_iter().fold(Object::new().into(), |thrown, (key, value)| set(thrown, key, &value))
}

fn object<'v>(fields: impl Iterator<Item = (&'v str, &'v Value)>) -> JsValue {
    fields.fold(Object::new().into(), |object, (key, value)| set(object, key, &plain(value)))
}

fn set(object: JsValue, key: &str, value: &JsValue) -> JsValue {
    // A plain object takes any field.
    drop(Reflect::set(&object, &key.into(), value));
    object
}

fn plain(value: &Value) -> JsValue {
    match value {
        Value::Null => JsValue::NULL,
        Value::Bool(bool) => JsValue::from(*bool),
        Value::Number(number) => JsValue::from(number.as_f64()),
        Value::String(text) => JsValue::from(text),
        Value::Array(items) => items.iter().map(plain).collect::<Array>().into(),
        Value::Object(map) => object(map.iter().map(|(key, value)| (key.as_str(), value))),
    }
}
