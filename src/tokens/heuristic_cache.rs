//! What the token estimator keeps between texts: costs of words, and counts of texts that come back.
//!
//! A chat is counted for each request, and all but its last messages were counted before.

use super::heuristic::{self, Scale};
use super::heuristic_words::WordCostCache;
use crate::hashing::Hasher;

/// Shorter texts are counted as fast as they are found.
const MIN_TEXT_BYTES: usize = 128;
/// Of a cached text.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Of all cached texts.
const MAX_BYTES: usize = 1 << 20;
const SLOTS: usize = 2048;

/// The caches of the estimator. They change no count.
#[derive(Debug)]
pub(super) struct EstimatorCache {
    words: WordCostCache,
    texts: TextCounts,
}

impl EstimatorCache {
    /// Empty caches, which take no memory.
    pub(super) const fn new() -> Self {
        Self { words: WordCostCache::new(), texts: TextCounts { slots: Vec::new(), bytes: 0, next: 0 } }
    }

    /// The count of a text.
    pub(super) fn count(&mut self, text: &str, scale: Scale) -> u32 {
        if !(MIN_TEXT_BYTES..=MAX_TEXT_BYTES).contains(&text.len()) {
            return heuristic::count_scaled(text, scale, Some(&mut self.words));
        }
        let hash = hash_of(text);
        self.texts.find(hash, text, scale).unwrap_or_else(|| {
            let count = heuristic::count_scaled(text, scale, Some(&mut self.words));
            self.texts.learn(hash, text, scale, count);
            count
        })
    }

    /// The count if it is at most the limit.
    pub(super) fn count_up_to(&mut self, text: &str, limit: u32, scale: Scale) -> Option<u32> {
        heuristic::count_up_to_scaled(text, limit, scale, Some(&mut self.words))
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(text);
    hasher.finish()
}

/// Counts of texts. A text is kept when it is counted for the second time, so that texts that never come back take
/// neither time nor memory; until then only its hash is.
#[derive(Debug)]
struct TextCounts {
    /// By hash; none until the first text.
    slots: Vec<Slot>,
    /// Of all kept texts.
    bytes: usize,
    /// The slot whose text is dropped next if there are too many bytes.
    next: usize,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    /// The hash of the newest text of this slot that was not kept.
    seen: u64,
    known: Option<KnownText>,
}

#[derive(Clone, Debug)]
struct KnownText {
    text: Box<str>,
    scale: Scale,
    count: u32,
}

impl TextCounts {
    fn find(&self, hash: u64, text: &str, scale: Scale) -> Option<u32> {
        let known = self.slots.get(slot_of(hash))?.known.as_ref()?;
        (known.scale == scale && *known.text == *text).then_some(known.count)
    }

    fn learn(&mut self, hash: u64, text: &str, scale: Scale, count: u32) {
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); SLOTS];
        }
        let Some(slot) = self.slots.get_mut(slot_of(hash)) else { return };
        if slot.seen != hash {
            slot.seen = hash;
            return;
        }
        let before = slot.known.replace(KnownText { text: text.into(), scale, count });
        self.bytes = (self.bytes + text.len()).saturating_sub(before.map_or(0, |known| known.text.len()));
        self.drop_texts();
    }

    /// Drops texts until the others are few enough, slot by slot: in an order that has nothing to do with that of use,
    /// so that a chat larger than the cache still finds most of what fits.
    fn drop_texts(&mut self) {
        while self.bytes > MAX_BYTES {
            let dropped = self.slots.get_mut(self.next).and_then(|slot| slot.known.take());
            self.bytes = self.bytes.saturating_sub(dropped.map_or(0, |known| known.text.len()));
            self.next = (self.next + 1) % SLOTS;
        }
    }
}

fn slot_of(hash: u64) -> usize {
    (hash % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(cache: &mut EstimatorCache, text: &str) -> u32 {
        cache.count(text, Scale::default())
    }

    #[test]
    fn texts_are_kept_when_they_come_back() {
        let mut cache = EstimatorCache::new();
        let text = "a text of a chat ".repeat(10);
        for kept in [0, text.len(), text.len()] {
            assert_eq!(counted(&mut cache, &text), heuristic::count(&text));
            assert_eq!(cache.texts.bytes, kept);
        }
        let hash = hash_of(&text);
        assert_eq!(cache.texts.find(hash, &text, Scale::default()), Some(heuristic::count(&text)));
        // Neither another scale nor another text with this hash gets its count.
        assert_eq!(cache.texts.find(hash, &text, Scale::percent([155, 140, 130])), None);
        assert_eq!(cache.texts.find(hash, &text.replace('a', "b"), Scale::default()), None);
    }

    #[test]
    fn texts_take_a_mebibyte_at_most() {
        let mut cache = EstimatorCache::new();
        let texts: Vec<String> = (0..600).map(|at| format!("{at} {}", "many words ".repeat(300))).collect();
        for text in [&texts, &texts, &texts].into_iter().flatten() {
            assert_eq!(counted(&mut cache, text), heuristic::count(text));
            assert!(cache.texts.bytes <= MAX_BYTES);
        }
        let kept: usize = cache.texts.slots.iter().flat_map(|slot| &slot.known).map(|known| known.text.len()).sum();
        assert_eq!(kept, cache.texts.bytes);
        let found = texts.iter().filter(|text| cache.texts.find(hash_of(text), text, Scale::default()).is_some());
        assert!(found.count() > 200);
        // Too long a text is counted each time.
        let long = "word ".repeat(MAX_TEXT_BYTES);
        for _ in 0..3 {
            counted(&mut cache, &long);
        }
        assert!(cache.texts.bytes <= MAX_BYTES);
    }
}
