//! Texts as the numbers of their tokens, and back.

use super::merge::Parts;
use super::split::{Pattern, with_pattern};
use super::vocabulary::{TURN, Vocabulary};
use super::words::{NONE, Rank, SHORT};

impl Vocabulary {
    /// The tokens of a text, by number. Special tokens are read as the plain text they are.
    pub fn encode(&self, text: &str) -> Vec<Rank> {
        let mut tokens = Vec::new();
        self.encode_up_to(text, usize::MAX, &mut tokens);
        tokens
    }

    /// Appends the tokens of a text, and stops once there are so many, at the end of a piece.
    pub(crate) fn encode_up_to(&self, text: &str, most: usize, tokens: &mut Vec<Rank>) {
        let text = self.normalized(text);
        let (bytes, before) = (text.as_bytes(), tokens.len());
        tokens.reserve((bytes.len() / 4).saturating_add(1).min(most));
        with_pattern!(self.splitter(), P => self.encode_pieces::<P>(bytes, most, tokens));
        self.more.ids.number(&mut tokens[before..]);
    }

    fn encode_pieces<P: Pattern>(&self, bytes: &[u8], most: usize, tokens: &mut Vec<Rank>) {
        let mut parts = Parts::default();
        let mut at = 0;
        while at < bytes.len() && tokens.len() < most {
            at = self.encode_turn::<P>(bytes, at, &mut parts, tokens);
        }
    }

    /// Encodes the next [`TURN`] pieces, and says where the last of them ends.
    #[inline(never)]
    fn encode_turn<P: Pattern>(&self, bytes: &[u8], mut at: usize, parts: &mut Parts, tokens: &mut Vec<Rank>) -> usize {
        for _ in 0..TURN {
            if at >= bytes.len() {
                break;
            }
            let end = P::end(self.splitter(), bytes, at);
            debug_assert!(end > at && end <= bytes.len());
            let short = end - at <= SHORT;
            let rank = if short { self.tables.words.rank_of_short(bytes, at, end - at) } else { NONE };
            if rank == NONE {
                self.encode_piece(bytes, at, end, parts, tokens);
            } else {
                tokens.push(rank);
            }
            at = end;
        }
        at
    }

    /// Encodes a piece that is not a token of up to [`SHORT`] bytes.
    #[inline(never)]
    fn encode_piece(&self, bytes: &[u8], at: usize, end: usize, parts: &mut Parts, tokens: &mut Vec<Rank>) {
        if let Some(rank) = self.whole_piece(bytes, at, end) {
            tokens.push(rank);
            return;
        }
        let words = &self.tables.words;
        self.tables.joins.each_unit(bytes, at, end, |start, stop| {
            // A piece that is as short was asked for already.
            let asked = (start, stop) == (at, end) && stop - start <= SHORT;
            let rank = if asked { NONE } else { words.rank(bytes, start, stop - start) };
            if rank != NONE {
                tokens.push(rank);
                return;
            }
            self.leaves(bytes, start, stop, &mut parts.bounds);
            parts.merge(words, bytes);
            tokens.extend(parts.bounds.windows(2).map(|part| {
                let (start, end) = (part[0] as usize, part[1] as usize);
                words.rank(bytes, start, end - start)
            }));
        });
    }

    /// Appends the bytes of a token; false where there is none of that number.
    pub(crate) fn append_token(&self, token: Rank, bytes: &mut Vec<u8>) -> bool {
        if self.tables.words.append_to(self.more.ids.rank(token), bytes) {
            return true;
        }
        match self.decoded(token) {
            Some(text) => bytes.extend_from_slice(text),
            None => return false,
        }
        true
    }
}
