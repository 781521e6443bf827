//! Encodes texts as token ids, and decodes them.

use super::merge::Parts;
use super::merge_cache::{MEMORABLE, MergeCache};
use super::scratch::Scratch;
use super::split::{Pattern, with_pattern};
use super::token_table::MAX_TOKEN_BYTES;
use super::token_table::{NONE, PIECE, Rank, SHORT};
use super::vocabulary::{TURN, Vocabulary};

/// Tokens per turn: see [`TURN`].
const DECODE_TURN: usize = 256;

/// The output of encoding.
struct Encoded<'r> {
    tokens: &'r mut Vec<Rank>,
    /// The end of each token, with [`PIECE`] at the ends of pieces, if requested.
    ends: Option<&'r mut Vec<usize>>,
}

impl Encoded<'_> {
    /// Appends these tokens, up to `max_tokens` in total.
    fn take(&mut self, tokens: &[Rank], ends: &[usize], max_tokens: usize) {
        self.tokens.extend_from_slice(tokens.get(..max_tokens).unwrap_or_default());
        if let Some(all) = &mut self.ends {
            all.extend_from_slice(ends.get(..max_tokens).unwrap_or_default());
        }
    }
}

impl Vocabulary {
    /// The ids of the tokens of a text. Special tokens are read as plain text.
    pub fn encode(&self, text: &str) -> Vec<Rank> {
        let mut tokens = Vec::new();
        self.encode_up_to(text, usize::MAX, &mut tokens, None, &mut Scratch::new(MergeCache::of_tokens()));
        tokens
    }

    /// Appends the tokens of a text and their ends; stops at the end of a piece once there are at least `max_tokens`.
    pub(super) fn encode_up_to(
        &self,
        text: &str,
        max_tokens: usize,
        tokens: &mut Vec<Rank>,
        ends: Option<&mut Vec<usize>>,
        scratch: &mut Scratch,
    ) {
        tokens.reserve((text.len() / 4).saturating_add(1).min(max_tokens));
        let mut encoded = Encoded { tokens, ends };
        match &self.more.text_tokens {
            None => self.encode_normal(&self.normalized(text), max_tokens, &mut encoded, scratch),
            Some(tokens) => tokens.each_part(text, self.more.form, |(part, token)| {
                match token {
                    Some(token) => encoded.tokens.push(token),
                    None => self.encode_normal(part, max_tokens, &mut encoded, scratch),
                }
                encoded.tokens.len() < max_tokens
            }),
        }
        scratch.shrink();
    }

    /// Appends the tokens of a normalized text without added tokens.
    fn encode_normal(&self, text: &str, max_tokens: usize, encoded: &mut Encoded<'_>, scratch: &mut Scratch) {
        let (bytes, before) = (text.as_bytes(), encoded.tokens.len());
        scratch.cache.size_for(bytes.len());
        with_pattern!(self.splitter(), P => self.encode_pieces::<P>(bytes, max_tokens, encoded, scratch));
        self.more.ids.number(encoded.tokens.get_mut(before..).unwrap_or_default());
    }

    fn encode_pieces<P: Pattern>(
        &self,
        bytes: &[u8],
        max_tokens: usize,
        encoded: &mut Encoded<'_>,
        scratch: &mut Scratch,
    ) {
        let mut at = 0;
        while at < bytes.len() && encoded.tokens.len() < max_tokens {
            at = self.encode_turn::<P>(bytes, at, encoded, scratch);
        }
    }

    /// Encodes the next [`TURN`] pieces; returns the end of the last of them.
    // Not inlined, so that the engine can replace it while a long text is read: docs/decisions/inlining.md.
    #[inline(never)]
    fn encode_turn<P: Pattern>(
        &self,
        bytes: &[u8],
        mut at: usize,
        encoded: &mut Encoded<'_>,
        scratch: &mut Scratch,
    ) -> usize {
        // The tokens of the last pieces, each of them one token, and their ends.
        let (mut tokens, mut ends) = ([0; TURN as usize], [0; TURN as usize]);
        let mut pieces = 0;
        for _ in 0..TURN {
            if at >= bytes.len() {
                break;
            }
            let end = P::end(self.splitter(), bytes, at);
            debug_assert!(end > at && end <= bytes.len());
            let short = end - at <= SHORT;
            let rank = if short { self.tables.words.rank_of_short(bytes, at, end - at) } else { NONE };
            if rank == NONE {
                encoded.take(&tokens, &ends, pieces);
                pieces = 0;
                self.encode_piece(bytes, at, end, encoded, scratch);
            } else {
                (tokens[pieces], ends[pieces]) = (rank, end | PIECE);
                pieces += 1;
            }
            at = end;
        }
        encoded.take(&tokens, &ends, pieces);
        at
    }

    /// Encodes a piece that is not a token of up to [`SHORT`] bytes.
    fn encode_piece(&self, bytes: &[u8], at: usize, end: usize, encoded: &mut Encoded<'_>, scratch: &mut Scratch) {
        let Encoded { tokens, ends } = encoded;
        let Scratch { parts, cache, .. } = scratch;
        let from = tokens.len();
        let long = end - at > SHORT;
        // A piece that is not an ASCII word usually falls apart, and the look-up can wait for its units.
        let ascii = bytes.get(at + 1).is_some_and(u8::is_ascii);
        let asked = ascii || !long;
        let rank = match self.whole_piece(bytes, at, end) {
            Some(rank) => rank,
            None if long && ascii => self.tables.words.rank_of_longer(bytes, at, end - at),
            None => NONE,
        };
        if rank != NONE {
            tokens.push(rank);
        } else if end - at > MEMORABLE {
            self.encode_units(bytes, (at, end), asked, parts, cache, tokens);
        } else {
            cache.append_or(bytes, at, end - at, tokens, |cache, tokens| {
                self.encode_units(bytes, (at, end), asked, parts, cache, tokens);
            });
        }
        if let Some(ends) = ends {
            let mut stop = at;
            let lens = tokens.get(from..).unwrap_or_default().iter().map(|&token| self.tables.words.len_of(token));
            ends.extend(lens.map(|len| {
                stop += len;
                stop
            }));
            if let Some(last) = ends.last_mut() {
                *last |= PIECE;
            }
        }
    }

    /// Encodes a piece by its units; `asked` if it is known not to be a token.
    fn encode_units(
        &self,
        bytes: &[u8],
        (at, end): (usize, usize),
        asked: bool,
        parts: &mut Parts,
        cache: &mut MergeCache,
        tokens: &mut Vec<Rank>,
    ) {
        let words = &self.tables.words;
        self.tables.joins.each_unit(bytes, at, end, |start, stop| {
            let whole = (start, stop) == (at, end);
            let rank = if whole && asked { NONE } else { words.rank_of(bytes, start, stop - start) };
            if rank != NONE {
                tokens.push(rank);
            } else if whole || stop - start > MEMORABLE {
                self.encode_unit(bytes, start, stop, parts, tokens);
            } else {
                cache.append_or(bytes, start, stop - start, tokens, |_, tokens| {
                    self.encode_unit(bytes, start, stop, parts, tokens);
                });
            }
        });
    }

    /// Encodes a unit that is not one token.
    fn encode_unit(&self, bytes: &[u8], start: usize, end: usize, parts: &mut Parts, tokens: &mut Vec<Rank>) {
        let words = &self.tables.words;
        self.leaves(bytes, start, end, &mut parts.bounds);
        parts.merge(words, bytes);
        tokens.extend(parts.bounds.windows(2).map(|part| {
            let (start, end) = (part[0] as usize, part[1] as usize);
            words.rank_of(bytes, start, end - start)
        }));
    }

    /// Appends the bytes of a token; `false` if no token has that id.
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

    /// Appends the bytes of tokens up to the first that is not an ordinary one; returns how many those are.
    pub(super) fn append_tokens(&self, tokens: &[Rank], bytes: &mut Vec<u8>) -> usize {
        if !self.more.ids.are_ranks() {
            return tokens.iter().position(|&token| !self.append_token(token, bytes)).unwrap_or(tokens.len());
        }
        let (mut at, mut done) = (bytes.len(), 0);
        for turn in tokens.chunks(DECODE_TURN) {
            let needed = at + turn.len() * 8 + MAX_TOKEN_BYTES;
            if bytes.len() < needed {
                bytes.resize(needed + needed / 2, 0);
            }
            let written = self.write_turn(turn, bytes, at);
            at = written.0;
            done += written.1;
            if written.1 < turn.len() {
                break;
            }
        }
        bytes.truncate(at);
        done
    }

    /// Writes tokens to `at`; returns the end of the last one and their number.
    // Not inlined, so that the engine can replace it while a long text is read: docs/decisions/inlining.md.
    #[inline(never)]
    fn write_turn(&self, tokens: &[Rank], bytes: &mut Vec<u8>, mut at: usize) -> (usize, usize) {
        let words = &self.tables.words;
        for (done, &token) in tokens.iter().enumerate() {
            if let Some(end) = words.write_short(token, bytes, at) {
                at = end;
                continue;
            }
            let Some(end) = words.write_longer(token, bytes, at) else {
                // Not an ordinary token, or no space left.
                bytes.truncate(at);
                let is_there = words.append_to(token, bytes);
                at = bytes.len();
                bytes.resize(at + (tokens.len() - done) * 8 + MAX_TOKEN_BYTES, 0);
                if is_there {
                    continue;
                }
                return (at, done);
            };
            at = end;
        }
        (at, tokens.len())
    }
}
