//! The working memory of counting and encoding.

use std::fmt;

use super::merge::Parts;
use super::merge_cache::MergeCache;
use super::runs::Runs;

/// Longer lists of bounds are not kept.
pub(super) const KEPT_BOUNDS: usize = 1024;

/// The merge cache, and buffers that the next call reuses.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) cache: MergeCache,
    pub(super) parts: Parts,
    /// Token bounds of a long piece.
    pub(super) bounds: Vec<u32>,
    pub(super) runs: Runs,
}

impl Scratch {
    /// Scratch memory with this cache.
    pub(super) fn new(cache: MergeCache) -> Self {
        Self { cache, ..Self::default() }
    }

    /// Frees the buffers of a long piece.
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
