//! Splits texts into pieces: the patterns of the encodings, written by hand.
//!
//! A pattern is a regular expression with alternatives in order of preference, matched repeatedly from the end of the
//! previous match; together the matches are the whole text. The functions here return the end of the match that begins
//! at an offset. Each character is visited a bounded number of times, so the whole text takes linear time.
//!
//! The common case, one word of ASCII letters with at most one character before it, is decided eight bytes at a time.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use super::Encoding;
use super::class::END;
use super::class::{self, BLANK, BREAK, CASELESS, LOWER, MARK, NUMBER, OTHER, UPPER};
use super::splitter::Kind;
use super::splitter::Splitter;
use crate::tokens::utf8::code_point;

/// The top bit of each byte.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The eight bytes from `at`, little-endian; zeros past the end.
#[inline(always)]
pub(super) fn load8(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_tail(bytes, at),
    }
}

/// [`load8`] within eight bytes of the end.
fn load_tail(bytes: &[u8], at: usize) -> u64 {
    let tail = bytes.get(at..).unwrap_or_default();
    tail.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The top bit of each byte that is an ASCII letter.
#[inline(always)]
fn letters(word: u64) -> u64 {
    const ONES: u64 = TOPS >> 7;
    let folded = (word | (ONES * 0x20)) & !TOPS;
    // Bytes are below 0x80, so the additions do not carry into the next one.
    let from_a = folded + ONES * (0x80 - b'a' as u64);
    let past_z = folded + ONES * (0x80 - b'z' as u64 - 1);
    from_a & !past_z & !word & TOPS
}

/// The top bit of each lower case byte among the letters: bit 5 distinguishes the cases.
#[inline(always)]
fn lower_of(word: u64, letters: u64) -> u64 {
    letters & (word << 2)
}

/// Skips ASCII letters from `at`, eight bytes at a time; `members` selects those to skip.
#[inline(always)]
fn run(bytes: &[u8], mut at: usize, members: impl Fn(u64) -> u64) -> usize {
    loop {
        let stops = !members(load8(bytes, at)) & TOPS;
        if stops != 0 {
            return at + (stops.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
}

/// Letters of all kinds.
pub(super) const LETTER: u8 = UPPER | LOWER | CASELESS;

impl Encoding {
    /// The pieces that tokens never cross, in order; together they are the text. Needs no vocabulary.
    pub fn split(self, text: &str) -> Pieces<'_> {
        self.splitter().split(text)
    }
}

impl Splitter {
    /// The pieces that tokens never cross, in order; together they are the text. Needs no vocabulary.
    pub fn split(self, text: &str) -> Pieces<'_> {
        Pieces { splitter: self, text, at: 0 }
    }

    /// The end of the piece that begins at `at`, a piece boundary within the text. Loops over many pieces inline it as
    /// [`Pattern::end`].
    pub(super) fn end(self, bytes: &[u8], at: usize) -> usize {
        with_pattern!(self, P => P::end(self, bytes, at))
    }
}

/// The patterns of one kind, whose details are in the splitter.
pub(super) trait Pattern {
    /// The end of the piece that begins at `at`, a piece boundary within the text.
    fn end(splitter: Splitter, bytes: &[u8], at: usize) -> usize;
}

/// Evaluates an expression with the [`Pattern`] of a splitter.
macro_rules! with_pattern {
    ($splitter:expr, $pattern:ident => $run:expr) => {
        match $splitter.kind {
            $crate::tokens::bpe::splitter::Kind::Cased => {
                type $pattern = $crate::tokens::bpe::split::Cased;
                $run
            }
            _ => {
                type $pattern = $crate::tokens::bpe::split::Letters;
                $run
            }
        }
    };
}
pub(super) use with_pattern;

/// The pattern of `o200k_base`:
///
/// ```text
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// \p{N}{1,3}
///  ?[^\s\p{L}\p{N}]+[\r\n/]*
/// \s*[\r\n]+
/// \s+(?!\S)
/// \s+
/// ```
///
/// Mistral's has no contractions and one digit at a time.
#[derive(Debug)]
pub(super) struct Cased;

/// The pattern of `cl100k_base`:
///
/// ```text
/// '(?i:[sdmt]|ll|ve|re)
/// [^\r\n\p{L}\p{N}]?+\p{L}++
/// \p{N}{1,3}+
///  ?[^\s\p{L}\p{N}]++[\r\n]*+
/// \s++$
/// \s*[\r\n]
/// \s+(?!\S)
/// \s
/// ```
///
/// Llama's and Qwen's have no `\s++$`, and Qwen's has one digit at a time. Since Qwen 3.5 marks are letters.
#[derive(Debug)]
pub(super) struct Letters;

impl Pattern for Cased {
    #[inline(always)]
    fn end(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        let word = load8(bytes, at);
        let letters = letters(word);
        // A word begins here or, after one character that is neither letter, number nor line break, one byte on.
        if letters & 0x8080 == 0 {
            return Self::general(splitter, bytes, at);
        }
        let start = if letters & 0x80 != 0 {
            0
        } else if may_lead(word as u8) {
            8
        } else {
            return Self::general(splitter, bytes, at);
        };
        let lower = lower_of(word, letters);
        let upper = letters ^ lower;
        let not_upper = !upper & (TOPS << start);
        if not_upper == 0 {
            return Self::general(splitter, bytes, at);
        }
        let lower_from = not_upper.trailing_zeros() & !7;
        let not_lower = !lower & (TOPS << lower_from);
        let end = match not_lower {
            0 => run(bytes, at + 8, |word| lower_of(word, self::letters(word))),
            _ => at + (not_lower.trailing_zeros() / 8) as usize,
        };
        match bytes.get(end).copied().unwrap_or(0) {
            b'\'' => end + Self::contraction(splitter, bytes, end),
            0x80.. => Self::general(splitter, bytes, at),
            _ => end,
        }
    }
}

impl Pattern for Letters {
    #[inline(always)]
    fn end(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        let word = load8(bytes, at);
        let letters = letters(word);
        let first = word as u8;
        if letters & 0x8080 == 0 || first == b'\'' || letters & 0x80 == 0 && !splitter.may_lead(first) {
            return Self::general(splitter, bytes, at);
        }
        let stops = !letters & (TOPS << 8);
        let end = match stops {
            0 => run(bytes, at + 8, self::letters),
            _ => at + (stops.trailing_zeros() / 8) as usize,
        };
        match bytes.get(end).copied().unwrap_or(0) {
            0x80.. => Self::general(splitter, bytes, at),
            _ => end,
        }
    }
}

impl Splitter {
    /// Whether an ASCII byte belongs to the same piece as the ASCII letters after it.
    #[inline(always)]
    fn may_lead(self, byte: u8) -> bool {
        match self.kind {
            Kind::Spaced | Kind::Staged => byte == b' ',
            _ => may_lead(byte),
        }
    }
}

/// Whether an ASCII byte may precede the letters of a word: `[^\r\n\p{L}\p{N}]`. Not so for other bytes.
#[inline(always)]
fn may_lead(byte: u8) -> bool {
    class::ASCII.get(usize::from(byte)).is_some_and(|class| class & (BLANK | OTHER) != 0)
}

impl Cased {
    /// The same for any text, one character at a time.
    fn general(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        let (class, len) = class::at(bytes, at);
        let next = at + len;
        let ends = |end| end + Self::contraction(splitter, bytes, end);
        match class {
            UPPER | LOWER | CASELESS => Self::word(splitter, bytes, at).unwrap_or_else(ends),
            // The mark leads a word or, if only upper case follows, is a word by itself: the first alternative
            // gives up the optional first character before the second alternative is tried.
            MARK => Self::word(splitter, bytes, next).unwrap_or_else(|_| ends(next)),
            NUMBER => number(splitter, bytes, at),
            BLANK | OTHER => match class::at(bytes, next).0 {
                UPPER | LOWER | CASELESS | MARK => Self::word(splitter, bytes, next).unwrap_or_else(ends),
                OTHER if bytes.get(at) == Some(&b' ') => Self::other(splitter, bytes, next),
                _ if class == OTHER => Self::other(splitter, bytes, next),
                _ => Self::white(bytes, at),
            },
            _ => Self::white(bytes, at),
        }
    }

    /// The end of `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` with its contraction; if that does
    /// not match, the end of the upper case run as the error.
    fn word(splitter: Splitter, bytes: &[u8], start: usize) -> Result<usize, usize> {
        let mut end = start;
        let mut in_both = None;
        let next = loop {
            let (class, len) = class::at(bytes, end);
            if class & (UPPER | CASELESS | MARK) == 0 {
                break class;
            }
            end += len;
            if class != UPPER {
                in_both = Some(end);
            }
        };
        let end = if next == LOWER {
            skip(bytes, end, LOWER | CASELESS | MARK)
        } else {
            // The greedy first run gives back characters until the second has one.
            in_both.ok_or(end)?
        };
        Ok(end + Self::contraction(splitter, bytes, end))
    }

    /// The rest of ` ?[^\s\p{L}\p{N}]+[\r\n/]*`, at least one character of which was before `at`.
    fn other(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        let mut end = skip(bytes, at, OTHER | MARK);
        let slash = if splitter.takes_slashes() { b'/' } else { b'\n' };
        while bytes.get(end).is_some_and(|&byte| matches!(byte, b'\r' | b'\n') || byte == slash) {
            end += 1;
        }
        end
    }

    #[inline]
    fn contraction(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        if splitter.has_contractions() { contraction(bytes, at) } else { 0 }
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    fn white(bytes: &[u8], at: usize) -> usize {
        let white = White::at(bytes, at);
        white.after_break.unwrap_or_else(|| white.end_before_word(white.end == bytes.len()))
    }
}

impl Letters {
    /// The same for any text, one character at a time.
    fn general(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        match splitter.kind {
            Kind::Staged => return staged(splitter, bytes, at),
            Kind::Spaced => return spaced(splitter, bytes, at),
            _ => {}
        }
        let short = contraction(bytes, at);
        if short > 0 {
            return at + short;
        }
        let (class, len) = class::at(bytes, at);
        let next = at + len;
        let marks = if splitter.has_marks() { MARK } else { 0 };
        let (word, other) = (LETTER | marks, OTHER | MARK & !marks);
        let after = class::at(bytes, next).0;
        match class {
            NUMBER => number(splitter, bytes, at),
            // A mark that leads no word is one by itself.
            _ if class & word != 0 => skip(bytes, next, word),
            MARK | BLANK | OTHER if after & word != 0 => skip(bytes, next, word),
            MARK | BLANK | OTHER if after & other != 0 && bytes.get(at) == Some(&b' ') => {
                Self::other(bytes, next, other)
            }
            MARK | OTHER => Self::other(bytes, next, other),
            _ => Self::white(splitter, bytes, at),
        }
    }

    /// The rest of ` ?[^\s\p{L}\p{N}]++[\r\n]*+`, at least one character of which is before `at` or at it.
    fn other(bytes: &[u8], at: usize, other: u8) -> usize {
        skip(bytes, skip(bytes, at, other), BREAK)
    }

    /// `\s++$|\s*[\r\n]|\s+(?!\S)|\s`, the first of these only if the splitter has it.
    fn white(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
        let white = White::at(bytes, at);
        let ends = white.end == bytes.len();
        if ends && splitter.ends_whole() {
            return white.end;
        }
        white.after_break.unwrap_or_else(|| white.end_before_word(ends))
    }
}

/// The end of a piece of GPT-2's pattern:
///
/// ```text
/// '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// ```
fn spaced(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
    let short = contraction_in_lower_case(bytes, at);
    if short > 0 {
        return at + short;
    }
    let from = at + usize::from(bytes.get(at) == Some(&b' '));
    match class::at(bytes, from).0 {
        UPPER | LOWER | CASELESS => skip(bytes, from, LETTER),
        OTHER | MARK => skip(bytes, from, OTHER | MARK),
        NUMBER if from == at || !splitter.has_numbers_first() => number(splitter, bytes, from),
        _ => {
            let white = White::at(bytes, at);
            let after = class::at(bytes, white.end).0;
            white.end_before_word(after == END || after == NUMBER && splitter.has_numbers_first())
        }
    }
}

/// The end of a piece of DeepSeek's patterns. Numbers of up to three digits are split off first, then runs of
/// `[一-龥\u{3040}-ゟ゠-ヿ]`; the text between them is split by
///
/// ```text
/// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+
/// [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
///  ?[\p{P}\p{S}]+[\r\n]*
/// \s*[\r\n]+
/// \s+(?!\S)
/// \s+
/// ```
///
/// and text that none of these matches is a piece by itself.
fn staged(splitter: Splitter, bytes: &[u8], at: usize) -> usize {
    const WORD: u8 = LETTER | MARK;
    let (class, len) = stage(bytes, at);
    let next = at + len;
    let after = stage(bytes, next).0;
    match class {
        END if class::at(bytes, at).0 == NUMBER => number(splitter, bytes, at),
        END => {
            let is_more = |at: usize| bytes.get(at).is_some_and(|&first| is_east_asian(code_point(bytes, at, first).0));
            let mut end = at + 3;
            while is_more(end) {
                end += 3;
            }
            end
        }
        OTHER if bytes.get(next).is_some_and(u8::is_ascii_alphabetic) && len == 1 => run(bytes, next, letters),
        OTHER => skip_punctuation(bytes, next),
        BLANK if after == OTHER && bytes.get(at) == Some(&b' ') => skip_punctuation(bytes, next),
        BLANK | NEITHER if after & WORD != 0 => skip_staged(bytes, next, WORD),
        BLANK | BREAK => {
            let white = White::at(bytes, at);
            let ends = stage(bytes, white.end).0 == END;
            white.after_break.unwrap_or_else(|| white.end_before_word(ends))
        }
        NEITHER => {
            let mut end = next;
            loop {
                let (class, len) = stage(bytes, end);
                if class != NEITHER || stage(bytes, end + len).0 & WORD != 0 {
                    return end;
                }
                end += len;
            }
        }
        _ => skip_staged(bytes, next, WORD),
    }
}

/// The class that [`stage`] returns for a character that is neither letter, mark, white space, punctuation nor symbol.
/// Numbers do not occur there.
const NEITHER: u8 = NUMBER;

/// The class of the character at `at` and its length in bytes; characters that are split off first count as the end of
/// the text.
pub(super) fn stage(bytes: &[u8], at: usize) -> (u8, usize) {
    let (class, len) = class::at(bytes, at);
    match (class, bytes.get(at)) {
        (NUMBER, _) => (END, 0),
        (_, Some(&first @ 0x80..)) => match (class, code_point(bytes, at, first).0) {
            (_, code) if is_east_asian(code) => (END, 0),
            (OTHER, code) if !class::is_symbol(code) => (NEITHER, len),
            _ => (class, len),
        },
        (OTHER, Some(first)) if !first.is_ascii_punctuation() => (NEITHER, len),
        _ => (class, len),
    }
}

/// Whether a code point is one of `[一-龥\u{3040}-ゟ゠-ヿ]`, which have three bytes each.
fn is_east_asian(code_point: u32) -> bool {
    matches!(code_point, 0x4e00..=0x9fa5 | 0x3040..=0x30ff)
}

/// [`skip`] with the classes of [`stage`].
fn skip_staged(bytes: &[u8], mut at: usize, classes: u8) -> usize {
    loop {
        let (class, len) = stage(bytes, at);
        if class & classes == 0 {
            return at;
        }
        at += len;
    }
}

/// The rest of `[\p{P}\p{S}]+[\r\n]*`.
fn skip_punctuation(bytes: &[u8], at: usize) -> usize {
    skip(bytes, skip_staged(bytes, at, OTHER), BREAK)
}

/// The length of `'(?:[sdmt]|ll|ve|re)` at `at`, 0 if it does not match.
fn contraction_in_lower_case(bytes: &[u8], at: usize) -> usize {
    let len = contraction(bytes, at);
    let rest = bytes.get(at + 1..at + len).unwrap_or_default();
    if rest.iter().all(u8::is_ascii_lowercase) { len } else { 0 }
}

/// The end of the run of characters of the given classes.
fn skip(bytes: &[u8], mut at: usize, classes: u8) -> usize {
    loop {
        let (class, len) = class::at(bytes, at);
        if class & classes == 0 {
            return at;
        }
        at += len;
    }
}

/// `\p{N}{1,3}`, or as many digits as the splitter allows; the first of them is at `at`.
fn number(splitter: Splitter, bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..splitter.digits() {
        let (class, len) = class::at(bytes, at);
        if class != NUMBER {
            break;
        }
        at += len;
    }
    at
}

/// The length of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at `at`, 0 if it does not match. Ignoring case, `s` also matches
/// U+017F, the long s; the other letters have no such variants.
#[inline]
fn contraction(bytes: &[u8], at: usize) -> usize {
    let word = load8(bytes, at).to_le_bytes();
    match [word[0], word[1] | 0x20, word[2] | 0x20] {
        [b'\'', b's' | b't' | b'm' | b'd', _] => 2,
        [b'\'', b'r' | b'v', b'e'] | [b'\'', b'l', b'l'] => 3,
        [b'\'', _, _] if [word[1], word[2]] == [0xc5, 0xbf] => 3,
        _ => 0,
    }
}

/// A maximal run of white space.
struct White {
    /// After its last line break, if it has one.
    after_break: Option<usize>,
    /// Where its last character begins, unless that is also its first.
    last: Option<usize>,
    /// The end of the run.
    end: usize,
}

impl White {
    /// The run that begins at `at`, of at least one character.
    fn at(bytes: &[u8], at: usize) -> Self {
        let mut white = Self { after_break: None, last: None, end: at };
        loop {
            let (class, len) = class::at(bytes, white.end);
            if class & (BLANK | BREAK) == 0 {
                return white;
            }
            if white.end > at {
                white.last = Some(white.end);
            }
            white.end += len;
            if class == BREAK {
                white.after_break = Some(white.end);
            }
        }
    }

    /// `\s+(?!\S)|\s+`: all but the last character, unless the text ends after it or it is the only one.
    fn end_before_word(&self, ends: bool) -> usize {
        match self.last {
            Some(last) if !ends => last,
            _ => self.end,
        }
    }
}

/// The pieces of a text, in order. Tokens never cross their boundaries, so a text that is cut between pieces can
/// count differently only if the cut itself changes the pieces.
#[derive(Clone, Debug)]
pub struct Pieces<'t> {
    splitter: Splitter,
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        if self.at >= bytes.len() {
            return None;
        }
        let end = self.splitter.end(bytes, self.at);
        let piece = self.text.get(self.at..end);
        debug_assert!(piece.is_some_and(|piece| !piece.is_empty()));
        self.at = end;
        piece
    }
}

impl std::iter::FusedIterator for Pieces<'_> {}
