//! The tables of one encoding, and counting with them.

use std::fmt;

use super::Encoding;
use super::asset::Asset;
use super::build::Tables;
use super::joins;
use super::merge::Parts;
use super::merge_cache::{MEMORABLE, MergeCache};
use super::split::{Cl100k, O200k, Pattern, Pieces, load8};
use super::words::{NONE, SHORT};
use crate::error::Result;
use crate::tokens::Counter;

/// Pieces to a turn. WebAssembly engines put optimized code in place only when a function is called again, so the loop
/// over a long text is made of many calls.
pub(super) const TURN: u32 = 64;

/// A vocabulary, ready to count with: some 3.4 MB for `o200k_base`, half of that for `cl100k_base`.
///
/// Counting allocates no more than the text is long, and gives that back. [`CachingCounter`](super::CachingCounter) keeps some.
pub struct Vocabulary {
    encoding: Encoding,
    tokens: usize,
    pub(super) tables: Tables,
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("encoding", &self.encoding).field("tokens", &self.tokens).finish()
    }
}

impl Vocabulary {
    /// Builds the tables out of the asset for the encoding (docs/counting.md has its format).
    ///
    /// # Errors
    /// [`Code::InvalidVocabulary`](crate::Code::InvalidVocabulary) where the asset is damaged, cut off, for another
    /// encoding or for another version of ctxweave. `details`: `tokenizer`, `reason`.
    pub fn load(encoding: Encoding, bytes: &[u8]) -> Result<Self> {
        let (tables, tokens) = Tables::build(encoding, bytes)?;
        Ok(Self { encoding, tokens, tables })
    }

    /// Looks whether an asset could be loaded, without loading it.
    ///
    /// # Errors
    /// As [`Vocabulary::load`].
    pub fn check(encoding: Encoding, bytes: &[u8]) -> Result<()> {
        Asset::check(encoding, bytes)
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The pieces of a text: see [`Encoding::split`].
    pub fn split<'t>(&self, text: &'t str) -> Pieces<'t> {
        self.encoding.split(text)
    }

    /// The count, or some number above `limit` where the count is above it.
    pub(super) fn count_until(&self, text: &str, limit: u64, cache: &mut MergeCache) -> u64 {
        match self.encoding {
            Encoding::O200kBase => self.count_pieces::<O200k>(text.as_bytes(), limit, cache),
            Encoding::Cl100kBase => self.count_pieces::<Cl100k>(text.as_bytes(), limit, cache),
        }
    }

    fn count_pieces<P: Pattern>(&self, bytes: &[u8], limit: u64, cache: &mut MergeCache) -> u64 {
        cache.size_for(bytes.len());
        let mut room = Room { parts: Parts::default(), cache };
        let (mut at, mut count) = (0, 0);
        while at < bytes.len() && count <= limit {
            (at, count) = self.count_turn::<P>(bytes, (at, count), TURN, &mut room);
        }
        count
    }

    /// Counts the next pieces, at most so many.
    #[inline(never)]
    fn count_turn<P: Pattern>(
        &self,
        bytes: &[u8],
        (mut at, mut count): (usize, u64),
        most: u32,
        room: &mut Room<'_>,
    ) -> (usize, u64) {
        for _ in 0..most {
            if at >= bytes.len() {
                break;
            }
            let end = P::end(bytes, at);
            debug_assert!(end > at && end <= bytes.len());
            let short = end - at <= SHORT;
            count += if short && self.tables.words.rank_of_short(bytes, at, end - at) != NONE {
                1
            } else {
                self.count_piece(bytes, at, end, room)
            };
            at = end;
        }
        (at, count)
    }

    /// Counts on from where the last two pieces of the shorter text began, of which the number is that of the tokens before: more
    /// text can change these two, and no others. A run of white space or of capitals is two at most, and all else ends
    /// where the next begins.
    #[cfg(feature = "growing")]
    pub(super) fn count_grown(&self, bytes: &[u8], end: &mut (usize, u64), cache: &mut MergeCache) -> u64 {
        cache.size_for(bytes.len().saturating_sub(end.0));
        let mut room = Room { parts: Parts::default(), cache };
        let (mut last, mut here) = (*end, *end);
        while here.0 < bytes.len() {
            (*end, last) = (last, here);
            here = self.count_next(bytes, here, &mut room);
        }
        here.1
    }

    /// Counts the next piece.
    #[cfg(feature = "growing")]
    fn count_next(&self, bytes: &[u8], here: (usize, u64), room: &mut Room<'_>) -> (usize, u64) {
        match self.encoding {
            Encoding::O200kBase => self.count_turn::<O200k>(bytes, here, 1, room),
            Encoding::Cl100kBase => self.count_turn::<Cl100k>(bytes, here, 1, room),
        }
    }

    /// Counts a piece that is not a token of up to [`SHORT`] bytes.
    #[inline(never)]
    fn count_piece(&self, bytes: &[u8], at: usize, end: usize, room: &mut Room<'_>) -> u64 {
        let long = end - at > SHORT;
        // Where the piece is no ASCII word it mostly falls apart, and the question can wait for the units.
        let ascii = bytes.get(at + 1).is_some_and(u8::is_ascii);
        if long && ascii && self.tables.words.rank_of_longer(bytes, at, end - at) != NONE {
            return 1;
        }
        let asked = ascii || !long;
        let Room { parts, cache } = room;
        if end - at > MEMORABLE {
            return self.count_units(bytes, at, end, asked, parts, cache);
        }
        cache.get_or(bytes, at, end - at, |cache| self.count_units(bytes, at, end, asked, parts, cache))
    }

    /// Counts a piece by its units; `asked` where it is known to be no token.
    #[inline(never)]
    fn count_units(
        &self,
        bytes: &[u8],
        at: usize,
        end: usize,
        asked: bool,
        parts: &mut Parts,
        cache: &mut MergeCache,
    ) -> u64 {
        let mut count = 0;
        self.tables.joins.each_unit(bytes, at, end, |start, stop| {
            let whole = (start, stop) == (at, end);
            count += if !(whole && asked) && self.is_token(bytes, start, stop) {
                1
            } else if whole || stop - start > MEMORABLE {
                self.count_unit(bytes, start, stop, parts)
            } else {
                cache.get_or(bytes, start, stop - start, |_| self.count_unit(bytes, start, stop, parts))
            };
        });
        count
    }

    /// Whether a unit is one token.
    #[inline(always)]
    fn is_token(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let character = joins::character(load8(bytes, start) as u32);
        if end - start == joins::width(character as u8) && matches!(end - start, 2 | 3) {
            return self.tables.characters.contains(character);
        }
        self.tables.words.rank(bytes, start, end - start) != NONE
    }

    /// Counts a unit that is not one token.
    #[inline(never)]
    fn count_unit(&self, bytes: &[u8], start: usize, end: usize, parts: &mut Parts) -> u64 {
        let words = &self.tables.words;
        self.leaves(bytes, start, end, &mut parts.bounds);
        match *parts.bounds.as_slice() {
            // Two that merged would be the unit, which is no token.
            [_, _, _] => 2,
            [a, b, c, d] => {
                let merges = |from: u32, to: u32| words.rank(bytes, from as usize, (to - from) as usize) != NONE;
                2 + u64::from(!merges(a, c) && !merges(b, d))
            }
            _ => {
                parts.merge(words, bytes);
                parts.len() as u64
            }
        }
    }

    /// Where the parts to begin with begin, and the end: bytes, and characters beyond ASCII where nothing reaches into them
    /// from outside.
    pub(super) fn leaves(&self, bytes: &[u8], start: usize, end: usize, leaves: &mut Vec<u32>) {
        leaves.clear();
        let mut at = start;
        let mut reached = false;
        let mut character = joins::character(load8(bytes, at) as u32);
        while at < end {
            let width = joins::width(character as u8).max(1);
            let next = at + width;
            let behind = joins::character(load8(bytes, next) as u32);
            let reaches = next < end && (character | behind) >= 0x80 && self.tables.joins.of_bytes(character, behind);
            let whole = matches!(width, 2 | 3) && !(reached || reaches) && self.tables.characters.contains(character);
            leaves.push(at as u32);
            if !whole {
                leaves.extend(at as u32 + 1..next as u32);
            }
            (at, reached, character) = (next, reaches, behind);
        }
        leaves.push(end as u32);
    }
}

/// A count in the type that crosses to JavaScript. Only a text of more than 4 GB can have a greater one.
pub(super) fn saturate(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The count, unless it is above `limit`.
pub(super) fn up_to(limit: u32, count: u64) -> Option<u32> {
    u32::try_from(count).ok().filter(|&count| count <= limit)
}

/// What counting needs beside the tables, for as long as a call lasts.
struct Room<'k> {
    parts: Parts,
    cache: &'k mut MergeCache,
}

impl Counter for Vocabulary {
    fn name(&self) -> &str {
        self.encoding.name()
    }

    fn count(&self, text: &str) -> u32 {
        saturate(self.count_until(text, u64::MAX, &mut MergeCache::default()))
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        up_to(limit, self.count_until(text, limit.into(), &mut MergeCache::default()))
    }

    /// Every token is a byte or more.
    fn most(&self, bytes: usize) -> Option<u64> {
        Some(bytes as u64)
    }

    fn adds_up_before(&self, next: &str) -> bool {
        self.encoding.adds_up_before(next)
    }
}
