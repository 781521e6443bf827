//! JSON: read once into a tape over its bytes, looked at through a cursor that knows its path; results written by serde.

mod special;
mod tape;
mod value;

use serde_json::Number;

use crate::error::{Code, Error, Result};

#[cfg(feature = "loom")]
pub(crate) use special::plain_bytes;
pub(crate) use tape::Kind;
#[cfg(any(feature = "commits", feature = "loom"))]
pub(crate) use value::bytes_reference;
pub(crate) use value::{Document, List, Object, Value, refuse_unknown, unknown_value};

/// A number as `JSON.stringify` would have it: whole ones without a fraction, `null` for what JSON cannot say.
pub(crate) fn number(value: f64) -> serde_json::Value {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= SAFE {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        return serde_json::Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

/// Writes a result as JSON text.
pub(crate) fn write(result: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(result).map_err(|_| Error::new(Code::InternalError, "the result cannot be written as JSON"))
}
