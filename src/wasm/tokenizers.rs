//! The tokenizers of the instance.

use std::cell::RefCell;

use crate::tokens::Tokenizers;

thread_local! {
    /// The vocabularies loaded by `loadVocabulary`. The core receives them as an argument.
    pub(super) static TOKENIZERS: RefCell<Tokenizers> = RefCell::default();
}

pub(super) fn tokenizers() -> Tokenizers {
    TOKENIZERS.with_borrow(Clone::clone)
}
