//! Numbers as JavaScript has them.

use serde_json::Number;

/// A number as `JSON.stringify` would have it: whole ones without a fraction, `null` for what JSON cannot say.
pub(crate) fn number(value: f64) -> serde_json::Value {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= SAFE {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        return serde_json::Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(serde_json::Value::Null, serde_json::Value::Number)
}
