//! The built-in exact counters: those of tiktoken-rs.

use std::rc::Rc;

use crate::error::Result;
use crate::tokens::counter::Counter;
use crate::tokens::tiktoken::Tiktoken;

/// The names of the encodings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Tiktoken::NAMES.iter().copied()
}

/// The counter with this name; `None` if no encoding has this name.
#[expect(clippy::unnecessary_wraps, reason = "without tiktoken-rs a vocabulary may have to be loaded")]
pub(super) fn built_in(name: &str) -> Result<Option<Rc<dyn Counter>>> {
    Ok(Tiktoken::new(name).ok().map(|counter| Rc::new(counter) as Rc<dyn Counter>))
}
