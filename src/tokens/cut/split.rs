//! Splits a text into pieces with a maximum number of tokens.

use std::cell::RefCell;

use super::blocks::blocks;
use super::places::{Boundary, Places};
use super::prefixes::Prefixes;
use super::token_ends::TokenEnds;
use crate::error::{Code, Error, Result};
use crate::tokens::{Counter, search};

/// The options of [`split`].
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// Maximum tokens per piece; at least one.
    pub max_tokens: u32,
    /// Maximum tokens of the end of a piece that the next one repeats: up to half of `max_tokens`.
    pub overlap: u32,
    /// The preferred boundary. Text without such a boundary in a piece is cut between words, else between clusters.
    pub boundary: Boundary,
    /// Whether the text is Markdown, whose sections and blocks, such as lists, tables and fenced code, are kept whole
    /// if they fit.
    pub markdown: bool,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The begin, in bytes.
    pub start: usize,
    /// The end, in bytes.
    pub end: usize,
    /// The token count.
    pub tokens: u32,
}

/// The pieces of a text, in order. Each is as long as fits, and begins at the end of the previous one, or before it by
/// the overlap.
///
/// # Errors
/// [`Code::InvalidInput`] if a single grapheme cluster has more tokens than a piece may have.
pub fn split(text: &str, options: Split, counter: &dyn Counter) -> Result<Vec<Piece>> {
    let known = TokenEnds::new(text, usize::MAX, counter);
    let places = |boundary| Places::new(text, boundary, usize::MAX, known.as_ref(), counter);
    let mut levels = Vec::new();
    if options.markdown {
        let blocks = blocks(text);
        levels.extend([Places::of_list(text, blocks.sections), Places::of_list(text, blocks.starts)]);
    }
    levels.push(places(options.boundary));
    if matches!(options.boundary, Boundary::Line | Boundary::Sentence) {
        levels.push(places(Boundary::Word));
    }
    let clusters = places(Boundary::Grapheme);
    let splitter = Splitter { text, options, counter, known, levels, clusters };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let mut piece = splitter.piece_from(start)?;
        let end = pieces.last().map_or(0, |piece| piece.end);
        if piece.end <= end && start < end {
            // The overlap would leave no space for new text.
            piece = splitter.piece_from(end)?;
        }
        start = if piece.end < text.len() { splitter.overlap_of(piece) } else { piece.end };
        pieces.push(piece);
    }
    Ok(pieces)
}

struct Splitter<'t> {
    text: &'t str,
    options: Split,
    counter: &'t dyn Counter,
    known: Option<TokenEnds<'t>>,
    /// The places to cut at, preferred ones first.
    levels: Vec<Places<'t>>,
    /// The places between any two clusters.
    clusters: Places<'t>,
}

impl Splitter<'_> {
    /// The longest piece from `start`.
    fn piece_from(&self, start: usize) -> Result<Piece> {
        let rest = self.text.get(start..).unwrap_or_default();
        let max_tokens = self.options.max_tokens;
        let prefixes = RefCell::new(Prefixes::new(rest, self.counter));
        let tokens = |len: usize| match &self.known {
            _ if len == 0 => 0,
            Some(known) => known.count(start, start + len),
            None => prefixes.borrow_mut().count(len, ""),
        };
        let piece = |len: usize| {
            let tokens = u32::try_from(tokens(len)).unwrap_or(u32::MAX);
            Piece { start, end: start + len, tokens }
        };
        if let Some(len) = self.tokens_from(start) {
            return Ok(piece(len));
        }
        let longest = |places: &Places<'_>, most_bytes: usize, guess: usize| {
            let cut = |keep: usize| places.floor(start, start + keep).saturating_sub(start);
            let keep = search::largest(0, most_bytes, guess, max_tokens.into(), |keep| tokens(cut(keep)));
            cut(keep.unwrap_or(0))
        };
        // The limit by clusters. Other boundaries come before that.
        let guess = match &self.known {
            Some(known) => {
                known.end_of(known.number_at(start).saturating_add(max_tokens as usize)).saturating_sub(start)
            }
            None => (max_tokens as usize).saturating_mul(4),
        };
        let reach = longest(&self.clusters, rest.len(), guess);
        for places in self.levels.iter().chain([&self.clusters]) {
            let mut len = places.floor(start, start + reach).saturating_sub(start);
            if tokens(len) > max_tokens.into() {
                len = longest(places, len, len);
            }
            if len > 0 {
                return Ok(piece(len));
            }
        }
        let message =
            format!("`options.maxTokens` is {max_tokens}, but a single character costs more tokens; raise it");
        Err(Error::new(Code::InvalidInput, message).with("path", "options.maxTokens").with("value", max_tokens))
    }

    /// The length of the longest piece from `start` if pieces are cut between known tokens and at least one fits.
    fn tokens_from(&self, start: usize) -> Option<usize> {
        let known =
            self.known.as_ref().filter(|_| self.options.boundary == Boundary::Token && !self.options.markdown)?;
        let (places, max_tokens) = (self.levels.first()?, self.options.max_tokens);
        let first = known.number_at(start);
        let cut = |keep: usize| match keep {
            0 => start,
            _ => places.floor(start, known.end_of(first.saturating_add(keep))),
        };
        let left = known.number_at(self.text.len()).saturating_sub(first);
        let keep = search::largest_by(1, 0, left, max_tokens as usize, max_tokens.into(), &|keep| {
            known.count(start, cut(keep))
        });
        cut(keep?).checked_sub(start).filter(|&len| len > 0)
    }

    /// The begin of the overlap of a piece if it is cut between known tokens.
    fn tokens_to(&self, places: &Places<'_>, Piece { start, end, .. }: Piece) -> Option<usize> {
        let known = self.known.as_ref().filter(|_| self.options.boundary == Boundary::Token)?;
        let overlap = self.options.overlap;
        let (first, last) = (known.number_at(start), known.number_at(end));
        let cut = |keep: usize| match keep {
            0 => end,
            _ => places.ceil(known.end_of(last.saturating_sub(keep)), end),
        };
        // At least one token of the piece is not repeated.
        let longest = last.saturating_sub(first).saturating_sub(1);
        let keep =
            search::largest_by(1, 0, longest, overlap as usize, overlap.into(), &|keep| known.count(cut(keep), end));
        Some(cut(keep?))
    }

    /// The begin of the piece after this one.
    fn overlap_of(&self, piece: Piece) -> usize {
        let Piece { start, end, .. } = piece;
        let overlap = self.options.overlap;
        let own = if self.options.markdown { self.levels.get(2) } else { self.levels.first() };
        let Some(places) = own.filter(|_| overlap > 0) else { return end };
        if let Some(start) = self.tokens_to(places, piece) {
            return start;
        }
        let cut = |keep: usize| places.ceil(end.saturating_sub(keep), end);
        let counted: RefCell<Vec<(usize, u64)>> = RefCell::default();
        let tokens = |from: usize| -> u64 {
            if let Some(&(_, tokens)) = counted.borrow().iter().rev().find(|(known, _)| *known == from) {
                return tokens;
            }
            let tokens = match &self.known {
                Some(known) => known.count(from, end),
                None => self.counter.count(self.text.get(from..end).unwrap_or_default()).into(),
            };
            counted.borrow_mut().push((from, tokens));
            tokens
        };
        let guess = (overlap as usize).saturating_mul(4);
        // At least one byte of the piece is not repeated.
        let longest = end.saturating_sub(start).saturating_sub(1);
        let keep = search::largest(0, longest, guess, overlap.into(), |keep| tokens(cut(keep)));
        cut(keep.unwrap_or(0)).max(start + 1)
    }
}
