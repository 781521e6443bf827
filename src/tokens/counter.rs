//! Token counters.

use std::fmt;

use super::bpe::Counted;
use super::codec::Codec;
use super::heuristic::Paused;

/// How far a text was counted; initially not at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct IncrementalCount {
    pub(super) counted: Counted,
    pub(super) paused: Paused,
}

/// Counts the tokens of a text.
///
/// Implementations are pure: the same text always has the same count.
pub trait Counter {
    /// The name in reports.
    fn name(&self) -> &str;

    /// Maximum error of its counts in percent, if known. The estimator's depends on the text: docs/estimator.md.
    fn error_percent(&self) -> Option<u32> {
        None
    }

    /// The number of tokens of the text. 0 for the empty text.
    fn count(&self, text: &str) -> u32;

    /// The count, or `None` if it is above `limit`; may stop as soon as that is known.
    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.count(text)).filter(|&count| count <= limit)
    }

    /// The count of a text that was counted with the same `incremental` when it was shorter. If the counter supports
    /// it, only the end is scanned again. A counter that fails leaves `incremental` unchanged.
    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        let _ = incremental;
        self.count(text)
    }

    /// The length in bytes of the beginning of the text that `incremental` no longer needs, so that the caller can drop
    /// it: from then on `incremental` describes the text without it. `None` if the counter counts the whole text each
    /// time.
    fn invalidate(&self, text: &str, incremental: &mut IncrementalCount) -> Option<usize> {
        let _ = (text, incremental);
        None
    }

    /// The codec, if the counter can encode and decode.
    fn codec(&self) -> Option<&dyn Codec> {
        None
    }

    /// Whether it failed, so that its later counts are invalid.
    fn has_failed(&self) -> bool {
        false
    }

    /// The maximum count of a text of this many bytes; `None` if unknown.
    ///
    /// If even that fits into a budget, nothing needs to be counted.
    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        let _ = bytes;
        None
    }

    /// Whether counts add up at a paragraph break before `next`: for every text `a` that does not end in white space,
    /// `count(a + "\n\n" + next) == count(a + "\n\n") + count(next)`. `next` does not begin with white space.
    ///
    /// If this holds, assembly counts each node once; otherwise it counts joined texts again.
    fn is_additive_before(&self, next: &str) -> bool {
        let _ = next;
        false
    }
}

/// A counter for callers that need no counts.
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

// Not a supertrait: each counter would bring the `Debug` of all its fields into the module.
impl fmt::Debug for dyn Counter + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
