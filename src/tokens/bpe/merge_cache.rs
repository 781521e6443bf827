//! What the texts so far have taught: the counts of what had to be merged, since words come again.
//!
//! The texts themselves are kept and compared, so a count is never another text's. When there is no room for one more,
//! all of them go: what comes again is soon back, and a look-up stays one hash and, mostly, one comparison.

use std::fmt;

use super::split::load8;
use super::words::SPREAD;

/// Texts up to this long are remembered.
pub(super) const MEMORABLE: usize = 128;

/// Slots for long texts, 256 KB.
const SLOTS: usize = 1 << 15;

/// Bytes of text for each slot.
const BYTES_PER_SLOT: usize = 16;

/// A slot says where in the bytes a text begins, how long it is and how many tokens, and has the rest of its hash; 0 is
/// none.
const START_BITS: u32 = 20;
const LEN_BITS: u32 = 8;
const COUNT_BITS: u32 = 8;
const TAG_SHIFT: u32 = START_BITS + LEN_BITS + COUNT_BITS;

const _: () =
    assert!(SLOTS * BYTES_PER_SLOT <= 1 << START_BITS && MEMORABLE < 1 << LEN_BITS && MEMORABLE < 1 << COUNT_BITS);

/// The remembered texts.
#[derive(Default)]
pub(super) struct MergeCache {
    /// A power of two of them, or none yet; a quarter stays empty.
    slots: Vec<u64>,
    bytes: Vec<u8>,
    left: usize,
    wanted: usize,
}

impl fmt::Debug for MergeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeCache").field("bytes", &self.bytes.len()).finish()
    }
}

impl MergeCache {
    /// Nothing remembered yet, and room for much.
    pub(super) fn large() -> Self {
        Self { wanted: SLOTS, ..Self::default() }
    }

    /// Makes sure of room for what a text of so many bytes may teach. Nothing is allocated before there is something to
    /// remember.
    pub(super) fn size_for(&mut self, bytes: usize) {
        self.wanted = self.wanted.max((bytes / BYTES_PER_SLOT).clamp(16, SLOTS).next_power_of_two());
    }

    /// The count of the `len` bytes from `at`, at most [`MEMORABLE`], which `count` finds out where it is not known. It
    /// is never 0, and at most `len`.
    #[inline(always)]
    pub(super) fn get_or(&mut self, bytes: &[u8], at: usize, len: usize, count: impl FnOnce(&mut Self) -> u64) -> u64 {
        let hash = hash(bytes, at, len);
        if let Some(count) = self.get(bytes, at, len, hash) {
            return count;
        }
        let count = count(self);
        self.insert(bytes.get(at..at + len).unwrap_or_default(), hash, count);
        count
    }

    #[inline(always)]
    fn get(&self, bytes: &[u8], at: usize, len: usize, hash: u64) -> Option<u64> {
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
                    return Some((found >> (START_BITS + LEN_BITS)) & ((1 << COUNT_BITS) - 1));
                }
            }
            slot += 1;
        }
    }

    #[inline(never)]
    fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(self.wanted, 0);
        self.left = self.wanted / 4 * 3;
        self.bytes.clear();
        self.bytes.reserve_exact(self.wanted * BYTES_PER_SLOT);
    }

    #[inline(never)]
    fn insert(&mut self, text: &[u8], hash: u64, count: u64) {
        if self.left == 0 || self.bytes.len() + text.len() > self.slots.len() * BYTES_PER_SLOT {
            self.clear();
        }
        self.left -= 1;
        let entry = (hash >> TAG_SHIFT << TAG_SHIFT)
            | count << (START_BITS + LEN_BITS)
            | (text.len() as u64) << START_BITS
            | self.bytes.len() as u64;
        self.bytes.extend_from_slice(text);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry;
    }
}

/// The bits that stand for the first `len` of eight bytes; for all of them from eight on.
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
            cache.insert(&one[..len], hash, 3);
            assert_eq!(cache.get(one, 0, len, hash), Some(3));
            assert_eq!(cache.get(one, 0, len, hash ^ 1 << TAG_SHIFT), None);
            assert_eq!(cache.get(other, 0, len, hash), Some(3).filter(|_| len < 16));
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
        // More room is taken when there is none left.
        cache.size_for(10_000);
        for round in 0..100_u32 {
            let text = format!("another text {round}");
            cache.get_or(text.as_bytes(), 0, text.len(), |_| 1);
        }
        assert_eq!(cache.slots.len(), 1024);
    }
}
