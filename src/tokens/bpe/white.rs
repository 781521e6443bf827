//! Byte pair encoding of white space alone, with another tokenizer's tokens: what the adapter for tiktoken-rs needs for
//! runs that tiktoken-rs cannot take.

use super::merge::Parts;
use super::words::{MAX_TOKENS, Rank, Sizes, Words};

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
        let mut sizes = Sizes::default();
        let mut tokens = Vec::new();
        for rank in 0..MAX_TOKENS as Rank {
            let Some(token) = token(rank) else { break };
            if !token.is_empty() && token.iter().all(|&byte| white[usize::from(byte)]) {
                sizes.add(token.len());
                tokens.push((rank, token));
            }
        }
        let mut words = Words::new(sizes);
        for (rank, token) in tokens {
            let _ = words.insert(&token, rank);
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
