//! JSON: values as JavaScript has them, and errors that say where in a request something does not fit.

#[cfg(feature = "requests")]
mod shape;
mod tape;
#[cfg(feature = "requests")]
mod text;
mod value;

use serde_json::Number;

pub(crate) use tape::Kind;
#[cfg(feature = "requests")]
pub(crate) use text::*;
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
