//! The token estimator: the likely number of `o200k_base` tokens of a text, without a vocabulary.
//!
//! # The model
//!
//! The text is split into pieces in nearly the way the `o200k_base` pre-tokenizer splits it: a word with
//! the one space or sign before it, up to three digits, a run of signs, a run of white space. A piece
//! costs a sum of learned weights:
//!
//! - one for each character, by its script or kind and its place in the piece;
//! - one for each run of two, three and four characters, looked up by hash in a small table
//!   that all languages share. Frequent runs lower the cost, rare ones raise it;
//! - a few for the whole piece: its length, its letter case, the preceding character, its last letters, its spelling by
//!   hash.
//!
//! In scripts written without spaces each character is a separate piece that still sees its neighbors. Text beyond
//! ASCII costs at least a lower bound: characters that no token has next to each other are separate tokens
//! (src/tokens/heuristic_joins.rs). A cost above the bound of one piece makes up for later pieces below theirs,
//! because the weights spread the cost of a token over its pieces. Text that the training data lacks, such as runs of line
//! ends or of wide spaces, braille, private-use characters and unassigned ranges, has a floor of its own. The weights
//! are integers in units of 1/64 token, fitted to real counts and stored in heuristic_weights.bin. There are no floats
//! and no state outside the call, so every platform returns the same number.
//!
//! # Guarantees
//!
//! - Only the empty text counts 0.
//! - No text counts more than two tokens per byte.
//! - Paragraphs add up: the count is rounded to whole tokens at each blank line, to at least one, and text before a
//!   blank line never affects the text after it. For trimmed, non-empty `a` and `b`,
//!   `count(a + "\n\n" + b) == count(a + "\n\n") + count(b)`.
//!
//! The end of the text ends a piece like any other boundary, so a longer text can count less, as with the
//! real tokenizer: one more letter may complete a frequent word. docs/estimator.md has the measured errors.
//!
//! Without `inline(always)` estimating takes 16 % longer: docs/decisions/inlining.md.

use super::heuristic_joins::{PAIRS_END, in_run, is_joined, more_tokens};
use super::heuristic_ranges::{CLASSES, How, RANGES, Ranges};
use super::heuristic_words::{Word, WordCostCache};
use super::utf8::code_point;

/// Weight units per token.
const UNIT: u64 = 64;
/// A piece still open after this many characters is counted so far and continues as a new one.
const PIECE_MAX: u32 = 32;
/// Minimum cost of a word, a number or a run of signs, in units.
const MIN_PIECE_UNITS: u32 = 8;

/// Maximum tokens per byte. No piece of any real text comes near; it bounds the cost of a text by its length.
pub(crate) const MAX_TOKENS_PER_BYTE: u64 = 2;

// The first index of each group of dense weights.
const D_CHAR: usize = 0;
const D_START: usize = D_CHAR + 4 * CLASSES;
const D_END: usize = D_START + 16;
const D_SPACE: usize = D_END + 40;
const D_BREAK: usize = D_SPACE + 16;
/// The number of dense weights.
pub(crate) const DENSE_LEN: usize = D_BREAK + 4;
/// The number of n-gram weights.
pub(crate) const GRAMS_LEN: usize = 23552;
/// The unit of n-gram weights, in [`UNIT`]s: 3/16 token. Coarse, so that the table compresses well.
pub(crate) const GRAM_UNIT: i32 = 12;

/// The weights: dense weights in [`UNIT`]s, two bytes each, low byte first, by kind of character and piece; then the
/// n-gram weights in [`GRAM_UNIT`]s, one byte each. Fitted to counts of `o200k_base`; docs/estimator.md has the errors.
const WEIGHTS: &[u8; 2 * DENSE_LEN + GRAMS_LEN] = include_bytes!("heuristic_weights.bin");

/// The weights by kind of character and piece.
#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
static DENSE: [i16; DENSE_LEN] = {
    let mut dense = [0; DENSE_LEN];
    let mut id = 0;
    while id < DENSE_LEN {
        dense[id] = i16::from_le_bytes([WEIGHTS[2 * id], WEIGHTS[2 * id + 1]]);
        id += 1;
    }
    dense
};

/// The n-gram weights.
#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
static GRAMS: [i8; GRAMS_LEN] = {
    let mut grams = [0; GRAMS_LEN];
    let mut cell = 0;
    while cell < GRAMS_LEN {
        grams[cell] = WEIGHTS[2 * DENSE_LEN + cell].cast_signed();
        cell += 1;
    }
    grams
};

/// Estimates how many `o200k_base` tokens `text` costs (docs/estimator.md).
///
/// The unit is tokens; the number saturates at `u32::MAX`. One pass, no allocation.
/// 0 for the empty text alone.
///
/// ```
/// # use ctxweave::tokens::heuristic::count;
/// assert_eq!(count(""), 0);
/// assert_eq!(count("Hello\n\nworld"), count("Hello\n\n") + count("world"));
/// ```
#[must_use]
pub fn count(text: &str) -> u32 {
    count_scaled(text, Scale::default(), None)
}

/// [`count`] scaled to another tokenizer, with a cache of word costs.
pub(super) fn count_scaled(text: &str, scale: Scale, words: Option<&mut WordCostCache>) -> u32 {
    let mut tally = Tally { words, ..Tally::new(u64::MAX, scale) };
    walk(text, &mut tally);
    tally.tokens(text)
}

/// The count of `text` if it is at most `limit` tokens, else `None` (docs/tokens.md, `countUpTo`).
///
/// Equal to [`count`] if it returns a number. It stops reading soon after the limit is passed.
#[must_use]
pub fn count_up_to(text: &str, limit: u32) -> Option<u32> {
    count_up_to_scaled(text, limit, Scale::default(), None)
}

/// [`count_up_to`] scaled to another tokenizer, with a cache of word costs.
pub(super) fn count_up_to_scaled(
    text: &str,
    limit: u32,
    scale: Scale,
    words: Option<&mut WordCostCache>,
) -> Option<u32> {
    // The largest cost that is still rounded down to the limit.
    let max_cost = u64::from(limit).saturating_mul(scale.unit).saturating_add(scale.unit / 2 - 1);
    let mut tally = Tally { words, ..Tally::new(max_cost, scale) };
    if walk(text, &mut tally) {
        return None;
    }
    Some(tally.tokens(text)).filter(|&tokens| tokens <= limit)
}

/// The ratio of another tokenizer's counts to the estimate, by kind of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// For Latin letters; for digits, signs and white space; for all other characters.
    factors: [u16; 3],
    /// By class of character; overrides `factors`.
    by_class: Option<&'static [u16; CLASSES]>,
    /// Scaled units per token.
    unit: u64,
}

impl Default for Scale {
    /// The unscaled estimate.
    fn default() -> Self {
        Self { factors: [1; 3], by_class: None, unit: UNIT }
    }
}

impl Scale {
    /// Factors in percent.
    pub(super) fn percent(factors: [u16; 3]) -> Self {
        Self { factors, by_class: None, unit: UNIT * 100 }
    }

    /// Factors in percent by class of character.
    pub(super) fn by_class(factors: &'static [u16; CLASSES]) -> Self {
        Self { factors: [100; 3], by_class: Some(factors), unit: UNIT * 100 }
    }

    /// The factor for a piece, by the weight of its last character.
    #[inline(always)]
    fn of(self, character: usize) -> u64 {
        if let Some(factor) = self.by_class.and_then(|factors| factors.get(character / 4)) {
            return (*factor).into();
        }
        let [latin, signs, others] = self.factors;
        let factor = match character / 4 {
            0 | 1 | 7 | 9..=12 | 78 | 93 => latin,
            2..=8 | 65 => signs,
            _ => others,
        };
        factor.into()
    }
}

/// The weight of an ASCII sign.
const SIGN: usize = D_CHAR + 4 * 4;

/// The receiver of a walk over a text: the weights of each piece, and the ends of pieces.
pub(crate) trait Sink {
    /// The open piece has the dense weight `id`.
    fn dense(&mut self, id: usize);
    /// The open piece has the n-gram weight in `cell`.
    fn gram(&mut self, cell: usize);
    /// The open piece ends before byte `end` and costs at least `least` units. `true` stops the walk.
    fn close(&mut self, end: usize, least: u32) -> bool;
    /// The piece that is closed next costs at least `units`, unless pieces before it cost more than theirs.
    fn bound(&mut self, units: u32);
    /// A paragraph ends here, immediately after a close.
    fn paragraph(&mut self);
    /// Whether the sink has cached word costs.
    fn knows_words(&self) -> bool {
        false
    }
    /// Consumes the word whose first letter is at byte `at`, and the words after it, as closed pieces, if the sink has
    /// their costs. The first piece begins at byte `from`; at most the character before the word was reported. Returns
    /// the end of the last piece, and whether to stop the walk.
    fn recall(&mut self, text: &[u8], from: usize, at: usize) -> Option<(usize, bool)> {
        let _ = (text, from, at);
        None
    }
    /// Reports that the piece just closed, which began at byte `from`, was this word.
    fn learn(&mut self, word: &Word, from: usize) {
        let _ = (word, from);
    }
}

/// Sums up weights.
pub(crate) struct Tally<'a> {
    /// Scaled units of all closed pieces.
    total: u64,
    /// Their part before the paragraph, in whole tokens.
    before: u64,
    scale: Scale,
    /// The weight of the last character of the open piece.
    character: usize,
    /// Units of the open piece.
    open: i32,
    /// The begin of the open piece.
    from: usize,
    /// Minimum cost of the open piece, if it has characters beyond ASCII.
    bound: Option<u32>,
    /// Units by which the pieces before cost more than their bounds.
    credit: u32,
    /// The begin of the last piece, and its cost.
    last: (usize, u32),
    stop_above: u64,
    words: Option<&'a mut WordCostCache>,
}

impl Tally<'_> {
    pub(crate) fn new(stop_above: u64, scale: Scale) -> Self {
        Tally {
            total: 0,
            before: 0,
            scale,
            character: SIGN,
            open: 0,
            from: 0,
            bound: None,
            credit: 0,
            last: (0, 0),
            stop_above,
            words: None,
        }
    }

    pub(crate) fn tokens(&self, text: &str) -> u32 {
        let tokens = u32::try_from(self.rounded() / self.scale.unit).unwrap_or(u32::MAX);
        if text.is_empty() { 0 } else { tokens.max(1) }
    }

    #[inline(always)]
    fn add(&mut self, cost: u64) -> bool {
        self.total = self.total.saturating_add(cost.saturating_mul(self.scale.of(self.character)));
        self.character = SIGN;
        self.total > self.stop_above
    }

    /// The cost of the piece, raised to its bound less the credit of the pieces before it.
    #[inline(always)]
    fn bounded(&mut self, cost: u32) -> u32 {
        let Some(bound) = self.bound.take() else { return cost };
        let raised = cost.max(bound.saturating_sub(self.credit));
        self.credit = (self.credit + raised).saturating_sub(bound).min(MAX_CREDIT);
        raised
    }

    /// The total with the paragraph rounded to whole tokens, to at least one if it is not empty.
    fn rounded(&self) -> u64 {
        let units = self.total.saturating_sub(self.before);
        let least = if units == 0 { 0 } else { 1 };
        let unit = self.scale.unit;
        let tokens = (units.saturating_add(unit / 2) / unit).max(least);
        self.before.saturating_add(tokens.saturating_mul(unit))
    }
}

impl Sink for Tally<'_> {
    #[inline(always)]
    fn dense(&mut self, id: usize) {
        if id < D_START {
            self.character = id;
        }
        let weight = DENSE.get(id).copied().unwrap_or(0);
        self.open = self.open.wrapping_add(i32::from(weight));
    }

    #[inline(always)]
    fn gram(&mut self, cell: usize) {
        let weight = GRAMS.get(cell).copied().unwrap_or(0);
        self.open = self.open.wrapping_add(i32::from(weight).wrapping_mul(GRAM_UNIT));
    }

    // Not inlined: there are many callers.
    fn close(&mut self, end: usize, least: u32) -> bool {
        let cost = self.bounded(u32::try_from(self.open).unwrap_or(0).max(least));
        let max_cost = (end.saturating_sub(self.from) as u64).saturating_mul(UNIT * MAX_TOKENS_PER_BYTE);
        let cost = if u64::from(cost) > max_cost { max_cost as u32 } else { cost };
        self.last = (self.from, cost);
        self.open = 0;
        self.from = end;
        self.add(cost.into())
    }

    #[inline(always)]
    fn bound(&mut self, units: u32) {
        self.bound = Some(units);
    }

    fn paragraph(&mut self) {
        self.total = self.rounded();
        self.before = self.total;
        self.credit = 0;
    }

    #[inline(always)]
    fn knows_words(&self) -> bool {
        self.words.is_some()
    }

    #[inline(always)]
    fn recall(&mut self, text: &[u8], from: usize, at: usize) -> Option<(usize, bool)> {
        // A carriage return before it belongs to the piece, too.
        let words = self.words.as_ref().filter(|_| self.from == from)?;
        // They end with a letter.
        let factor = self.scale.of(D_CHAR);
        let run = words.run(text, from, at, self.stop_above.saturating_sub(self.total) / factor.max(1))?;
        self.total = self.total.saturating_add(run.cost.saturating_mul(factor));
        self.character = SIGN;
        self.open = 0;
        self.from = run.end;
        Some((run.end, self.total > self.stop_above))
    }

    fn learn(&mut self, word: &Word, from: usize) {
        if let Some(words) = self.words.as_mut().filter(|_| self.last.0 == from) {
            words.learn(word, self.last.1);
        }
    }
}

/// The kind of piece that a character belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Lower,
    Upper,
    /// A letter without case, or a mark, in a script that puts spaces between words.
    Letter,
    /// A letter in a script that does not.
    Unspaced,
    Digit,
    Sign,
    Space,
    Newline,
}

/// The piece being read.
#[derive(Clone, Copy, Debug, Default)]
enum Piece {
    #[default]
    /// No piece: at the start of the text or of a paragraph, or between pieces.
    None,
    /// This many spaces.
    Space(u32),
    /// This many line ends.
    Newline(u32),
    Word,
    Digits(u32),
    /// This many signs.
    Signs(u32),
}

/// The state of a walk between two characters.
#[derive(Clone, Copy, Debug, Default)]
struct WalkState {
    piece: Piece,
    /// The last four characters of the piece, 16 bits each, the latest lowest.
    context: u64,
    /// Hash of the whole piece.
    spelling: u64,
    length: u32,
    uppers: u32,
    lower_seen: bool,
    /// Minimum cost of the characters of the piece, in units: for characters whose weights were fitted to few texts.
    floor: u32,
    /// The character before, if it is beyond ASCII and in the same run of such characters.
    wide: u32,
    /// Minimum cost of the characters beyond ASCII, over pieces in a row, in units.
    bound: u32,
    /// The part of the bound that is void if the next character joins the last one.
    unless_joined: u32,
    /// Whether a carriage return precedes the next line end.
    return_seen: bool,
}

struct Walker<'s, S: Sink> {
    sink: &'s mut S,
    state: WalkState,
    /// The range of the last character beyond ASCII.
    range: WideRange,
    /// The range of the last character that may have a floor.
    floor_range: FloorRange,
}

/// Reports the pieces of `text` to `sink`; `true` if the sink stopped it.
pub(crate) fn walk<S: Sink>(text: &str, sink: &mut S) -> bool {
    let (range, floor_range) = (WideRange::EMPTY, FloorRange::EMPTY);
    let mut walker = Walker { sink, state: WalkState::default(), range, floor_range };
    walker.run(text.as_bytes(), 0).is_none_or(|at| walker.end(at))
}

/// The state of an incremental count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paused {
    at: usize,
    total: u64,
    before: u64,
    /// The weight of the last character plus one.
    character: usize,
    open: i32,
    from: usize,
    credit: u32,
    state: WalkState,
}

impl Paused {
    /// Drops the finished beginning of the text from the state; returns its length in bytes.
    pub(super) fn invalidate(&mut self, text: &str) -> usize {
        let bytes = text.floor_char_boundary(self.at.min(self.from));
        self.at = self.at.saturating_sub(bytes);
        self.from = self.from.saturating_sub(bytes);
        bytes
    }
}

/// [`count`] of a text that begins with the one counted before with `paused`: that part is not read again.
pub(super) fn count_incremental(text: &str, scale: Scale, paused: &mut Paused) -> u32 {
    let bytes = text.as_bytes();
    // The meaning of a carriage return depends on the next character.
    let stop = bytes.len().saturating_sub(usize::from(bytes.ends_with(b"\r")));
    let Paused { at, total, before, open, from, credit, state, .. } = *paused;
    let character = paused.character.checked_sub(1).unwrap_or(SIGN);
    let mut tally = Tally { total, before, open, from, credit, character, ..Tally::new(u64::MAX, scale) };
    let sink = &mut tally;
    let (range, floor_range) = (WideRange::EMPTY, FloorRange::EMPTY);
    let mut walker = Walker { sink, state, range, floor_range };
    walker.run(bytes.get(..stop).unwrap_or_default(), at);
    let Tally { total, before, open, from, credit, character, .. } = *walker.sink;
    *paused = Paused {
        at: stop,
        total,
        before,
        character: character.saturating_add(1),
        open,
        from,
        credit,
        state: walker.state,
    };
    walker.run(bytes, stop);
    walker.end(bytes.len());
    tally.tokens(text)
}

impl<S: Sink> Walker<'_, S> {
    /// Reads from byte `at`; returns where it stopped, or `None` if the sink stopped it.
    fn run(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        let knows_words = self.sink.knows_words();
        while let Some(&byte) = bytes.get(at) {
            let (mut c, mut width) = (char::from(byte), 1);
            if byte.is_ascii_lowercase() && self.is_in_word() {
                self.state.lower_seen = true;
                if self.letter(c, 0, at) {
                    return None;
                }
                at += 1;
                continue;
            }
            if byte.is_ascii_alphabetic() && !self.is_in_word() && knows_words {
                if let Some((stop, next)) = self.word(bytes, at) {
                    if stop {
                        return None;
                    }
                    at = next;
                    continue;
                }
            } else if !byte.is_ascii() {
                let (code, bytes) = code_point(bytes, at, byte);
                (c, width) = (char::from_u32(code).unwrap_or_default(), bytes);
            } else if byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                // Part of the line end that follows.
                self.state.return_seen = true;
                at += 1;
                continue;
            }
            if self.step(at, c) {
                return None;
            }
            at += width;
        }
        Some(at)
    }
}

impl<S: Sink> Walker<'_, S> {
    #[inline(always)]
    fn is_in_word(&self) -> bool {
        matches!(self.state.piece, Piece::Word)
    }

    /// Reads a word that begins at byte `at` as a whole, together with cached ones that follow it: whether to stop, and
    /// where to continue. `None` if it is not a simple word.
    fn word(&mut self, text: &[u8], at: usize) -> Option<(bool, usize)> {
        // The piece that the first letter would close is closed here.
        let (stop, from) = match self.state.piece {
            Piece::Space(1) => (false, at.saturating_sub(1)),
            Piece::Signs(1) if self.state.length == 1 => (false, at.saturating_sub(1)),
            Piece::Space(spaces) => {
                self.spaces(spaces.saturating_sub(1));
                let context = self.state.context;
                let stop = self.close(at.saturating_sub(1));
                self.reset(Piece::Space(1));
                self.state.context = context;
                (stop, at.saturating_sub(1))
            }
            _ => (self.close(at), at),
        };
        if stop {
            return Some((true, at));
        }
        if let Some((end, stop)) = self.sink.recall(text, from, at) {
            self.state.piece = Piece::None;
            return Some((stop, end));
        }
        Word::at(text, from, at).map(|word| self.spell(&word, text, from, at))
    }

    /// Reads a simple word letter by letter: the first may be a capital, and none of them ends a piece.
    fn spell(&mut self, word: &Word, text: &[u8], from: usize, at: usize) -> (bool, usize) {
        self.open_word(at);
        let mut end = at;
        for &letter in text.iter().skip(at).take(word.letters) {
            let is_upper = letter.is_ascii_uppercase();
            self.state.uppers = self.state.uppers.wrapping_add(is_upper.into());
            self.state.lower_seen |= !is_upper;
            self.add_character(char::from(letter), is_upper.into());
            end += 1;
        }
        let stop = self.close(end);
        self.sink.learn(word, from);
        (stop, end)
    }

    /// The dense class of a character, and its kind.
    #[inline(always)]
    fn classify(&mut self, c: char) -> (usize, Kind) {
        match c {
            'a'..='z' => (0, Kind::Lower),
            'A'..='Z' => (1, Kind::Upper),
            ' ' | '\t' | '\u{b}' | '\u{c}' => (2, Kind::Space),
            '\n' | '\r' => (2, Kind::Newline),
            '0'..='9' => (3, Kind::Digit),
            '\0'..='\x7f' => (4, Kind::Sign),
            _ => {
                let code = u32::from(c);
                if !self.range.contains(code) {
                    self.range = WideRange::of(code);
                }
                (self.range.class.into(), self.range.kind(code))
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, at: usize, c: char) -> bool {
        let (class, kind) = self.classify(c);
        match kind {
            Kind::Lower | Kind::Upper | Kind::Letter => {
                // A capital after a lower case letter begins a word.
                let ends = kind == Kind::Upper && self.is_in_word() && self.state.lower_seen;
                if ends && self.close(at) || !self.is_in_word() && self.open_word(at) {
                    return true;
                }
                self.state.lower_seen |= kind == Kind::Lower;
                self.state.uppers = self.state.uppers.wrapping_add((kind == Kind::Upper).into());
            }
            Kind::Unspaced => {
                if !self.is_in_word() && self.open_word(at) {
                    return true;
                }
                self.character(c, class);
                // The third of the same character: the weights of its runs already cover it.
                let least = if self.is_repeated() { UNIT as u32 } else { MIN_PIECE_UNITS };
                let floor = self.take_floor();
                return self.sink.close(at + c.len_utf8(), least.max(floor));
            }
            Kind::Sign => {
                if self.sign(at) {
                    return true;
                }
            }
            Kind::Digit => return self.digit(c, class, at),
            Kind::Space => return self.space(c, at),
            Kind::Newline => return self.newline(c, at),
        }
        self.letter(c, class, at)
    }

    /// Adds the weights of one character at its place. Inlined only where words are spelled, because it is large.
    fn character(&mut self, c: char, class: usize) {
        self.add_character(c, class);
    }

    #[inline(always)]
    fn add_character(&mut self, c: char, class: usize) {
        let place = match self.state.length {
            0 => 0,
            1..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        self.sink.dense(D_CHAR.wrapping_add(class.wrapping_mul(4)).wrapping_add(place));
        self.state.context = self.state.context << 16 | u64::from(symbol(c));
        self.sink.gram(cell(self.state.context & 0xFFFF_FFFF, 2));
        self.sink.gram(cell(self.state.context & 0xFFFF_FFFF_FFFF, 3));
        self.sink.gram(cell(self.state.context, 4));
        self.state.spelling = (self.state.spelling ^ u64::from(symbol(c))).wrapping_mul(0x0100_0000_01B3);
        self.state.length = self.state.length.wrapping_add(1);
        if !(' '..='\x7F').contains(&c) {
            self.raise_floor(u32::from(c));
        } else {
            self.state.wide = 0;
            if self.is_repeated() {
                self.state.floor = self.state.floor.saturating_add(in_run(c as u8));
            }
        }
    }

    /// Whether the last three characters are the same.
    #[inline(always)]
    fn is_repeated(&self) -> bool {
        (self.state.context ^ self.state.context >> 16) & 0xFFFF_FFFF == 0
    }

    /// Adds to what the piece costs at least.
    fn raise_floor(&mut self, code: u32) {
        if !(0x20..FLOORS_BEGIN).contains(&code) {
            if !(self.floor_range.start..self.floor_range.end).contains(&code) {
                self.floor_range = FloorRange::of(code);
            }
            self.state.floor = self.state.floor.saturating_add(self.floor_range.floor);
        }
        let before = std::mem::replace(&mut self.state.wide, code);
        let unless_joined = std::mem::take(&mut self.state.unless_joined);
        if before != 0 && code < PAIRS_END && is_joined(before, code) {
            let least = if self.is_repeated() { MIN_REPEATED_UNITS } else { MIN_JOINED_UNITS };
            self.state.bound = self.state.bound.saturating_sub(unless_joined).saturating_add(least);
            return;
        }
        if before == 0 && code < LATIN_ENDS {
            return;
        }
        let Some(more) = more_tokens(code) else {
            self.state.bound = self.state.bound.saturating_add(self.floor_range.floor);
            return;
        };
        if more > 0 || code < PAIRS_END || before == code {
            self.state.unless_joined = more * UNIT as u32;
            let least = if before == 0 { UNIT as u32 } else { apart(code) };
            self.state.bound = self.state.bound.saturating_add(self.state.unless_joined + least);
        } else if code < HANGUL_BEGINS {
            self.state.bound = self.state.bound.saturating_add(MIN_IDEOGRAPH_UNITS);
        }
    }

    #[inline(always)]
    fn letter(&mut self, c: char, class: usize, at: usize) -> bool {
        self.character(c, class);
        if self.state.length >= PIECE_MAX {
            self.state.length = 4;
            self.state.uppers = 0;
            let floor = self.take_floor();
            return self.sink.close(at + c.len_utf8(), MIN_PIECE_UNITS.max(floor));
        }
        false
    }

    /// Starts a word at byte `at`, including the single space or sign before it.
    #[inline(always)]
    fn open_word(&mut self, at: usize) -> bool {
        let context = self.state.context & 0xFFFF;
        let start = match self.state.piece {
            Piece::Space(spaces) => {
                if spaces > 1 {
                    self.spaces(spaces.saturating_sub(1));
                    if self.close(at.saturating_sub(1)) {
                        return true;
                    }
                }
                self.reset(Piece::Word);
                self.state.context = context;
                1
            }
            Piece::Signs(1) if self.state.length == 1 => {
                let WalkState { floor, wide, bound, unless_joined, .. } = self.state;
                self.reset(Piece::Word);
                (self.state.floor, self.state.wide, self.state.bound, self.state.unless_joined) =
                    (floor, wide, bound, unless_joined);
                self.state.context = context;
                if self.state.context == u64::from(b'\'') { 2 } else { 3 }
            }
            _ => {
                if self.close(at) {
                    return true;
                }
                self.reset(Piece::Word);
                0
            }
        };
        self.sink.dense(D_START + start);
        // A tab is not a space: before most words it is a separate token.
        if start == 1 && context != u64::from(b' ') {
            self.sink.dense(D_START + 6);
        }
        false
    }

    fn digit(&mut self, c: char, class: usize, at: usize) -> bool {
        match self.state.piece {
            Piece::Digits(digits) if digits < 3 => self.state.piece = Piece::Digits(digits.wrapping_add(1)),
            Piece::Space(spaces) => {
                if spaces > 1 {
                    self.spaces(spaces.saturating_sub(1));
                    let floor = self.take_floor();
                    if self.sink.close(at.saturating_sub(1), floor) {
                        return true;
                    }
                }
                self.sink.dense(D_SPACE);
                if self.sink.close(at, 0) {
                    return true;
                }
                self.reset(Piece::Digits(1));
            }
            _ => {
                if self.close(at) {
                    return true;
                }
                self.reset(Piece::Digits(1));
            }
        }
        let first = matches!(self.state.piece, Piece::Digits(1));
        self.sink.dense(D_CHAR.wrapping_add(class.wrapping_mul(4)).wrapping_add(usize::from(!first)));
        if !c.is_ascii() {
            // Few tokens have two of them.
            self.state.wide = 0;
            self.raise_floor(u32::from(c));
        }
        false
    }

    /// Starts or continues a run of signs.
    fn sign(&mut self, at: usize) -> bool {
        match self.state.piece {
            Piece::Signs(signs) => self.state.piece = Piece::Signs(signs.wrapping_add(1)),
            Piece::Space(spaces) => {
                if spaces > 1 {
                    self.spaces(spaces.saturating_sub(1));
                    if self.close(at.saturating_sub(1)) {
                        return true;
                    }
                }
                let context = self.state.context;
                self.reset(Piece::Signs(1));
                self.state.context = context;
                // Not 0: a sign after a space is not the prefix of a word.
                self.state.length = 1;
                self.sink.dense(D_START + 5);
                if context != u64::from(b' ') {
                    self.sink.dense(D_START + 7);
                }
            }
            _ => {
                if self.close(at) {
                    return true;
                }
                self.reset(Piece::Signs(1));
                self.sink.dense(D_START + 4);
            }
        }
        false
    }

    fn space(&mut self, c: char, at: usize) -> bool {
        if let Piece::Space(spaces) = self.state.piece {
            self.state.piece = Piece::Space(spaces.saturating_add(1));
            // Long runs of spaces are tokens. For tabs and wide spaces the limit is 16, for no-break spaces 8.
            let more = match c {
                _ if self.state.context != u64::from(symbol(c)) => 32,
                ' ' => 0,
                '\t' => 4,
                '\u{3000}' => 5,
                '\u{a0}' => 8,
                _ => (more_tokens(c.into()).unwrap_or_default() + 1) * UNIT as u32,
            };
            self.state.floor = self.state.floor.saturating_add(more);
            // Runs of up to about 64 spaces are one token.
            if spaces.is_multiple_of(64) {
                self.sink.dense(D_SPACE + 9);
            }
        } else {
            if self.close(at) {
                return true;
            }
            self.reset(Piece::Space(1));
        }
        self.state.context = u64::from(symbol(c));
        false
    }

    /// The weight of a run of spaces that is a separate piece.
    fn spaces(&mut self, spaces: u32) {
        let bucket = match spaces {
            0 | 1 => 1,
            2 => 2,
            3 => 3,
            4..=7 => 4,
            8..=15 => 5,
            _ => 6,
        };
        self.sink.dense(D_SPACE + bucket);
    }

    fn newline(&mut self, c: char, at: usize) -> bool {
        let return_seen = std::mem::take(&mut self.state.return_seen);
        match self.state.piece {
            Piece::Newline(1) => {
                // The second consecutive line end: a paragraph ends.
                self.sink.dense(D_BREAK);
                if self.sink.close(at + 1, 0) {
                    return true;
                }
                self.sink.paragraph();
                self.reset(Piece::Newline(2));
                return false;
            }
            Piece::Newline(lines) => {
                self.state.piece = Piece::Newline(lines.saturating_add(1));
                // In a run 16 line ends are a token, four with carriage returns, two carriage returns alone.
                let more = match c {
                    '\r' => 32,
                    _ if return_seen => 16,
                    _ => 4,
                };
                self.state.floor = self.state.floor.saturating_add(more);
                // Runs of up to about 16 line ends are one token.
                if lines.is_multiple_of(16) {
                    self.sink.dense(D_SPACE + 13);
                }
                return false;
            }
            Piece::Signs(_) => {
                // A token of signs includes the line end after them.
                self.sink.dense(D_SPACE + 10);
                self.state.context = self.state.context << 16 | u64::from(b'\n');
                self.sink.gram(cell(self.state.context & 0xFFFF_FFFF, 2));
                self.sink.gram(cell(self.state.context & 0xFFFF_FFFF_FFFF, 3));
                if self.close(at) {
                    return true;
                }
            }
            Piece::Space(spaces) => {
                self.spaces(spaces);
                self.sink.dense(D_SPACE + 11);
                if self.close(at) {
                    return true;
                }
            }
            Piece::None | Piece::Word | Piece::Digits(_) => {
                if self.close(at) {
                    return true;
                }
                self.sink.dense(D_SPACE + 12);
                if self.sink.close(at + 1, 0) {
                    return true;
                }
            }
        }
        self.reset(Piece::Newline(1));
        false
    }

    /// Ends the text, `at` bytes long.
    fn end(&mut self, at: usize) -> bool {
        if let Piece::Space(spaces) = self.state.piece {
            self.spaces(spaces);
        }
        self.close(at)
    }

    /// Ends the open piece before byte `at`, if any.
    #[inline(always)]
    fn close(&mut self, at: usize) -> bool {
        !matches!(self.state.piece, Piece::None) && self.close_open(at)
    }

    fn close_open(&mut self, at: usize) -> bool {
        let least = match self.state.piece {
            Piece::None => return false,
            Piece::Word => {
                let length = match self.state.length {
                    0..=5 => self.state.length,
                    6 | 7 => 6,
                    8 | 9 => 7,
                    10..=12 => 8,
                    _ => 9,
                };
                let case = match self.state.uppers {
                    0 => 0,
                    1 => 1,
                    _ if self.state.lower_seen => 2,
                    _ => 3,
                };
                self.sink.dense(D_END.wrapping_add((length.wrapping_mul(4).wrapping_add(case)) as usize));
                self.sink.gram(cell(self.state.context & 0xFFFF_FFFF, 6));
                self.sink.gram(cell(self.state.context & 0xFFFF_FFFF_FFFF, 7));
                self.sink.gram(cell(self.state.spelling, 8));
                MIN_PIECE_UNITS
            }
            Piece::Signs(_) => {
                self.sink.gram(cell(self.state.spelling, 9));
                MIN_PIECE_UNITS
            }
            Piece::Digits(_) => MIN_PIECE_UNITS,
            Piece::Newline(_) | Piece::Space(_) => 0,
        };
        self.state.piece = Piece::None;
        let floor = self.take_floor();
        self.sink.close(at, least.max(floor))
    }

    /// The minimum cost of the piece that is closed next.
    #[inline(always)]
    fn take_floor(&mut self) -> u32 {
        if self.state.wide != 0 || self.state.bound > 0 {
            self.sink.bound(std::mem::take(&mut self.state.bound));
        }
        std::mem::take(&mut self.state.floor)
    }

    #[inline(always)]
    fn reset(&mut self, piece: Piece) {
        self.state = WalkState { piece, return_seen: self.state.return_seen, ..WalkState::default() };
    }
}

/// Below this only control characters have a floor.
const FLOORS_BEGIN: u32 = 0x840;
/// Letters before this are in tokens with the letters of ASCII.
const LATIN_ENDS: u32 = 0x380;
/// Minimum units of an ideograph, although tokens have many pairs of them.
const MIN_IDEOGRAPH_UNITS: u32 = 30;
const HANGUL_BEGINS: u32 = 0xAC00;
/// Minimum units of a character that a token has next to the one before it: no token has many of them.
const MIN_JOINED_UNITS: u32 = 9;
/// Minimum units of the third of the same character, although tokens have two of them.
const MIN_REPEATED_UNITS: u32 = 56;
/// Units of earlier pieces above their bound that make up for later ones below it.
const MAX_CREDIT: u32 = 16 * UNIT as u32;

/// Minimum cost of characters whose kind the fit saw in hardly any text, in eighths of a token: most are encoded byte
/// by byte. Each row is a first and a last character.
const FLOORS: &[(u32, u32, u8)] = &[
    (0x0, 0x0, 4),            // NUL
    (0x1, 0x1F, 8),           // controls
    (0x840, 0x8FF, 24),       // Mandaic to Arabic extended
    (0x1100, 0x11FF, 24),     // conjoining jamo
    (0x1800, 0x1B3F, 24),     // Mongolian to Balinese
    (0x1B60, 0x1CFF, 24),     // Balinese signs to Vedic, Lepcha included
    (0x1D40, 0x1DDF, 24),     // phonetic extensions
    (0x200D, 0x200D, 8),      // joins characters
    (0x2340, 0x23BF, 24),     // technical signs
    (0x27C0, 0x2AFF, 24),     // mathematics, braille, arrows
    (0x2B60, 0x2E5D, 24),     // arrows to punctuation, with Glagolitic
    (0x2E5E, 0x2E7F, 24),     // not assigned
    (0x2E80, 0x2E9F, 24),     // radicals
    (0x2EC0, 0x2EF3, 24),     // radicals
    (0x2EF4, 0x2EFF, 24),     // not assigned
    (0x2F00, 0x2FD5, 24),     // radicals
    (0x2FD6, 0x2FEF, 24),     // not assigned
    (0x31A0, 0x31E5, 24),     // bopomofo extended, strokes
    (0x31E6, 0x31EE, 24),     // not assigned
    (0x31EF, 0x31FF, 24),     // strokes, phonetic extensions
    (0x3280, 0x337F, 24),     // enclosed and compatible East Asian characters
    (0x3400, 0x4DFF, 24),     // rare ideographs
    (0xA000, 0xA62B, 24),     // Yi to Vai
    (0xA62C, 0xA63F, 24),     // not assigned
    (0xA640, 0xABFF, 24),     // to Meetei Mayek
    (0xD7B0, 0xD7FF, 24),     // conjoining jamo
    (0xE000, 0xF8FF, 21),     // private use
    (0xF900, 0xFAD9, 24),     // compatibility ideographs
    (0xFADA, 0xFAFF, 24),     // not assigned
    (0xFB07, 0xFB12, 24),     // not assigned
    (0xFDD0, 0xFDEF, 24),     // not assigned
    (0xFEFF, 0xFEFF, 4),      // states the order of bytes
    (0xFF10, 0xFF19, 7),      // full-width digits
    (0xFF65, 0xFF9F, 15),     // half-width kana
    (0xFFEF, 0xFFF8, 24),     // not assigned
    (0x10000, 0x1CFFF, 28),   // letters beyond the first plane
    (0x1D000, 0x1D3FF, 28),   // signs of music and others
    (0x1D400, 0x1D7FF, 22),   // letters and digits of mathematics
    (0x1D800, 0x1DFFF, 28),   // signs of writing, not assigned
    (0x1E000, 0x1EFFF, 28),   // letters beyond the first plane
    (0x1F000, 0x1F1BF, 24),   // tiles and cards
    (0x1FC00, 0x1FFFF, 24),   // not assigned
    (0x20000, 0x323AF, 28),   // rare ideographs
    (0x323B0, 0xDFFFF, 29),   // not assigned
    (0xE0000, 0x10_FFFF, 32), // tags, variations, private use
];

/// Minimum units of a character that no token has after the one before it, if it is a token: more than one token if
/// bytes of two characters merge and tear both apart, less if tokens end within characters.
#[inline(always)]
fn apart(code: u32) -> u32 {
    match code {
        0xFEFF => 28,
        0xF00..0x1000 => 52,
        0xE80..0xF00 | 0x1000..0x10A0 | 0x1200..0x1380 | 0x1780..0x1800 => 66,
        0x900..0xE00 => 70,
        0x1F00..0x2000 | 0x3100..0x31C0 => 86,
        _ => 76,
    }
}

/// A range of characters with the same minimum cost; most characters are in the range of the previous one.
#[derive(Clone, Copy, Debug)]
struct FloorRange {
    start: u32,
    end: u32,
    /// In units.
    floor: u32,
}

impl FloorRange {
    const EMPTY: Self = Self { start: 0, end: 0, floor: 0 };

    fn of(code: u32) -> Self {
        let next = FLOORS.partition_point(|&(start, ..)| start <= code);
        let start_of_next = FLOORS.get(next).map_or(u32::MAX, |&(start, ..)| start);
        match next.checked_sub(1).and_then(|at| FLOORS.get(at)) {
            Some(&(start, last, eighths)) if code <= last => {
                Self { start, end: last + 1, floor: u32::from(eighths) * (UNIT as u32 / 8) }
            }
            Some(&(_, last, _)) => Self { start: last + 1, end: start_of_next, floor: 0 },
            None => Self { end: start_of_next, ..Self::EMPTY },
        }
    }
}

/// A character in 16 bits.
#[inline(always)]
fn symbol(c: char) -> u16 {
    let code = u32::from(c);
    (code ^ code >> 11 & 0xFFE0) as u16
}

/// The cell of the n-gram table for `key`, an n-gram of kind `order`.
#[inline(always)]
fn cell(key: u64, order: u64) -> usize {
    // Fibonacci hashing, once to mix and once to scale; a shift between the orders keeps their keys apart.
    let mixed = (key ^ order << 59).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed.wrapping_mul(GRAMS_LEN as u64) >> 32) as usize
}

/// A range of characters beyond ASCII, cached because most characters are in the range of the one before.
#[derive(Clone, Copy, Debug)]
struct WideRange {
    start: u32,
    end: u32,
    class: u8,
    how: How,
}

impl WideRange {
    /// An empty range.
    const EMPTY: Self = Self { start: 0, end: 0, class: 0, how: How::Sign };

    /// The last range that begins at or before the character.
    fn of(code: u32) -> Self {
        let Ranges { starts, classes, hows } = &RANGES;
        let next = starts.partition_point(|&start| start <= code);
        let index = next.saturating_sub(1);
        let (Some(&start), Some(&class), Some(&how)) = (starts.get(index), classes.get(index), hows.get(index)) else {
            return Self { class: 5, ..Self::EMPTY };
        };
        Self { start, end: starts.get(next).copied().unwrap_or(u32::MAX), class, how }
    }

    #[inline(always)]
    fn contains(&self, code: u32) -> bool {
        (self.start..self.end).contains(&code)
    }

    #[inline(always)]
    fn kind(&self, code: u32) -> Kind {
        let cased = |upper: bool| if upper { Kind::Upper } else { Kind::Lower };
        match self.how {
            How::Lower => Kind::Lower,
            How::Upper => Kind::Upper,
            How::Letter => Kind::Letter,
            How::Unspaced => Kind::Unspaced,
            How::Digit => Kind::Digit,
            How::Sign => Kind::Sign,
            How::Space => Kind::Space,
            How::EvenUpper => cased(code & 1 == 0),
            How::OddUpper => cased(code & 1 == 1),
            How::Indic => match code.wrapping_sub(self.start) {
                0x64 | 0x65 | 0x70 => Kind::Sign,
                0x66..=0x6F => Kind::Digit,
                _ => Kind::Letter,
            },
        }
    }
}
