//! The numbers of a report (docs/loom.md).

use std::ops::Range;

/// Tokens by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// The system context, as a field or as a message.
    pub system: u64,
    /// The content of all other messages, or the document.
    pub content: u64,
    /// Per-message and per-request overhead.
    pub overhead: u64,
}

impl Totals {
    pub(crate) fn total(self) -> u64 {
        self.system.saturating_add(self.content).saturating_add(self.overhead)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Items removed completely, except `inside`.
    pub whole: Range<usize>,
    /// Items of that range that are kept, in order.
    pub inside: Vec<usize>,
    /// Items after the gap that became empty.
    pub emptied: Vec<usize>,
    /// Items removed in part, with the tokens kept of each.
    pub partial: Vec<(usize, u64)>,
    /// Tokens removed, each item counted alone.
    pub tokens: u64,
    /// The number of items before the gap, without blocks.
    pub position: usize,
    pub marker: Option<String>,
}

impl Removed {
    /// The items that are removed completely.
    pub(crate) fn items(&self) -> impl Iterator<Item = usize> {
        let whole = self.whole.clone().filter(|at| self.inside.binary_search(at).is_err());
        whole.chain(self.emptied.iter().copied())
    }

    pub(crate) fn count(&self) -> usize {
        self.whole.len().saturating_sub(self.inside.len()) + self.emptied.len()
    }

    /// The first and the last item of the gap.
    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> + Clone {
        let ends = [self.whole.start, self.whole.end.saturating_sub(1)];
        ends.into_iter().filter(|_| !self.whole.is_empty())
    }
}
