//! Which texts are one token as they stand.
//!
//! Most pieces of ordinary text are, so this is the question asked most. The tables hold the texts themselves, padded
//! with `0xff`, a byte that no UTF-8 text has: up to eight bytes in one word, up to sixteen in two, the few longer ones
//! as places in a blob. A look-up is one hash and, nearly always, one cache line.

use super::pairs::SPREAD;
use super::split::load8;

/// Tokens up to this long are in the first table.
pub(super) const SHORT: usize = 8;

/// Tokens up to this long are in a table of keys.
const TWO_WORDS: usize = 16;

/// No text has this key.
const EMPTY: u64 = u64::MAX;

/// The texts that are one token.
pub(super) struct Words {
    /// Up to eight bytes.
    short: Vec<u64>,
    short_shift: u32,
    /// Nine to sixteen bytes.
    middle: Vec<[u64; 2]>,
    middle_shift: u32,
    /// More: where in the blob, and how long.
    long: Vec<(u32, u32)>,
    blob: Vec<u8>,
    /// The length of the longest.
    longest: usize,
}

/// How many tokens there are of each length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) short: usize,
    pub(super) middle: usize,
    pub(super) long: usize,
    pub(super) long_bytes: usize,
}

impl Sizes {
    /// Counts a token of so many bytes.
    pub(super) fn add(&mut self, len: usize) {
        match len {
            0..=SHORT => self.short += 1,
            9..=TWO_WORDS => self.middle += 1,
            _ => {
                self.long += 1;
                self.long_bytes += len;
            }
        }
    }
}

/// Slots for so many entries: a power of two, and some always stay empty.
fn slots(entries: usize) -> usize {
    (entries + entries / 4 + 1).next_power_of_two().max(16)
}

/// The key of up to eight bytes from `at`.
#[inline(always)]
fn key(bytes: &[u8], at: usize, len: usize) -> u64 {
    debug_assert!(0 < len && len <= 8);
    load8(bytes, at) | u64::MAX << (8 * (len - 1)) << 8
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
            short_shift: 64 - short.trailing_zeros(),
            middle: vec![[EMPTY; 2]; middle],
            middle_shift: 64 - middle.trailing_zeros(),
            long: vec![(0, 0); slots(sizes.long)],
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
        let key = key(bytes, at, len);
        let mask = self.short.len() - 1;
        let mut slot = (key.wrapping_mul(SPREAD) >> self.short_shift) as usize;
        loop {
            match self.short[slot & mask] {
                found if found == key => return true,
                EMPTY => return false,
                _ => slot += 1,
            }
        }
    }

    /// [`Self::contains`] for more bytes.
    #[inline(never)]
    pub(super) fn contains_longer(&self, bytes: &[u8], at: usize, len: usize) -> bool {
        if len <= TWO_WORDS {
            let key = [load8(bytes, at), key(bytes, at + 8, len - 8)];
            let mask = self.middle.len() - 1;
            let mut slot = (hash_two(key) >> self.middle_shift) as usize;
            loop {
                match self.middle[slot & mask] {
                    found if found == key => return true,
                    [EMPTY, _] => return false,
                    _ => slot += 1,
                }
            }
        }
        if len > self.longest {
            return false;
        }
        bytes.get(at..at + len).is_some_and(|word| self.find_long(word).is_ok())
    }

    /// The slot where a token of more than sixteen bytes is, or as the error the one where it would be.
    fn find_long(&self, word: &[u8]) -> Result<usize, usize> {
        let mask = self.long.len() - 1;
        let mut slot = (hash_many(word) >> 32) as usize & mask;
        loop {
            match self.long[slot] {
                (_, 0) => return Err(slot),
                (from, len) => {
                    let (from, len) = (from as usize, len as usize);
                    if self.blob.get(from..from + len) == Some(word) {
                        return Ok(slot);
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a token, the `len` bytes from `at`, without the byte `0xff` in it. There are no more of them than [`Sizes`]
    /// said.
    #[inline(always)]
    pub(super) fn insert(&mut self, bytes: &[u8], at: usize, len: usize) {
        if len <= SHORT {
            let key = key(bytes, at, len);
            let mask = self.short.len() - 1;
            let mut slot = (key.wrapping_mul(SPREAD) >> self.short_shift) as usize;
            while self.short[slot & mask] != EMPTY {
                slot += 1;
            }
            self.short[slot & mask] = key;
        } else {
            self.insert_longer(bytes, at, len);
        }
    }

    #[inline(never)]
    fn insert_longer(&mut self, bytes: &[u8], at: usize, len: usize) {
        if len <= TWO_WORDS {
            let key = [load8(bytes, at), key(bytes, at + 8, len - 8)];
            let mask = self.middle.len() - 1;
            let mut slot = (hash_two(key) >> self.middle_shift) as usize;
            while self.middle[slot & mask][0] != EMPTY {
                slot += 1;
            }
            self.middle[slot & mask] = key;
        } else {
            let word = bytes.get(at..at + len).unwrap_or_default();
            if let Err(slot) = self.find_long(word) {
                self.long[slot] = (self.blob.len() as u32, len as u32);
                self.blob.extend_from_slice(word);
                self.longest = self.longest.max(len);
            }
        }
    }
}
