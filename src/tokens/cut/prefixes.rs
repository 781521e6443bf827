//! Counts of what a text begins with: each at the cost of what lies between it and one that was counted before.

use crate::text::concat;
use crate::tokens::{Counter, IncrementalCount};

/// The beginnings of one text.
#[derive(Debug)]
pub(super) struct Prefixes<'t> {
    counter: &'t dyn Counter,
    text: &'t str,
    /// What was counted: where it ends, its tokens, and where that begins which the counter looks at again.
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
    /// Nothing is counted yet.
    pub(super) fn new(text: &'t str, counter: &'t dyn Counter) -> Self {
        Self { counter, text, known: Vec::new() }
    }

    /// Tokens of the text up to byte `end`, with another text after it.
    pub(super) fn count(&mut self, end: usize, behind: &str) -> u64 {
        let nearest = self.known.iter().filter(|known| known.end <= end).max_by_key(|known| known.end);
        let mut known = nearest.copied().unwrap_or_default();
        let counted = self.text.get(known.start..known.end).unwrap_or_default();
        let rest = self.text.get(known.start..end).unwrap_or_default();
        // A counter that counts all of a text again is not asked for what is not needed.
        let Some(forgotten) = self.counter.invalidate(counted, &mut known.incremental) else {
            return self.counter.count(&concat(&[rest, behind])).into();
        };
        let rest = rest.get(forgotten..).unwrap_or_default();
        known.start += forgotten;
        if known.end < end {
            (known.end, known.tokens) = (end, self.counter.count_incremental(rest, &mut known.incremental).into());
            self.known.push(known);
        }
        if behind.is_empty() {
            return known.tokens;
        }
        self.counter.count_incremental(&concat(&[rest, behind]), &mut known.incremental).into()
    }
}
