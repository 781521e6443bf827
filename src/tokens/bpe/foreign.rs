//! Byte pair encoding with the tokens of another tokenizer. The adapter for tiktoken-rs uses it for pieces that are too
//! long for tiktoken-rs.

use super::joins::Joins;
use super::merge::Parts;
use super::split::load8;
use super::token_table::{MAX_TOKENS, NONE, Rank, TokenTable};

/// The tokens that the given pieces can contain.
pub(crate) struct ForeignMerges {
    words: TokenTable,
    joins: Joins,
    /// The ranks of the tokens in the other tokenizer.
    ranks: Vec<Rank>,
}

impl ForeignMerges {
    /// Collects the tokens from rank 0 to the first rank for which `token` returns `None`.
    ///
    /// A merge inside a piece makes a token of bytes that occur in the piece, so other tokens are skipped.
    pub(crate) fn new<'p>(pieces: impl Iterator<Item = &'p [u8]>, token: impl Fn(Rank) -> Option<Vec<u8>>) -> Self {
        let mut occurs = [false; 256];
        for &byte in pieces.flatten() {
            occurs[usize::from(byte)] = true;
        }
        let possible = |token: &Vec<u8>| !token.is_empty() && token.iter().all(|&byte| occurs[usize::from(byte)]);
        let all = (0..MAX_TOKENS as Rank).map_while(|rank| token(rank).map(|token| (rank, token)));
        let (ranks, tokens): (Vec<Rank>, Vec<Vec<u8>>) = all.filter(|(_, token)| possible(token)).unzip();
        // The tokens differ each time: at half load none of them is far from its home slot.
        let mut words = TokenTable::new(tokens.len() * 2, tokens.iter().map(Vec::len).sum());
        let mut joins = Joins::new();
        for token in tokens {
            note(&mut joins, &token);
            // Ranks here differ from the other tokenizer's but keep their order. The table has space for all of them.
            let pushed = words.add(&token);
            debug_assert!(pushed.is_some());
        }
        Self { words, joins, ranks }
    }

    /// Appends the other tokenizer's tokens of a piece.
    pub(crate) fn encode(&self, piece: &[u8], tokens: &mut Vec<Rank>) {
        let mut parts = Parts::default();
        let rank = |start: usize, end: usize| self.words.rank(piece, start, end - start);
        self.joins.each_unit(piece, 0, piece.len(), |start, end| {
            parts.start(start, end);
            if rank(start, end) == NONE {
                parts.merge(&self.words, piece);
            } else {
                parts.bounds.clear();
                parts.bounds.extend([start as u32, end as u32]);
            }
            let found = parts.bounds.windows(2).map(|part| rank(part[0] as usize, part[1] as usize));
            tokens.extend(found.filter_map(|rank| self.ranks.get(rank as usize)));
        });
    }

    /// Number of tokens of a piece.
    pub(crate) fn count(&self, piece: &[u8]) -> usize {
        let mut parts = Parts::default();
        let mut count = 0;
        self.joins.each_unit(piece, 0, piece.len(), |start, end| {
            // A unit that is a token encodes as that token (docs/decisions/exact-counting.md), so this look-up only
            // saves time.
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

/// Notes every boundary between two bytes of a token, since the boundary between its parts is unknown here.
fn note(joins: &mut Joins, token: &[u8]) {
    let mut before = 0;
    for (at, &byte) in token.iter().enumerate() {
        if at > 0 {
            joins.note((before, at), (load8(token, at), token.len() - at));
        }
        before = before >> 8 | u64::from(byte) << 56;
    }
}
