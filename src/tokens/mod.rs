//! Counting tokens (SPEC §6).

use std::fmt;

use crate::error::{Code, Error, Result};

pub mod heuristic;
mod heuristic_table;

/// Counts the tokens of a text.
///
/// Implementations are pure: the same text has the same count, always.
pub trait Counter: fmt::Debug {
    /// The name that reports carry.
    fn name(&self) -> &str;

    /// How many tokens the text is. 0 for the empty text.
    fn count(&self, text: &str) -> u32;

    /// The count, or `None` when it is above `limit`; may stop as soon as that is known.
    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.count(text)).filter(|&count| count <= limit)
    }

    /// Whether counts add up at a paragraph break before `next`: for every text `a` that does not end in white space,
    /// `count(a + "\n\n" + next) == count(a + "\n\n") + count(next)`. `next` does not begin with white space.
    ///
    /// Assembly counts each node once where this holds, and counts joined texts again where it does not.
    fn adds_up_before(&self, next: &str) -> bool {
        let _ = next;
        false
    }
}

/// Estimates tokens without a vocabulary; see [`heuristic`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heuristic;

impl Counter for Heuristic {
    fn name(&self) -> &str {
        "heuristic"
    }

    fn count(&self, text: &str) -> u32 {
        heuristic::count(text)
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        heuristic::count_up_to(text, limit)
    }

    fn adds_up_before(&self, _: &str) -> bool {
        true
    }
}

/// The counter with this name: `heuristic`, `o200k_base` or `cl100k_base`.
///
/// # Errors
/// [`Code::UnknownValue`] for another name; [`Code::VocabularyNotLoaded`] for an exact counter whose vocabulary is not
/// there.
pub fn by_name(name: &str) -> Result<Box<dyn Counter>> {
    match name {
        "heuristic" => Ok(Box::new(Heuristic)),
        "o200k_base" | "cl100k_base" => {
            let message = format!("the vocabulary of `{name}` is not loaded; use `heuristic`");
            Err(Error::new(Code::VocabularyNotLoaded, message).with("tokenizer", name))
        }
        other => {
            let expected = ["heuristic", "o200k_base", "cl100k_base"];
            let message = format!("`tokenizer` is `{other}`; it must be one of `{}`", expected.join("`, `"));
            Err(Error::new(Code::UnknownValue, message).with("value", other).with("expected", expected.to_vec()))
        }
    }
}
