//! Byte pair encoding of white space alone, with another tokenizer's tokens: what the adapter for tiktoken-rs needs for
//! runs that tiktoken-rs cannot take.

use super::merge::Parts;
use super::pairs::{MAX_TOKENS, NONE, Pairs, Rank};

/// The merges among the bytes that white space is made of.
pub(crate) struct WhiteMerges {
    pairs: Pairs,
}

impl WhiteMerges {
    /// Picks the tokens out of all that `token` gives, from rank 0 to the first that it does not have.
    ///
    /// A merge inside a text of white space makes a token of bytes that occur in it, so those of the other tokens do
    /// not matter. The parts of each are found as for an asset; a token that is not made of two parts is left out,
    /// which happens in none of the vocabularies (a test of the adapter compares them all).
    pub(crate) fn new(token: impl Fn(Rank) -> Option<Vec<u8>>) -> Self {
        let mut white = [false; 256];
        for character in (0..=0xffff).filter_map(char::from_u32).filter(|character| character.is_whitespace()) {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                white[usize::from(byte)] = true;
            }
        }
        let mut bytes = [NONE; 256];
        let mut tokens = Vec::new();
        for rank in 0..MAX_TOKENS as Rank {
            let Some(token) = token(rank) else { break };
            match token.as_slice() {
                &[byte] => bytes[usize::from(byte)] = rank,
                longer if longer.iter().all(|&byte| white[usize::from(byte)]) => tokens.push((rank, token)),
                _ => {}
            }
        }
        let mut pairs = Pairs::new(bytes, tokens.len());
        let mut parts = Parts::default();
        for (rank, token) in tokens {
            parts.start(&pairs, &token);
            parts.merge(&pairs);
            if let &[left, right] = parts.ranks.as_slice() {
                pairs.insert(left, right, rank);
            }
        }
        Self { pairs }
    }

    /// How many tokens a text of white space is.
    pub(crate) fn count(&self, text: &[u8]) -> usize {
        let mut parts = Parts::default();
        parts.start(&self.pairs, text);
        parts.merge(&self.pairs);
        parts.ranks.len()
    }
}
