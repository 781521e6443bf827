//! What counts tokens.

use std::fmt;

use super::bpe::Counted;
use super::codec::Codec;
use super::heuristic::Paused;

/// How far a text that grows was counted: by default not at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct IncrementalCount {
    pub(super) counted: Counted,
    pub(super) paused: Paused,
}

/// Counts the tokens of a text.
///
/// Implementations are pure: the same text has the same count, always.
pub trait Counter {
    /// The name that reports carry.
    fn name(&self) -> &str;

    /// By how many percent of its counts they may be off, where it says so; the estimator itself does not, docs/estimator.md does.
    fn error_percent(&self) -> Option<u32> {
        None
    }

    /// How many tokens the text is. 0 for the empty text.
    fn count(&self, text: &str) -> u32;

    /// The count, or `None` when it is above `limit`; may stop as soon as that is known.
    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.count(text)).filter(|&count| count <= limit)
    }

    /// The count of a text that was counted with the same `incremental` when it was shorter. Where the counter knows what of it
    /// stays as it was, only the end is looked at again. One that may fail leaves `incremental` as it is.
    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        let _ = incremental;
        self.count(text)
    }

    /// How many bytes at the beginning of a text that was counted with `incremental` are not looked at again when it grows, so that they need not be kept: from now on
    /// `incremental` is of the text without them. Nothing where the counter counts all of it again each time.
    fn invalidate(&self, text: &str, incremental: &mut IncrementalCount) -> Option<usize> {
        let _ = (text, incremental);
        None
    }

    /// What makes tokens of texts and texts of tokens, where the counter has tokens.
    fn codec(&self) -> Option<&dyn Codec> {
        None
    }

    /// Whether it failed, so that its counts since then are worth nothing.
    fn has_failed(&self) -> bool {
        false
    }

    /// The most that a text of so many bytes can count; nothing where that is not known.
    ///
    /// Where even that fits into a budget, nothing needs to be counted.
    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        let _ = bytes;
        None
    }

    /// Whether counts add up at a paragraph break before `next`: for every text `a` that does not end in white space,
    /// `count(a + "\n\n" + next) == count(a + "\n\n") + count(next)`. `next` does not begin with white space.
    ///
    /// Assembly counts each node once where this holds, and counts joined texts again where it does not.
    fn is_additive_before(&self, next: &str) -> bool {
        let _ = next;
        false
    }
}

/// A counter whose counts are not needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncounted;

impl Counter for Uncounted {
    fn name(&self) -> &str {
        "uncounted"
    }

    fn count(&self, _: &str) -> u32 {
        0
    }

    fn is_additive_before(&self, _: &str) -> bool {
        true
    }
}

// Not a trait above it: each counter would bring the `Debug` of all that it holds into the module.
impl fmt::Debug for dyn Counter + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
