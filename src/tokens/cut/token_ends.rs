//! The tokens of a whole text, from which the tokens of its parts follow without counting most of them again.
//!
//! A text falls into pieces, each encoded by itself, and the end of a piece depends on the text after it, not on the
//! text before it. So a part of a text that begins at a piece of the whole has the same pieces as the whole, except the
//! last ones, which end with the part. Within a piece, any run of consecutive tokens of an encoding is the encoding of
//! its bytes (docs/decisions/exact-counting.md).

use std::rc::Rc;

use crate::text::concat;
use crate::tokens::Counter;
use crate::tokens::bpe::meet;
use crate::tokens::codec::{Codec, PIECE};

/// The number of pieces before the end of a part that may differ from those of the whole. The end of a piece depends
/// only on the run of white space or capitals that it is in, which is at most two pieces, and on the letters of a
/// contraction.
const UNSETTLED: usize = 4;

/// Longer pieces are evaluated by their tokens, shorter ones counted. No token is as long.
const LONG_PIECE: usize = 256;

/// Known tokens in a window on each side of a join, or at the end of a part: more of them if fewer are inconclusive.
const WINDOWS: [usize; 3] = [8, 32, 128];

/// Two parts of a text with another text between them.
struct Joined<'j> {
    text: &'j str,
    /// The begin and the end of the first part in the whole text.
    from: usize,
    head: usize,
    /// The begin of the second part, in this text and in the whole one.
    join: usize,
    tail: usize,
}

impl Joined<'_> {
    /// The offset in the first part of the byte at `at`.
    fn before(&self, at: usize) -> Option<usize> {
        self.from.checked_add(at).filter(|place| *place < self.head)
    }

    /// The offset in the second part of the byte at `at`, or of its end.
    fn after(&self, at: usize) -> Option<usize> {
        at.checked_sub(self.join).map(|at| self.tail + at)
    }

    /// The offset in this text of an offset in the second part.
    fn place(&self, after: usize) -> usize {
        self.join + after.saturating_sub(self.tail)
    }
}

/// The ends of the tokens of a text, from its beginning.
#[derive(Debug)]
pub(super) struct TokenEnds<'t> {
    text: &'t str,
    counter: &'t dyn Counter,
    ends: Rc<Vec<usize>>,
}

impl<'t> TokenEnds<'t> {
    /// At least this many tokens of a text, if the counter has tokens and knows the pieces of a text.
    pub(super) fn new(text: &'t str, max_tokens: usize, counter: &'t dyn Counter) -> Option<Self> {
        let ends = Rc::new(counter.codec()?.token_ends(text, max_tokens)?);
        Some(Self { text, counter, ends })
    }

    /// The ends of the tokens, with [`PIECE`] at the ends of pieces.
    pub(super) fn ends(&self) -> Rc<Vec<usize>> {
        Rc::clone(&self.ends)
    }

    /// The number of tokens that end at or before byte `at`.
    pub(super) fn number_at(&self, at: usize) -> usize {
        self.ends.partition_point(|&end| end & !PIECE <= at)
    }

    /// The end of the token with this number, counted from 1; of the last one if there are fewer.
    pub(super) fn end_of(&self, number: usize) -> usize {
        let end = number.min(self.ends.len()).checked_sub(1).and_then(|at| self.ends.get(at));
        end.map_or(0, |end| end & !PIECE)
    }

    /// Whether a piece ends with the token of this number, or none has begun.
    fn ends_piece(&self, number: usize) -> bool {
        number.checked_sub(1).is_none_or(|at| self.ends.get(at).is_some_and(|end| end & PIECE != 0))
    }

    /// The token count of the part of the text between two offsets.
    pub(super) fn count(&self, start: usize, end: usize) -> u64 {
        let Some(codec) = self.counter.codec() else { return 0 };
        let first = self.number_at(start);
        let settled = self.settled_before(first, end);
        let (mut at, mut number, mut count) = (start, first, 0_u64);
        while at < end {
            if number < settled && self.end_of(number) == at && self.ends_piece(number) {
                count += settled.saturating_sub(number) as u64;
                (at, number) = (self.end_of(settled), settled);
                continue;
            }
            let (tokens, next) = self.count_piece(codec, at, number, end);
            count += tokens;
            at = next;
            while self.ends.get(number).is_some_and(|end| end & !PIECE <= at) {
                number += 1;
            }
        }
        count
    }

    /// The token count of the first `head` bytes of the text, another text and the text after byte `tail` together.
    pub(super) fn count_around(&self, head: usize, between: &str, tail: usize) -> u64 {
        let Some(codec) = self.counter.codec() else { return 0 };
        let settled = self.settled_before(0, head);
        let from = self.end_of(settled);
        let (kept, after) = (self.text.get(from..head).unwrap_or_default(), self.text.get(tail..).unwrap_or_default());
        let join = kept.len() + between.len();
        let joined = Joined { text: &concat(&[kept, between, after]), from, head, join, tail };
        let (mut at, mut count) = (0, settled as u64);
        while at < joined.text.len() {
            if let Some(place) = joined.after(at) {
                let number = self.number_at(place);
                if self.end_of(number) == place && self.ends_piece(number) {
                    return count + self.ends.len().saturating_sub(number) as u64;
                }
            }
            let rest = joined.text.get(at..).unwrap_or_default();
            let next = at + codec.first_piece(rest).max(1);
            let piece = joined.text.get(at..next).unwrap_or_default();
            let is_there = |place: usize| self.text.get(place..).is_some_and(|rest| rest.starts_with(piece));
            let long = match joined.before(at) {
                _ if piece.len() <= LONG_PIECE => None,
                // If one character is repeated, for example, the joined parts equal a part of the original.
                Some(place) if is_there(place) => Some(self.count(place, place + piece.len())),
                _ => self.count_long(codec, &joined, at, next),
            };
            count += long.unwrap_or_else(|| self.counter.count(piece).into());
            at = next;
        }
        count
    }

    /// Counts a long piece of a joined text: known tokens up to one that a window around the join has, too, those of
    /// the window, and known ones from a common one after the join. `None` if no common ones follow soon, or they
    /// belong to several pieces.
    fn count_long(&self, codec: &dyn Codec, joined: &Joined<'_>, start: usize, end: usize) -> Option<u64> {
        // The known tokens before the join, by the numbers of the tokens at their begin and end, and those after it.
        let (before, after) = (joined.before(start), joined.after(end).filter(|place| *place > joined.tail));
        let head = joined.head.min(joined.from + end);
        let tail = joined.after(start).unwrap_or(joined.tail);
        let (first, last) = before.map_or((0, 0), |place| (self.number_at(place), self.number_at(head)));
        let (mut next, to) = after.map_or((0, 0), |place| (self.number_at(tail), self.number_at(place)));
        next += usize::from(after.is_some() && self.end_of(next) < tail);
        let ends = |place: Option<usize>, number: usize| place.is_none_or(|place| self.end_of(number) == place);
        let is_piece = |from: usize, to: usize| !(from + 1..to).any(|number| self.ends_piece(number));
        if next > to || !ends(before, first) || !ends(after, to) || !is_piece(first, last) || !is_piece(next, to) {
            return None;
        }
        let bounds = |from: usize, to: usize, place: &dyn Fn(usize) -> usize| -> Vec<u32> {
            (from..=to).map(|number| place(self.end_of(number)) as u32).collect()
        };
        for many in WINDOWS {
            let (from, until) = (first.max(last.saturating_sub(many)), to.min(next + many));
            let (is_first, is_last) = (from == first, until == to);
            let begin = if is_first { start } else { self.end_of(from).saturating_sub(joined.from) };
            let stop = if is_last { end } else { joined.place(self.end_of(until)) };
            let met = window(codec, joined.text, begin, stop).and_then(|window| {
                let (known, at) = if is_first {
                    (0, 0)
                } else {
                    meet(&bounds(from, last, &|end| end.saturating_sub(joined.from)), &window)?
                };
                let new = window.get(at..)?;
                let (new, skipped) = if is_last {
                    (new.len().saturating_sub(1), until.saturating_sub(next))
                } else {
                    meet(new, &bounds(next, until, &|end| joined.place(end)))?
                };
                let known = from.saturating_sub(first) + known;
                Some((known + new + to.saturating_sub(next).saturating_sub(skipped)) as u64)
            });
            if met.is_some() || is_first && is_last {
                return met;
            }
        }
        None
    }

    /// The number of the last token after which the pieces of the text up to `end` may differ from those of the whole;
    /// at least `first`.
    fn settled_before(&self, first: usize, end: usize) -> usize {
        let mut number = self.number_at(end);
        let mut pieces = 0;
        while number > first {
            pieces += usize::from(self.ends_piece(number));
            if pieces > UNSETTLED {
                break;
            }
            number = number.saturating_sub(1);
        }
        number
    }

    /// Counts the piece that begins at byte `at` and continues with the token after `number`, in the text up to `end`;
    /// returns its end, too.
    fn count_piece(&self, codec: &dyn Codec, at: usize, number: usize, end: usize) -> (u64, usize) {
        let rest = self.text.get(at..end).unwrap_or_default();
        let next = at + codec.first_piece(rest).max(1);
        if next.saturating_sub(at) > LONG_PIECE && self.end_of(number) == at {
            let last = self.number_at(next);
            let is_within = !(number + 1..last).any(|number| self.ends_piece(number));
            if is_within && self.end_of(last) == next {
                return (last.saturating_sub(number) as u64, next);
            }
        }
        let long = if next.saturating_sub(at) > LONG_PIECE { self.count_within(codec, at, next) } else { None };
        (long.unwrap_or_else(|| self.counter.count(self.text.get(at..next).unwrap_or_default()).into()), next)
    }

    /// Counts a part of a long piece that begins and ends inside tokens: those of a window at each end up to a known
    /// token, and the known ones between. `None` if none follows soon.
    fn count_within(&self, codec: &dyn Codec, mut start: usize, mut end: usize) -> Option<u64> {
        let (number, last) = (self.number_at(start), self.number_at(end));
        if (number + 1..last).any(|number| self.ends_piece(number)) {
            return None;
        }
        // If one byte is repeated, all parts of the same length have the same count.
        let known_end = self.end_of(number);
        let bytes = self.text.as_bytes().get(known_end..end)?;
        if bytes.iter().all(|byte| Some(byte) == bytes.first()) {
            (start, end) = (known_end, end.saturating_sub(start.saturating_sub(known_end)));
        }
        let last = self.number_at(end);
        let known =
            |from: usize, to: usize| -> Vec<u32> { (from..=to).map(|number| self.end_of(number) as u32).collect() };
        for many in WINDOWS {
            let (first, from) = (number + 1, last.checked_sub(many)?);
            let to = first + many;
            if to >= from {
                return None;
            }
            // The number of new tokens, and the number of the known one that they end with.
            let head = match start == known_end {
                true => Some((0, number)),
                false => window(codec, self.text, start, self.end_of(to)).and_then(|head| {
                    let (new, met) = meet(&head, &known(first, to))?;
                    Some((new, first + met))
                }),
            };
            // The number of the known token that they begin with, and the number of new ones.
            let tail = window(codec, self.text, self.end_of(from), end).and_then(|tail| {
                let (met, known) = meet(&known(from, last), &tail)?;
                Some((from + met, tail.len().saturating_sub(1).saturating_sub(known)))
            });
            if let (Some((before, begin)), Some((stop, after))) = (head, tail) {
                return Some((before + stop.saturating_sub(begin) + after) as u64);
            }
        }
        None
    }
}

/// The token bounds of a part of a text; `None` if it is not one piece, or begins or ends inside a character.
fn window(codec: &dyn Codec, text: &str, start: usize, end: usize) -> Option<Vec<u32>> {
    let ends = codec.token_ends(text.get(start..end)?, usize::MAX)?;
    let is_piece = ends.iter().rev().skip(1).all(|end| end & PIECE == 0);
    let bounds = [0].into_iter().chain(ends).map(|end| (start + (end & !PIECE)) as u32);
    is_piece.then(|| bounds.collect())
}
