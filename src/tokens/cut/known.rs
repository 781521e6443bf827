//! The tokens of a text as a whole, from which those of its parts follow without counting most of them again.
//!
//! A text falls into pieces, which are encoded each by itself, and where a piece ends depends on what follows, not on what
//! comes before. So a part of a text that begins where a piece of the whole does has the same pieces as the whole, but for
//! the last ones, which end with it. And within a piece neighbours in an encoding are settled: a list of them is the encoding
//! of its bytes (docs/counting.md).

use std::rc::Rc;

use crate::tokens::Counter;
use crate::tokens::codec::{Codec, PIECE};

/// So many pieces before the end of a part may be others than those of the whole. How a piece ends depends on no more than the
/// run of white space or capitals that it is in, which is two pieces at most, and on the letters of a contraction.
const UNSETTLED: usize = 4;

/// A piece that is longer is looked at by its tokens, a shorter one counted. No token is as long.
const LONG_PIECE: usize = 256;

/// Where the tokens of a text end, from its beginning on.
#[derive(Debug)]
pub(super) struct Known<'t> {
    text: &'t str,
    counter: &'t dyn Counter,
    ends: Rc<Vec<usize>>,
}

impl<'t> Known<'t> {
    /// At least so many tokens of a text, if the counter has tokens and says of what pieces a text is.
    pub(super) fn new(text: &'t str, most: usize, counter: &'t dyn Counter) -> Option<Self> {
        let ends = Rc::new(counter.codec()?.token_ends(text, most)?);
        Some(Self { text, counter, ends })
    }

    /// Where the tokens end, with [`PIECE`] where pieces do.
    pub(super) fn ends(&self) -> Rc<Vec<usize>> {
        Rc::clone(&self.ends)
    }

    /// How many tokens end at or before byte `at`.
    pub(super) fn number_at(&self, at: usize) -> usize {
        self.ends.partition_point(|&end| end & !PIECE <= at)
    }

    /// Where the token of that number ends, counted from 1; the last one where there are not so many.
    pub(super) fn end_of(&self, number: usize) -> usize {
        let end = number.min(self.ends.len()).checked_sub(1).and_then(|at| self.ends.get(at));
        end.map_or(0, |end| end & !PIECE)
    }

    /// Whether a piece ends with the token of that number, or none has begun.
    fn ends_piece(&self, number: usize) -> bool {
        number.checked_sub(1).is_none_or(|at| self.ends.get(at).is_some_and(|end| end & PIECE != 0))
    }

    /// How many tokens the part of the text between two of its bytes has by itself.
    pub(super) fn count(&self, start: usize, end: usize) -> u64 {
        let Some(codec) = self.counter.codec() else { return 0 };
        let first = self.number_at(start);
        let settled = self.settled_before(first, end);
        let (mut at, mut number, mut count) = (start, first, 0_u64);
        while at < end {
            if number < settled && self.end_of(number) == at && self.ends_piece(number) {
                count = count.saturating_add(settled.saturating_sub(number) as u64);
                (at, number) = (self.end_of(settled), settled);
                continue;
            }
            let (tokens, next) = self.count_piece(codec, at, number, end);
            count = count.saturating_add(tokens);
            at = next;
            while self.ends.get(number).is_some_and(|end| end & !PIECE <= at) {
                number = number.saturating_add(1);
            }
        }
        count
    }

    /// The number of the last token behind which the pieces of the text up to `end` may be others than those of the whole; not before
    /// `first`.
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

    /// Counts the piece that begins at byte `at` and that of the token after `number`, in the text up to `end`; also where it ends.
    fn count_piece(&self, codec: &dyn Codec, at: usize, number: usize, end: usize) -> (u64, usize) {
        let rest = self.text.get(at..end).unwrap_or_default();
        let next = at.saturating_add(codec.first_piece(rest).max(1));
        if next.saturating_sub(at) > LONG_PIECE && self.end_of(number) == at {
            let last = self.number_at(next);
            let is_within = !(number.saturating_add(1)..last).any(|number| self.ends_piece(number));
            if is_within && self.end_of(last) == next {
                return (last.saturating_sub(number) as u64, next);
            }
        }
        (self.counter.count(self.text.get(at..next).unwrap_or_default()).into(), next)
    }
}
