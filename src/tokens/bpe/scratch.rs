//! What counting and encoding take next to the tables of a vocabulary.

use std::fmt;

use super::merge::Parts;
use super::merge_cache::MergeCache;
use super::runs::Runs;

/// A list of more bounds is not kept.
pub(super) const KEPT_BOUNDS: usize = 1024;

/// What was merged before, and room for what merges now, which is used again by the next call.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) cache: MergeCache,
    pub(super) parts: Parts,
    /// The bounds of the tokens of a long piece.
    pub(super) bounds: Vec<u32>,
    pub(super) runs: Runs,
}

impl Scratch {
    /// With these remembered texts.
    pub(super) fn new(cache: MergeCache) -> Self {
        Self { cache, ..Self::default() }
    }

    /// Gives back what a long piece took.
    pub(super) fn shrink(&mut self) {
        if self.parts.capacity() > KEPT_BOUNDS {
            self.parts = Parts::default();
        }
        if self.bounds.capacity() > KEPT_BOUNDS {
            self.bounds = Vec::new();
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cache.fmt(f)
    }
}
