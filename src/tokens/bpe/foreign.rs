//! Byte pair encoding with another tokenizer's tokens: what the adapter for tiktoken-rs needs for pieces that are too
//! long for tiktoken-rs.

use super::joins::Joins;
use super::merge::Parts;
use super::split::load8;
use super::words::{MAX_TOKENS, NONE, Rank, Words};

/// The tokens that certain pieces can be made of.
pub(crate) struct ForeignMerges {
    words: Words,
    joins: Joins,
}

impl ForeignMerges {
    /// Picks the tokens out of all that `token` gives, from rank 0 to the first that it does not have.
    ///
    /// A merge inside a piece makes a token of bytes that occur in it, so the other tokens do not matter.
    pub(crate) fn new<'p>(pieces: impl Iterator<Item = &'p [u8]>, token: impl Fn(Rank) -> Option<Vec<u8>>) -> Self {
        let mut occurs = [false; 256];
        for &byte in pieces.flatten() {
            occurs[usize::from(byte)] = true;
        }
        let possible = |token: &Vec<u8>| !token.is_empty() && token.iter().all(|&byte| occurs[usize::from(byte)]);
        let tokens: Vec<Vec<u8>> = (0..MAX_TOKENS as Rank).map_while(token).filter(possible).collect();
        // They are other ones each time: with twice the room none of them is far from home.
        let mut words = Words::new(tokens.len() * 2, tokens.iter().map(Vec::len).sum());
        let mut joins = Joins::new();
        for token in tokens {
            note(&mut joins, &token);
            // Their ranks are others here, in the same order. There is room for all of them.
            let pushed = words.add(&token);
            debug_assert!(pushed.is_some());
        }
        Self { words, joins }
    }

    /// How many tokens a piece is.
    pub(crate) fn count(&self, piece: &[u8]) -> usize {
        let mut parts = Parts::default();
        let mut count = 0;
        self.joins.each_unit(piece, 0, piece.len(), |start, end| {
            // A unit that is a token encodes as that token (docs/counting.md): to ask first is faster, and no more.
            count += if self.words.rank(piece, start, end - start) == NONE {
                parts.start(start, end);
                parts.merge(&self.words, piece);
                parts.len()
            } else {
                1
            };
        });
        count
    }
}

/// Notes every place between two bytes of a token: which of them is the one where its parts join is not known here.
fn note(joins: &mut Joins, token: &[u8]) {
    let mut before = 0;
    for (at, &byte) in token.iter().enumerate() {
        if at > 0 {
            joins.note((before, at), (load8(token, at), token.len() - at));
        }
        before = before >> 8 | u64::from(byte) << 56;
    }
}
