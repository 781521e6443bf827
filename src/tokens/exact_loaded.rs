//! The built-in exact counters: none, because vocabularies are assets.

use std::rc::Rc;

use crate::error::{Code, Error, Result};
use crate::tokens::bpe::Encoding;
use crate::tokens::counter::Counter;

/// The names of the encodings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Encoding::ALL.iter().map(|encoding| encoding.name())
}

/// The built-in counter with this name; `None` if no encoding has this name.
///
/// # Errors
/// [`Code::VocabularyNotLoaded`] for an encoding.
pub(super) fn built_in(name: &str) -> Result<Option<Rc<dyn Counter>>> {
    let Some(encoding) = Encoding::from_name(name) else { return Ok(None) };
    let package = match encoding.base() {
        Encoding::O200kBase | Encoding::Cl100kBase => "ctxweave/vocab",
        _ => "ctxweave-vocab",
    };
    let message = format!(
        "the vocabulary of `{name}` is not loaded; load it first with `load()` of `{package}/{name}` or with `loadVocabulary`, or use `heuristic`"
    );
    Err(Error::new(Code::VocabularyNotLoaded, message).with("tokenizer", name))
}
