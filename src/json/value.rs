//! A value of a request, and the path by which errors name it.
//!
//! All input from outside is read through [`Value`] and [`Object`]: they report missing fields, wrong kinds and unknown
//! names, with the place in the request.
//!
//! `inline(always)` is 5 % of the time that a fit of a chat takes: docs/decisions/inlining.md.

use std::borrow::Cow;
use std::fmt;
use std::iter::{Copied, Peekable};
use std::slice::Iter;

use serde_json::Map;

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits::{self, JSON_DEPTH_MAX};
use crate::maps::SortedMap;
use crate::text::concat;
use crate::text::trim;

use super::number::{float, number, whole};
use super::special::plain_bytes;
use super::tape::{DEPTH_MAX, Kind, SyntaxError, Tape, code_unit, is_high, is_low};
use super::write::text;

/// The key of a placeholder for a value that JSON cannot represent: `{ "\u0000": "NaN" }`. The npm package writes it.
const NOT_JSON: &str = "\0";

/// The key of a placeholder for bytes that are passed outside the JSON text: `{ "\u0000bytes": 3 }` for the fourth.
const BYTES: &str = "\0bytes";

/// The first key of a placeholder for bytes outside the module: `{ "\u0000size": bytes }`; for images, `\u0000head`
/// holds the first bytes as base64.
pub(crate) const BYTES_SIZE: &str = "\0size";

/// Unknown options of one object that are listed; the rest is counted.
const MAX_LISTED_UNKNOWN: usize = 100;

/// A request: JSON text, and the bytes passed with it.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    tape: Tape<'t>,
    bytes: &'t [Vec<u8>],
}

impl<'t> Document<'t> {
    /// Reads JSON text, with or without a BOM.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] with line and column if the text is not JSON, [`Code::LimitExceeded`].
    pub(crate) fn read(text: &'t [u8], bytes: &'t [Vec<u8>]) -> Result<Self> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = std::str::from_utf8(text).map_err(|error| {
            let message = format!("the request is not UTF-8 at byte {}; encode it as UTF-8", error.valid_up_to());
            Error::new(Code::InvalidInput, message)
        })?;
        Ok(Self { tape: Tape::read(text)?, bytes })
    }

    /// Reads the value at the start of the text; returns its end.
    pub(crate) fn read_first(text: &'t str) -> std::result::Result<(Self, usize), SyntaxError> {
        Tape::read_first(text).map(|(tape, end)| (Self { tape, bytes: &[] }, end))
    }

    /// Like [`Self::read_first`], for a file with this limit on the depth.
    pub(crate) fn read_first_within(text: &'t str, depth: usize) -> std::result::Result<(Self, usize), SyntaxError> {
        Tape::read_first_within(text, depth).map(|(tape, end)| (Self { tape, bytes: &[] }, end))
    }

    /// The exact text of a value.
    pub(crate) fn json(&self, value: Value<'_>) -> &'t str {
        self.tape.json(value.at)
    }

    /// The root value.
    pub(crate) fn root(&'t self) -> Value<'t> {
        Value { document: self, at: 0 }
    }

    /// A diagnostic for each string with lone surrogates.
    pub(crate) fn diagnostics(&'t self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut repaired = self.tape.lone_surrogates().iter().copied().peekable();
        if repaired.peek().is_some() {
            self.root().report_repaired(&mut String::new(), 0, &mut repaired, &mut diagnostics);
        }
        diagnostics
    }
}

/// The diagnostic for halves of surrogate pairs that were replaced.
pub(crate) fn lone_surrogates(count: u32) -> Diagnostic {
    let message = match count {
        1 => "half of a surrogate pair was replaced by U+FFFD".to_owned(),
        count => format!("{count} halves of surrogate pairs were replaced by U+FFFD"),
    };
    Diagnostic::new(DiagnosticCode::LoneSurrogateReplaced, Severity::Warning, message)
}

/// The steps of repaired strings, with the number of replacements.
type Repaired<'t> = Peekable<Copied<Iter<'t, (u32, u32)>>>;

/// A value in a request.
#[derive(Clone, Copy)]
pub(crate) struct Value<'t> {
    document: &'t Document<'t>,
    /// Its step on the tape.
    at: u32,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

impl<'t> Value<'t> {
    /// A diagnostic for each string of the whole request with lone surrogates.
    pub(crate) fn repaired(self) -> Vec<Diagnostic> {
        self.document.diagnostics()
    }

    /// Reports the repaired strings in this value; one walk finds the paths of all. Strings deeper than a request
    /// allows get the path of their container.
    fn report_repaired(
        self,
        path: &mut String,
        depth: usize,
        repaired: &mut Repaired<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let start = path.len();
        self.report_if_repaired(path, repaired, diagnostics);
        let is_in = |value: Self, repaired: &mut Repaired<'_>| {
            repaired.peek().is_some_and(|&(step, _)| step < self.document.tape.next(value.at))
        };
        if depth > DEPTH_MAX {
            while is_in(self, repaired) {
                repaired.peek().copied().into_iter().for_each(|(at, _)| {
                    Self { at, ..self }.report_if_repaired(path, repaired, diagnostics);
                });
            }
            return;
        }
        match self.kind() {
            Kind::List => {
                for (index, item) in List(self.inside()).enumerate() {
                    if is_in(item, repaired) {
                        path.push_str(&format!("[{index}]"));
                        item.report_repaired(path, depth + 1, repaired, diagnostics);
                        path.truncate(start);
                    }
                }
            }
            Kind::Object => {
                for (key, value) in Entries(self.inside()) {
                    if is_in(value, repaired) {
                        path.push_str(if start == 0 { "" } else { "." });
                        path.push_str(&key.as_text().unwrap_or_default());
                        key.report_if_repaired(path, repaired, diagnostics);
                        value.report_repaired(path, depth + 1, repaired, diagnostics);
                        path.truncate(start);
                    }
                }
            }
            _ => {}
        }
    }

    fn report_if_repaired(self, path: &str, repaired: &mut Repaired<'_>, diagnostics: &mut Vec<Diagnostic>) {
        if let Some((_, count)) = repaired.next_if(|&(step, _)| step == self.at) {
            let diagnostic = lone_surrogates(count);
            diagnostics.push(if path.is_empty() { diagnostic } else { diagnostic.at_path(path) });
        }
    }

    pub(crate) fn kind(self) -> Kind {
        self.document.tape.kind(self.at)
    }

    /// The first half of a surrogate pair at the end of a string, which was replaced by U+FFFD.
    pub(crate) fn half_at_end(self) -> Option<u16> {
        let (raw, _) = self.document.tape.string(self.at).filter(|(_, is_escaped)| *is_escaped)?;
        let (before, digits) = raw.split_at_checked(raw.len().checked_sub(4)?)?;
        let before = before.strip_suffix("\\u")?;
        // An escaped backslash does not begin an escape.
        let is_escape = before.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 0;
        u16::from_str_radix(digits, 16).ok().filter(|unit| is_escape && (0xD800..0xDC00).contains(unit))
    }

    pub(crate) fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The value's text; for a string without its quotes, still escaped.
    pub(crate) fn raw(self) -> &'t str {
        self.document.tape.raw(self.at)
    }

    /// The value as JSON; borrowed unless it holds embedded texts.
    pub(crate) fn json(self) -> Cow<'t, str> {
        if self.document.tape.is_plain() {
            return Cow::Borrowed(self.document.json(self));
        }
        let mut json = String::new();
        self.append_json(&mut json);
        Cow::Owned(json)
    }

    fn append_json(self, json: &mut String) {
        match self.kind() {
            Kind::String => json.push_str(&text(&self.as_text().unwrap_or_default())),
            Kind::List => {
                json.push('[');
                for (at, item) in List(self.inside()).enumerate() {
                    json.push_str(if at > 0 { "," } else { "" });
                    item.append_json(json);
                }
                json.push(']');
            }
            Kind::Object => {
                json.push('{');
                for (at, (key, value)) in Entries(self.inside()).enumerate() {
                    json.push_str(if at > 0 { "," } else { "" });
                    key.append_json(json);
                    json.push(':');
                    value.append_json(json);
                }
                json.push('}');
            }
            _ => json.push_str(self.raw()),
        }
    }

    pub(crate) fn is_text(self) -> bool {
        self.kind() == Kind::String
    }

    /// The string; `None` if the value is not a string. A string with escapes is decoded: use [`Self::is_text`] where its
    /// text is not needed.
    pub(crate) fn as_text(self) -> Option<Cow<'t, str>> {
        let (raw, is_escaped) = self.document.tape.string(self.at)?;
        Some(if is_escaped { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) })
    }

    /// The escaped text of a string with escapes, if `JSON.stringify` would write the same and it neither begins nor
    /// ends with white space.
    pub(crate) fn escaped_text(self) -> Option<&'t str> {
        let (raw, _) = self.document.tape.string(self.at).filter(|_| self.document.tape.has_usual_escapes(self.at))?;
        // A backslash before the last character means that the character is part of an escape.
        let visible =
            !raw.starts_with('\\') && !matches!(raw.as_bytes(), [.., b'\\', _]) && trim(raw).len() == raw.len();
        visible.then_some(raw)
    }

    /// Whether the value equals this string.
    pub(crate) fn is_string(self, text: &str) -> bool {
        match self.document.tape.plain_string(self.at) {
            Some(plain) => plain == text.as_bytes(),
            None => self.as_text().is_some_and(|own| own == text),
        }
    }

    /// The byte offset in its text of the first replaced first half of a surrogate pair.
    pub(crate) fn first_repaired(self) -> Option<usize> {
        let (raw, _) = self.document.tape.string(self.at).filter(|&(_, is_escaped)| is_escaped)?;
        let mut at = 0;
        loop {
            at += raw.get(at..)?.find('\\')?;
            let escape = raw.get(at..)?.as_bytes();
            let unit = code_unit(escape);
            let length = if unit.is_some() { unicode_escape(escape).1 } else { 2 };
            if length == 6 && unit.is_some_and(|unit| is_high(unit) || is_low(unit)) {
                return Some(unescape(raw.get(..at)?).len());
            }
            at += length;
        }
    }

    pub(crate) fn text(self) -> Result<Cow<'t, str>> {
        self.as_text().ok_or_else(|| self.mismatch("a string"))
    }

    pub(crate) fn string(self) -> Result<String> {
        self.text().map(Cow::into_owned)
    }

    /// The number; `None` if the value is not a number.
    pub(crate) fn as_number(self) -> Option<f64> {
        if self.kind() == Kind::Number { float(self.raw()) } else { None }
    }

    pub(crate) fn number(self) -> Result<f64> {
        self.as_number().ok_or_else(|| self.mismatch("a number"))
    }

    /// A number, including NaN and the infinities: for settings that check their range themselves.
    pub(crate) fn any_number(self) -> Result<f64> {
        let not_finite = || match &*self.not_json()? {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        };
        self.as_number().or_else(not_finite).ok_or_else(|| self.mismatch("a number"))
    }

    /// A whole number from 0 to `max`.
    pub(crate) fn whole(self, max: u32) -> Result<u32> {
        Ok(self.whole_to(u64::from(max))? as u32)
    }

    /// A count: a whole number from 0 to 2^53 − 1, the largest safe integer of JavaScript.
    pub(crate) fn safe_integer(self) -> Result<u64> {
        self.whole_to((1 << 53) - 1)
    }

    fn whole_to(self, max: u64) -> Result<u64> {
        let whole = if self.kind() == Kind::Number { whole(self.raw()) } else { None };
        whole.filter(|&whole| whole <= max).ok_or_else(|| self.mismatch(&format!("a whole number from 0 to {max}")))
    }

    pub(crate) fn bool(self) -> Result<bool> {
        match self.kind() {
            Kind::Bool => Ok(self.raw() == "true"),
            _ => Err(self.mismatch("true or false")),
        }
    }

    /// The bytes that a placeholder refers to. They are passed outside the JSON text.
    pub(crate) fn attached_bytes(self) -> Option<&'t [u8]> {
        self.as_bytes()
    }

    /// The list, or `None`.
    pub(crate) fn as_list(self) -> Option<List<'t>> {
        (self.kind() == Kind::List).then(|| List(self.inside()))
    }

    /// The object, including a placeholder for a value that JSON cannot represent; or `None`.
    pub(crate) fn as_object(self) -> Option<Object<'t>> {
        (self.kind() == Kind::Object).then_some(Object(self))
    }

    /// The value as JSON, with its lone surrogates.
    pub(crate) fn as_written(self) -> Cow<'t, str> {
        if self.document.tape.has_texts() { self.json() } else { Cow::Borrowed(self.document.json(self)) }
    }

    /// The code units of a string, including lone surrogates; or `None`.
    pub(crate) fn as_utf16(self) -> Option<Vec<u16>> {
        let (raw, is_escaped) = self.document.tape.string(self.at)?;
        if !is_escaped {
            return Some(raw.encode_utf16().collect());
        }
        let (mut units, mut rest) = (Vec::with_capacity(raw.len()), raw);
        while !rest.is_empty() {
            match code_unit(rest.as_bytes()) {
                Some(unit) => {
                    units.push(unit as u16);
                    rest = rest.get(6..).unwrap_or_default();
                }
                None => {
                    // Skips to the next `\u` escape, past any other escape at the start.
                    let skip = if rest.starts_with('\\') { 2 } else { 0 };
                    let next = rest.get(skip..).unwrap_or_default().find('\\').map_or(rest.len(), |at| at + skip);
                    let (plain, remainder) = rest.split_at_checked(next).unwrap_or((rest, ""));
                    units.extend(unescape(plain).encode_utf16());
                    rest = remainder;
                }
            }
        }
        Some(units)
    }

    /// A list; `expected` describes it in errors.
    pub(crate) fn list(self, expected: &str) -> Result<List<'t>> {
        match self.kind() {
            Kind::List => Ok(List(self.inside())),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// A list of strings.
    pub(crate) fn strings(self) -> Result<Vec<String>> {
        self.list("a list of strings")?.read(Value::string)
    }

    /// An object; `expected` describes it in errors.
    pub(crate) fn object(self, expected: &str) -> Result<Object<'t>> {
        self.plain_object().ok_or_else(|| self.mismatch(expected))
    }

    /// The object; `None` for other values and for placeholders. Takes no time to describe why, as the path of a value
    /// in a long list would.
    pub(crate) fn plain_object(self) -> Option<Object<'t>> {
        // The first key of a placeholder begins with an escape.
        let is_plain = || self.count() == 0 || self.document.tape.plain_string(self.at + 1).is_some();
        let is_object = self.kind() == Kind::Object && (is_plain() || self.stand_in().is_none());
        is_object.then_some(Object(self))
    }

    /// Describes the value that a placeholder represents, for errors.
    fn stand_in(self) -> Option<String> {
        if let Some(what) = self.not_json() {
            return Some(format!("{what}, which JSON cannot carry"));
        }
        let is_outside = || self.as_object()?.entries().next().filter(|(key, _)| key.is_string(BYTES_SIZE));
        (self.as_bytes().is_some() || is_outside().is_some()).then(|| "bytes".to_owned())
    }

    /// The value of a name.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] with the names in `details.expected`.
    pub(crate) fn one_of<T: Copy>(self, names: &[(&str, T)]) -> Result<T> {
        match names.iter().find(|(name, _)| self.is_string(name)) {
            Some(&(_, value)) => Ok(value),
            None => Err(self.none_of(&names.iter().map(|&(name, _)| name).collect::<Vec<_>>())),
        }
    }

    fn none_of(self, names: &[&str]) -> Error {
        match self.as_text() {
            Some(name) => {
                let path = self.path();
                at_path(unknown_value(&place(&path), &name, names), &path)
            }
            None => self.mismatch(&format!("one of {}", quoted(names))),
        }
    }

    /// Bytes: passed outside the text, or a list of numbers from 0 to 255; `None` if the value is neither.
    pub(crate) fn bytes(self) -> Option<Cow<'t, [u8]>> {
        if let Some(bytes) = self.as_bytes() {
            return Some(Cow::Borrowed(bytes));
        }
        let byte = |value: Value<'_>| value.whole(255).ok().map(|byte| byte as u8);
        let list = if self.kind() == Kind::List { List(self.inside()) } else { return None };
        list.map(byte).collect::<Option<Vec<u8>>>().map(Cow::Owned)
    }

    fn as_bytes(self) -> Option<&'t [u8]> {
        let at = self.single_entry(BYTES)?.whole(u32::MAX).ok()? as usize;
        self.document.bytes.get(at).map(Vec::as_slice)
    }

    /// The name of a value that JSON cannot represent, such as `NaN`.
    fn not_json(self) -> Option<Cow<'t, str>> {
        self.single_entry(NOT_JSON)?.as_text()
    }

    /// Whether it is a placeholder for a value that JSON cannot represent.
    pub(super) fn is_not_json(self) -> bool {
        self.not_json().is_some()
    }

    /// The number of lone surrogates replaced in the string.
    pub(super) fn lone_surrogates(self) -> u32 {
        let repaired = self.document.tape.lone_surrogates();
        let found = repaired.binary_search_by(|(step, _)| step.cmp(&self.at)).ok();
        found.and_then(|at| repaired.get(at)).map_or(0, |(_, count)| *count)
    }

    fn single_entry(self, key: &str) -> Option<Value<'t>> {
        let entries = || Entries(self.inside());
        (self.kind() == Kind::Object && self.count() == 1)
            .then(|| entries().next())?
            .and_then(|(found, value)| found.is_string(key).then_some(value))
    }

    /// Any JSON value to a depth of [`JSON_DEPTH_MAX`], with numbers as in JavaScript.
    ///
    /// # Errors
    /// [`Code::LimitExceeded`] if it is deeper, [`Code::InvalidInput`] for values that JSON cannot represent.
    pub(crate) fn to_json(self) -> Result<serde_json::Value> {
        self.to_json_within(JSON_DEPTH_MAX)
    }

    fn to_json_within(self, levels: u32) -> Result<serde_json::Value> {
        let deeper = || levels.checked_sub(1).ok_or_else(too_deep);
        Ok(match self.kind() {
            Kind::Null => serde_json::Value::Null,
            Kind::Bool => self.bool()?.into(),
            // A number that is too large for JavaScript keeps its text.
            Kind::Number => Some(self.number()?).filter(|it| it.is_finite()).map_or_else(|| self.raw().into(), number),
            Kind::String => self.string()?.into(),
            Kind::List => {
                let levels = deeper()?;
                List(self.inside()).read(|item| item.to_json_within(levels))?.into()
            }
            Kind::Object => {
                let levels = deeper()?;
                let mut map = Map::new();
                for (key, value) in self.object("a JSON value")?.entries() {
                    map.insert(key.string()?, value.to_json_within(levels)?);
                }
                serde_json::Value::Object(map)
            }
        })
    }

    /// The number of items.
    fn count(self) -> usize {
        self.document.tape.count(self.at)
    }

    fn inside(self) -> Steps<'t> {
        Steps { document: self.document, at: self.at + 1, close: self.document.tape.close(self.at), left: self.count() }
    }

    /// The path in the request, such as `tree.nodes[3].content`; empty for the root.
    pub(crate) fn path(self) -> String {
        let mut path = String::new();
        let mut here = self.document.root();
        while here.at != self.at {
            let before_end = |value: Value<'_>| self.at < self.document.tape.next(value.at);
            let inner = match here.kind() {
                Kind::List => {
                    let found = List(here.inside()).enumerate().find(|&(_, item)| before_end(item));
                    found.map(|(index, item)| {
                        path.push_str(&format!("[{index}]"));
                        item
                    })
                }
                Kind::Object => {
                    let found = Entries(here.inside()).find(|&(_, value)| before_end(value));
                    found.and_then(|(key, value)| {
                        if !path.is_empty() {
                            path.push('.');
                        }
                        path.push_str(&key.as_text().unwrap_or_default());
                        (key.at != self.at).then_some(value)
                    })
                }
                _ => None,
            };
            let Some(inner) = inner else { break };
            here = inner;
        }
        path
    }

    /// The error for a value of the wrong kind.
    pub(crate) fn mismatch(self, expected: &str) -> Error {
        let path = self.path();
        let message = match self.stand_in() {
            Some(what) => format!("{} is {what}; it must be {expected}", place(&path)),
            None => format!("{} must be {expected}", place(&path)),
        };
        invalid(message, &path)
    }

    /// The error for a missing field; it names a field that is probably a misspelling.
    pub(crate) fn lacks(self, field: &str) -> Error {
        let path = self.path();
        invalid(format!("{} lacks `{field}`{}", place(&path), self.misspelling(field)), &path)
    }

    /// The end of a message about a missing field: a field that is probably a misspelling of it.
    pub(crate) fn misspelling(self, field: &str) -> String {
        let mut keys = Entries(self.inside()).filter_map(|(key, _)| Some(self.document.tape.string(key.at)?.0));
        let meant = if self.kind() == Kind::Object { nearest(field, &mut keys, 0.75) } else { None };
        match meant {
            Some(key) if key == field => "; `null` counts as missing".to_owned(),
            Some(key) => format!("; is `{key}` a misspelling of it?"),
            None => String::new(),
        }
    }

    /// An error about this value with a custom message: `make` receives the name to use for the value.
    pub(crate) fn invalid(self, make: impl FnOnce(&str) -> String) -> Error {
        let path = self.path();
        invalid(make(&place(&path)), &path)
    }
}

/// The steps of the elements of a list or an object.
#[derive(Clone, Copy)]
struct Steps<'t> {
    document: &'t Document<'t>,
    at: u32,
    close: u32,
    left: usize,
}

impl<'t> Steps<'t> {
    #[inline]
    fn next(&mut self) -> Option<Value<'t>> {
        if self.at >= self.close {
            return None;
        }
        let value = Value { document: self.document, at: self.at };
        self.at = self.document.tape.next(self.at);
        Some(value)
    }
}

/// The items of a list.
pub(crate) struct List<'t>(Steps<'t>);

impl<'t> List<'t> {
    /// The items, each read by a function; `collect` would generate more code for each type.
    pub(crate) fn read<T>(self, mut read: impl FnMut(Value<'t>) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::with_capacity(self.len());
        for item in self {
            items.push(read(item)?);
        }
        Ok(items)
    }
}

impl List<'_> {
    /// Bytes of the whole request.
    pub(crate) fn request_bytes(&self) -> usize {
        self.0.document.tape.len()
    }
}

impl<'t> Iterator for List<'t> {
    type Item = Value<'t>;

    #[inline(always)]
    fn next(&mut self) -> Option<Value<'t>> {
        let next = self.0.next();
        self.0.left -= usize::from(next.is_some());
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}

impl ExactSizeIterator for List<'_> {}

/// The keys and values of an object, in order.
pub(crate) struct Entries<'t>(Steps<'t>);

impl<'t> Iterator for Entries<'t> {
    type Item = (Value<'t>, Value<'t>);

    fn next(&mut self) -> Option<(Value<'t>, Value<'t>)> {
        Some((self.0.next()?, self.0.next()?))
    }
}

/// An object whose fields are looked up by name. A field that is `null` counts as absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'t>(Value<'t>);

impl<'t> Object<'t> {
    pub(crate) fn value(self) -> Value<'t> {
        self.0
    }

    pub(crate) fn entries(self) -> Entries<'t> {
        Entries(self.0.inside())
    }

    /// The number of fields.
    pub(crate) fn len(self) -> usize {
        self.0.count()
    }

    /// A field, even if it is `null`.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the object has it twice.
    pub(crate) fn get_or_null(self, name: &str) -> Result<Option<Value<'t>>> {
        let mut found = None;
        for (key, value) in self.entries() {
            if key.is_string(name) && found.replace(value).is_some() {
                return Err(twice(value));
            }
        }
        Ok(found)
    }

    /// A field as `JSON.parse` resolves it: the last one of that name.
    pub(crate) fn last(self, name: &str) -> Option<Value<'t>> {
        self.entries().filter(|(key, _)| key.is_string(name)).last().map(|(_, value)| value)
    }

    /// A field; `None` if it is absent or `null`.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the object has it twice.
    pub(crate) fn get(self, name: &str) -> Result<Option<Value<'t>>> {
        Ok(self.get_or_null(name)?.filter(|value| !value.is_null()))
    }

    /// The fields with these names, in their order; `None` for those that are absent or `null`. For frequent objects:
    /// each key is compared once.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the object has one of them twice.
    #[inline(always)]
    pub(crate) fn fields<const N: usize>(self, names: [&str; N]) -> Result<[Option<Value<'t>>; N]> {
        let mut found = [None; N];
        self.find_fields(&names, &mut found)?;
        Ok(found)
    }

    fn find_fields(self, names: &[&str], found: &mut [Option<Value<'t>>]) -> Result<()> {
        let Value { document, at } = self.0;
        let (mut step, close) = (at + 1, document.tape.close(at));
        // Most objects have their fields in this order.
        let mut next = 0;
        while step < close {
            let value = Value { document, at: step + 1 };
            let unescaped;
            let key = match document.tape.plain_string(step) {
                Some(key) => key,
                None => {
                    unescaped = Value { document, at: step }.as_text().unwrap_or_default();
                    unescaped.as_bytes()
                }
            };
            step = document.tape.next(step + 1);
            for _ in 0..names.len() {
                let at = if next < names.len() { next } else { 0 };
                next = at + 1;
                let name = names.get(at).map_or(&[][..], |name| name.as_bytes());
                if name.len() == key.len() && name.first() == key.first() && name == key {
                    if found.get_mut(at).is_some_and(|field| field.replace(value).is_some()) {
                        return Err(twice(value));
                    }
                    break;
                }
            }
        }
        found.iter_mut().for_each(|field| *field = field.filter(|value| !value.is_null()));
        Ok(())
    }

    /// All fields by name, each read by a function; `null` fields are absent.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the object has one of them twice.
    pub(crate) fn map<T>(self, mut read: impl FnMut(Value<'t>) -> Result<T>) -> Result<SortedMap<String, T>> {
        let mut map = SortedMap::new();
        for (key, value) in self.entries() {
            if !value.is_null() && map.insert(key.string()?, read(value)?).is_some() {
                return Err(twice(value));
            }
        }
        Ok(map)
    }

    /// A required field.
    pub(crate) fn need(self, name: &str) -> Result<Value<'t>> {
        self.get(name)?.ok_or_else(|| self.0.lacks(name))
    }

    /// A field, read by a function; `None` if it is absent or `null`.
    pub(crate) fn read<T>(self, name: &str, read: impl FnOnce(Value<'t>) -> Result<T>) -> Result<Option<T>> {
        self.get(name)?.map(read).transpose()
    }

    /// A required string.
    pub(crate) fn text(self, name: &str) -> Result<Cow<'t, str>> {
        self.need(name)?.text()
    }

    /// An optional string, owned.
    pub(crate) fn string(self, name: &str) -> Result<Option<String>> {
        self.read(name, Value::string)
    }

    pub(crate) fn bool(self, name: &str) -> Result<Option<bool>> {
        self.read(name, Value::bool)
    }

    pub(crate) fn one_of<T: Copy>(self, name: &str, names: &[(&str, T)]) -> Result<Option<T>> {
        self.read(name, |value| value.one_of(names))
    }

    /// The object itself, if all its fields are known: for options of a call without diagnostics.
    ///
    /// # Errors
    /// The error of [`refuse_unknown`].
    pub(crate) fn only(self, known: &[&str]) -> Result<Self> {
        match self.unknown(known).next() {
            None => Ok(self),
            Some(key) => {
                let path = self.0.path();
                Err(invalid(no_option(&key, known), &inner_path(&path, &key)))
            }
        }
    }

    /// The unknown keys. A known name with a dot is the path of an option that is often misplaced here.
    fn unknown(self, known: &[&str]) -> impl Iterator<Item = Cow<'t, str>> {
        let keys = self.entries().map(|(key, _)| key.as_text().unwrap_or_default());
        let keys = keys.filter(|key| is_nested(key) || !known.contains(&&**key));
        keys.filter(move |key| !(is_field_of_results(key) && self.is_request()))
    }

    /// Whether this is the request of a call, or the argument with its options.
    fn is_request(self) -> bool {
        self.0.at == self.0.document.root().at || REQUEST_ARGUMENTS.contains(&self.0.path().as_str())
    }

    /// Reports unknown fields, with the nearest known name. For options only: nodes, edges, records and files may hold
    /// unknown fields. A call without diagnostics continues with [`refuse_unknown`].
    pub(crate) fn report_unknown(self, known: &[&str], diagnostics: &mut Vec<Diagnostic>) {
        // The path is computed once, and not after very many findings: computing it for each would take quadratic time.
        let is_far = diagnostics.len() > 10 * MAX_LISTED_UNKNOWN;
        let mut path = None;
        let mut count = 0_usize;
        for key in self.unknown(known) {
            count = count.saturating_add(1);
            if count > MAX_LISTED_UNKNOWN {
                continue;
            }
            let message = no_option(&key, known);
            let mut diagnostic = Diagnostic::new(DiagnosticCode::UnknownOption, Severity::Warning, message);
            if !is_far {
                let path: &String = path.get_or_insert_with(|| self.0.path());
                diagnostic.path = Some(inner_path(path, &key));
            }
            diagnostics.push(diagnostic);
        }
        if count > MAX_LISTED_UNKNOWN {
            let message = format!("{} more options are unknown", count.saturating_sub(MAX_LISTED_UNKNOWN));
            let mut diagnostic = Diagnostic::new(DiagnosticCode::UnknownOption, Severity::Warning, message);
            diagnostic.path = path.filter(|path| !path.is_empty());
            diagnostics.push(diagnostic);
        }
    }
}

/// Fields of results that a request may hold, so that a result can be spread into it.
const OF_RESULTS: &[&str] = &["report", "diagnostics"];

/// Whether a field of a request is ignored, since it comes from a result.
pub(crate) fn is_field_of_results(name: &str) -> bool {
    OF_RESULTS.contains(&name)
}

/// The arguments of calls that hold options.
const REQUEST_ARGUMENTS: &[&str] = &["options", "then", "edit"];

/// Fails if an option was unknown, for calls without diagnostics.
///
/// # Errors
/// [`Code::InvalidInput`] with the message of the first such diagnostic.
pub(crate) fn refuse_unknown(diagnostics: &[Diagnostic]) -> Result<()> {
    match diagnostics.iter().find(|diagnostic| diagnostic.code == DiagnosticCode::UnknownOption) {
        None => Ok(()),
        Some(diagnostic) => Err(invalid(diagnostic.message.clone(), diagnostic.path.as_deref().unwrap_or_default())),
    }
}

/// The value that refers to bytes outside the JSON of a result.
pub(crate) fn bytes_reference(index: usize) -> serde_json::Value {
    super::object([(BYTES, index.into())])
}

/// The message for an unknown option.
fn no_option(key: &str, known: &[&str]) -> String {
    format!("unknown option `{key}`{}", suggestion(key, known))
}

/// The path of a field in the value at `path`.
fn inner_path(path: &str, key: &str) -> String {
    concat(&[path, if path.is_empty() { "" } else { "." }, key])
}

/// Whether a name is that of a nested field.
fn is_nested(name: &str) -> bool {
    name.as_bytes().contains(&b'.')
}

/// The end of a message about an unknown name: the nearest known one, or all of them.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, &mut known.iter().copied(), 0.5) {
        Some(known) => format!("; did you mean `{known}`?"),
        None if known.is_empty() => String::new(),
        None => {
            let names: Vec<&str> = known.iter().copied().filter(|name| !is_nested(name)).collect();
            format!("; known: {}", quoted(&names))
        }
    }
}

/// The most similar name, if its similarity is at least `likeness`: 1 for equal except for case, 0 for nothing in
/// common.
fn nearest<'n>(name: &str, names: &mut dyn Iterator<Item = &'n str>, likeness: f64) -> Option<&'n str> {
    // Longer names are not typing errors, and comparing them would take long.
    const LONGEST: usize = 100;
    let lower = name.to_ascii_lowercase();
    let (mut best, mut nearest) = (likeness, None);
    for other in names.take(MAX_LISTED_UNKNOWN).filter(|other| other.len().max(name.len()) <= LONGEST) {
        let last =
            other.bytes().rposition(|byte| byte == b'.').map_or(other, |at| other.get(at + 1..).unwrap_or(other));
        let alike = strsim::normalized_levenshtein(&lower, &last.to_ascii_lowercase());
        if alike >= best {
            (best, nearest) = (alike, Some(other));
        }
    }
    nearest
}

/// Lists names for a message: in backticks.
pub(crate) fn quoted(names: &[&str]) -> String {
    let mut all = String::new();
    for name in names {
        all.push_str(if all.is_empty() { "`" } else { ", `" });
        all.push_str(name);
        all.push('`');
    }
    all
}

/// The error for a duplicate field.
fn twice(value: Value<'_>) -> Error {
    let path = value.path();
    invalid(format!("`{path}` occurs twice; remove one"), &path)
}

/// The error for a name that is not one of the known values of `what`.
pub(crate) fn unknown_value(what: &str, name: &str, expected: &[&str]) -> Error {
    let message = format!("{what} is `{name}`; it must be one of {}", quoted(expected));
    Error::new(Code::UnknownValue, message).with("value", name).with("expected", expected.to_vec())
}

/// The name that error messages use for the value at a path.
fn place(path: &str) -> String {
    if path.is_empty() { "the request".to_owned() } else { format!("`{path}`") }
}

fn invalid(message: String, path: &str) -> Error {
    at_path(Error::new(Code::InvalidInput, message), path)
}

fn at_path(error: Error, path: &str) -> Error {
    if path.is_empty() { error } else { error.with("path", path) }
}

fn too_deep() -> Error {
    limits::exceeded("jsonDepth", JSON_DEPTH_MAX as usize + 1, JSON_DEPTH_MAX)
}

/// The text of an escaped string, with U+FFFD for lone surrogates.
pub(crate) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    loop {
        // Only a backslash can follow the plain bytes.
        let (plain, escape) = rest.split_at_checked(plain_bytes(rest.as_bytes())).unwrap_or((rest, ""));
        out.push_str(plain);
        let (ch, length) = match escape.as_bytes().get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => unicode_escape(escape.as_bytes()),
            Some(&other) => (char::from(other), 2),
            None => return out,
        };
        out.push(ch);
        rest = escape.get(length..).unwrap_or_default();
    }
}

/// The character of the `\uXXXX` at the beginning, and its length in bytes.
fn unicode_escape(escape: &[u8]) -> (char, usize) {
    let unit = code_unit(escape).unwrap_or(0xFFFD);
    let low = escape.get(6..).and_then(code_unit).filter(|&low| is_high(unit) && is_low(low));
    let code = low.map_or(unit, |low| 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), if low.is_some() { 12 } else { 6 })
}

#[cfg(test)]
#[path = "../../tests/unit/json/value.rs"]
mod tests;
