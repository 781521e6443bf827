//! Which two tokens merge into which: the whole of the vocabulary, as byte pair encoding sees it.

/// A token's number, which is also its rank: of two merges the one into the lower rank goes first.
pub type Rank = u32;

/// No such token.
pub(super) const NONE: Rank = Rank::MAX;

/// Bits of a rank in a slot. Three of them share 64 bits with ten to spare.
const RANK_BITS: u32 = 18;

/// Vocabularies have fewer tokens than this.
pub(super) const MAX_TOKENS: usize = 1 << RANK_BITS;

/// An empty slot. No pair has this value, for its top ten bits would be zero.
const EMPTY: u64 = u64::MAX;

/// An odd number without pattern, by which hashes multiply.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bits in the filter for each slot of the table.
const FILTER_BITS_PER_SLOT: u32 = 8;

/// The merges: from a pair of tokens to the token that they make.
///
/// An open hash table whose slots hold the whole key, behind a filter of bits, because most questions are about pairs
/// that do not merge.
pub(super) struct Pairs {
    /// The token of each single byte.
    bytes: [Rank; 256],
    /// left, right, merged, each [`RANK_BITS`] wide; a power of two of them, at least one of which is [`EMPTY`].
    slots: Vec<u64>,
    /// One bit for each hash that a pair has, [`FILTER_BITS_PER_SLOT`] times as many bits as slots.
    filter: Vec<u64>,
    /// How far a hash is shifted to give a slot.
    shift: u32,
    /// How many more pairs may go in.
    room: usize,
}

impl Pairs {
    /// An empty table for up to `pairs` pairs over the given single bytes.
    pub(super) fn new(bytes: [Rank; 256], pairs: usize) -> Self {
        let slots = (pairs + pairs / 4 + 1).next_power_of_two().max(64);
        let shift = 64 - slots.trailing_zeros();
        let words = slots * FILTER_BITS_PER_SLOT as usize / 64;
        Self { bytes, slots: vec![EMPTY; slots], filter: vec![0; words], shift, room: pairs }
    }

    /// The token of a single byte.
    #[inline]
    pub(super) fn byte(&self, byte: u8) -> Rank {
        self.bytes[usize::from(byte)]
    }

    #[inline(always)]
    fn key(left: Rank, right: Rank) -> u64 {
        u64::from(left) << RANK_BITS | u64::from(right)
    }

    /// The word and the bit of a hash in the filter.
    #[inline(always)]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        let bit = hash >> (self.shift - FILTER_BITS_PER_SLOT.trailing_zeros());
        ((bit >> 6) as usize, 1 << (bit & 63))
    }

    /// The token that the two make, or [`NONE`].
    #[inline(always)]
    pub(super) fn get(&self, left: Rank, right: Rank) -> Rank {
        let key = Self::key(left, right);
        let hash = key.wrapping_mul(SPREAD);
        let (word, bit) = self.filter_bit(hash);
        if self.filter.get(word).is_none_or(|word| word & bit == 0) {
            return NONE;
        }
        self.probe(key, hash)
    }

    #[inline]
    fn probe(&self, key: u64, hash: u64) -> Rank {
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at & mask];
            if slot >> RANK_BITS == key {
                return (slot & (MAX_TOKENS as u64 - 1)) as Rank;
            }
            if slot == EMPTY {
                return NONE;
            }
            at += 1;
        }
    }

    /// Adds a pair of ranks below [`MAX_TOKENS`]. Gives `false`, and does nothing, where the table is full.
    #[inline]
    pub(super) fn insert(&mut self, left: Rank, right: Rank, merged: Rank) -> bool {
        debug_assert!([left, right, merged].iter().all(|&rank| (rank as usize) < MAX_TOKENS));
        if self.room == 0 {
            return false;
        }
        self.room -= 1;
        let key = Self::key(left, right);
        let hash = key.wrapping_mul(SPREAD);
        let (word, bit) = self.filter_bit(hash);
        self.filter[word] |= bit;
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize & mask;
        while self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = key << RANK_BITS | u64::from(merged);
        true
    }
}
