//! Which texts are a token, and of what rank: the whole of the vocabulary, as byte pair encoding sees it.
//!
//! Most pieces of ordinary text are one token, so this is the question asked most; and two neighbours merge where their
//! bytes together are one. The tables hold the texts themselves, as keys: up to eight bytes in one word, up to sixteen
//! in two, the few longer ones as places in a blob. A look-up is one hash and, nearly always, one cache line.
//!
//! In a key every bit is inverted, and the bytes behind the end are zeros. UTF-8 does not have the byte `0xff`, so the key
//! says how long the text is. Keys are joined by shifting, and an empty slot is zero.

use super::split::load8;

/// A token's number, which is also its rank: of two merges the one into the lower rank goes first.
pub type Rank = u32;

/// No such token.
pub(super) const NONE: Rank = Rank::MAX;

/// Vocabularies have fewer tokens than this.
pub(super) const MAX_TOKENS: usize = 1 << 18;

/// Tokens are no longer than this.
pub(super) const MAX_TOKEN_BYTES: usize = 128;

/// An odd number without pattern, by which hashes multiply.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Tokens up to this long are in the first table.
pub(super) const SHORT: usize = 8;

/// Tokens up to this long are in a table of keys.
const TWO_WORDS: usize = 16;

/// Only the single byte `0xff` has this key, for which nobody asks: no text has it.
const EMPTY: u64 = 0;

/// The texts that are one token, with their ranks.
pub(super) struct Words {
    /// Up to eight bytes. The ranks stand apart: most look-ups do without.
    short: Vec<u64>,
    short_ranks: Vec<Rank>,
    /// Nine to sixteen bytes.
    middle: Vec<[u64; 2]>,
    middle_ranks: Vec<Rank>,
    /// More.
    long: Vec<Long>,
    blob: Vec<u8>,
    /// The length of the longest.
    longest: usize,
}

/// A token of more than sixteen bytes: where in the blob it is. An empty slot has the length 0.
#[derive(Clone, Copy, Default)]
struct Long {
    from: u32,
    len: u32,
    rank: Rank,
}

/// How many tokens there are of each length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Tokens of up to eight bytes.
    pub(super) short: usize,
    /// Tokens of nine to sixteen bytes, and the bytes of all of them.
    pub(super) middle: usize,
    pub(super) middle_bytes: usize,
    /// Longer tokens, and the bytes of all of them.
    pub(super) long: usize,
    pub(super) long_bytes: usize,
}

impl Sizes {
    /// Counts a token of so many bytes.
    pub(super) fn add(&mut self, len: usize) {
        match len {
            0..=SHORT => self.short += 1,
            9..=TWO_WORDS => {
                self.middle += 1;
                self.middle_bytes += len;
            }
            _ => {
                self.long += 1;
                self.long_bytes += len;
            }
        }
    }
}

/// Slots for so many entries: a third more, and room at the end for those that find theirs taken.
fn slots(entries: usize) -> usize {
    entries + entries / 3 + 64
}

/// The slot where an entry with this hash would like to be: the hash as a fraction of the table.
#[inline(always)]
fn home(hash: u64, slots: usize) -> usize {
    ((hash >> 32) * (slots as u64 - 63) >> 32) as usize
}

/// The key of up to eight bytes from `at`.
#[inline(always)]
fn key(bytes: &[u8], at: usize, len: usize) -> u64 {
    debug_assert!(0 < len && len <= 8);
    !load8(bytes, at) & u64::MAX >> (64 - 8 * len)
}

/// The key of nine to sixteen bytes from `at`.
#[inline(always)]
fn two_keys(bytes: &[u8], at: usize, len: usize) -> [u64; 2] {
    [!load8(bytes, at), key(bytes, at + 8, len - 8)]
}

#[inline(always)]
fn hash_two(key: [u64; 2]) -> u64 {
    (key[0].wrapping_mul(SPREAD).rotate_left(29) ^ key[1]).wrapping_mul(SPREAD)
}

fn hash_many(bytes: &[u8]) -> u64 {
    // Long tokens are runs of one character or begin alike: the length tells most of them apart, the ends the rest.
    let middle = load8(bytes, bytes.len() / 2);
    hash_two([hash_two([load8(bytes, 0), middle]), load8(bytes, bytes.len() - 8) ^ bytes.len() as u64])
}

impl Words {
    /// Empty tables with room for so many tokens.
    pub(super) fn new(sizes: Sizes) -> Self {
        let (short, middle) = (slots(sizes.short), slots(sizes.middle));
        Self {
            short: vec![EMPTY; short],
            short_ranks: vec![0; short],
            middle: vec![[EMPTY; 2]; middle],
            middle_ranks: vec![0; middle],
            long: vec![Long::default(); slots(sizes.long)],
            blob: Vec::with_capacity(sizes.long_bytes),
            longest: 0,
        }
    }

    /// Whether the `len` bytes from `at` are one token. There is at least one.
    #[inline(always)]
    pub(super) fn contains(&self, bytes: &[u8], at: usize, len: usize) -> bool {
        if len <= SHORT { self.contains_short(bytes, at, len) } else { self.contains_longer(bytes, at, len) }
    }

    /// [`Self::contains`] for one to [`SHORT`] bytes.
    #[inline(always)]
    pub(super) fn contains_short(&self, bytes: &[u8], at: usize, len: usize) -> bool {
        self.find_short(key(bytes, at, len)).is_some()
    }

    /// [`Self::contains`] for more bytes.
    #[inline(never)]
    pub(super) fn contains_longer(&self, bytes: &[u8], at: usize, len: usize) -> bool {
        if len <= TWO_WORDS {
            self.find_middle(two_keys(bytes, at, len)).is_some()
        } else {
            self.rank_of_long(bytes, at, len) != NONE
        }
    }

    /// The rank of the token that the `len` bytes from `at` are, or [`NONE`]. There is at least one byte, and it is not
    /// `0xff`.
    #[inline(always)]
    pub(super) fn rank(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        if len <= SHORT {
            match self.find_short(key(bytes, at, len)) {
                Some(slot) => self.short_ranks[slot],
                None => NONE,
            }
        } else {
            self.rank_of_longer(bytes, at, len)
        }
    }

    #[inline(never)]
    fn rank_of_longer(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        if len <= TWO_WORDS {
            match self.find_middle(two_keys(bytes, at, len)) {
                Some(slot) => self.middle_ranks[slot],
                None => NONE,
            }
        } else {
            self.rank_of_long(bytes, at, len)
        }
    }

    fn rank_of_long(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        if len > self.longest {
            return NONE;
        }
        match bytes.get(at..at + len).map(|word| self.find_long(word)) {
            Some(Ok(slot)) => self.long[slot].rank,
            _ => NONE,
        }
    }

    /// The slot where a key of one word is.
    #[inline(always)]
    fn find_short(&self, key: u64) -> Option<usize> {
        let mut slot = home(key.wrapping_mul(SPREAD), self.short.len());
        loop {
            match self.short.get(slot) {
                Some(&found) if found == key => return Some(slot),
                Some(&EMPTY) | None => return None,
                _ => slot += 1,
            }
        }
    }

    /// The slot where a key of two words is.
    #[inline(always)]
    fn find_middle(&self, key: [u64; 2]) -> Option<usize> {
        let mut slot = home(hash_two(key), self.middle.len());
        loop {
            match self.middle.get(slot) {
                Some(&found) if found == key => return Some(slot),
                Some(&[EMPTY, _]) | None => return None,
                _ => slot += 1,
            }
        }
    }

    /// The slot where a token of more than sixteen bytes is, or as the error the one where it would be.
    fn find_long(&self, word: &[u8]) -> Result<usize, usize> {
        let mut slot = home(hash_many(word), self.long.len());
        loop {
            match self.long.get(slot) {
                None | Some(Long { len: 0, .. }) => return Err(slot),
                Some(&Long { from, len, .. }) if self.blob.get(from as usize..(from + len) as usize) == Some(word) => {
                    return Ok(slot);
                }
                _ => slot += 1,
            }
        }
    }

    /// What is in the slot that the token with this key would like to have. Asking for many tokens before the first of
    /// them is added gets their cache lines all at once.
    #[inline(always)]
    pub(super) fn home_of_short(&self, key: u64) -> u64 {
        self.short[home(key.wrapping_mul(SPREAD), self.short.len())]
    }

    /// The same for a token of more bytes.
    #[inline(always)]
    pub(super) fn home_of_longer(&self, bytes: &[u8], at: usize, len: usize) -> u64 {
        if len > TWO_WORDS {
            return EMPTY;
        }
        self.middle[home(hash_two(two_keys(bytes, at, len)), self.middle.len())][0]
    }

    /// Adds the token of up to eight bytes that has this key. It comes only once. `None` where there is no room for it, as
    /// there is for as many as [`Sizes`] said.
    #[inline(always)]
    pub(super) fn insert_short(&mut self, key: u64, rank: Rank) -> Option<()> {
        let mut slot = home(key.wrapping_mul(SPREAD), self.short.len());
        while *self.short.get(slot)? != EMPTY {
            slot += 1;
        }
        self.short[slot] = key;
        self.short_ranks[slot] = rank;
        Some(())
    }

    /// Adds a token.
    pub(super) fn insert(&mut self, token: &[u8], rank: Rank) -> Option<()> {
        if token.len() <= SHORT {
            self.insert_short(key(token, 0, token.len()), rank)
        } else {
            self.insert_longer(token, 0, token.len(), rank)
        }
    }

    /// Adds a token of more bytes: the `len` bytes from `at`.
    #[inline(never)]
    pub(super) fn insert_longer(&mut self, bytes: &[u8], at: usize, len: usize, rank: Rank) -> Option<()> {
        if len <= TWO_WORDS {
            let key = two_keys(bytes, at, len);
            let mut slot = home(hash_two(key), self.middle.len());
            while self.middle.get(slot)?[0] != EMPTY {
                slot += 1;
            }
            self.middle[slot] = key;
            self.middle_ranks[slot] = rank;
        } else {
            let word = bytes.get(at..at + len)?;
            if let Err(slot) = self.find_long(word) {
                *self.long.get_mut(slot)? = Long { from: self.blob.len() as u32, len: len as u32, rank };
                self.blob.extend_from_slice(word);
                self.longest = self.longest.max(len);
            }
        }
        Some(())
    }
}
