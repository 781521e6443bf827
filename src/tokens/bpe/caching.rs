//! Counting that gets faster with what it has counted.

use std::cell::RefCell;

#[cfg(feature = "tokenize")]
use super::Rank;
use super::merge_cache::MergeCache;
#[cfg(feature = "tokenize")]
use super::normalize::Form;
use super::room::Room;
use super::vocabulary::{Vocabulary, saturate, up_to};
use crate::tokens::Counter;
#[cfg(feature = "growing")]
use crate::tokens::Grown;
#[cfg(feature = "tokenize")]
use crate::tokens::codec::Codec;

/// A vocabulary that remembers, from one call to the next, what it had to merge. The counts are the same; where words
/// come again they are found sooner.
///
/// It takes at most 768 KB beside the vocabulary, and another 1.3 MB once texts are encoded, and those only when there is
/// something to remember.
#[derive(Debug)]
pub struct CachingCounter {
    vocabulary: Vocabulary,
    counting: RefCell<Room>,
    #[cfg(feature = "tokenize")]
    encoding: RefCell<Room>,
}

impl CachingCounter {
    /// Nothing is remembered yet.
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self {
            vocabulary,
            counting: RefCell::new(Room::new(MergeCache::large())),
            #[cfg(feature = "tokenize")]
            encoding: RefCell::new(Room::new(MergeCache::of_many_tokens())),
        }
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn count_until(&self, text: &str, limit: u64) -> u64 {
        self.vocabulary.count_until(text, limit, &mut self.counting.borrow_mut())
    }
}

impl Counter for CachingCounter {
    fn name(&self) -> &str {
        self.vocabulary.name()
    }

    fn count(&self, text: &str) -> u32 {
        saturate(self.count_until(text, u64::MAX))
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        up_to(limit, self.count_until(text, limit.into()))
    }

    #[cfg(feature = "growing")]
    fn count_grown(&self, text: &str, grown: &mut Grown) -> u32 {
        saturate(self.vocabulary.count_grown(text, &mut grown.counted, &mut self.counting.borrow_mut()))
    }

    #[cfg(feature = "growing")]
    fn forget(&self, _: &str, grown: &mut Grown) -> Option<usize> {
        Some(grown.counted.forget())
    }

    #[cfg(feature = "tokenize")]
    fn codec(&self) -> Option<&dyn Codec> {
        Some(self)
    }

    fn adds_up_before(&self, next: &str) -> bool {
        self.vocabulary.adds_up_before(next)
    }
}

#[cfg(feature = "tokenize")]
impl Codec for CachingCounter {
    fn encode_ordinary(&self, text: &str, most: usize, tokens: &mut Vec<Rank>) {
        self.vocabulary.encode_up_to(text, most, tokens, None, &mut self.encoding.borrow_mut());
    }

    fn token_ends(&self, text: &str, most: usize) -> Option<Vec<usize>> {
        // What is normalized, or is one token only as a whole piece, is looked at by its tokens alone.
        if !self.vocabulary.is_plain() {
            return None;
        }
        let (mut tokens, mut ends) = (Vec::new(), Vec::new());
        self.vocabulary.encode_up_to(text, most, &mut tokens, Some(&mut ends), &mut self.encoding.borrow_mut());
        Some(ends)
    }

    fn first_piece(&self, text: &str) -> usize {
        self.vocabulary.split(text).next().map_or(0, str::len)
    }

    fn append_tokens(&self, tokens: &[Rank], bytes: &mut Vec<u8>) -> usize {
        self.vocabulary.append_tokens(tokens, bytes)
    }

    fn append_token(&self, token: Rank, bytes: &mut Vec<u8>) -> bool {
        self.vocabulary.append_token(token, bytes)
    }

    fn specials(&self) -> Vec<(&str, Rank)> {
        self.vocabulary.specials().iter().map(|(text, number)| (text.as_str(), *number)).collect()
    }

    fn form(&self) -> Option<Form> {
        self.vocabulary.more.form
    }
}

#[cfg(all(test, feature = "convert", not(target_arch = "wasm32")))]
mod tests {
    use serde_json::{Map, json};

    use super::super::room::MOST_KEPT;
    use super::super::vocabulary_of;
    use super::*;

    /// The bytes, `ab` and `ba`.
    fn counter() -> CachingCounter {
        let mut others = 0x100..;
        let letters = (0..=u8::MAX).map(|byte| match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae.. => char::from(byte),
            _ => others.next().and_then(char::from_u32).unwrap(),
        });
        let tokens = letters.map(String::from).chain(["ab".to_owned(), "ba".to_owned()]);
        let vocab: Map<_, _> = tokens.zip(0..).map(|(token, id)| (token, json!(id))).collect();
        let tokenizer = json!({
            "model": { "type": "BPE", "vocab": vocab, "merges": ["a b", "b a"] },
            "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "use_regex": true },
        });
        let asset = vocabulary_of(tokenizer.to_string().as_bytes()).unwrap();
        CachingCounter::new(Vocabulary::load("small", &asset).unwrap())
    }

    #[test]
    fn what_a_long_piece_takes_is_given_back() {
        let counter = counter();
        let capacity = |room: &RefCell<Room>| {
            let room = room.borrow();
            [room.parts.capacity(), room.bounds.capacity()]
        };
        let long = "ab".repeat(100_000);
        for (text, tokens) in [("aba", 2), (long.as_str(), 100_000), ("baba", 3)] {
            let is_small =
                || [&counter.counting, &counter.encoding].map(capacity).iter().flatten().all(|&room| room <= MOST_KEPT);
            assert_eq!((counter.count(text), is_small()), (tokens, true));
            let mut encoded = Vec::new();
            counter.encode_ordinary(text, usize::MAX, &mut encoded);
            assert_eq!((encoded.len() as u32, is_small()), (tokens, true));
            assert_eq!((counter.count_grown(text, &mut Grown::default()), is_small()), (tokens, true));
        }
        // What a short one takes stays there for the next.
        assert!(capacity(&counter.counting)[0] > 0 && capacity(&counter.encoding)[0] > 0);
    }
}
