//! A vocabulary that caches what it has merged.

use std::cell::RefCell;

use super::Rank;
use super::merge_cache::MergeCache;
use super::normalize::Form;
use super::scratch::Scratch;
use super::text_tokens::TextToken;
use super::vocabulary::{Vocabulary, saturate, up_to};
use crate::tokens::Counter;
use crate::tokens::IncrementalCount;
use crate::tokens::codec::Codec;

/// A vocabulary that caches, between calls, the pieces it had to merge. The counts are the same; repeated words are
/// found sooner.
///
/// It takes at most 768 KB in addition to the vocabulary, and another 1.3 MB once texts are encoded. Neither is
/// allocated before there is anything to cache.
#[derive(Debug)]
pub struct CachingCounter {
    vocabulary: Vocabulary,
    counting: RefCell<Scratch>,
    encoding: RefCell<Scratch>,
}

impl CachingCounter {
    /// An empty cache.
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self {
            vocabulary,
            counting: RefCell::new(Scratch::new(MergeCache::large())),
            encoding: RefCell::new(Scratch::new(MergeCache::of_many_tokens())),
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

    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        saturate(self.vocabulary.count_incremental(text, &mut incremental.counted, &mut self.counting.borrow_mut()))
    }

    fn invalidate(&self, _: &str, incremental: &mut IncrementalCount) -> Option<usize> {
        Some(incremental.counted.invalidate())
    }

    fn codec(&self) -> Option<&dyn Codec> {
        Some(self)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        self.vocabulary.is_additive_before(next)
    }
}

impl Codec for CachingCounter {
    fn encode_ordinary(&self, text: &str, max_tokens: usize, tokens: &mut Vec<Rank>) {
        self.vocabulary.encode_up_to(text, max_tokens, tokens, None, &mut self.encoding.borrow_mut());
    }

    fn token_ends(&self, text: &str, max_tokens: usize) -> Option<Vec<usize>> {
        // The pieces are unknown if texts are normalized, contain added tokens, or some tokens count only as whole
        // pieces.
        if !self.vocabulary.is_plain() {
            return None;
        }
        let (mut tokens, mut ends) = (Vec::new(), Vec::new());
        self.vocabulary.encode_up_to(text, max_tokens, &mut tokens, Some(&mut ends), &mut self.encoding.borrow_mut());
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

    fn text_tokens(&self) -> &[TextToken] {
        self.vocabulary.more.text_tokens.as_ref().map_or(&[], |tokens| &tokens.listed)
    }

    fn each_part<'t>(&self, text: &'t str, each: &mut dyn FnMut(&'t str, Option<Rank>)) {
        match &self.vocabulary.more.text_tokens {
            None => each(text, None),
            Some(tokens) => tokens.each_original_part(text, each),
        }
    }

    fn form(&self) -> Option<Form> {
        self.vocabulary.more.form
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[path = "../../../tests/unit/tokens/caching.rs"]
mod tests;
