//! A function as it is called from outside: by name, with JSON text in and JSON text out.
//!
//! Each area has a table of its calls. The wasm edge, the goldens and the tests all go through these tables.

use std::borrow::Cow;
use std::rc::Rc;

use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::json::{self, Document, JsonWriter, Value};
use crate::tokens::{Counter, Tokenizers};

/// The environment of a call, in addition to its request.
#[derive(Clone, Debug, Default)]
pub struct CallContext {
    /// The loaded tokenizers.
    pub tokenizers: Tokenizers,
    /// The custom counter, if the request's `tokenizer` is an object.
    pub counter: Option<Rc<dyn Counter>>,
}

impl CallContext {
    /// The counter that `tokenizer` names: the custom counter for an object, the estimator if it is missing.
    pub(crate) fn counter(&self, tokenizer: Option<Value<'_>>) -> Result<Rc<dyn Counter>> {
        let Some(tokenizer) = tokenizer else { return self.tokenizers.get("heuristic") };
        if let Some(name) = tokenizer.as_text() {
            return self.tokenizers.get(&name).map_err(|error| error.with("path", tokenizer.path()));
        }
        let own = self.counter.clone().filter(|_| tokenizer.kind() == json::Kind::Object);
        own.ok_or_else(|| tokenizer.mismatch("a tokenizer's name or an object with a function `count`"))
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// The result as JSON. Empty if the result is `small` or is the bytes; see [`Self::to_json`].
    pub json: Vec<u8>,
    /// Bytes of the result: fields that are `{ "\u0000bytes": index }`, or the whole result if `json` is empty.
    pub bytes: Vec<Vec<u8>>,
    /// A result that leaves the module as a value.
    pub small: Option<SmallResult>,
}

impl Response {
    pub(crate) fn of(result: &impl Serialize) -> Result<Self> {
        Ok(Self { json: json::write(result)?, ..Self::default() })
    }

    /// A result that is written piece by piece, with its bytes.
    pub(crate) fn written(bytes: Vec<Vec<u8>>, write: impl FnOnce(&mut JsonWriter)) -> Self {
        let mut json = JsonWriter::default();
        write(&mut json);
        Self { json: json.finish(), bytes, small: None }
    }

    /// A small result.
    pub(crate) fn small(result: SmallResult) -> Self {
        Self { small: Some(result), ..Self::default() }
    }

    /// The result as JSON, also if it is small. Empty if the result is the bytes.
    pub fn to_json(&self) -> Cow<'_, [u8]> {
        match &self.small {
            Some(small) => Cow::Owned(json::text(small).into_bytes()),
            None => Cow::Borrowed(&self.json),
        }
    }
}

/// A result of a few fields, for which no JSON text is written.
#[derive(Clone, Debug, PartialEq)]
pub enum SmallResult {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number below 2^53.
    Number(u64),
    /// A finite number.
    Decimal(f64),
    /// A text.
    Text(String),
    /// An object. Fields without a value are omitted.
    Object(Vec<(&'static str, Option<SmallResult>)>),
}

impl Serialize for SmallResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => serializer.serialize_u64(*number),
            // As JavaScript writes it.
            Self::Decimal(number) if number.fract() == 0.0 => serializer.serialize_i64(*number as i64),
            Self::Decimal(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Object(fields) => {
                serializer.collect_map(fields.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))))
            }
        }
    }
}

/// A function, or with a `T` a method, that can be called by name.
#[derive(Debug)]
pub struct Call<T: 'static = ()> {
    /// The name in JavaScript.
    pub name: &'static str,
    /// The names of the arguments if there are several: the request is then an object with these fields. If empty, the
    /// request is the only argument.
    pub parameters: &'static [&'static str],
    pub(crate) answer: fn(&mut T, Value<'_>, &CallContext) -> Result<Response>,
}

impl<T> Call<T> {
    pub(crate) const fn new(
        name: &'static str,
        parameters: &'static [&'static str],
        answer: fn(&mut T, Value<'_>, &CallContext) -> Result<Response>,
    ) -> Self {
        Self { name, parameters, answer }
    }

    /// Reads a request and answers it. `bytes` are those that the request refers to as `{ "\u0000bytes": index }`.
    ///
    /// # Errors
    /// [`crate::Code::InvalidInput`] if the request is not JSON or does not match the call, and the errors of the
    /// function.
    pub fn answer(&self, this: &mut T, request: &[u8], bytes: &[Vec<u8>], host: &CallContext) -> Result<Response> {
        let document = Document::read(request, bytes)?;
        let document: &Document<'_> = &document;
        (self.answer)(this, document.root(), host)
    }
}
