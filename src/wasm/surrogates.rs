//! Halves of surrogate pairs in what came from JavaScript.

use js_sys::{Array, JsString, Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::error::Diagnostic;
use crate::json;
use crate::limits::JSON_DEPTH_MAX;

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
