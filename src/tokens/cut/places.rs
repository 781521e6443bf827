//! The places to cut a text at. All of them are between two grapheme clusters.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use super::token_ends::TokenEnds;
use crate::text::{Clusters, is_whitespace};
use crate::tokens::Counter;
use crate::tokens::bpe::{is_letter_or_number, is_lower_case};
use crate::tokens::codec::{self, Codec, PIECE};

/// The unit that a cut keeps whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Tokens of the whole text, except that no cluster is torn; without a codec as [`Boundary::Grapheme`].
    #[default]
    Token,
    /// Grapheme clusters.
    Grapheme,
    /// Words: at least one side of a cut is neither letter nor digit, or belongs to a script without spaces between
    /// words.
    Word,
    /// Lines: a cut follows a line end.
    Line,
    /// Sentences: a cut follows a full stop or the like, with its quotes, brackets and white space, or a blank line.
    Sentence,
}

/// Marks that end a sentence before white space, and those that always do.
const ENDS: [char; 8] = ['.', '!', '?', '…', '。', '！', '？', '｡'];
const ENDS_ANYWHERE: [char; 4] = ['。', '！', '？', '｡'];

/// Characters that may separate the end of a sentence from the white space after it.
const CLOSERS: [char; 12] = ['"', '\'', ')', ']', '}', '”', '’', '»', '」', '』', '）', '】'];

/// Maximum number of closing characters that are examined.
const MAX_CLOSERS: usize = 8;

/// The places of one text.
#[derive(Debug)]
pub(super) struct Places<'t> {
    text: &'t str,
    clusters: Clusters<'t>,
    boundary: Boundary,
    /// In order, with or without [`PIECE`]; if there is such a list, its offsets between two clusters are the places.
    list: Option<Rc<Vec<usize>>>,
    /// Long stretches scanned last that have no place except at their ends.
    stretches: RefCell<VecDeque<Range<usize>>>,
}

/// In bytes.
const LONG_STRETCH: usize = 64;

/// Maximum number of cached stretches.
const MAX_KEPT_STRETCHES: usize = 8;

impl<'t> Places<'t> {
    /// The places of a text of which this many tokens, from the beginning, are needed or known.
    pub(super) fn new(
        text: &'t str,
        boundary: Boundary,
        tokens: usize,
        known: Option<&TokenEnds<'_>>,
        counter: &dyn Counter,
    ) -> Self {
        let list = if boundary == Boundary::Token {
            let counted = || counter.codec().map(|codec| Rc::new(ends_of_tokens(codec, text, tokens)));
            known.map(TokenEnds::ends).or_else(counted)
        } else {
            None
        };
        Self { list, ..Self::of_clusters(text, boundary) }
    }

    fn of_clusters(text: &'t str, boundary: Boundary) -> Self {
        Self { text, clusters: Clusters::new(text), boundary, list: None, stretches: RefCell::default() }
    }

    /// The given places, in order.
    pub(super) fn of_list(text: &'t str, list: Vec<usize>) -> Self {
        Self { list: Some(Rc::new(list)), ..Self::of_clusters(text, Boundary::Grapheme) }
    }

    /// The end of the token with this number, counted from 1.
    pub(super) fn end_of_token(&self, number: usize) -> Option<usize> {
        self.list.as_ref()?.get(number.checked_sub(1)?).map(|end| end & !PIECE)
    }

    /// The last place at or before byte `at` and after `from`; else `from`, which is a place.
    pub(super) fn floor(&self, from: usize, at: usize) -> usize {
        if at >= self.text.len() {
            return self.text.len();
        }
        if let Some(list) = &self.list {
            let known = list.get(..list.partition_point(|&end| end & !PIECE <= at)).unwrap_or_default();
            let mut after = known.iter().rev().map(|&end| end & !PIECE).take_while(|&end| end > from);
            return after.find(|&end| self.clusters.is_boundary(end)).unwrap_or(from);
        }
        if matches!(self.boundary, Boundary::Token | Boundary::Grapheme) {
            return self.clusters.floor(at).max(from);
        }
        let from_there = self.text.floor_char_boundary(at);
        let mut at = from_there;
        while at > from && !self.is_place(at) {
            at = match self.stretch_around(at) {
                Some(stretch) => stretch.start,
                None => self.text.floor_char_boundary(at.saturating_sub(1)),
            };
        }
        self.remember(at.max(from)..from_there + 1);
        at.max(from)
    }

    /// The first place at or after byte `at` and before `to`; else `to`, which is a place.
    pub(super) fn ceil(&self, at: usize, to: usize) -> usize {
        if at == 0 {
            return 0;
        }
        if let Some(list) = &self.list {
            let known = list.get(list.partition_point(|&end| end & !PIECE < at)..).unwrap_or_default();
            let mut before = known.iter().map(|&end| end & !PIECE).take_while(|&end| end < to);
            return before.find(|&end| self.clusters.is_boundary(end)).unwrap_or(to);
        }
        if matches!(self.boundary, Boundary::Token | Boundary::Grapheme) {
            return self.clusters.ceil(at).min(to);
        }
        let from_there = self.text.ceil_char_boundary(at);
        let mut at = from_there;
        while at < to && !self.is_place(at) {
            at = match self.stretch_around(at) {
                Some(stretch) => stretch.end,
                None => self.text.ceil_char_boundary(at + 1),
            };
        }
        self.remember(from_there.saturating_sub(1)..at);
        at.min(to)
    }

    /// A stretch around `at` that is known to have no place between its ends.
    fn stretch_around(&self, at: usize) -> Option<Range<usize>> {
        self.stretches.borrow().iter().find(|stretch| stretch.start < at && at < stretch.end).cloned()
    }

    /// Remembers that there is no place between the ends of a stretch.
    fn remember(&self, stretch: Range<usize>) {
        if stretch.len() < LONG_STRETCH {
            return;
        }
        let mut stretches = self.stretches.borrow_mut();
        if stretches.len() >= MAX_KEPT_STRETCHES {
            stretches.pop_front();
        }
        stretches.push_back(stretch);
    }

    /// Whether the text can be cut at `at`, a character boundary within it, by words, lines or sentences.
    fn is_place(&self, at: usize) -> bool {
        let Some((head, rest)) = self.text.split_at_checked(at) else { return false };
        let (Some(before), Some(after)) = (head.chars().next_back(), rest.chars().next()) else { return true };
        let fits = match self.boundary {
            Boundary::Token | Boundary::Grapheme => true,
            Boundary::Word => !(is_of_word(before) && is_of_word(after)),
            Boundary::Line => before == '\n' || before == '\r' && after != '\n',
            Boundary::Sentence => ends_sentence(head, before, after),
        };
        fits && self.clusters.is_boundary(at)
    }
}

/// The ends of at least this many tokens, if the pieces of a text are unknown; for a token that ends inside a
/// character, some offset inside it.
fn ends_of_tokens(codec: &dyn Codec, text: &str, tokens: usize) -> Vec<usize> {
    let mut ids = Vec::new();
    codec.encode_ordinary(text, tokens, &mut ids);
    let mut ends = Vec::with_capacity(ids.len());
    codec::each_end(codec, text, &ids, |end, is_whole| ends.push(end + usize::from(!is_whole)));
    ends
}

/// Whether a character forms a word with an adjacent one.
fn is_of_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    }
    let is_unspaced = matches!(u32::from(c),
        0xe00..0xf00 | 0x1000..0x10a0 | 0x1780..0x1800 | 0x2e80..0xa000 | 0xf900..0xfb00 | 0xff66..0xffa0 | 0x20000..0x40000);
    c == '’' || is_letter_or_number(c) && !is_unspaced
}

/// Whether a sentence ends with `head`, whose last character is `before`, if `after` comes next.
fn ends_sentence(head: &str, before: char, after: char) -> bool {
    if is_whitespace(after) || CLOSERS.contains(&after) || ENDS.contains(&after) {
        return false;
    }
    let without_closers = |mut text: &str| {
        for _ in 0..MAX_CLOSERS {
            text = text.strip_suffix(CLOSERS).unwrap_or(text);
        }
        text.chars().next_back()
    };
    if !is_whitespace(before) {
        let may_end = ENDS_ANYWHERE.contains(&before) || CLOSERS.contains(&before);
        return may_end && without_closers(head).is_some_and(|end| ENDS_ANYWHERE.contains(&end));
    }
    let said = head.trim_end_matches(is_whitespace);
    let white = head.get(said.len()..).unwrap_or_default();
    let breaks = white.bytes().filter(|&byte| byte == b'\n').count();
    breaks >= 2 || !is_lower_case(after) && without_closers(said).is_some_and(|end| ENDS.contains(&end))
}
