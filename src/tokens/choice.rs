//! The `tokenizer` of a request: a name, or an object that the caller brings (SPEC §6).

use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::error::{Code, Error, Result};

use super::{Counter, Tokenizers};

/// How to count, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenizerChoice {
    /// A tokenizer's name.
    Name(String),
    /// An object with a function `count`.
    Own,
}

impl TokenizerChoice {
    /// The counter that was chosen; the estimator where nothing was. `own` is the caller's.
    pub(crate) fn counter(
        choice: Option<&Self>,
        tokenizers: &Tokenizers,
        own: Option<Rc<dyn Counter>>,
    ) -> Result<Rc<dyn Counter>> {
        match choice {
            None => tokenizers.get("heuristic"),
            Some(Self::Name(name)) => tokenizers.get(name),
            Some(Self::Own) => own.ok_or_else(|| {
                let message = "`tokenizer` must be a tokenizer's name or an object with a function `count`";
                Error::new(Code::InvalidInput, message).with("path", "tokenizer")
            }),
        }
    }
}

impl<'de> Deserialize<'de> for TokenizerChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct NameOrObject;

        impl<'de> Visitor<'de> for NameOrObject {
            type Value = TokenizerChoice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tokenizer's name or an object with a function `count`")
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<TokenizerChoice, E> {
                Ok(TokenizerChoice::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<TokenizerChoice, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(TokenizerChoice::Own)
            }
        }

        deserializer.deserialize_any(NameOrObject)
    }
}
