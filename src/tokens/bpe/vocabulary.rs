//! The tables of one encoding, and counting with them.

use std::fmt;

use super::Encoding;
use super::asset::{Asset, BYTES, invalid};
use super::joins::{self, Joins};
use super::known::{Known, MEMORABLE};
use super::merge::Parts;
use super::pairs::{NONE, Pairs, Rank};
use super::split::{Cl100k, O200k, Pattern, Pieces, load8};
use super::words::{SHORT, Sizes, Words};
use crate::error::Result;
use crate::tokens::Counter;

/// Pieces to a turn. WebAssembly engines put optimized code in place only when a function is called again, so the loop
/// over a long text is made of many calls.
const TURN: usize = 64;

/// Tokens to a turn when tables are built, for the same reason.
const BUILD_TURN: usize = 2048;

/// Bytes copied at once when the tokens are put together; tokens are short.
const COPY: usize = 16;

/// A vocabulary, ready to count with: some 6 MB for `o200k_base`, half of that for `cl100k_base`.
///
/// Counting allocates no more than the text is long, and gives that back. [`Remembering`](super::Remembering) keeps some.
pub struct Vocabulary {
    encoding: Encoding,
    tokens: usize,
    words: Words,
    pairs: Pairs,
    joins: Joins,
    /// The token of each character below U+10000 that is one and has two or three bytes.
    characters: Vec<Rank>,
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("encoding", &self.encoding).field("tokens", &self.tokens).finish()
    }
}

/// The texts of all tokens while the tables are built.
struct Texts {
    /// Where each token begins in the blob; the next one's begin is its end.
    starts: Vec<u32>,
    /// The tokens one behind the other, and room for the last copy to go over.
    blob: Vec<u8>,
    /// Bytes of all tokens together, by the header.
    total: usize,
    sizes: Sizes,
}

impl Texts {
    fn new(asset: &Asset<'_>) -> Self {
        let mut texts = Self {
            starts: Vec::with_capacity(asset.tokens + 1),
            blob: vec![0; asset.token_bytes + COPY],
            total: asset.token_bytes,
            sizes: Sizes::default(),
        };
        texts.starts.extend(0..=BYTES as u32);
        for (to, &byte) in texts.blob.iter_mut().zip(asset.bytes) {
            *to = byte;
            texts.sizes.add(1);
        }
        texts
    }

    /// Where a token begins and ends in the blob; nothing where there is no such token yet.
    #[inline(always)]
    fn span(&self, rank: usize) -> Option<(usize, usize)> {
        Some((*self.starts.get(rank)? as usize, *self.starts.get(rank + 1)? as usize))
    }

    /// The bytes of a token.
    fn text(&self, (start, end): (usize, usize)) -> &[u8] {
        self.blob.get(start..end).unwrap_or_default()
    }

    /// Puts the next tokens together out of their parts. `None` where they do not make sense.
    #[inline(never)]
    fn add_some(&mut self, joins: &mut Joins, merges: &mut dyn Iterator<Item = (Rank, Rank)>) -> Option<()> {
        for (left, right) in merges.take(BUILD_TURN) {
            self.add(joins, left, right)?;
        }
        Some(())
    }

    #[inline(always)]
    fn add(&mut self, joins: &mut Joins, left: Rank, right: Rank) -> Option<()> {
        let (left, right) = (self.span(left as usize)?, self.span(right as usize)?);
        let start = *self.starts.last()? as usize;
        let middle = start + left.1 - left.0;
        let end = middle + right.1 - right.0;
        if end > self.total {
            return None;
        }
        self.copy(left, start)?;
        self.copy(right, middle)?;
        self.starts.push(end as u32);
        self.sizes.add(end - start);
        if self.blob[middle - 1] >= 0x80 || self.blob[middle] >= 0x80 {
            joins.note(self.text(left), self.text(right));
        }
        Some(())
    }

    /// Copies in steps of [`COPY`], past the end of what was asked for: what comes next overwrites that.
    #[inline(always)]
    fn copy(&mut self, (mut from, until): (usize, usize), mut to: usize) -> Option<()> {
        while from < until {
            let chunk: [u8; COPY] = *self.blob.get(from..)?.first_chunk()?;
            *self.blob.get_mut(to..)?.first_chunk_mut()? = chunk;
            from += COPY;
            to += COPY;
        }
        Some(())
    }

    /// Fills the table of whole tokens, the lower ranks first: those that occur most stand where they are looked for
    /// first.
    fn words(&self) -> Words {
        let mut words = Words::new(self.sizes);
        let mut starts = self.starts.as_slice();
        while starts.len() > 1 {
            self.insert_some(&mut words, starts);
            starts = starts.get(BUILD_TURN..).unwrap_or_default();
        }
        words
    }

    #[inline(never)]
    fn insert_some(&self, words: &mut Words, starts: &[u32]) {
        for span in starts.windows(2).take(BUILD_TURN) {
            words.insert(&self.blob, span[0] as usize, (span[1] - span[0]) as usize);
        }
    }

    /// The tokens that are one character of two or three bytes, by code point.
    #[inline(never)]
    fn characters(&self) -> Vec<Rank> {
        let mut characters = vec![NONE; 0x1_0000];
        for (rank, span) in (0..).zip(self.starts.windows(2)) {
            let len = (span[1] - span[0]) as usize;
            if len == 2 || len == 3 {
                let text = self.text((span[0] as usize, span[1] as usize));
                if let Some(character) = joins::only_character(text) {
                    characters[joins::code_point(character)] = rank;
                }
            }
        }
        characters
    }
}

impl Vocabulary {
    /// Builds the tables out of the asset for the encoding (docs/counting.md has its format).
    ///
    /// # Errors
    /// [`Code::InvalidVocabulary`](crate::Code::InvalidVocabulary) where the asset is damaged, cut off, for another
    /// encoding or for another version of ctxweave. `details`: `tokenizer`, `reason`.
    pub fn load(encoding: Encoding, bytes: &[u8]) -> Result<Self> {
        let asset = Asset::read(encoding, bytes)?;
        let senseless = || invalid(encoding, "its merges do not make sense");

        let mut joins = Joins::new();
        let mut texts = Texts::new(&asset);
        let mut merges = asset.merges(BYTES);
        while texts.starts.len() <= asset.tokens {
            texts.add_some(&mut joins, &mut merges).ok_or_else(senseless)?;
        }
        let words = texts.words();
        let characters = texts.characters();
        drop(texts); // the pairs go where the texts were

        let mut singles = [NONE; BYTES];
        for (rank, &byte) in (0..).zip(asset.bytes) {
            singles[usize::from(byte)] = rank;
        }
        let mut pairs = Pairs::new(singles, asset.tokens - BYTES);
        let mut merges = asset.merges(BYTES);
        for from in (BYTES..asset.tokens).step_by(BUILD_TURN) {
            insert_some(&mut pairs, from as Rank, &mut merges);
        }
        Ok(Self { encoding, tokens: asset.tokens, words, pairs, joins, characters })
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The tokens of a text, by number. Special tokens are read as the plain text they are.
    pub fn encode(&self, text: &str) -> Vec<Rank> {
        let bytes = text.as_bytes();
        let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
        let mut parts = Parts::default();
        let mut at = 0;
        for piece in self.split(text) {
            let end = at + piece.len();
            self.each_unit(bytes, at, end, |start, end| {
                self.leaves(bytes, start, end, &mut parts.ranks);
                parts.merge(&self.pairs);
                tokens.append(&mut parts.ranks);
            });
            at = end;
        }
        tokens
    }

    /// The counts of several texts. What one text taught is known for the next, so that many short texts go faster than
    /// one by one.
    pub fn count_batch<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Vec<u32> {
        let mut known = Known::default();
        let count = |text: &str| saturate(self.count_until(text, u64::MAX, &mut known));
        texts.into_iter().map(count).collect()
    }

    /// The pieces of a text: see [`Encoding::split`].
    pub fn split<'t>(&self, text: &'t str) -> Pieces<'t> {
        self.encoding.split(text)
    }

    /// The count, or some number above `limit` where the count is above it.
    pub(super) fn count_until(&self, text: &str, limit: u64, known: &mut Known) -> u64 {
        match self.encoding {
            Encoding::O200kBase => self.count_pieces::<O200k>(text.as_bytes(), limit, known),
            Encoding::Cl100kBase => self.count_pieces::<Cl100k>(text.as_bytes(), limit, known),
        }
    }

    fn count_pieces<P: Pattern>(&self, bytes: &[u8], limit: u64, known: &mut Known) -> u64 {
        known.fit(bytes.len());
        let mut room = Room { parts: Parts::default(), known };
        let (mut at, mut count) = (0, 0);
        while at < bytes.len() && count <= limit {
            (at, count) = self.count_turn::<P>(bytes, at, count, &mut room);
        }
        count
    }

    /// Counts the next [`TURN`] pieces.
    #[inline(never)]
    fn count_turn<P: Pattern>(&self, bytes: &[u8], mut at: usize, mut count: u64, room: &mut Room<'_>) -> (usize, u64) {
        for _ in 0..TURN {
            if at >= bytes.len() {
                break;
            }
            let end = P::end(bytes, at);
            debug_assert!(end > at && end <= bytes.len());
            let short = end - at <= SHORT;
            count += if short && self.words.contains_short(bytes, at, end - at) {
                1
            } else {
                self.count_piece(bytes, at, end, room)
            };
            at = end;
        }
        (at, count)
    }

    /// Counts a piece that is not a token of up to [`SHORT`] bytes.
    #[inline(never)]
    fn count_piece(&self, bytes: &[u8], at: usize, end: usize, room: &mut Room<'_>) -> u64 {
        let long = end - at > SHORT;
        // Where the piece is no ASCII word it mostly falls apart, and the question can wait for the units.
        let ascii = bytes.get(at + 1).is_some_and(u8::is_ascii);
        if long && ascii && self.words.contains_longer(bytes, at, end - at) {
            return 1;
        }
        let asked = ascii || !long;
        let Room { parts, known } = room;
        if end - at > MEMORABLE {
            return self.count_units(bytes, at, end, asked, parts, known);
        }
        known.get_or(bytes, at, end - at, |known| self.count_units(bytes, at, end, asked, parts, known))
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
        known: &mut Known,
    ) -> u64 {
        let mut count = 0;
        self.each_unit(bytes, at, end, |start, stop| {
            let whole = (start, stop) == (at, end);
            count += if !(whole && asked) && self.is_token(bytes, start, stop) {
                1
            } else if whole || stop - start > MEMORABLE {
                self.count_unit(bytes, start, stop, parts)
            } else {
                known.get_or(bytes, start, stop - start, |_| self.count_unit(bytes, start, stop, parts))
            };
        });
        count
    }

    /// Whether a unit is one token.
    #[inline(always)]
    fn is_token(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let character = joins::character(load8(bytes, start) as u32);
        if end - start == joins::width(character as u8) && matches!(end - start, 2 | 3) {
            return self.characters[joins::code_point(character)] != NONE;
        }
        self.words.contains(bytes, start, end - start)
    }

    /// Counts a unit that is not one token.
    #[inline(never)]
    fn count_unit(&self, bytes: &[u8], start: usize, end: usize, parts: &mut Parts) -> u64 {
        self.leaves(bytes, start, end, &mut parts.ranks);
        match *parts.ranks.as_slice() {
            // Two that merged would be the unit, which is no token.
            [_, _] => 2,
            [a, b, c] => 2 + u64::from(self.pairs.get(a, b) == NONE && self.pairs.get(b, c) == NONE),
            _ => {
                parts.merge(&self.pairs);
                parts.ranks.len() as u64
            }
        }
    }

    /// Cuts a piece where no merge reaches across.
    #[inline(always)]
    fn each_unit(&self, bytes: &[u8], mut start: usize, end: usize, mut each: impl FnMut(usize, usize)) {
        let mut at = start;
        let mut before = 0;
        while at < end {
            let character = joins::character(load8(bytes, at) as u32);
            if at > start && (before | character) >= 0x80 && !self.joins.any(before, character) {
                each(start, at);
                start = at;
            }
            at += joins::width(character as u8).max(1);
            before = character;
        }
        each(start, end);
    }

    /// The parts to begin with: bytes, and characters beyond ASCII where nothing reaches into them from outside.
    fn leaves(&self, bytes: &[u8], start: usize, end: usize, leaves: &mut Vec<Rank>) {
        leaves.clear();
        let mut at = start;
        let mut reached = false;
        let mut character = joins::character(load8(bytes, at) as u32);
        while at < end {
            let width = joins::width(character as u8).max(1);
            let next = at + width;
            let behind = joins::character(load8(bytes, next) as u32);
            let reaches = next < end && (character | behind) >= 0x80 && self.joins.of_bytes(character, behind);
            let whole = match width {
                2 | 3 if !(reached || reaches) => self.characters[joins::code_point(character)],
                _ => NONE,
            };
            if whole == NONE {
                let bytes = character.to_le_bytes().map(|byte| self.pairs.byte(byte));
                leaves.extend(bytes.iter().take(width));
            } else {
                leaves.push(whole);
            }
            (at, reached, character) = (next, reaches, behind);
        }
    }
}

/// Inserts the next pairs.
#[inline(never)]
fn insert_some(pairs: &mut Pairs, from: Rank, merges: &mut dyn Iterator<Item = (Rank, Rank)>) {
    for (rank, (left, right)) in (from..).zip(merges.take(BUILD_TURN)) {
        pairs.insert(left, right, rank);
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
    known: &'k mut Known,
}

impl Counter for Vocabulary {
    fn name(&self) -> &str {
        self.encoding.name()
    }

    fn count(&self, text: &str) -> u32 {
        saturate(self.count_until(text, u64::MAX, &mut Known::default()))
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        up_to(limit, self.count_until(text, limit.into(), &mut Known::default()))
    }

    /// Every token is a byte or more.
    fn most(&self, bytes: usize) -> Option<u64> {
        Some(bytes as u64)
    }

    fn adds_up_before(&self, next: &str) -> bool {
        self.encoding.adds_up_before(next)
    }
}
