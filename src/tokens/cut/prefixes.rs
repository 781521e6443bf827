//! Counts of the prefixes of a text: each costs the distance to one that was counted before.

use crate::text::concat;
use crate::tokens::{Counter, IncrementalCount};

/// The prefixes of one text.
#[derive(Debug)]
pub(super) struct Prefixes<'t> {
    counter: &'t dyn Counter,
    text: &'t str,
    /// The counted prefixes: their end, their tokens, and the part that the counter scans again.
    known: Vec<CountedPrefix>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CountedPrefix {
    end: usize,
    tokens: u64,
    start: usize,
    incremental: IncrementalCount,
}

impl<'t> Prefixes<'t> {
    /// No prefix is counted yet.
    pub(super) fn new(text: &'t str, counter: &'t dyn Counter) -> Self {
        Self { counter, text, known: Vec::new() }
    }

    /// The tokens of the text up to byte `end`, followed by another text.
    pub(super) fn count(&mut self, end: usize, after: &str) -> u64 {
        let nearest = self.known.iter().filter(|known| known.end <= end).max_by_key(|known| known.end);
        let mut known = nearest.copied().unwrap_or_default();
        let counted = self.text.get(known.start..known.end).unwrap_or_default();
        let rest = self.text.get(known.start..end).unwrap_or_default();
        // A counter that counts the whole text again is not called for unneeded counts.
        let Some(invalidated) = self.counter.invalidate(counted, &mut known.incremental) else {
            return self.counter.count(&concat(&[rest, after])).into();
        };
        let rest = rest.get(invalidated..).unwrap_or_default();
        known.start += invalidated;
        if known.end < end {
            (known.end, known.tokens) = (end, self.counter.count_incremental(rest, &mut known.incremental).into());
            self.known.push(known);
        }
        if after.is_empty() {
            return known.tokens;
        }
        self.counter.count_incremental(&concat(&[rest, after]), &mut known.incremental).into()
    }
}
