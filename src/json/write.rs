//! Results as JSON text.

use serde_json::Value;

use crate::error::{Code, Error, Result};

/// Writes a result as JSON text.
pub(crate) fn write<T: serde::Serialize + ?Sized>(result: &T) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(128);
    append(&mut out, result)?;
    Ok(out)
}

/// Appends a value as JSON text.
pub(crate) fn append<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    let written = serde_json::to_writer(out, value);
    written.map_err(|_| Error::new(Code::InternalError, "the result cannot be written as JSON"))
}

/// A value as JSON text. `to_string` would compile a second writer.
pub(crate) fn text<T: serde::Serialize + ?Sized>(value: &T) -> String {
    write(value).ok().and_then(|json| String::from_utf8(json).ok()).unwrap_or_default()
}

/// An object with these fields. `json!` writes each value with serde and unwraps: displaying such an error, and quoting
/// texts in it, is 1 KB (gzip) of `ctxweave/chat`.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut object = serde_json::Map::with_capacity(N);
    for (name, value) in fields {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}
