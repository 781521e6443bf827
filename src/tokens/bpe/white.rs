//! Byte pair encoding of white space alone, with another tokenizer's tokens: what the adapter for tiktoken-rs needs for
//! runs that tiktoken-rs cannot take.

use super::merge::Parts;
use super::words::{MAX_TOKENS, Rank, Words};

/// The tokens of the bytes that white space is made of.
pub(crate) struct WhiteMerges {
    words: Words,
}

impl WhiteMerges {
    /// Picks the tokens out of all that `token` gives, from rank 0 to the first that it does not have.
    ///
    /// A merge inside a text of white space makes a token of bytes that occur in it, so the other tokens do not matter.
    pub(crate) fn new(token: impl Fn(Rank) -> Option<Vec<u8>>) -> Self {
        let mut white = [false; 256];
        for character in (0..=0xffff).filter_map(char::from_u32).filter(|character| character.is_whitespace()) {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                white[usize::from(byte)] = true;
            }
        }
        let white = |token: &Vec<u8>| !token.is_empty() && token.iter().all(|&byte| white[usize::from(byte)]);
        let tokens: Vec<Vec<u8>> = (0..MAX_TOKENS as Rank).map_while(token).filter(white).collect();
        let mut words = Words::new(tokens.len(), tokens.iter().map(Vec::len).sum());
        for token in tokens {
            // Their ranks are others here, in the same order. There is room for all of them.
            let pushed = words.push(&token);
            debug_assert!(pushed.is_some());
        }
        Self { words }
    }

    /// How many tokens a text of white space is.
    pub(crate) fn count(&self, text: &[u8]) -> usize {
        let mut parts = Parts::default();
        parts.start(text);
        parts.merge(&self.words, text);
        parts.len()
    }
}
