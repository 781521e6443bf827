//! The tables of one encoding, and counting with them.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use std::borrow::Cow;
use std::fmt;

use super::Encoding;
use super::added_tokens::{self, Ids, WholePieces};
use super::asset::Asset;
use super::asset::invalid;
use super::build::Tables;
use super::joins;
use super::merge::Parts;
use super::merge_cache::{MEMORABLE, MergeCache};
use super::normalize::{self, Form};
use super::scratch::Scratch;
use super::split::{Pattern, Pieces, load8, with_pattern};
use super::splitter::Splitter;
use super::text_tokens::TextTokens;
use super::token_table::{NONE, Rank, SHORT};
use crate::error::Result;
use crate::tokens::Counter;

/// Pieces per turn. WebAssembly engines switch to optimized code only when a function is called again, so the loop
/// over a long text is split into many calls.
pub(super) const TURN: u32 = 64;

/// A vocabulary, ready to count with: some 3.4 MB for `o200k_base`, half of that for `cl100k_base`. Clones share it.
///
/// Counting allocates no more than the length of the text, and frees it. [`CachingCounter`](super::CachingCounter)
/// keeps some.
#[derive(Clone)]
pub struct Vocabulary {
    name: Name,
    splitter: Splitter,
    tokens: usize,
    /// The checksum of its asset.
    checksum: u64,
    pub(super) tables: Shared<Tables>,
    specials: Vec<(String, Rank)>,
    pub(super) more: Shared<VocabularyExtras>,
}

/// Vocabularies with different names may share tables.
type Name = Cow<'static, str>;
type Shared<T> = std::sync::Arc<T>;

/// The optional parts of a vocabulary.
pub(super) struct VocabularyExtras {
    pub(super) form: Option<Form>,
    pub(super) ids: Ids,
    whole_pieces: Option<WholePieces>,
    /// Added tokens that every text may contain.
    pub(super) text_tokens: Option<TextTokens>,
    /// Added tokens that are not special, and special ones that no text contains.
    decoded: Vec<(Rank, Vec<u8>)>,
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("name", &self.name).field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

impl Vocabulary {
    /// Builds the tables from the asset (docs/vocabularies.md describes its format): for the name of an [`Encoding`]
    /// from the asset of that encoding, for any other name from one that `vocabulary_of` has made.
    ///
    /// # Errors
    /// [`Code::InvalidVocabulary`](crate::Code::InvalidVocabulary) if the asset is damaged, truncated, of another
    /// encoding or of another version of ctxweave. `details`: `tokenizer`, `reason`.
    pub fn load(name: impl AsRef<str>, bytes: &[u8]) -> Result<Self> {
        Self::build(name.as_ref(), bytes)
    }

    fn build(name: &str, bytes: &[u8]) -> Result<Self> {
        let asset = Asset::read(name, bytes)?;
        let more = added_tokens::read(asset.more, asset.tokens).ok_or_else(|| invalid(name, "it is damaged"))?;
        let tables = Tables::build(name, &asset, &more.literals)?;
        let encoding = Encoding::from_name(name);
        Ok(Self {
            name: encoding.map_or_else(|| Cow::Owned(name.to_owned()), |encoding| Cow::Borrowed(encoding.name())),
            splitter: asset.splitter,
            tokens: asset.tokens,
            checksum: asset.stated(),
            tables: Shared::new(tables),
            specials: encoding.map_or(more.specials, Encoding::specials),
            more: Shared::new(VocabularyExtras {
                form: Form::from_number(asset.form).ok_or_else(|| invalid(name, "it is damaged"))?,
                ids: more.ids,
                whole_pieces: WholePieces::new(&more.literals).ok_or_else(|| invalid(name, "it is damaged"))?,
                text_tokens: TextTokens::new(more.found),
                decoded: more.decoded,
            }),
        })
    }

    /// Checks that an asset is the one that was loaded.
    ///
    /// # Errors
    /// As [`Vocabulary::load`], and if it is another one.
    pub fn check(&self, bytes: &[u8]) -> Result<()> {
        Asset::check(self.name(), bytes, self.checksum)
    }

    /// The vocabulary of another encoding with the same asset: it shares the tables.
    pub(crate) fn shared_by(&self, encoding: Encoding, bytes: &[u8]) -> Option<Self> {
        let known = Encoding::from_name(&self.name)?;
        let is_same = known.base() == encoding.base() && Asset::check(&self.name, bytes, self.checksum).is_ok();
        is_same.then(|| Self { name: encoding.name().into(), specials: encoding.specials(), ..self.clone() })
    }

    /// How texts are split into pieces.
    pub fn splitter(&self) -> Splitter {
        self.splitter
    }

    /// The special tokens that a text may contain.
    pub fn specials(&self) -> &[(String, Rank)] {
        &self.specials
    }

    /// The pieces of a text without added tokens: see [`Splitter::split`].
    pub fn split<'t>(&self, text: &'t str) -> Pieces<'t> {
        self.splitter.split(text)
    }

    /// A text as it is split into pieces: normalized, if the vocabulary requires it.
    pub(super) fn normalized<'t>(&self, text: &'t str) -> Cow<'t, str> {
        normalize::normalized(text, self.more.form)
    }

    /// The rank of a piece that is a token only as a whole piece.
    #[inline(always)]
    pub(super) fn whole_piece(&self, bytes: &[u8], at: usize, end: usize) -> Option<Rank> {
        self.more.whole_pieces.as_ref()?.rank(bytes, at, end - at)
    }

    /// Whether the pieces are those of the original text, and each is encoded by merging alone.
    pub(super) fn is_plain(&self) -> bool {
        self.more.form.is_none() && self.more.whole_pieces.is_none() && self.more.text_tokens.is_none()
    }

    /// The bytes of a token that is neither special nor made of text between added tokens.
    pub(super) fn decoded(&self, number: Rank) -> Option<&[u8]> {
        self.more.decoded.iter().find(|(id, _)| *id == number).map(|(_, bytes)| bytes.as_slice())
    }

    /// The count, or some number above `limit` if the count is above it.
    pub(super) fn count_until(&self, text: &str, limit: u64, scratch: &mut Scratch) -> u64 {
        let mut count = 0;
        match &self.more.text_tokens {
            None => count = self.count_normal(&self.normalized(text), limit, scratch),
            Some(tokens) => tokens.each_part(text, self.more.form, |(part, token)| {
                count += match token {
                    Some(_) => 1,
                    None => self.count_normal(part, limit.saturating_sub(count), scratch),
                };
                count <= limit
            }),
        }
        scratch.shrink();
        count
    }

    /// Counts a normalized text without added tokens.
    fn count_normal(&self, text: &str, limit: u64, scratch: &mut Scratch) -> u64 {
        with_pattern!(self.splitter, P => self.count_pieces::<P>(text.as_bytes(), limit, scratch))
    }

    fn count_pieces<P: Pattern>(&self, bytes: &[u8], limit: u64, scratch: &mut Scratch) -> u64 {
        scratch.cache.size_for(bytes.len());
        let (mut at, mut count) = (0, 0);
        while at < bytes.len() && count <= limit {
            (at, count) = self.count_turn::<P>(bytes, (at, count), scratch);
        }
        count
    }

    /// Counts the next [`TURN`] pieces.
    // Not inlined, so that the engine can replace it while a long text is read: docs/decisions/inlining.md.
    #[inline(never)]
    fn count_turn<P: Pattern>(
        &self,
        bytes: &[u8],
        (mut at, mut count): (usize, u64),
        scratch: &mut Scratch,
    ) -> (usize, u64) {
        for _ in 0..TURN {
            if at >= bytes.len() {
                break;
            }
            let end = P::end(self.splitter, bytes, at);
            debug_assert!(end > at && end <= bytes.len());
            count += self.count_short(bytes, at, end, scratch);
            at = end;
        }
        (at, count)
    }

    /// Counts a piece, which usually is short and a token.
    #[inline(always)]
    pub(super) fn count_short(&self, bytes: &[u8], at: usize, end: usize, scratch: &mut Scratch) -> u64 {
        let short = end - at <= SHORT;
        if short && self.tables.words.rank_of_short(bytes, at, end - at) != NONE {
            1
        } else {
            self.count_piece(bytes, at, end, scratch)
        }
    }

    /// Counts a piece that is not a token of up to [`SHORT`] bytes.
    fn count_piece(&self, bytes: &[u8], at: usize, end: usize, scratch: &mut Scratch) -> u64 {
        let long = end - at > SHORT;
        // A piece that is not an ASCII word usually falls apart, and the look-up can wait for its units.
        let ascii = bytes.get(at + 1).is_some_and(u8::is_ascii);
        if long && ascii && self.tables.words.rank_of_longer(bytes, at, end - at) != NONE {
            return 1;
        }
        let asked = ascii || !long;
        // A cached text may also be a unit of a longer piece, which is not a whole piece.
        if self.whole_piece(bytes, at, end).is_some() {
            return 1;
        }
        let Scratch { parts, cache, .. } = scratch;
        if end - at > MEMORABLE {
            return self.count_units(bytes, at, end, asked, parts, cache);
        }
        cache.get_or(bytes, at, end - at, |cache| self.count_units(bytes, at, end, asked, parts, cache))
    }

    /// Counts a piece by its units; `asked` if it is known not to be a token.
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
    pub(super) fn is_token(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let character = joins::character(load8(bytes, start) as u32);
        if end - start == joins::width(character as u8) && matches!(end - start, 2 | 3) {
            return self.tables.characters.contains(character);
        }
        self.tables.words.rank_of(bytes, start, end - start) != NONE
    }

    /// Counts a unit that is not one token.
    fn count_unit(&self, bytes: &[u8], start: usize, end: usize, parts: &mut Parts) -> u64 {
        let words = &self.tables.words;
        self.leaves(bytes, start, end, &mut parts.bounds);
        match *parts.bounds.as_slice() {
            // If the two parts merged, they would be the unit, which is not a token.
            [_, _, _] => 2,
            [a, b, c, d] => {
                let merges = |from: u32, to: u32| words.rank_of(bytes, from as usize, (to - from) as usize) != NONE;
                2 + u64::from(!merges(a, c) && !merges(b, d))
            }
            _ => {
                parts.merge(words, bytes);
                parts.len() as u64
            }
        }
    }

    /// The begins of the initial parts, and the end: bytes, and characters beyond ASCII that no merge enters from
    /// outside.
    pub(super) fn leaves(&self, bytes: &[u8], start: usize, end: usize, leaves: &mut Vec<u32>) {
        leaves.clear();
        let mut at = start;
        let mut reached = false;
        let mut character = joins::character(load8(bytes, at) as u32);
        while at < end {
            let width = joins::width(character as u8).max(1);
            let next = at + width;
            let following = joins::character(load8(bytes, next) as u32);
            let reaches =
                next < end && (character | following) >= 0x80 && self.tables.joins.of_bytes(character, following);
            let whole = matches!(width, 2 | 3) && !(reached || reaches) && self.tables.characters.contains(character);
            leaves.push(at as u32);
            if !whole {
                leaves.extend(at as u32 + 1..next as u32);
            }
            (at, reached, character) = (next, reaches, following);
        }
        leaves.push(end as u32);
    }
}

/// A count in the type that is passed to JavaScript. Only a text of more than 4 GB can exceed it.
pub(super) fn saturate(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The count, unless it is above `limit`.
pub(super) fn up_to(limit: u32, count: u64) -> Option<u32> {
    u32::try_from(count).ok().filter(|&count| count <= limit)
}

impl Counter for Vocabulary {
    fn name(&self) -> &str {
        AsRef::<str>::as_ref(&self.name)
    }

    fn count(&self, text: &str) -> u32 {
        saturate(self.count_until(text, u64::MAX, &mut Scratch::default()))
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        up_to(limit, self.count_until(text, limit.into(), &mut Scratch::default()))
    }

    /// Each token has at least one byte.
    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        let bytes = bytes.saturating_mul(Form::max_bytes_per_byte(self.more.form));
        Some(bytes as u64)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        let crosses_lines = self.more.text_tokens.as_ref().is_some_and(|tokens| tokens.crosses_lines);
        !crosses_lines && self.splitter.is_additive_before(next)
    }
}
