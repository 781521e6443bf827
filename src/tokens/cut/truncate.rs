//! Truncates a text to a maximum number of tokens.

use std::cell::RefCell;

use super::places::{Boundary, Places};
use super::prefixes::Prefixes;
use super::token_ends::TokenEnds;
use crate::text::concat;
use crate::tokens::Counter;
use crate::tokens::search::{self, FIRST_STEP};

/// The side that is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The end.
    #[default]
    End,
    /// The beginning.
    Start,
    /// The middle; about as many bytes of both ends are kept.
    Middle,
}

/// The options of [`truncate`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Truncate<'m> {
    /// The side that is removed.
    pub side: Side,
    /// Where the text may be cut.
    pub boundary: Boundary,
    /// The replacement of the removed text; its tokens count.
    pub marker: &'m str,
}

/// A truncated text: its beginning, the marker and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated<'t> {
    /// The beginning.
    pub head: &'t str,
    /// The marker, if text was removed and it fits.
    pub marker: &'t str,
    /// The end.
    pub tail: &'t str,
    /// Tokens of the three together.
    pub tokens: u32,
    /// Whether text was removed.
    pub truncated: bool,
}

/// Tokens beyond the limit that are requested: the last ones may change if the text continues.
const MORE: usize = 64;

/// A text with more bytes per token than this is assumed to have more tokens than the limit.
const PLENTY: usize = 4;

/// Truncates a text to `max_tokens` tokens: it keeps as much as fits, so that the text up to the next place to cut at
/// would not fit. Empty if not even the marker fits.
pub fn truncate<'t>(text: &'t str, max_tokens: u32, options: Truncate<'t>, counter: &dyn Counter) -> Truncated<'t> {
    let Truncate { side, boundary, marker } = options;
    let tokens = if side == Side::End { (max_tokens as usize).saturating_add(MORE) } else { usize::MAX };
    // The tokens of a much longer text will be needed.
    let is_long = text.len() / PLENTY > max_tokens as usize;
    let known = if is_long { TokenEnds::new(text, tokens, counter) } else { None };
    let is_more = known.as_ref().is_some_and(|known| known.number_at(text.len()) > max_tokens as usize);
    if let Some(tokens) = if is_more { None } else { counter.count_up_to(text, max_tokens) } {
        return Truncated { head: text, marker: "", tail: "", tokens, truncated: false };
    }
    let known = known.or_else(|| TokenEnds::new(text, tokens, counter));
    let places = Places::new(text, boundary, tokens, known.as_ref(), counter);
    let cut = |keep: usize| -> (usize, usize) {
        match side {
            Side::End => (places.floor(0, keep), text.len()),
            Side::Start => (0, places.ceil(text.len().saturating_sub(keep), text.len())),
            Side::Middle => {
                let head = places.floor(0, keep.div_ceil(2));
                (head, places.ceil(text.len().saturating_sub(keep / 2), text.len()).max(head))
            }
        }
    };
    let prefixes = RefCell::new(Prefixes::new(text, counter));
    // Different lengths map to the same places.
    let counted: RefCell<Vec<((usize, usize), u64)>> = RefCell::default();
    let tokens = |(head, tail): (usize, usize)| {
        if head >= tail {
            return u64::from(max_tokens) + 1;
        }
        if let Some(&(_, tokens)) = counted.borrow().iter().rev().find(|(known, _)| *known == (head, tail)) {
            return tokens;
        }
        let after = text.get(tail..).unwrap_or_default();
        let tokens = match &known {
            Some(known) if marker.is_empty() && (head == 0 || after.is_empty()) => {
                known.count(if head == 0 { tail } else { 0 }, if head == 0 { text.len() } else { head })
            }
            Some(known) => known.count_around(head, marker, tail),
            None => prefixes.borrow_mut().count(head, &concat(&[marker, after])),
        };
        counted.borrow_mut().push(((head, tail), tokens));
        tokens
    };
    let (step, guess) = match &known {
        Some(known) => {
            (NEAR, guess(known, text, side, (max_tokens as usize).saturating_sub(counter.count(marker) as usize)))
        }
        None => {
            (FIRST_STEP, places.end_of_token(max_tokens as usize).unwrap_or((max_tokens as usize).saturating_mul(4)))
        }
    };
    let keep = search::largest_by(step, 0, text.len(), guess, max_tokens.into(), &|keep| tokens(cut(keep)));
    let Some(keep) = keep else { return Truncated { head: "", marker: "", tail: "", tokens: 0, truncated: true } };
    let (head, tail) = cut(keep);
    let count = u32::try_from(tokens((head, tail))).unwrap_or(u32::MAX);
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    Truncated { head, marker, tail, tokens: count, truncated: true }
}

/// Typical maximum error, in bytes, of a guess from known tokens.
const NEAR: usize = 16;

/// The number of bytes that have about as many tokens as requested.
fn guess(known: &TokenEnds<'_>, text: &str, side: Side, max_tokens: usize) -> usize {
    let all = known.number_at(text.len());
    match side {
        Side::End => known.end_of(max_tokens),
        Side::Start => text.len().saturating_sub(known.end_of(all.saturating_sub(max_tokens))),
        Side::Middle => {
            let left = |keep: usize| {
                let after = all.saturating_sub(known.number_at(text.len().saturating_sub(keep / 2)));
                (known.number_at(keep.div_ceil(2)) + after) as u64
            };
            search::largest(0, text.len(), max_tokens.saturating_mul(4), max_tokens as u64, left).unwrap_or(0)
        }
    }
}
