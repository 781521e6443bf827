//! Errors out.

use js_sys::{Array, Object, Reflect};
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// What is thrown is a plain object.
pub(super) type Thrown<T> = Result<T, JsValue>;

impl From<Error> for JsValue {
    #[cold]
    fn from(error: Error) -> Self {
        let details = Object::new();
        error.details().iter().for_each(|(name, value)| set(&details, name, &plain(value)));
        let thrown = Object::new();
        set(&thrown, "code", &error.code().as_str().into());
        set(&thrown, "message", &error.message().into());
        set(&thrown, "details", &details);
        thrown.into()
    }
}

/// A value as JavaScript has it. A serializer of serde's that does it is 2 KB (gzip) more.
#[cold]
#[inline(never)]
fn plain(value: &Value) -> JsValue {
    match value {
        Value::Null => JsValue::NULL,
        Value::Bool(bool) => (*bool).into(),
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) => text.into(),
        Value::Array(items) => {
            let list = Array::new();
            items.iter().for_each(|item| {
                list.push(&plain(item));
            });
            list.into()
        }
        Value::Object(fields) => {
            let object = Object::new();
            fields.iter().for_each(|(name, value)| set(&object, name, &plain(value)));
            object.into()
        }
    }
}

#[inline(never)]
fn set(object: &Object, name: &str, value: &JsValue) {
    // It fails for what cannot be changed, which a new object is not.
    let _ = Reflect::set(object, &name.into(), value);
}
