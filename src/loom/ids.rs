//! Finding nodes and edges by their ids.

use std::hash::{DefaultHasher, Hasher};

use crate::maps::SortedSet;

/// Ids in a bucket.
const BUCKET_CAPACITY: usize = 8;
/// The minimal number of buckets, unless there are none.
const MIN_BUCKETS: usize = 4;

/// Finds slots by id without storing the ids: in buckets by a quick hash; ids that do not fit into a full bucket are
/// ordered by a collision-resistant hash. So no choice of ids makes look-ups slow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    /// A power of two, or empty.
    buckets: Vec<Bucket>,
    count: usize,
    /// Ids that did not fit into a bucket.
    rest: SortedSet<(u64, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// The hash and the slot of each id; used entries come first.
    ids: [(u32, u32); BUCKET_CAPACITY],
    used: u16,
    /// Whether an id did not fit into this bucket.
    is_short: bool,
}

impl Bucket {
    fn ids(&self) -> &[(u32, u32)] {
        self.ids.get(..usize::from(self.used)).unwrap_or_default()
    }

    fn push(&mut self, hash: u32, place: u32) -> bool {
        let free = self.ids.get_mut(usize::from(self.used));
        let has_slot = free.is_some();
        if let Some(free) = free {
            *free = (hash, place);
            self.used += 1;
        }
        has_slot
    }
}

impl Ids {
    pub(crate) fn reserve(&mut self, ids: usize) {
        let buckets = buckets_for(self.count.saturating_add(ids));
        if buckets > self.buckets.len() {
            self.resize(buckets);
        }
    }

    /// The slot of an id; `is_it` returns whether a slot has it.
    pub(crate) fn find(&self, id: &str, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = quick_hash(id);
        let bucket = self.buckets.get(self.bucket_of(hash))?;
        let found = bucket.ids().iter().find(|&&(known, place)| known == hash && is_it(place));
        found.map(|&(_, place)| place).or_else(|| {
            if !bucket.is_short {
                return None;
            }
            let first = (strong_hash(id), 0);
            let same = self.rest.at_least(&first).take_while(|&&(known, _)| known == first.0);
            same.map(|&(_, place)| place).find(|&place| is_it(place))
        })
    }

    /// Adds the id of a slot; false if it is present.
    pub(crate) fn add(&mut self, id: &str, place: u32, is_it: impl Fn(u32) -> bool) -> bool {
        if self.find(id, is_it).is_some() {
            return false;
        }
        self.reserve(1);
        let hash = quick_hash(id);
        let bucket = self.bucket_of(hash);
        let Some(bucket) = self.buckets.get_mut(bucket) else { return true };
        if bucket.push(hash, place) {
            self.count += 1;
        } else {
            bucket.is_short = true;
            self.rest.insert((strong_hash(id), place));
        }
        true
    }

    pub(crate) fn remove(&mut self, id: &str, place: u32) {
        let hash = quick_hash(id);
        let at = self.bucket_of(hash);
        let bucket = self.buckets.get_mut(at);
        let found =
            bucket.and_then(|bucket| Some((bucket.ids().iter().position(|&known| known == (hash, place))?, bucket)));
        match found {
            Some((at, bucket)) => {
                bucket.used -= 1;
                bucket.ids.swap(at, usize::from(bucket.used));
                self.count -= 1;
            }
            None => drop(self.rest.remove(&(strong_hash(id), place))),
        }
    }

    fn bucket_of(&self, hash: u32) -> usize {
        hash as usize & self.buckets.len().saturating_sub(1)
    }

    fn resize(&mut self, buckets: usize) {
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]);
        for (bucket, before) in self.buckets.iter_mut().zip(old.iter().cycle()) {
            bucket.is_short = before.is_short;
        }
        for (hash, place) in old.iter().flat_map(Bucket::ids).copied() {
            let at = self.bucket_of(hash);
            // The ids of a bucket are distributed to two buckets, so they fit.
            if let Some(bucket) = self.buckets.get_mut(at) {
                bucket.push(hash, place);
            }
        }
    }
}

/// The number of buckets for `ids` ids: with five in each, few do not fit.
fn buckets_for(ids: usize) -> usize {
    ids.div_ceil(5).next_power_of_two().max(MIN_BUCKETS)
}

/// A fast, non-cryptographic hash.
fn quick_hash(id: &str) -> u32 {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |mixed: u64, word: u64| (mixed.rotate_left(23) ^ word).wrapping_mul(MIX);
    let (words, rest) = id.as_bytes().as_chunks();
    let mixed = words.iter().fold(0, |mixed, word| mix(mixed, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(1, |word, &byte| word << 8 | u64::from(byte));
    (mix(mixed, rest) >> 32) as u32
}

fn strong_hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}

#[cfg(test)]
#[path = "../../tests/unit/loom/ids.rs"]
mod tests;
