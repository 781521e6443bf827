//! Byte pair encoding: of all neighbours that merge, the pair with the lowest rank does, the leftmost of several, until
//! none is left.
//!
//! Up to [`FEW`] parts are looked through for each merge. More of them stand under a tree of minima, so that
//! n parts take n log n time.

use super::pairs::{NONE, Pairs, Rank};

/// Up to so many parts the plain search is the faster one.
const FEW: usize = 64;

/// Merges to a turn, after which optimized code can take the place of what a WebAssembly engine begins with.
const TURN: usize = 1024;

/// Children of one node of the tree.
const FAN: usize = 16;

/// The end of a list.
const NIL: usize = usize::MAX;

/// The parts of one text while they merge: room that is used again for the next text.
#[derive(Default)]
pub(super) struct Parts {
    /// The tokens to begin with; when merged, the tokens that are left.
    pub(super) ranks: Vec<Rank>,
    next: Vec<usize>,
    before: Vec<usize>,
    tree: Vec<Rank>,
    levels: Vec<usize>,
}

impl Parts {
    /// Begins with the bytes of a text.
    pub(super) fn start(&mut self, pairs: &Pairs, bytes: &[u8]) {
        self.ranks.clear();
        self.ranks.extend(bytes.iter().map(|&byte| pairs.byte(byte)));
    }

    /// Merges [`Self::ranks`] until no pair is left.
    pub(super) fn merge(&mut self, pairs: &Pairs) {
        if self.ranks.len() <= FEW {
            let left = merge_few(pairs, &mut self.ranks);
            self.ranks.truncate(left);
        } else {
            self.merge_many(pairs);
        }
    }

    /// The parts form a list; the rank of the merge of a part with the next stands under the tree, [`NONE`] where
    /// there is none.
    fn merge_many(&mut self, pairs: &Pairs) {
        let count = self.ranks.len();
        self.next.clear();
        self.next.extend(1..=count);
        self.next[count - 1] = NIL;
        self.before.clear();
        self.before.push(NIL);
        self.before.extend(0..count - 1);
        self.plant(pairs);
        while self.merge_turn(pairs) {}
        self.ranks.retain(|&rank| rank != NONE);
    }

    /// The next [`TURN`] merges; `false` when none is left.
    #[inline(never)]
    fn merge_turn(&mut self, pairs: &Pairs) -> bool {
        for _ in 0..TURN {
            let Some(at) = self.lowest() else { return false };
            let merged = self.tree[at];
            let right = self.next[at];
            let after = self.next[right];
            self.ranks[at] = merged;
            self.ranks[right] = NONE;
            self.next[at] = after;
            self.set(right, NONE);
            let with_next = if after == NIL {
                NONE
            } else {
                self.before[after] = at;
                pairs.get(merged, self.ranks[after])
            };
            self.set(at, with_next);
            let before = self.before[at];
            if before != NIL {
                self.set(before, pairs.get(self.ranks[before], merged));
            }
        }
        true
    }

    /// Builds the tree, the lowest level first, each level padded to whole nodes; the last level is one node.
    fn plant(&mut self, pairs: &Pairs) {
        self.tree.clear();
        self.levels.clear();
        self.levels.push(0);
        let mut ranks = self.ranks.as_slice();
        while ranks.len() > 1 {
            self.tree.extend(ranks.windows(2).take(TURN).map(|pair| pairs.get(pair[0], pair[1])));
            ranks = ranks.get(TURN..).unwrap_or_default();
        }
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
        if at >= self.next.len() - 1 {
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

/// The lowest rank of a node.
#[inline]
fn least(node: &[Rank]) -> Rank {
    node.iter().fold(NONE, |least, &rank| least.min(rank))
}

/// Bits for the index of a part among [`FEW`].
const INDEX_BITS: u32 = FEW.trailing_zeros();

/// Above every key: this pair does not merge.
const NEVER: u32 = u32::MAX;

/// The rank of a merge and its place, in one number: the lowest is the merge that is next.
#[inline(always)]
fn order(rank: Rank, at: usize) -> u32 {
    if rank == NONE { NEVER } else { (rank << INDEX_BITS) | at as u32 }
}

/// Merges at most [`FEW`] parts in place and gives how many are left, at the front.
fn merge_few(pairs: &Pairs, ranks: &mut [Rank]) -> usize {
    match ranks.len() {
        0 | 1 => ranks.len(),
        2..=16 => merge_up_to::<16>(pairs, ranks),
        _ => merge_up_to::<FEW>(pairs, ranks),
    }
}

/// The same for at most `MOST` parts, a power of two.
#[inline(never)]
fn merge_up_to<const MOST: usize>(pairs: &Pairs, ranks: &mut [Rank]) -> usize {
    const { assert!(MOST.is_power_of_two() && MOST <= FEW) };
    let mask = MOST - 1;
    let count = ranks.len().min(MOST);
    let mut orders = [NEVER; MOST];
    for (at, (order, pair)) in orders.iter_mut().zip(ranks.windows(2)).enumerate() {
        *order = self::order(pairs.get(pair[0], pair[1]), at);
    }
    // The parts form a list. Behind the last is `count`; before the first is nothing that is asked for.
    let mut next: [u8; MOST] = std::array::from_fn(|at| (at + 1) as u8);
    let mut before: [u8; MOST] = std::array::from_fn(|at| (at as u8).wrapping_sub(1));
    let mut left = count;
    loop {
        let first = orders.iter().take(count - 1).fold(NEVER, |first, &order| first.min(order));
        if first == NEVER {
            break;
        }
        let (at, merged) = (first as usize & mask, first >> INDEX_BITS);
        let gone = usize::from(next[at]) & mask;
        let after = usize::from(next[gone]);
        left -= 1;
        ranks[at] = merged;
        ranks[gone] = NONE;
        orders[gone] = NEVER;
        next[at] = after as u8;
        orders[at] = NEVER;
        if after < count {
            before[after & mask] = at as u8;
            orders[at] = order(pairs.get(merged, ranks[after]), at);
        }
        if at > 0 {
            let before = usize::from(before[at]) & mask;
            orders[before] = order(pairs.get(ranks[before], merged), before);
        }
    }
    let mut to = 0;
    for from in 0..count {
        let rank = ranks[from];
        ranks[to] = rank;
        to += usize::from(rank != NONE);
    }
    left
}
