//! Byte pair encoding: of all adjacent pairs whose bytes together are a token, the one with the lowest rank merges, the
//! leftmost of equal ones, until none is left.
//!
//! Few parts are scanned for each merge. For more parts, one pass does all merges into the same token: a merge makes a
//! token that ranks higher than its parts, and that token's merges rank higher still, so merges come in the order of
//! their ranks. (If a vocabulary has tokens that rank lower than a part, passes are not used.) If the passes achieve
//! little, the remaining parts go into a tree of minima, so that n parts take n log n time. Long texts are encoded a
//! window at a time, which stays within n log n and is linear for all but artificial texts.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use super::token_table::{NONE, Rank, TokenTable};

/// Up to this many parts, linear search is the fastest.
const MAX_LINEAR_PARTS: usize = 64;

/// Passes continue as long as each removes at least one part in this many.
const WORTHWHILE: usize = 4;

/// Merges per turn, after which a WebAssembly engine can switch to optimized code.
const TURN: usize = 1024;

/// Children of one node of the tree.
const FAN: usize = 16;

/// The number of bounds of [`MAX_LINEAR_PARTS`] parts.
const MAX_LINEAR_BOUNDS: usize = MAX_LINEAR_PARTS + 1;

/// The end of a list, and the bound of a removed part.
const NIL: u32 = u32::MAX;

/// The parts of one text during merging; buffers are reused for the next text.
#[derive(Default)]
pub(super) struct Parts {
    /// The begin of each part and the end of the last: initially all, after merging those that are left.
    pub(super) bounds: Vec<u32>,
    /// The initial parts, while windows of them are encoded.
    all: Vec<u32>,
    window: Window,
}

impl Parts {
    /// Starts with the bytes from `start` to `end` of a text.
    pub(super) fn start(&mut self, start: usize, end: usize) {
        self.bounds.clear();
        self.bounds.extend(start as u32..=end as u32);
    }

    /// The capacity in bounds.
    pub(super) fn capacity(&self) -> usize {
        self.bounds.capacity().max(self.all.capacity())
    }

    /// The number of parts.
    pub(super) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Merges the parts of the text until no pair is left.
    pub(super) fn merge(&mut self, words: &TokenTable, bytes: &[u8]) {
        if self.len() <= MAX_LINEAR_PARTS {
            self.window.merge_bounds(words, bytes, &mut self.bounds);
        } else {
            self.merge_windows(words, bytes, MAX_LINEAR_PARTS);
        }
    }

    /// Merges windows of `size` parts one after another. A window begins with a token of the previous one; from the
    /// first token that both have in common, the second one is valid (docs/decisions/exact-counting.md).
    fn merge_windows(&mut self, words: &TokenTable, bytes: &[u8], size: usize) {
        std::mem::swap(&mut self.all, &mut self.bounds);
        let mut size = size;
        while !self.try_windows(words, bytes, &mut size) {
            // Two adjacent windows without a common token: repeat with larger windows.
            size = size.saturating_mul(16);
        }
    }

    /// [`Self::merge_windows`], `false` if two windows have no token in common. `size` is raised if tokens are so long
    /// that a window holds too few of them.
    fn try_windows(&mut self, words: &TokenTable, bytes: &[u8], size: &mut usize) -> bool {
        let Self { bounds, all, window } = self;
        let last = all.len() - 1;
        bounds.clear();
        bounds.extend(all.first());
        // The number of settled bounds: the next window begins at the last of these. The other tokens of the previous
        // window follow them.
        let (mut from, mut settled) = (0, 1);
        loop {
            let to = last.min(from + (*size).min(last));
            window.bounds.clear();
            window.bounds.extend_from_slice(&all[from..=to]);
            window.merge(words, bytes);
            let met = if from == 0 { Some((0, 0)) } else { meet(&bounds[settled - 1..], &window.bounds) };
            let Some((before, after)) = met else { return false };
            if to == last {
                bounds.truncate(settled + before);
                bounds.extend_from_slice(&window.bounds[after + 1..]);
                return true;
            }
            // The next window begins in the last quarter of this one, whose end does not see the following text, and
            // not before the common token.
            let begin = all[from + (to - from) / 4 * 3];
            let next = window.bounds.partition_point(|&bound| bound <= begin).saturating_sub(1).max(after);
            if next == 0 || next + 1 >= window.bounds.len() {
                *size *= 2;
                continue;
            }
            bounds.truncate(settled + before);
            bounds.extend_from_slice(&window.bounds[after + 1..]);
            settled += before + next - after;
            from = all.partition_point(|&bound| bound < window.bounds[next]);
        }
    }
}

/// The first token that two lists of bounds have in common: the number of bounds before its end in each list, not
/// counting the first.
pub(crate) fn meet(one: &[u32], other: &[u32]) -> Option<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    while let ([a, b, ..], [c, d, ..]) = (one.get(i..)?, other.get(j..)?) {
        if (a, b) == (c, d) {
            return Some((i + 1, j + 1));
        }
        // The one that ends first can have no more in common with later ones.
        i += usize::from(b <= d);
        j += usize::from(d <= b);
    }
    None
}

/// The parts of one window.
#[derive(Default)]
struct Window {
    /// The begin of each part, and the end of the last.
    bounds: Vec<u32>,
    /// The rank of each part joined with the next, [`NONE`] if that is not a token.
    ranks: Vec<Rank>,
    next: Vec<u32>,
    before: Vec<u32>,
    tree: Vec<Rank>,
    levels: Vec<usize>,
}

impl Window {
    /// [`Self::merge`] for the given parts.
    fn merge_bounds(&mut self, words: &TokenTable, bytes: &[u8], bounds: &mut Vec<u32>) {
        std::mem::swap(&mut self.bounds, bounds);
        self.merge(words, bytes);
        std::mem::swap(&mut self.bounds, bounds);
    }

    /// Merges the parts until no pair is left.
    fn merge(&mut self, words: &TokenTable, bytes: &[u8]) {
        if self.bounds.len() > 16 && words.in_order() {
            let mut least = self.rank_pairs(words, bytes);
            let mut parts = usize::MAX;
            while least != NONE && self.bounds.len() <= parts {
                parts = self.bounds.len() - self.bounds.len() / WORTHWHILE;
                least = self.pass(words, bytes, least);
            }
        }
        match self.bounds.len() {
            0..=2 => {}
            3..=MAX_LINEAR_BOUNDS => merge_few(words, bytes, &mut self.bounds),
            _ => {
                if !words.in_order() {
                    self.rank_pairs(words, bytes);
                }
                self.merge_tree(words, bytes);
            }
        }
    }

    /// Looks up all pairs; returns the lowest rank.
    fn rank_pairs(&mut self, words: &TokenTable, bytes: &[u8]) -> Rank {
        self.ranks.clear();
        let mut least = NONE;
        for pair in self.bounds.windows(3) {
            let rank = rank(words, bytes, pair[0], pair[2]);
            least = least.min(rank);
            self.ranks.push(rank);
        }
        least
    }

    /// Does all merges into the token of the lowest rank, from left to right, and returns the next rank.
    fn pass(&mut self, words: &TokenTable, bytes: &[u8], lowest: Rank) -> Rank {
        let Self { bounds, ranks, .. } = self;
        let parts = bounds.len() - 1;
        let mut least = NONE;
        // Parts are read at `from` and written at `to`, which never overtakes it.
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

    /// Merges with a tree of minima over the ranks: the parts form a linked list, each at its current index.
    fn merge_tree(&mut self, words: &TokenTable, bytes: &[u8]) {
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

    /// Does the next [`TURN`] merges; `false` when none is left.
    // Not inlined, so that the engine can replace it while a long text is read: docs/decisions/inlining.md.
    #[inline(never)]
    fn merge_turn(&mut self, words: &TokenTable, bytes: &[u8]) -> bool {
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

    /// The leftmost index with the lowest rank.
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

    /// Sets the rank at an index and the minima above it.
    fn set(&mut self, mut at: usize, rank: Rank) {
        if at >= self.ranks.len() {
            return; // the last part has no successor and no leaf in the tree
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
fn rank(words: &TokenTable, bytes: &[u8], start: u32, end: u32) -> Rank {
    words.rank_of(bytes, start as usize, (end - start) as usize)
}

/// The lowest rank in a node.
#[inline]
fn least(node: &[Rank]) -> Rank {
    node.iter().fold(NONE, |least, &rank| least.min(rank))
}

/// Bits for the index of a part among [`MAX_LINEAR_PARTS`].
const INDEX_BITS: u32 = MAX_LINEAR_PARTS.trailing_zeros();

/// Above every order: the pair does not merge.
const NEVER: u32 = u32::MAX;

/// The rank of a merge and its index as one number: the lowest is the next merge.
#[inline(always)]
fn order(rank: Rank, at: usize) -> u32 {
    if rank == NONE { NEVER } else { (rank << INDEX_BITS) | at as u32 }
}

/// Merges between two and [`MAX_LINEAR_PARTS`] parts.
fn merge_few(words: &TokenTable, bytes: &[u8], bounds: &mut Vec<u32>) {
    const QUEUE_CAPACITY: usize = MAX_LINEAR_PARTS;
    let mask = QUEUE_CAPACITY - 1;
    let parts = bounds.len() - 1;
    let mut orders = [NEVER; QUEUE_CAPACITY];
    for (at, (order, pair)) in orders.iter_mut().zip(bounds.windows(3)).enumerate() {
        *order = self::order(rank(words, bytes, pair[0], pair[2]), at);
    }
    // The parts form a list. The end follows the last part; the element before the first is never read.
    let mut next: [u8; QUEUE_CAPACITY] = std::array::from_fn(|at| (at + 1) as u8);
    let mut before: [u8; QUEUE_CAPACITY] = std::array::from_fn(|at| (at as u8).wrapping_sub(1));
    loop {
        let first = orders.iter().take(parts - 1).fold(NEVER, |first, &order| first.min(order));
        if first == NEVER {
            break;
        }
        let at = first as usize & mask;
        let gone = usize::from(next[at]) & mask;
        let after = usize::from(next[gone]);
        bounds[gone] = NIL;
        orders[gone] = NEVER;
        next[at] = after as u8;
        orders[at] = NEVER;
        if after < parts {
            before[after & mask] = at as u8;
            let end = bounds[usize::from(next[after & mask])];
            orders[at] = order(rank(words, bytes, bounds[at], end), at);
        }
        if at > 0 {
            let before = usize::from(before[at]) & mask;
            orders[before] = order(rank(words, bytes, bounds[before], bounds[after]), before);
        }
    }
    bounds.retain(|&bound| bound != NIL);
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// Reproducible pseudo-random numbers.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % end
        }
    }

    /// Byte pair encoding by its definition.
    fn plainly(words: &TokenTable, bytes: &[u8]) -> Vec<u32> {
        let mut bounds: Vec<u32> = (0..=bytes.len() as u32).collect();
        loop {
            let ranks = bounds.windows(3).map(|pair| rank(words, bytes, pair[0], pair[2]));
            match ranks.enumerate().min_by_key(|&(_, rank)| rank) {
                Some((at, rank)) if rank != NONE => bounds.remove(at + 1),
                _ => return bounds,
            };
        }
    }

    /// A vocabulary over few letters: each further token joins two others and encodes as these two.
    fn vocabulary(random: &mut Random, letters: usize, further: usize) -> TokenTable {
        let mut tokens: Vec<Vec<u8>> = (0..letters as u8).map(|letter| vec![b'a' + letter]).collect();
        let mut words = TokenTable::new(letters + further, further * 40);
        tokens.iter().for_each(|token| assert!(words.add(token).is_some()));
        for _ in 0..further * 4 {
            let joined =
                [tokens[random.below(tokens.len())].clone(), tokens[random.below(tokens.len())].clone()].concat();
            let new = joined.len() <= 40 && tokens.len() < letters + further && !tokens.contains(&joined);
            if new && plainly(&words, &joined).len() == 3 {
                assert!(words.add(&joined).is_some());
                tokens.push(joined);
            }
        }
        words
    }

    #[test]
    fn every_way_to_merge_gives_the_same() {
        let mut random = Random(1);
        let (mut met, mut missed) = (0, 0);
        for round in 0..400 {
            let letters = 1 + random.below(4);
            let further = 5 + random.below(60);
            let words = vocabulary(&mut random, letters, further);
            let len = 1 + random.below(if round % 10 == 0 { 2000 } else { 200 });
            let bytes: Vec<u8> = (0..len).map(|_| b'a' + random.below(letters) as u8).collect();
            let expected = plainly(&words, &bytes);
            let mut parts = Parts::default();
            parts.start(0, bytes.len());
            parts.merge(&words, &bytes);
            assert_eq!(parts.bounds, expected);
            let mut window = Window::default();
            window.bounds.extend(0..=len as u32);
            let mut least = window.rank_pairs(&words, &bytes);
            while least != NONE {
                least = window.pass(&words, &bytes, least);
            }
            assert_eq!(window.bounds, expected, "in passes");
            window.bounds.clear();
            window.bounds.extend(0..=len as u32);
            if window.rank_pairs(&words, &bytes) != NONE {
                window.merge_tree(&words, &bytes);
            }
            assert_eq!(window.bounds, expected, "under the tree");
            for mut size in [1, 2, 3, 5, 8, 17] {
                parts.start(0, bytes.len());
                parts.merge_windows(&words, &bytes, size);
                assert_eq!(parts.bounds, expected, "in windows of {size}");
                if parts.try_windows(&words, &bytes, &mut size) { met += 1 } else { missed += 1 }
            }
        }
        // Windows this small are sometimes too small.
        assert!(met > 100 && missed > 100, "{met} {missed}");
    }
}
