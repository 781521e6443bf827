//! The calls that goldens make, an area a file: the same names as in JavaScript, over JSON.
//!
//! Bytes are `{ "$text": … }` where they are UTF-8, else `{ "$hex": … }`; a `Map` is `{ "$map": [[key, value], …] }`.

mod bodies;
mod loom;

use ctxweave::Error;
use serde_json::{Value, json};

/// Calls a function with its arguments. A class is called with those of its constructor, and gives a list of what each of
/// the `steps` gave, `["method", ...args]` each.
pub(crate) fn call(name: &str, args: &[Value], steps: Option<&[Value]>) -> Result<Value, Error> {
    let areas = [loom::call, bodies::call];
    areas.iter().find_map(|area| area(name, args, steps)).unwrap_or_else(|| panic!("no call {name}"))
}

/// What a thrown error looks like in a golden.
pub(crate) fn thrown(error: &Error) -> Value {
    json!({ "error": { "code": error.code(), "message": error.message(), "details": error.details() } })
}

/// An argument that is bytes.
pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    if let Some(text) = value["$text"].as_str() {
        return text.as_bytes().to_vec();
    }
    let hex = value["$hex"].as_str().unwrap_or_else(|| panic!("{value} is not bytes"));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Bytes as a golden writes them.
pub(crate) fn written(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "$text": text }),
        Err(_) => json!({ "$hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() }),
    }
}
