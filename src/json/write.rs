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

/// A value as JSON text. `to_string` would bring a second writer.
pub(crate) fn text<T: serde::Serialize + ?Sized>(value: &T) -> String {
    write(value).ok().and_then(|json| String::from_utf8(json).ok()).unwrap_or_default()
}

/// An object with these fields. `json!` would write each value with serde, in more code.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut object = serde_json::Map::with_capacity(N);
    for (name, value) in fields {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

/// A small result. `None` among the fields of an object is one that is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StaticJson<'s> {
    Null,
    Bool(bool),
    Number(u64),
    Text(&'s str),
    Object(&'s [(&'s str, Option<StaticJson<'s>>)]),
}

impl StaticJson<'_> {
    /// As a value.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(number) => Value::Number(number.into()),
            Self::Text(text) => Value::String(text.to_owned()),
            Self::Object(fields) => {
                let given = fields.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.value())));
                Value::Object(given.collect())
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/json/write.rs"]
mod tests;
