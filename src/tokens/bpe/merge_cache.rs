//! A cache of the counts or tokens of texts that had to be merged, since words repeat.
//!
//! The texts themselves are stored and compared, so a count never belongs to another text. When the cache is full, all
//! entries are dropped: repeated texts soon return, and a look-up stays one hash and usually one comparison.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use std::fmt;

use super::split::load8;
use super::token_table::{Rank, SPREAD};

/// Maximum length of cached texts, in bytes.
pub(super) const MEMORABLE: usize = 128;

/// Slots of the large cache, 256 KB.
const SLOTS: usize = 1 << 15;

/// Bytes of text for each slot.
const BYTES_PER_SLOT: usize = 16;

/// The same if tokens follow each text.
const BYTES_WITH_TOKENS: usize = 32;

/// A slot holds the offset of a text, its length, the number of its tokens, and the rest of its hash; 0 is empty.
const START_BITS: u32 = 20;
const LEN_BITS: u32 = 8;
const COUNT_BITS: u32 = 8;
const TAG_SHIFT: u32 = START_BITS + LEN_BITS + COUNT_BITS;

const _: () =
    assert!(SLOTS * BYTES_WITH_TOKENS <= 1 << START_BITS && MEMORABLE < 1 << LEN_BITS && MEMORABLE < 1 << COUNT_BITS);

/// The cached texts.
#[derive(Default)]
pub(super) struct MergeCache {
    /// A power of two of them, or none yet; at least a quarter stays empty.
    slots: Vec<u64>,
    bytes: Vec<u8>,
    left: usize,
    wanted: usize,
    with_tokens: bool,
}

impl fmt::Debug for MergeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeCache").field("bytes", &self.bytes.len()).finish()
    }
}

impl MergeCache {
    /// An empty cache with a large capacity.
    pub(super) fn large() -> Self {
        Self { wanted: SLOTS, ..Self::default() }
    }

    /// An empty cache of tokens: those of a text follow it, four bytes each.
    pub(super) fn of_tokens() -> Self {
        Self { with_tokens: true, ..Self::default() }
    }

    /// [`Self::of_tokens`] with a large capacity.
    pub(super) fn of_many_tokens() -> Self {
        Self { with_tokens: true, ..Self::large() }
    }

    /// Reserves space for the entries of a text of this many bytes. Nothing is allocated before there is an entry to
    /// add.
    pub(super) fn size_for(&mut self, bytes: usize) {
        self.wanted = self.wanted.max((bytes / BYTES_PER_SLOT).clamp(16, SLOTS).next_power_of_two());
    }

    /// The count of the `len` bytes from `at`, at most [`MEMORABLE`]; `count` computes it on a miss. It is never 0, and
    /// at most `len`.
    #[inline(always)]
    pub(super) fn get_or(&mut self, bytes: &[u8], at: usize, len: usize, count: impl FnOnce(&mut Self) -> u64) -> u64 {
        let hash = hash(bytes, at, len);
        if let Some((count, _)) = self.get(bytes, at, len, hash) {
            return count;
        }
        let count = count(self);
        self.insert(bytes.get(at..at + len).unwrap_or_default(), &[], hash, count);
        count
    }

    /// Appends the tokens of the `len` bytes from `at`, at most [`MEMORABLE`]; `encode` appends them on a miss.
    #[inline(always)]
    pub(super) fn append_or(
        &mut self,
        bytes: &[u8],
        at: usize,
        len: usize,
        tokens: &mut Vec<Rank>,
        encode: impl FnOnce(&mut Self, &mut Vec<Rank>),
    ) {
        let hash = hash(bytes, at, len);
        if let Some((count, end)) = self.get(bytes, at, len, hash) {
            let known = self.bytes.get(end..end + 4 * count as usize).unwrap_or_default();
            tokens.extend(known.as_chunks().0.iter().map(|token| Rank::from_le_bytes(*token)));
            return;
        }
        let from = tokens.len();
        encode(self, tokens);
        let new = tokens.get(from..).unwrap_or_default();
        self.insert(bytes.get(at..at + len).unwrap_or_default(), new, hash, new.len() as u64);
    }

    /// The count of a text, and the end of its copy in the cache.
    #[inline(always)]
    fn get(&self, bytes: &[u8], at: usize, len: usize, hash: u64) -> Option<(u64, usize)> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize;
        loop {
            let found = self.slots.get(slot & mask).copied().unwrap_or(0);
            if found == 0 {
                return None;
            }
            if (found ^ hash) >> TAG_SHIFT == 0 && (found >> START_BITS) as usize & ((1 << LEN_BITS) - 1) == len {
                let start = found as usize & ((1 << START_BITS) - 1);
                if same(&self.bytes, start, bytes, at, len) {
                    return Some(((found >> (START_BITS + LEN_BITS)) & ((1 << COUNT_BITS) - 1), start + len));
                }
            }
            slot += 1;
        }
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(self.wanted, 0);
        self.left = self.wanted / 4 * 3;
        self.bytes.clear();
        self.bytes.reserve_exact(self.wanted * self.bytes_per_slot());
    }

    fn bytes_per_slot(&self) -> usize {
        if self.with_tokens { BYTES_WITH_TOKENS } else { BYTES_PER_SLOT }
    }

    fn insert(&mut self, text: &[u8], tokens: &[u32], hash: u64, count: u64) {
        if self.left == 0 || self.bytes.len() + text.len() + 4 * tokens.len() > self.slots.len() * self.bytes_per_slot()
        {
            self.clear();
        }
        self.left -= 1;
        let entry = (hash >> TAG_SHIFT << TAG_SHIFT)
            | count << (START_BITS + LEN_BITS)
            | (text.len() as u64) << START_BITS
            | self.bytes.len() as u64;
        self.bytes.extend_from_slice(text);
        self.bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry;
    }
}

/// The bits of the first `len` of eight bytes; all bits from eight on.
#[inline(always)]
fn first(len: usize) -> u64 {
    if len < 8 { !(u64::MAX << (8 * len)) } else { u64::MAX }
}

#[inline(always)]
fn hash(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut hash = len as u64;
    let mut done = 0;
    while done < len {
        hash = (hash.rotate_left(29) ^ load8(bytes, at + done) & first(len - done)).wrapping_mul(SPREAD);
        done += 8;
    }
    hash ^ hash >> 32
}

#[inline(always)]
fn same(cache: &[u8], start: usize, bytes: &[u8], at: usize, len: usize) -> bool {
    let mut done = 0;
    while done < len {
        if (load8(cache, start + done) ^ load8(bytes, at + done)) & first(len - done) != 0 {
            return false;
        }
        done += 8;
    }
    true
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_same_hash_is_another_text() {
        let mut cache = MergeCache::large();
        let (one, other) = (b"abcdefghij-klmno", b"abcdefghij-klmn+");
        for len in [9, 15, 16] {
            let hash = 0xabcd << TAG_SHIFT | len as u64;
            let end = cache.bytes.len() + len;
            cache.insert(&one[..len], &[], hash, 3);
            assert_eq!(cache.get(one, 0, len, hash), Some((3, end)));
            assert_eq!(cache.get(one, 0, len, hash ^ 1 << TAG_SHIFT), None);
            assert_eq!(cache.get(other, 0, len, hash), Some((3, end)).filter(|_| len < 16));
            assert_eq!(cache.get(one, 1, len, hash), None);
            assert_eq!(cache.get(one, 0, len - 1, hash), None);
        }
    }

    #[test]
    fn when_it_is_full_it_begins_again() {
        let mut cache = MergeCache::default();
        cache.size_for(100);
        for round in 0..100_u32 {
            let text = format!("text number {round}");
            let count =
                |cache: &mut MergeCache| cache.get_or(text.as_bytes(), 0, text.len(), |_| u64::from(round % 7) + 1);
            assert_eq!(count(&mut cache), u64::from(round % 7) + 1);
            assert_eq!(cache.get_or(text.as_bytes(), 0, text.len(), |_| 99), u64::from(round % 7) + 1);
            assert!(cache.slots.len() == 16 && cache.bytes.len() <= 256 && cache.slots.contains(&0));
        }
        // The capacity is raised once it is exhausted.
        cache.size_for(10_000);
        for round in 0..100_u32 {
            let text = format!("another text {round}");
            cache.get_or(text.as_bytes(), 0, text.len(), |_| 1);
        }
        assert_eq!(cache.slots.len(), 1024);
    }

    #[test]
    fn tokens_come_back_as_they_went() {
        let mut cache = MergeCache::of_tokens();
        cache.size_for(1000);
        for _ in 0..3 {
            for text in (0..2000_u32).map(|number| format!("text number {number}")) {
                // Up to as many tokens as bytes.
                let expected: Vec<Rank> = (0..=text.len() as u32 % 17).map(|at| at * 1_000_003).collect();
                let mut tokens = vec![7];
                cache.append_or(text.as_bytes(), 0, text.len(), &mut tokens, |_, tokens| tokens.extend(&expected));
                assert_eq!((tokens[0], &tokens[1..]), (7, expected.as_slice()));
                cache.append_or(text.as_bytes(), 0, text.len(), &mut tokens, |_, _| panic!("it is cached"));
                assert_eq!(tokens.split_off(1), [expected.clone(), expected].concat());
            }
        }
    }
}
