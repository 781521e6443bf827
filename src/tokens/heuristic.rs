//! The token estimator: how many `o200k_base` tokens a text is likely to cost, without a vocabulary.
//!
//! # The model
//!
//! The text is cut into pieces in nearly the way the `o200k_base` pre-tokenizer cuts it: a word with
//! the one space or sign before it, up to three digits, a run of signs, a run of white space. A piece
//! costs a sum of learned weights:
//!
//! - one for each character, by its script or kind and its place in the piece;
//! - one for each run of two, three and four characters, looked up by hash in a small table
//!   that all languages share. Frequent runs lower the cost, rare ones raise it;
//! - a few for the piece as a whole: its length, its letter case, what stands before it, its last
//!   letters, its spelling by hash.
//!
//! In scripts written without spaces each character is a piece of its own that still sees its
//! neighbours. The weights are whole numbers in units of 1/64 token, fitted by `cargo xtask calibrate`
//! to real counts and stored in `heuristic_table`. There are no floats and no
//! state outside the call, so every platform gives the same number.
//!
//! # What holds always
//!
//! - Nothing but the empty text counts 0.
//! - No text counts more than two tokens a byte.
//! - Paragraphs add up: the count is rounded to whole tokens at each blank line, to at least one, and
//!   nothing before a blank line changes what follows it. For trimmed, non-empty `a` and `b`,
//!   `count(a + "\n\n" + b) == count(a + "\n\n") + count(b)`.
//!
//! The end of the text ends a piece like anything else, so a longer text can count less, as it can with the
//! real tokenizer: one more letter may complete a frequent word. It stays an estimate: docs/estimator.md has
//! its measured errors.

use super::heuristic_table::{DENSE, GRAMS};

/// Weight units per token.
const UNIT: u64 = 64;
/// A piece still open after this many characters is counted so far and goes on as a new one.
const PIECE_MAX: u32 = 32;
/// What a word, a number or a run of signs costs at least, in units.
const LEAST: u32 = 8;

/// Tokens that a byte costs at most. No piece of any real text comes near; it bounds what a text can cost by its length.
pub(crate) const MOST_PER_BYTE: u64 = 2;

// Where each group of dense weights begins.
const D_CHAR: usize = 0;
const D_START: usize = D_CHAR + 4 * CLASSES;
const D_END: usize = D_START + 16;
const D_SPACE: usize = D_END + 40;
const D_BREAK: usize = D_SPACE + 16;
/// How many dense weights there are.
pub(crate) const DENSE_LEN: usize = D_BREAK + 4;
/// How many n-gram weights there are.
pub(crate) const GRAMS_LEN: usize = 23552;
/// The unit of n-gram weights, in [`UNIT`]s: 3/16 token. Coarse, so that the table compresses well.
pub(crate) const GRAM_UNIT: i32 = 12;

/// Estimates how many `o200k_base` tokens `text` costs (SPEC.md §6, `heuristic`).
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
    let mut tally = Tally::new(&DENSE, &GRAMS, u64::MAX);
    walk(text, &mut tally);
    tally.tokens(text)
}

/// The count of `text` if it is at most `limit` tokens, else `None` (SPEC.md §6, `countUpTo`).
///
/// Equal to [`count`] where it answers, and stops reading soon after the limit is passed.
#[must_use]
pub fn count_up_to(text: &str, limit: u32) -> Option<u32> {
    // The most that is still rounded down to the limit.
    let most = u64::from(limit).saturating_mul(UNIT).saturating_add(UNIT / 2 - 1);
    let mut tally = Tally::new(&DENSE, &GRAMS, most);
    if walk(text, &mut tally) {
        return None;
    }
    Some(tally.tokens(text)).filter(|&tokens| tokens <= limit)
}

/// What a walk over a text reports: the weights each piece is made of, and where pieces end.
pub(crate) trait Sink {
    /// The open piece has the dense weight `id`.
    fn dense(&mut self, id: usize);
    /// The open piece has the n-gram weight in `cell`.
    fn gram(&mut self, cell: usize);
    /// The open piece ends before byte `end` and costs at least `least` units. True stops the walk.
    fn close(&mut self, end: usize, least: u32) -> bool;
    /// A paragraph ends here, right after a close.
    fn paragraph(&mut self);
}

/// Adds weights up.
pub(crate) struct Tally<'a> {
    dense: &'a [i16; DENSE_LEN],
    grams: &'a [i8; GRAMS_LEN],
    /// Units of all closed pieces.
    total: u64,
    /// The part of them before the paragraph, in whole tokens.
    before: u64,
    /// Units of the open piece.
    open: i32,
    /// Where the open piece begins.
    from: usize,
    stop_above: u64,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(dense: &'a [i16; DENSE_LEN], grams: &'a [i8; GRAMS_LEN], stop_above: u64) -> Self {
        Tally { dense, grams, total: 0, before: 0, open: 0, from: 0, stop_above }
    }

    pub(crate) fn tokens(&self, text: &str) -> u32 {
        let tokens = u32::try_from(self.rounded() / UNIT).unwrap_or(u32::MAX);
        if text.is_empty() { 0 } else { tokens.max(1) }
    }

    /// The total with the paragraph rounded to whole tokens, one at least if there is anything in it.
    fn rounded(&self) -> u64 {
        let units = self.total.saturating_sub(self.before);
        let least = if units == 0 { 0 } else { 1 };
        let tokens = (units.saturating_add(UNIT / 2) / UNIT).max(least);
        self.before.saturating_add(tokens.saturating_mul(UNIT))
    }
}

impl Sink for Tally<'_> {
    #[inline(always)]
    fn dense(&mut self, id: usize) {
        let weight = self.dense.get(id).copied().unwrap_or(0);
        self.open = self.open.wrapping_add(i32::from(weight));
    }

    #[inline(always)]
    fn gram(&mut self, cell: usize) {
        let weight = self.grams.get(cell).copied().unwrap_or(0);
        self.open = self.open.wrapping_add(i32::from(weight).wrapping_mul(GRAM_UNIT));
    }

    #[inline(always)]
    fn close(&mut self, end: usize, least: u32) -> bool {
        let cost = u32::try_from(self.open).unwrap_or(0).max(least);
        let most = (end.saturating_sub(self.from) as u64).saturating_mul(UNIT * MOST_PER_BYTE);
        self.total = self.total.saturating_add(u64::from(cost).min(most));
        self.open = 0;
        self.from = end;
        self.total > self.stop_above
    }

    fn paragraph(&mut self) {
        self.total = self.rounded();
        self.before = self.total;
    }
}

/// What kind of piece a character belongs to.
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
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// None: at the start of the text or of a paragraph, or between pieces.
    None,
    /// So many spaces.
    Space(u32),
    /// So many line ends.
    Newline(u32),
    Word,
    Digits(u32),
    /// So many signs.
    Signs(u32),
}

struct Walker<'s, S: Sink> {
    sink: &'s mut S,
    piece: Piece,
    /// The last four characters of the piece, 16 bits each, the latest lowest.
    context: u64,
    /// Hash of the whole piece.
    spelling: u64,
    length: u32,
    uppers: u32,
    lower_seen: bool,
}

/// Reports the pieces of `text` to `sink`; true if the sink stopped it.
pub(crate) fn walk<S: Sink>(text: &str, sink: &mut S) -> bool {
    let mut walker =
        Walker { sink, piece: Piece::None, context: 0, spelling: 0, length: 0, uppers: 0, lower_seen: false };
    let mut at = 0_usize;
    while let Some(&byte) = text.as_bytes().get(at) {
        let stop = if byte.is_ascii() {
            let c = char::from(byte);
            if byte.is_ascii_lowercase() && walker.piece == Piece::Word {
                // Most of most texts.
                walker.lower_seen = true;
                let stop = walker.letter(c, 0, at);
                at = at.saturating_add(1);
                stop
            } else {
                let stop = walker.step(at, c);
                at = at.saturating_add(1);
                stop
            }
        } else {
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { return false };
            let stop = walker.step(at, c);
            at = at.saturating_add(c.len_utf8());
            stop
        };
        if stop {
            return true;
        }
    }
    walker.end(at)
}

impl<S: Sink> Walker<'_, S> {
    #[inline(always)]
    fn step(&mut self, at: usize, c: char) -> bool {
        let (class, kind) = classify(c);
        match kind {
            Kind::Lower => {
                if self.piece != Piece::Word && self.open_word(at) {
                    return true;
                }
                self.lower_seen = true;
                self.letter(c, class, at)
            }
            Kind::Upper => {
                if self.piece == Piece::Word && self.lower_seen && self.close(at) {
                    return true;
                }
                if self.piece != Piece::Word && self.open_word(at) {
                    return true;
                }
                self.uppers = self.uppers.wrapping_add(1);
                self.letter(c, class, at)
            }
            Kind::Letter => {
                if self.piece != Piece::Word && self.open_word(at) {
                    return true;
                }
                self.letter(c, class, at)
            }
            Kind::Unspaced => {
                if self.piece != Piece::Word && self.open_word(at) {
                    return true;
                }
                self.character(c, class);
                self.sink.close(at.saturating_add(c.len_utf8()), LEAST)
            }
            Kind::Digit => self.digit(class, at),
            Kind::Sign => self.sign(c, class, at),
            Kind::Space => self.space(c, at),
            Kind::Newline => self.newline(c, at),
        }
    }

    /// The weights of one character in its place.
    #[inline(always)]
    fn character(&mut self, c: char, class: usize) {
        let place = match self.length {
            0 => 0,
            1..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        self.sink.dense(D_CHAR.wrapping_add(class.wrapping_mul(4)).wrapping_add(place));
        self.context = self.context << 16 | u64::from(symbol(c));
        self.sink.gram(cell(self.context & 0xFFFF_FFFF, 2));
        self.sink.gram(cell(self.context & 0xFFFF_FFFF_FFFF, 3));
        self.sink.gram(cell(self.context, 4));
        self.spelling = (self.spelling ^ u64::from(symbol(c))).wrapping_mul(0x0100_0000_01B3);
        self.length = self.length.wrapping_add(1);
    }

    #[inline(always)]
    fn letter(&mut self, c: char, class: usize, at: usize) -> bool {
        self.character(c, class);
        if self.length >= PIECE_MAX {
            self.length = 4;
            self.uppers = 0;
            return self.sink.close(at.saturating_add(c.len_utf8()), LEAST);
        }
        false
    }

    /// Starts a word at byte `at`, taking in the single space or sign before it.
    #[inline(always)]
    fn open_word(&mut self, at: usize) -> bool {
        let start = match self.piece {
            Piece::Space(1) => {
                self.reset(Piece::Word);
                self.context = u64::from(b' ');
                1
            }
            Piece::Space(spaces) => {
                self.spaces(spaces.saturating_sub(1));
                if self.close(at.saturating_sub(1)) {
                    return true;
                }
                self.reset(Piece::Word);
                self.context = u64::from(b' ');
                1
            }
            Piece::Signs(1) if self.length == 1 => {
                let context = self.context;
                self.reset(Piece::Word);
                self.context = context & 0xFFFF;
                if self.context == u64::from(b'\'') { 2 } else { 3 }
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
        false
    }

    fn digit(&mut self, class: usize, at: usize) -> bool {
        match self.piece {
            Piece::Digits(digits) if digits < 3 => self.piece = Piece::Digits(digits.wrapping_add(1)),
            Piece::Space(spaces) => {
                if spaces > 1 {
                    self.spaces(spaces.saturating_sub(1));
                    if self.sink.close(at.saturating_sub(1), 0) {
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
        let first = self.piece == Piece::Digits(1);
        self.sink.dense(D_CHAR.wrapping_add(class.wrapping_mul(4)).wrapping_add(usize::from(!first)));
        false
    }

    fn sign(&mut self, c: char, class: usize, at: usize) -> bool {
        match self.piece {
            Piece::Signs(signs) => self.piece = Piece::Signs(signs.wrapping_add(1)),
            Piece::Space(spaces) => {
                if spaces > 1 {
                    self.spaces(spaces.saturating_sub(1));
                    if self.close(at.saturating_sub(1)) {
                        return true;
                    }
                }
                self.reset(Piece::Signs(1));
                self.context = u64::from(b' ');
                // Not 0: a sign with a space before it is no prefix of a word.
                self.length = 1;
                self.sink.dense(D_START + 5);
            }
            _ => {
                if self.close(at) {
                    return true;
                }
                self.reset(Piece::Signs(1));
                self.sink.dense(D_START + 4);
            }
        }
        self.letter(c, class, at)
    }

    fn space(&mut self, c: char, at: usize) -> bool {
        if let Piece::Space(spaces) = self.piece {
            self.piece = Piece::Space(spaces.saturating_add(1));
            // A run of 64 spaces or so is a token.
            if spaces.is_multiple_of(64) {
                self.sink.dense(D_SPACE + 9);
            }
        } else {
            if self.close(at) {
                return true;
            }
            self.reset(Piece::Space(1));
        }
        self.context = u64::from(symbol(c));
        false
    }

    /// The weight of a run of spaces that is a piece of its own.
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
        if c == '\r' {
            // Part of the line end that follows; alone it costs nothing worth counting.
            return false;
        }
        match self.piece {
            Piece::Newline(1) => {
                // The second line end of a row: a paragraph ends.
                self.sink.dense(D_BREAK);
                if self.sink.close(at.saturating_add(1), 0) {
                    return true;
                }
                self.sink.paragraph();
                self.reset(Piece::Newline(2));
                return false;
            }
            Piece::Newline(lines) => {
                self.piece = Piece::Newline(lines.saturating_add(1));
                // A run of 16 line ends or so is a token.
                if lines.is_multiple_of(16) {
                    self.sink.dense(D_SPACE + 13);
                }
                return false;
            }
            Piece::Signs(_) => {
                // Signs take the line end after them into their token.
                self.sink.dense(D_SPACE + 10);
                self.context = self.context << 16 | u64::from(b'\n');
                self.sink.gram(cell(self.context & 0xFFFF_FFFF, 2));
                self.sink.gram(cell(self.context & 0xFFFF_FFFF_FFFF, 3));
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
                if self.sink.close(at.saturating_add(1), 0) {
                    return true;
                }
            }
        }
        self.reset(Piece::Newline(1));
        false
    }

    /// Ends the text, `at` bytes long.
    #[inline(never)]
    fn end(&mut self, at: usize) -> bool {
        if let Piece::Space(spaces) = self.piece {
            self.spaces(spaces);
        }
        self.close(at)
    }

    /// Ends the open piece before byte `at`.
    #[inline(always)]
    fn close(&mut self, at: usize) -> bool {
        let least = match self.piece {
            Piece::None => return false,
            Piece::Word => {
                let length = match self.length {
                    0..=5 => self.length,
                    6 | 7 => 6,
                    8 | 9 => 7,
                    10..=12 => 8,
                    _ => 9,
                };
                let case = match self.uppers {
                    0 => 0,
                    1 => 1,
                    _ if self.lower_seen => 2,
                    _ => 3,
                };
                self.sink.dense(D_END.wrapping_add((length.wrapping_mul(4).wrapping_add(case)) as usize));
                self.sink.gram(cell(self.context & 0xFFFF_FFFF, 6));
                self.sink.gram(cell(self.context & 0xFFFF_FFFF_FFFF, 7));
                self.sink.gram(cell(self.spelling, 8));
                LEAST
            }
            Piece::Signs(_) => {
                self.sink.gram(cell(self.spelling, 9));
                LEAST
            }
            Piece::Digits(_) => LEAST,
            Piece::Newline(_) | Piece::Space(_) => 0,
        };
        self.piece = Piece::None;
        self.sink.close(at, least)
    }

    #[inline(always)]
    fn reset(&mut self, piece: Piece) {
        self.piece = piece;
        self.context = 0;
        self.spelling = 0;
        self.length = 0;
        self.uppers = 0;
        self.lower_seen = false;
    }
}

/// A character in 16 bits.
#[inline(always)]
fn symbol(c: char) -> u16 {
    let code = u32::from(c);
    (code ^ code >> 11 & 0xFFE0) as u16
}

/// The n-gram table cell for `key`, an n-gram of kind `order`.
#[inline(always)]
fn cell(key: u64, order: u64) -> usize {
    // Fibonacci hashing, once to mix and once to scale; a shift between the orders keeps their keys apart.
    let mixed = (key ^ order << 59).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed.wrapping_mul(GRAMS_LEN as u64) >> 32) as usize
}

/// The dense class of a character, and its kind.
#[inline(always)]
fn classify(c: char) -> (usize, Kind) {
    match c {
        'a'..='z' => (0, Kind::Lower),
        'A'..='Z' => (1, Kind::Upper),
        ' ' | '\t' | '\u{b}' | '\u{c}' => (2, Kind::Space),
        '\n' | '\r' => (2, Kind::Newline),
        '0'..='9' => (3, Kind::Digit),
        '\0'..='\x7f' => (4, Kind::Sign),
        _ => classify_wide(c),
    }
}

/// [`classify`] beyond ASCII: the last range that begins at or before the character.
fn classify_wide(c: char) -> (usize, Kind) {
    let code = u32::from(c);
    let index = RANGES.partition_point(|range| range.0 <= code).saturating_sub(1);
    let Some(&(start, class, how)) = RANGES.get(index) else {
        return (5, Kind::Sign);
    };
    let class = usize::from(class);
    let cased = |upper: bool| if upper { Kind::Upper } else { Kind::Lower };
    let kind = match how {
        How::Lower => Kind::Lower,
        How::Upper => Kind::Upper,
        How::Letter => Kind::Letter,
        How::Unspaced => Kind::Unspaced,
        How::Digit => Kind::Digit,
        How::Sign => Kind::Sign,
        How::Space => Kind::Space,
        How::EvenUpper => cased(code & 1 == 0),
        How::OddUpper => cased(code & 1 == 1),
        How::Indic => match code.wrapping_sub(start) {
            0x64 | 0x65 | 0x70 => Kind::Sign,
            0x66..=0x6F => Kind::Digit,
            _ => Kind::Letter,
        },
    };
    (class, kind)
}

/// How the characters of a range are told apart.
#[derive(Clone, Copy)]
enum How {
    Lower,
    Upper,
    Letter,
    Unspaced,
    Digit,
    Sign,
    Space,
    /// Capitals at even code points, small letters at odd ones.
    EvenUpper,
    /// The other way round.
    OddUpper,
    /// A block of 128 laid out as ISCII has it: digits at 0x66, dandas before them.
    Indic,
}

/// How many dense classes there are: five for ASCII, the rest as [`RANGES`] numbers them.
const CLASSES: usize = 117;

/// Where each range of characters begins, its dense class, and how its characters are told apart.
const RANGES: [(u32, u8, How); 285] = [
    (0x80, 5, How::Sign),          // latin1 sign
    (0xA0, 6, How::Space),         // space
    (0xA1, 5, How::Sign),          // latin1 sign
    (0xAA, 7, How::Letter),        // latin1
    (0xAB, 5, How::Sign),          // latin1 sign
    (0xB2, 8, How::Digit),         // digit
    (0xB4, 5, How::Sign),          // latin1 sign
    (0xB5, 7, How::Lower),         // latin1
    (0xB6, 5, How::Sign),          // latin1 sign
    (0xB9, 8, How::Digit),         // digit
    (0xBA, 7, How::Letter),        // latin1
    (0xBB, 5, How::Sign),          // latin1 sign
    (0xBC, 8, How::Digit),         // digit
    (0xBF, 5, How::Sign),          // latin1 sign
    (0xC0, 7, How::Upper),         // latin1
    (0xD7, 5, How::Sign),          // latin1 sign
    (0xD8, 7, How::Upper),         // latin1
    (0xDF, 7, How::Lower),         // latin1
    (0xF7, 5, How::Sign),          // latin1 sign
    (0xF8, 7, How::Lower),         // latin1
    (0x100, 9, How::EvenUpper),    // latin ext a
    (0x139, 9, How::OddUpper),     // latin ext a
    (0x14A, 9, How::EvenUpper),    // latin ext a
    (0x178, 9, How::Upper),        // latin ext a
    (0x179, 9, How::OddUpper),     // latin ext a
    (0x17F, 9, How::Lower),        // latin ext a
    (0x180, 10, How::Lower),       // latin ext b
    (0x1CD, 10, How::OddUpper),    // latin ext b
    (0x1DD, 10, How::EvenUpper),   // latin ext b
    (0x250, 11, How::Lower),       // ipa
    (0x2B0, 12, How::Letter),      // modifier letter
    (0x2C2, 13, How::Sign),        // modifier sign
    (0x2D0, 12, How::Letter),      // modifier letter
    (0x2D2, 13, How::Sign),        // modifier sign
    (0x2E0, 12, How::Letter),      // modifier letter
    (0x2E5, 13, How::Sign),        // modifier sign
    (0x300, 14, How::Letter),      // combining
    (0x370, 15, How::EvenUpper),   // greek
    (0x375, 15, How::Letter),      // greek
    (0x37E, 16, How::Sign),        // greek sign
    (0x37F, 15, How::Upper),       // greek
    (0x384, 16, How::Sign),        // greek sign
    (0x386, 15, How::Upper),       // greek
    (0x387, 16, How::Sign),        // greek sign
    (0x388, 15, How::Upper),       // greek
    (0x390, 15, How::Lower),       // greek
    (0x391, 15, How::Upper),       // greek
    (0x3AC, 15, How::Lower),       // greek
    (0x3D8, 15, How::EvenUpper),   // greek
    (0x400, 17, How::Upper),       // cyrillic
    (0x430, 17, How::Lower),       // cyrillic
    (0x450, 18, How::Lower),       // cyrillic ext
    (0x460, 18, How::EvenUpper),   // cyrillic ext
    (0x482, 18, How::Sign),        // cyrillic ext
    (0x483, 18, How::Letter),      // cyrillic ext
    (0x48A, 18, How::EvenUpper),   // cyrillic ext
    (0x4C1, 18, How::OddUpper),    // cyrillic ext
    (0x4D0, 18, How::EvenUpper),   // cyrillic ext
    (0x531, 19, How::Upper),       // armenian
    (0x559, 20, How::Sign),        // armenian sign
    (0x560, 19, How::Lower),       // armenian
    (0x589, 20, How::Sign),        // armenian sign
    (0x591, 21, How::Letter),      // hebrew mark
    (0x5BE, 22, How::Sign),        // hebrew sign
    (0x5BF, 21, How::Letter),      // hebrew mark
    (0x5C0, 22, How::Sign),        // hebrew sign
    (0x5C1, 21, How::Letter),      // hebrew mark
    (0x5D0, 23, How::Letter),      // hebrew
    (0x5F3, 22, How::Sign),        // hebrew sign
    (0x600, 24, How::Sign),        // arabic sign
    (0x610, 25, How::Letter),      // arabic mark
    (0x61B, 24, How::Sign),        // arabic sign
    (0x620, 26, How::Letter),      // arabic
    (0x64B, 25, How::Letter),      // arabic mark
    (0x660, 27, How::Digit),       // arabic digit
    (0x66A, 24, How::Sign),        // arabic sign
    (0x66E, 26, How::Letter),      // arabic
    (0x670, 25, How::Letter),      // arabic mark
    (0x671, 28, How::Letter),      // arabic ext
    (0x6D4, 24, How::Sign),        // arabic sign
    (0x6D5, 28, How::Letter),      // arabic ext
    (0x6D6, 25, How::Letter),      // arabic mark
    (0x6EE, 28, How::Letter),      // arabic ext
    (0x6F0, 27, How::Digit),       // arabic digit
    (0x6FA, 28, How::Letter),      // arabic ext
    (0x700, 29, How::Sign),        // syriac
    (0x710, 29, How::Letter),      // syriac
    (0x750, 28, How::Letter),      // arabic ext
    (0x780, 30, How::Letter),      // thaana
    (0x7C0, 31, How::Digit),       // nko
    (0x7CA, 31, How::Letter),      // nko
    (0x7F6, 31, How::Sign),        // nko
    (0x7FA, 31, How::Letter),      // nko
    (0x800, 32, How::Letter),      // other letter 2
    (0x8A0, 28, How::Letter),      // arabic ext
    (0x900, 33, How::Indic),       // devanagari
    (0x980, 34, How::Indic),       // bengali
    (0xA00, 35, How::Indic),       // gurmukhi
    (0xA80, 36, How::Indic),       // gujarati
    (0xB00, 37, How::Indic),       // oriya
    (0xB80, 38, How::Indic),       // tamil
    (0xC00, 39, How::Indic),       // telugu
    (0xC80, 40, How::Indic),       // kannada
    (0xD00, 41, How::Indic),       // malayalam
    (0xD80, 42, How::Indic),       // sinhala
    (0xDF4, 42, How::Sign),        // sinhala
    (0xE00, 43, How::Unspaced),    // thai
    (0xE3F, 43, How::Sign),        // thai
    (0xE40, 43, How::Unspaced),    // thai
    (0xE4F, 43, How::Sign),        // thai
    (0xE50, 44, How::Digit),       // thai digit
    (0xE5A, 43, How::Sign),        // thai
    (0xE80, 45, How::Unspaced),    // lao
    (0xED0, 44, How::Digit),       // thai digit
    (0xEDA, 45, How::Unspaced),    // lao
    (0xF00, 46, How::Unspaced),    // tibetan
    (0xF01, 47, How::Sign),        // tibetan sign
    (0xF18, 46, How::Unspaced),    // tibetan
    (0xF1A, 47, How::Sign),        // tibetan sign
    (0xF20, 48, How::Digit),       // tibetan digit
    (0xF34, 47, How::Sign),        // tibetan sign
    (0xF40, 46, How::Unspaced),    // tibetan
    (0xF85, 47, How::Sign),        // tibetan sign
    (0xF86, 46, How::Unspaced),    // tibetan
    (0xFBE, 47, How::Sign),        // tibetan sign
    (0x1000, 49, How::Unspaced),   // myanmar
    (0x1040, 44, How::Digit),      // thai digit
    (0x104A, 50, How::Sign),       // myanmar sign
    (0x1050, 49, How::Unspaced),   // myanmar
    (0x10A0, 51, How::Upper),      // georgian
    (0x10D0, 51, How::Lower),      // georgian
    (0x10FB, 51, How::Sign),       // georgian
    (0x10FC, 51, How::Lower),      // georgian
    (0x1100, 52, How::Letter),     // jamo
    (0x1200, 53, How::Letter),     // ethiopic
    (0x1360, 54, How::Sign),       // ethiopic sign
    (0x1369, 55, How::Digit),      // ethiopic digit
    (0x1380, 53, How::Letter),     // ethiopic
    (0x13A0, 56, How::Letter),     // cherokee
    (0x1400, 57, How::Letter),     // syllabics
    (0x1680, 58, How::Letter),     // other letter
    (0x1780, 59, How::Unspaced),   // khmer
    (0x17D4, 60, How::Sign),       // khmer sign
    (0x17D7, 59, How::Unspaced),   // khmer
    (0x17DB, 60, How::Sign),       // khmer sign
    (0x17DC, 59, How::Unspaced),   // khmer
    (0x17E0, 44, How::Digit),      // thai digit
    (0x17F0, 60, How::Digit),      // khmer sign
    (0x1800, 61, How::Sign),       // mongolian
    (0x180B, 61, How::Letter),     // mongolian
    (0x1810, 61, How::Digit),      // mongolian
    (0x1820, 61, How::Letter),     // mongolian
    (0x18B0, 57, How::Letter),     // syllabics
    (0x1900, 58, How::Letter),     // other letter
    (0x1950, 58, How::Unspaced),   // other letter
    (0x1A20, 58, How::Unspaced),   // other letter
    (0x1AB0, 58, How::Letter),     // other letter
    (0x1D00, 62, How::Letter),     // phonetic
    (0x1E00, 63, How::EvenUpper),  // latin ext add
    (0x1F00, 64, How::Lower),      // greek ext
    (0x2000, 6, How::Space),       // space
    (0x200B, 65, How::Sign),       // general punct
    (0x2028, 6, How::Space),       // space
    (0x202A, 65, How::Sign),       // general punct
    (0x202F, 6, How::Space),       // space
    (0x2030, 65, How::Sign),       // general punct
    (0x205F, 6, How::Space),       // space
    (0x2060, 65, How::Sign),       // general punct
    (0x2070, 66, How::Digit),      // script digit
    (0x207A, 67, How::Sign),       // math
    (0x2080, 66, How::Digit),      // script digit
    (0x208A, 67, How::Sign),       // math
    (0x2090, 62, How::Letter),     // phonetic
    (0x20A0, 68, How::Sign),       // currency
    (0x20D0, 69, How::Letter),     // combining 2
    (0x2100, 70, How::Letter),     // letterlike
    (0x2150, 71, How::Digit),      // number form
    (0x2190, 72, How::Sign),       // arrow
    (0x2200, 67, How::Sign),       // math
    (0x2300, 73, How::Sign),       // symbol
    (0x2460, 71, How::Digit),      // number form
    (0x249C, 73, How::Sign),       // symbol
    (0x2500, 74, How::Sign),       // box
    (0x25A0, 73, How::Sign),       // symbol
    (0x2600, 75, How::Sign),       // misc symbol
    (0x2776, 71, How::Digit),      // number form
    (0x2794, 72, How::Sign),       // arrow
    (0x27C0, 76, How::Sign),       // math 2
    (0x2800, 77, How::Sign),       // braille
    (0x2900, 76, How::Sign),       // math 2
    (0x2C00, 58, How::EvenUpper),  // other letter
    (0x2C60, 78, How::EvenUpper),  // latin ext c
    (0x2C80, 79, How::EvenUpper),  // coptic
    (0x2D00, 58, How::Letter),     // other letter
    (0x2D30, 80, How::Letter),     // tifinagh
    (0x2D80, 53, How::Letter),     // ethiopic
    (0x2DE0, 58, How::Letter),     // other letter
    (0x2E00, 81, How::Sign),       // punct 2
    (0x3000, 6, How::Space),       // space
    (0x3001, 82, How::Sign),       // cjk sign
    (0x3005, 83, How::Unspaced),   // han ext
    (0x3008, 82, How::Sign),       // cjk sign
    (0x3041, 84, How::Unspaced),   // hiragana
    (0x30A0, 85, How::Sign),       // katakana
    (0x30A1, 85, How::Unspaced),   // katakana
    (0x30FB, 85, How::Sign),       // katakana
    (0x30FC, 85, How::Unspaced),   // katakana
    (0x3100, 86, How::Unspaced),   // bopomofo
    (0x3130, 52, How::Letter),     // jamo
    (0x3190, 87, How::Sign),       // cjk symbol
    (0x3400, 83, How::Unspaced),   // han ext
    (0x4DC0, 87, How::Sign),       // cjk symbol
    (0x4E00, 88, How::Unspaced),   // han
    (0xA000, 89, How::Unspaced),   // yi
    (0xA490, 89, How::Sign),       // yi
    (0xA4D0, 90, How::Letter),     // lisu
    (0xA500, 91, How::Letter),     // vai
    (0xA640, 92, How::EvenUpper),  // cyrillic ext 2
    (0xA6A0, 58, How::Letter),     // other letter
    (0xA720, 93, How::EvenUpper),  // latin ext d
    (0xA800, 58, How::Letter),     // other letter
    (0xA8E0, 94, How::Letter),     // devanagari ext
    (0xA900, 58, How::Letter),     // other letter
    (0xA980, 95, How::Unspaced),   // javanese
    (0xA9E0, 49, How::Unspaced),   // myanmar
    (0xAA00, 58, How::Letter),     // other letter
    (0xAA60, 49, How::Unspaced),   // myanmar
    (0xAA80, 58, How::Unspaced),   // other letter
    (0xAAE0, 58, How::Letter),     // other letter
    (0xAB00, 53, How::Letter),     // ethiopic
    (0xAB30, 93, How::Lower),      // latin ext d
    (0xAB70, 56, How::Letter),     // cherokee
    (0xABC0, 96, How::Letter),     // meetei
    (0xAC00, 97, How::Letter),     // hangul
    (0xD7B0, 52, How::Letter),     // jamo
    (0xE000, 98, How::Sign),       // private use
    (0xF900, 83, How::Unspaced),   // han ext
    (0xFB00, 99, How::Letter),     // presentation
    (0xFB50, 100, How::Letter),    // arabic presentation
    (0xFE00, 101, How::Letter),    // variation
    (0xFE10, 81, How::Sign),       // punct 2
    (0xFE20, 69, How::Letter),     // combining 2
    (0xFE30, 81, How::Sign),       // punct 2
    (0xFE70, 100, How::Letter),    // arabic presentation
    (0xFEFF, 65, How::Sign),       // general punct
    (0xFF01, 102, How::Sign),      // fullwidth sign
    (0xFF10, 103, How::Digit),     // fullwidth digit
    (0xFF1A, 102, How::Sign),      // fullwidth sign
    (0xFF21, 104, How::Upper),     // fullwidth
    (0xFF3B, 102, How::Sign),      // fullwidth sign
    (0xFF41, 104, How::Lower),     // fullwidth
    (0xFF5B, 102, How::Sign),      // fullwidth sign
    (0xFF66, 105, How::Unspaced),  // katakana half
    (0xFFA0, 52, How::Letter),     // jamo
    (0xFFE0, 102, How::Sign),      // fullwidth sign
    (0x10000, 106, How::Letter),   // astral letter
    (0x10100, 107, How::Sign),     // astral sign
    (0x10280, 106, How::Letter),   // astral letter
    (0x11000, 108, How::Letter),   // astral indic
    (0x12000, 106, How::Letter),   // astral letter
    (0x13000, 106, How::Unspaced), // astral letter
    (0x16800, 106, How::Letter),   // astral letter
    (0x17000, 106, How::Unspaced), // astral letter
    (0x1B000, 106, How::Unspaced), // astral letter
    (0x1BC00, 106, How::Letter),   // astral letter
    (0x1D000, 107, How::Sign),     // astral sign
    (0x1D400, 109, How::Letter),   // math alnum
    (0x1D7CE, 109, How::Digit),    // math alnum
    (0x1D800, 107, How::Sign),     // astral sign
    (0x1E000, 106, How::Letter),   // astral letter
    (0x1E900, 110, How::Letter),   // adlam
    (0x1EC00, 107, How::Sign),     // astral sign
    (0x1F000, 111, How::Sign),     // emoji other
    (0x1F1E6, 112, How::Sign),     // emoji flag
    (0x1F200, 111, How::Sign),     // emoji other
    (0x1F300, 113, How::Sign),     // emoji
    (0x1F3FB, 114, How::Sign),     // emoji tone
    (0x1F400, 113, How::Sign),     // emoji
    (0x1F650, 111, How::Sign),     // emoji other
    (0x1F680, 113, How::Sign),     // emoji
    (0x1F700, 111, How::Sign),     // emoji other
    (0x1F900, 115, How::Sign),     // emoji new
    (0x1FB00, 111, How::Sign),     // emoji other
    (0x20000, 116, How::Unspaced), // han astral
    (0x40000, 98, How::Sign),      // private use
];
