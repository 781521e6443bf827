//! Byte pair encoding: of all neighbours whose bytes together are a token, the pair with the lowest rank merges, the
//! leftmost of several, until none is left.
//!
//! A merge makes a token that ranks higher than its parts, and what it may merge into next ranks higher still. So the
//! merges come in the order of their ranks, and all those into one token can be done in one pass over the parts. That
//! is fastest while there are few parts or few passes. Parts that take many passes stand under a tree of minima, so
//! that n of them take n log n time; and long texts are encoded a window at a time, which stays within n log n and,
//! but for texts that nobody writes, takes n.

use super::words::{NONE, Rank, Words};

/// Up to so many parts, passes are fast enough however many it takes.
const FEW: usize = 64;

/// Of more parts, so many passes are tried.
const PASSES: usize = 32;

/// Passes and merges to a turn, after which optimized code can take the place of what a WebAssembly engine begins with.
const TURN: usize = 1024;

/// Children of one node of the tree.
const FAN: usize = 16;

/// The end of a list.
const NIL: u32 = u32::MAX;

/// The parts of one text while they merge: room that is used again for the next text.
#[derive(Default)]
pub(super) struct Parts {
    /// Where each part begins, and where the last ends: those to begin with; when merged, those that are left.
    pub(super) bounds: Vec<u32>,
    /// The parts to begin with, while windows of them are encoded.
    all: Vec<u32>,
    window: Window,
}

impl Parts {
    /// Begins with the bytes of a text.
    pub(super) fn start(&mut self, bytes: &[u8]) {
        self.bounds.clear();
        self.bounds.extend(0..=bytes.len() as u32);
    }

    /// How many parts there are.
    pub(super) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Merges the parts of the text until no pair is left.
    pub(super) fn merge(&mut self, words: &Words, bytes: &[u8]) {
        if self.len() <= FEW {
            self.window.merge_bounds(words, bytes, &mut self.bounds);
        } else {
            self.merge_windows(words, bytes, FEW);
        }
    }

    /// Merges a window of so many parts after the other. A window begins with a token of the one before; from where the
    /// two have a token in common, what the second says holds (docs/counting.md says why).
    fn merge_windows(&mut self, words: &Words, bytes: &[u8], size: usize) {
        std::mem::swap(&mut self.all, &mut self.bounds);
        let mut size = size;
        while !self.try_windows(words, bytes, &mut size) {
            // Two neighbours without a token in common: once more, and with more of the text at once.
            size = size.saturating_mul(16);
        }
    }

    /// [`Self::merge_windows`], unless two windows have no token in common. The size grows where tokens are so long that
    /// too few of them are in a window.
    fn try_windows(&mut self, words: &Words, bytes: &[u8], size: &mut usize) -> bool {
        let Self { bounds, all, window } = self;
        let last = all.len() - 1;
        bounds.clear();
        bounds.extend(all.first());
        // How many of the bounds are settled: the next window begins at the last of these. Behind them stand the other
        // tokens of the window before.
        let (mut from, mut settled) = (0, 1);
        loop {
            let to = last.min(from + (*size).min(last));
            window.bounds.clear();
            window.bounds.extend_from_slice(&all[from..=to]);
            window.merge(words, bytes);
            let met = if from == 0 { Some((0, 0)) } else { meet(&bounds[settled - 1..], &window.bounds) };
            let Some((before, behind)) = met else { return false };
            if to == last {
                bounds.truncate(settled + before);
                bounds.extend_from_slice(&window.bounds[behind + 1..]);
                return true;
            }
            // The next window shall begin in the last quarter of this one, whose end knows nothing of what follows, and
            // not before the token in common.
            let begin = all[from + (to - from) / 4 * 3];
            let next = window.bounds.partition_point(|&bound| bound <= begin).saturating_sub(1).max(behind);
            if next == 0 || next + 1 >= window.bounds.len() {
                *size *= 2;
                continue;
            }
            bounds.truncate(settled + before);
            bounds.extend_from_slice(&window.bounds[behind + 1..]);
            settled += before + next - behind;
            from = all.partition_point(|&bound| bound < window.bounds[next]);
        }
    }
}

/// The first token that two lists of bounds, which begin with the same, have in common: how many bounds there are before
/// its end in each, the first not counted.
fn meet(one: &[u32], other: &[u32]) -> Option<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    while let ([a, b, ..], [c, d, ..]) = (one.get(i..)?, other.get(j..)?) {
        if (a, b) == (c, d) {
            return Some((i + 1, j + 1));
        }
        // Whichever ends first can have no more in common with what begins later.
        i += usize::from(b <= d);
        j += usize::from(d <= b);
    }
    None
}

/// The parts of one window.
#[derive(Default)]
struct Window {
    /// Where each part begins, and where the last ends.
    bounds: Vec<u32>,
    /// The rank of each part together with the next, [`NONE`] where they are no token.
    ranks: Vec<Rank>,
    next: Vec<u32>,
    before: Vec<u32>,
    tree: Vec<Rank>,
    levels: Vec<usize>,
}

impl Window {
    /// [`Self::merge`] for the given parts.
    fn merge_bounds(&mut self, words: &Words, bytes: &[u8], bounds: &mut Vec<u32>) {
        std::mem::swap(&mut self.bounds, bounds);
        self.merge(words, bytes);
        std::mem::swap(&mut self.bounds, bounds);
    }

    /// Merges the parts until no pair is left.
    fn merge(&mut self, words: &Words, bytes: &[u8]) {
        let mut least = self.rank_pairs(words, bytes);
        let mut passes = 0;
        while least != NONE {
            if passes == PASSES && self.bounds.len() > FEW {
                self.merge_tree(words, bytes);
                return;
            }
            least = self.pass(words, bytes, least);
            passes += 1;
        }
    }

    /// Looks up all pairs; the lowest rank.
    #[inline(never)]
    fn rank_pairs(&mut self, words: &Words, bytes: &[u8]) -> Rank {
        self.ranks.clear();
        let mut least = NONE;
        for pair in self.bounds.windows(3) {
            let rank = rank(words, bytes, pair[0], pair[2]);
            least = least.min(rank);
            self.ranks.push(rank);
        }
        least
    }

    /// Does all merges into the token of the lowest rank, from left to right, and gives the next rank.
    #[inline(never)]
    fn pass(&mut self, words: &Words, bytes: &[u8], lowest: Rank) -> Rank {
        let Self { bounds, ranks, .. } = self;
        let parts = bounds.len() - 1;
        let mut least = NONE;
        // Parts are read at `from` and written at `to`, which is never ahead.
        let (mut from, mut to) = (0, 0);
        let mut changed = false;
        while from < parts {
            let start = bounds[from];
            let merges = ranks.get(from) == Some(&lowest);
            let next = from + 1 + usize::from(merges);
            if to > 0 {
                changed |= merges;
                let rank = if changed { rank(words, bytes, bounds[to - 1], bounds[next]) } else { ranks[from - 1] };
                ranks[to - 1] = rank;
                least = least.min(rank);
            }
            bounds[to] = start;
            to += 1;
            changed = merges;
            from = next;
        }
        bounds[to] = bounds[parts];
        bounds.truncate(to + 1);
        ranks.truncate(to - 1);
        least
    }

    /// Merges with the ranks under a tree of minima: the parts form a list, each under the number that it has now.
    #[inline(never)]
    fn merge_tree(&mut self, words: &Words, bytes: &[u8]) {
        let parts = self.bounds.len() as u32 - 1;
        self.next.clear();
        self.next.extend(1..=parts);
        self.before.clear();
        self.before.push(NIL);
        self.before.extend(0..parts - 1);
        self.plant();
        while self.merge_turn(words, bytes) {}
        self.bounds.retain(|&bound| bound != NIL);
    }

    /// The next [`TURN`] merges; `false` when none is left.
    #[inline(never)]
    fn merge_turn(&mut self, words: &Words, bytes: &[u8]) -> bool {
        for _ in 0..TURN {
            let Some(at) = self.lowest() else { return false };
            let right = self.next[at] as usize;
            let after = self.next[right] as usize;
            self.bounds[right] = NIL;
            self.next[at] = after as u32;
            self.set(right, NONE);
            let mut with_next = NONE;
            if let Some(&end) = self.next.get(after) {
                self.before[after] = at as u32;
                with_next = rank(words, bytes, self.bounds[at], self.bounds[end as usize]);
            }
            self.set(at, with_next);
            let before = self.before[at];
            if before != NIL {
                self.set(before as usize, rank(words, bytes, self.bounds[before as usize], self.bounds[after]));
            }
        }
        true
    }

    /// Builds the tree, the lowest level first, each level padded to whole nodes; the last level is one node.
    fn plant(&mut self) {
        self.tree.clear();
        self.levels.clear();
        self.levels.push(0);
        self.tree.extend_from_slice(&self.ranks);
        let mut from = 0;
        loop {
            let padded = (self.tree.len() - from).next_multiple_of(FAN);
            self.tree.resize(from + padded, NONE);
            if padded == FAN {
                break;
            }
            let to = from + padded;
            self.levels.push(to);
            for node in (from..to).step_by(FAN) {
                let minimum = least(&self.tree[node..node + FAN]);
                self.tree.push(minimum);
            }
            from = to;
        }
    }

    /// The leftmost place with the lowest rank.
    fn lowest(&self) -> Option<usize> {
        let mut at = 0;
        for &level in self.levels.iter().rev() {
            let node = &self.tree[level + at * FAN..][..FAN];
            let minimum = least(node);
            if minimum == NONE {
                return None;
            }
            at = at * FAN + node.iter().position(|&rank| rank == minimum)?;
        }
        Some(at)
    }

    /// Sets the rank at a place and the minima above it.
    fn set(&mut self, mut at: usize, rank: Rank) {
        if at >= self.ranks.len() {
            return; // the last part has no next one and no place in the tree
        }
        let mut rank = rank;
        for &level in &self.levels {
            let slot = &mut self.tree[level + at];
            if *slot == rank {
                return;
            }
            *slot = rank;
            at /= FAN;
            rank = least(&self.tree[level + at * FAN..][..FAN]);
        }
    }
}

/// The rank of the bytes from `start` to `end`.
#[inline(always)]
fn rank(words: &Words, bytes: &[u8], start: u32, end: u32) -> Rank {
    words.rank(bytes, start as usize, (end - start) as usize)
}

/// The lowest rank of a node.
#[inline]
fn least(node: &[Rank]) -> Rank {
    node.iter().fold(NONE, |least, &rank| least.min(rank))
}
