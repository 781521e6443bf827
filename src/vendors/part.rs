//! A part of a content as its vendor's reader classifies it, before it becomes a piece of a chat or a block.
//!
//! Each vendor has one function that classifies its parts, for both kinds of readers: the strict one of chats, and the
//! lenient one of answers and files.

use std::convert::Infallible;

use serde_json::{Map, Value as Json};

use crate::error::Error;
use crate::json::{Object, Value};

/// The type of a call's caller if that is the model itself, and no program: such a field counts as empty.
const DIRECT: &str = "direct";

/// Whether a list of words contains a word.
pub(crate) fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether one of several lists of words contains a word.
pub(crate) fn is_known(lists: &[&str], word: &str) -> bool {
    lists.iter().any(|words| is_one_of(words, word))
}

/// An object of a chat or of an answer, whose fields are looked up by name.
pub(crate) trait Fields: Copy {
    type Value: Copy;
    type Error;

    /// The fields with these names; `None` for those that are absent or `null`.
    ///
    /// # Errors
    /// A chat may not have one of them twice.
    fn fields<const N: usize>(self, names: [&str; N]) -> Result<[Option<Self::Value>; N], Self::Error>;

    /// Whether a field is `true`.
    fn is_true(value: Option<Self::Value>) -> bool;

    /// Visits the fields that are neither empty nor among the known ones, lists of words.
    fn each_unknown(self, known: &[&str], each: &mut dyn FnMut(&str, Self::Value));
}

impl<'t> Fields for Object<'t> {
    type Value = Value<'t>;
    type Error = Error;

    fn fields<const N: usize>(self, names: [&str; N]) -> Result<[Option<Value<'t>>; N], Error> {
        Object::fields(self, names)
    }

    fn is_true(value: Option<Value<'t>>) -> bool {
        value.is_some_and(|value| value.bool().unwrap_or(false))
    }

    fn each_unknown(self, known: &[&str], each: &mut dyn FnMut(&str, Value<'t>)) {
        for (key, value) in self.entries() {
            let unknown = key.as_text().filter(|key| !is_known(known, key));
            if let Some(key) = unknown.filter(|_| !value.to_json().is_ok_and(|value| is_empty(&value))) {
                each(&key, value);
            }
        }
    }
}

impl<'m> Fields for &'m Map<String, Json> {
    type Value = &'m Json;
    type Error = Infallible;

    fn fields<const N: usize>(self, names: [&str; N]) -> Result<[Option<&'m Json>; N], Infallible> {
        Ok(names.map(|name| self.get(name).filter(|value| !value.is_null())))
    }

    fn is_true(value: Option<&'m Json>) -> bool {
        value.and_then(Json::as_bool).unwrap_or(false)
    }

    fn each_unknown(self, known: &[&str], each: &mut dyn FnMut(&str, &'m Json)) {
        for (name, value) in self.iter().filter(|(name, value)| !is_known(known, name) && !is_empty(value)) {
            each(name, value);
        }
    }
}

/// Whether a field has no content.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Array(list) => list.is_empty(),
        Json::Object(fields) => fields.values().all(|value| value == DIRECT),
        Json::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A field with its name, which may be absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<V> {
    pub name: &'static str,
    pub value: Option<V>,
}

/// A field of an object.
pub(crate) fn field<F: Fields>(object: F, name: &'static str) -> Result<Field<F::Value>, F::Error> {
    let [value] = object.fields([name])?;
    Ok(Field { name, value })
}

/// The form of the signature of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureForm {
    /// Anthropic's, of readable thinking.
    Thinking,
    /// Anthropic's, of redacted thinking.
    Redacted,
    /// Any vendor's, as in a block.
    Any,
}

/// A classified part, with the values of its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<V> {
    Text(Field<V>),
    Reasoning {
        text: Field<V>,
        signature: Option<V>,
        form: SignatureForm,
        /// Whether its text is withheld.
        redacted: bool,
    },
    Call {
        id: Field<V>,
        name: Option<V>,
        input: Field<V>,
        /// The call that made it, by a program or a server tool.
        caller: Option<V>,
        /// Whether the vendor runs the tool.
        server: bool,
    },
    Result {
        id: Field<V>,
        content: Field<V>,
        is_error: bool,
        /// Whether the vendor ran the tool.
        server: bool,
        /// Whether its content is JSON in a form of the vendor's, not a text or parts.
        opaque: bool,
    },
    Compaction {
        signature: Option<V>,
        /// Whether it replaces everything before it.
        is_whole: bool,
    },
    /// An image, a recording, a file, or a part of an unknown type.
    Other,
}

impl<V> Part<V> {
    /// Whether a field of the part is among the values of its class.
    pub(crate) fn holds(&self, field: &str) -> bool {
        match self {
            Self::Text(text) => field == text.name,
            Self::Reasoning { text, form, .. } => match form {
                SignatureForm::Thinking => [text.name, "signature"].contains(&field),
                SignatureForm::Redacted => field == "data",
                SignatureForm::Any => [text.name, "signature", "redacted"].contains(&field),
            },
            Self::Call { id, input, .. } => [id.name, "name", input.name].contains(&field),
            Self::Result { id, content, .. } => [id.name, content.name, "is_error", "isError"].contains(&field),
            Self::Compaction { .. } | Self::Other => false,
        }
    }
}
