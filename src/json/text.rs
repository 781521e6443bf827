//! Reading requests that come as JSON text, and JSON values inside them.
//!
//! `JSON.stringify` writes a lone surrogate as `\ud800`; JSON readers refuse that. Here it becomes U+FFFD and a
//! diagnostic that says where (SPEC §0.7).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits::JSON_DEPTH_MAX;

use super::number;
use super::shape::{TOO_DEEP, shape_error, under_index, under_key};

/// Reads a value from JSON text.
///
/// # Errors
/// [`Code::InvalidInput`] with the path of what does not fit, or the line and column of what is not JSON.
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &'de [u8]) -> Result<T> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    serde_json::from_slice(text).map_err(|error| shape_error(&path_of(text, &error), &error.to_string()))
}

/// Writes a result as JSON text.
pub(crate) fn write(result: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(result).map_err(|error| Error::new(Code::InternalError, error.to_string()))
}

/// The path of the value at which a reader of JSON text gave up.
///
/// The reader says how far it came. A value of the wrong kind ends there or, where it is a list or an object, may also
/// begin there, so what is open at that place leads to it.
#[cold]
fn path_of(text: &[u8], error: &serde_json::Error) -> String {
    let line_start =
        |line: usize| text.split_inclusive(|&byte| byte == b'\n').take(line).map(<[u8]>::len).sum::<usize>();
    let read = line_start(error.line().saturating_sub(1)).saturating_add(error.column());
    // What is no JSON at all is the last byte that was looked at.
    let read = read.saturating_sub(usize::from(!error.is_data()));
    let before = text.get(..read).unwrap_or(text);
    match text.get(read) {
        Some(b'[' | b'{') => path_at(before),
        // A list that should be something else is given up behind its bracket.
        _ => path_at(before.trim_ascii_end().strip_suffix(b"[").unwrap_or(before)),
    }
}

/// A step of a path: what a list or an object is at.
enum Step {
    Index(usize),
    Key(Option<String>),
}

/// The path of the value that begins behind `text` or that `text` ends with, where `text` is the beginning of some JSON.
fn path_at(text: &[u8]) -> String {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let from = at;
        at = at.saturating_add(1);
        match byte {
            b'{' => steps.push(Step::Key(None)),
            b'[' => steps.push(Step::Index(0)),
            b'}' | b']' => drop(steps.pop()),
            b'"' => {
                at = string_end(text, at);
                if let Some(Step::Key(key @ None)) = steps.last_mut() {
                    *key = text.get(from..at).and_then(|key| serde_json::from_slice(key).ok());
                }
            }
            b',' => match steps.last_mut() {
                Some(Step::Index(index)) => *index = index.saturating_add(1),
                Some(Step::Key(key)) => *key = None,
                None => {}
            },
            _ => {}
        }
    }
    steps.into_iter().rev().fold(String::new(), |rest, step| match step {
        Step::Index(index) => under_index(index, &rest),
        Step::Key(Some(key)) => under_key(&key, &rest),
        Step::Key(None) => rest,
    })
}

/// Behind the string whose first character is at `at`.
fn string_end(text: &[u8], mut at: usize) -> usize {
    loop {
        match text.get(at) {
            Some(b'\\') => at = at.saturating_add(2),
            Some(b'"') => return at.saturating_add(1),
            Some(_) => at = at.saturating_add(1),
            None => return text.len(),
        }
    }
}

/// The decoder's error for nesting that goes too deep; [`shape_error`] knows it again.
pub(crate) fn too_deep<E: serde::de::Error>() -> E {
    E::custom(TOO_DEEP)
}

/// Any JSON value to a depth of [`JSON_DEPTH_MAX`], with numbers as JavaScript has them: the same value whether it came
/// as text or as an object.
#[derive(Debug)]
pub(crate) struct AnyJson(pub Value);

impl<'de> Deserialize<'de> for AnyJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        AnyValue { left: JSON_DEPTH_MAX }.deserialize(deserializer).map(Self)
    }
}

#[derive(Clone, Copy, Debug)]
struct AnyValue {
    /// Levels that may still be opened.
    left: u32,
}

impl AnyValue {
    fn deeper<E: serde::de::Error>(self) -> std::result::Result<Self, E> {
        Ok(Self { left: self.left.checked_sub(1).ok_or_else(too_deep)? })
    }
}

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> std::result::Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let inner = self.deeper::<A::Error>()?;
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let inner = self.deeper::<A::Error>()?;
        let mut values = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            values.insert(key, map.next_value_seed(inner)?);
        }
        Ok(Value::Object(values))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> std::result::Result<Value, E> {
        Err(E::custom("bytes, expected a JSON value"))
    }
}

/// Replaces escapes of lone surrogates in JSON text by U+FFFD, with one diagnostic for each string that held some.
///
/// Well-formed text, which is nearly all text, comes back as it is.
pub(crate) fn repair_surrogates(text: &[u8]) -> (Cow<'_, [u8]>, Vec<Diagnostic>) {
    let lone = lone_surrogates(text);
    if lone.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    // A character that the text does not hold marks the places, so that a second reading can say where they are.
    let mark = ('\u{F0000}'..='\u{10FFFD}').find(|ch| !holds(text, *ch)).unwrap_or('\u{FFFD}');
    let marked = replace(text, &lone, mark);
    let mut diagnostics = Vec::new();
    if let Ok(AnyJson(value)) = read(&marked) {
        find_marked(&value, mark, &mut String::new(), &mut diagnostics);
    }
    if diagnostics.is_empty() {
        diagnostics.push(surrogate_diagnostic(lone.len(), String::new()));
    }
    (Cow::Owned(replace(text, &lone, '\u{FFFD}')), diagnostics)
}

/// The diagnostic for `count` lone surrogates in the string at `path`.
pub(crate) fn surrogate_diagnostic(count: usize, path: String) -> Diagnostic {
    let message = match count {
        1 => "half of a surrogate pair was replaced by U+FFFD".to_owned(),
        n => format!("{n} halves of surrogate pairs were replaced by U+FFFD"),
    };
    let diagnostic = Diagnostic::new(DiagnosticCode::LoneSurrogateReplaced, Severity::Warning, message);
    if path.is_empty() { diagnostic } else { diagnostic.at_path(path) }
}

fn find_marked(value: &Value, mark: char, path: &mut String, diagnostics: &mut Vec<Diagnostic>) {
    let start = path.len();
    match value {
        Value::String(text) => {
            let count = text.matches(mark).count();
            if count > 0 {
                diagnostics.push(surrogate_diagnostic(count, path.clone()));
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                find_marked(value, mark, path, diagnostics);
                path.truncate(start);
            }
        }
        Value::Object(values) => {
            for (key, value) in values {
                path.push_str(if start == 0 { "" } else { "." });
                path.push_str(key);
                find_marked(value, mark, path, diagnostics);
                path.truncate(start);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn holds(text: &[u8], ch: char) -> bool {
    let mut buffer = [0; 4];
    let needle = ch.encode_utf8(&mut buffer).as_bytes();
    text.windows(needle.len()).any(|window| window == needle)
}

fn replace(text: &[u8], escapes: &[usize], by: char) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for &at in escapes {
        out.extend_from_slice(text.get(from..at).unwrap_or_default());
        out.extend_from_slice(by.encode_utf8(&mut [0; 4]).as_bytes());
        from = at.saturating_add(6);
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out
}

/// Offsets of the `\uXXXX` escapes that name half of a surrogate pair without the other half.
fn lone_surrogates(text: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(skip) = text.get(at..).and_then(backslash) {
        at = at.saturating_add(skip);
        let Some(unit) = escape_at(text, at) else {
            at = at.saturating_add(2);
            continue;
        };
        let paired = (0xD800..0xDC00).contains(&unit)
            && escape_at(text, at.saturating_add(6)).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        if paired {
            at = at.saturating_add(12);
            continue;
        }
        if (0xD800..0xE000).contains(&unit) {
            lone.push(at);
        }
        at = at.saturating_add(6);
    }
    lone
}

/// Where the first backslash is, looked for in eight bytes at a time.
fn backslash(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, tail) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        // A byte that is a backslash becomes 0, and the lowest bit set below is in the first of those.
        let zeros = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\\'));
        let found = zeros.wrapping_sub(ONES) & !zeros & (ONES << 7);
        if found != 0 {
            return Some(index * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    Some(words.len() * 8 + tail.iter().position(|&byte| byte == b'\\')?)
}

/// The code unit that the `\uXXXX` escape at `at` names, where there is one.
fn escape_at(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at.checked_add(6)?)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_javascript_has_them() {
        let AnyJson(value) = read(br#"[1, 1.0, -0.5, 1e3, 12345678901234567890]"#).unwrap();
        assert_eq!(value.to_string(), "[1,1,-0.5,1000,1.2345678901234567e+19]");
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read::<AnyJson>(nested(100).as_bytes()).is_ok());
        for depth in [101, 127, 128, 129, 100_000] {
            let error = read::<AnyJson>(nested(depth).as_bytes()).unwrap_err();
            assert_eq!(error.code(), Code::LimitExceeded, "{depth}");
            assert_eq!(error.details()["limit"], "jsonDepth");
        }
    }

    #[test]
    fn lone_surrogates_are_replaced_and_named() {
        let text = br#"{"a":["x\ud83d\ude00","\ud800y\udc00\udc01"],"b":{"c":"\\ud800"}}"#;
        let (repaired, diagnostics) = repair_surrogates(text);
        assert_eq!(
            std::str::from_utf8(&repaired).unwrap(),
            "{\"a\":[\"x\\ud83d\\ude00\",\"\u{FFFD}y\u{FFFD}\u{FFFD}\"],\"b\":{\"c\":\"\\\\ud800\"}}"
        );
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].path.as_deref(), Some("a[1]"));
        assert!(diagnostics[0].message.starts_with('3'));
        let (same, none) = repair_surrogates(br#""\ud83d\ude00""#);
        assert!(matches!(same, Cow::Borrowed(_)) && none.is_empty());
    }
}
