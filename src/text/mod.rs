//! Text: cuts between grapheme clusters, and offsets in UTF-16 code units.
//!
//! `inline(always)` is 5 % of the time that a fit of a chat takes: docs/decisions/inlining.md.

pub(crate) mod case;
pub(crate) mod fold;
mod graphemes;
pub(crate) mod normal_form;
#[cfg_attr(target_arch = "wasm32", path = "unicode_js.rs")]
#[cfg_attr(not(target_arch = "wasm32"), path = "unicode_native.rs")]
mod unicode;

use std::cell::RefCell;
use std::ops::Range;

/// The distance, in characters, within which a cut prefers a white-space boundary to the exact place.
pub const NEAR_CHARS: usize = 40;

/// The length in UTF-16 code units, the unit of every offset in JavaScript.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    // Each first byte of a character is one unit, and that of a character of four bytes two.
    let units = |byte: u8| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0);
    let (chunks, tail) = text.as_bytes().as_chunks();
    let of_chunks: usize = chunks.iter().map(|&chunk| units_of_eight(u64::from_le_bytes(chunk))).sum();
    of_chunks + tail.iter().map(|&byte| units(byte)).sum::<usize>()
}

/// The units of eight bytes: the top bits of each byte give its kind.
#[inline(always)]
fn units_of_eight(bytes: u64) -> usize {
    const TOP: u64 = (u64::MAX / 0xFF) << 7;
    let within = bytes & !(bytes << 1) & TOP;
    let of_four = bytes & bytes << 1 & bytes << 2 & bytes << 3 & TOP;
    (8 - within.count_ones() + of_four.count_ones()) as usize
}

/// The common beginning of two texts.
pub(crate) fn common_prefix<'t>(text: &'t str, other: &str) -> &'t str {
    let same = text.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    text.get(..text.floor_char_boundary(same)).unwrap_or_default()
}

/// The UTF-16 code units of a text in UTF-8; `None` if the bytes are not UTF-8.
pub fn utf16_of(bytes: &[u8]) -> Option<Vec<u16>> {
    // A character has at most as many units as bytes.
    let mut units = vec![0; bytes.len()];
    let (mut at, mut to) = (0, 0);
    while at < bytes.len() {
        (at, to) = utf16_turn(bytes, (at, to), &mut units)?;
    }
    units.truncate(to);
    Some(units)
}

/// Converts a few thousand characters per turn: WebAssembly engines switch to optimized code only when a function is
/// called again.
// Not inlined, so that the engine can replace it while a long text is read: docs/decisions/inlining.md.
#[inline(never)]
fn utf16_turn(bytes: &[u8], (mut at, mut to): (usize, usize), units: &mut [u16]) -> Option<(usize, usize)> {
    // The payload of a continuation byte; more than 63 for any other byte.
    let within = |byte: u8| u32::from(byte ^ 0x80);
    for _ in 0..2048 {
        let (Some(rest), Some(target)) = (bytes.get(at..), units.get_mut(to..)) else { break };
        let (code, len) = match *rest {
            [first @ ..0x80, ..] => {
                let ascii = rest.first_chunk::<16>().filter(|chunk| chunk.is_ascii());
                if let (Some(ascii), Some(units)) = (ascii, target.first_chunk_mut::<16>()) {
                    *units = ascii.map(u16::from);
                    (at, to) = (at + 16, to + 16);
                    continue;
                }
                (u32::from(first), 1)
            }
            [first @ 0xe0..0xf0, second, third, ..] if within(second) | within(third) < 64 => {
                let code = u32::from(first & 15) << 12 | within(second) << 6 | within(third);
                (Some(code).filter(|code| !matches!(code, 0..0x800 | 0xd800..0xe000))?, 3)
            }
            [first @ 0xc2..0xe0, second, ..] if within(second) < 64 => (u32::from(first & 31) << 6 | within(second), 2),
            [first @ 0xf0..0xf5, second, third, fourth, ..] if within(second) | within(third) | within(fourth) < 64 => {
                let code = u32::from(first & 7) << 18 | within(second) << 12 | within(third) << 6 | within(fourth);
                (Some(code).filter(|code| (0x1_0000..0x11_0000).contains(code))?, 4)
            }
            [] => break,
            _ => return None,
        };
        match (code, target) {
            (0x1_0000.., [high, low, ..]) => {
                (*high, *low) = (0xd7c0_u32.wrapping_add(code >> 10) as u16, (0xdc00 | code & 0x3ff) as u16);
                to += 2;
            }
            (_, [unit, ..]) => {
                *unit = code as u16;
                to += 1;
            }
            _ => break,
        }
        at += len;
    }
    Some((at, to))
}

/// Whether JavaScript considers a character white space: that of Unicode without U+0085, and U+FEFF.
pub fn is_whitespace(ch: char) -> bool {
    ch == '\u{feff}' || (ch.is_whitespace() && ch != '\u{85}')
}

/// The text without white space at its ends. Two bytes suffice to detect that a text has none, the most frequent case.
pub fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim_matches(is_whitespace),
    }
}

// `str::split_once` and `str::replace` pull in the search of the standard library, and code that quotes a text in its
// panics; `[&str]::concat` pulls in code for everything it can join. The three are 4.2 % of `ctxweave/tokens`:
// docs/decisions/inlining.md.

/// The parts of a text before and after the first occurrence of `sought`. For short texts.
pub fn split_once<'t>(text: &'t str, sought: &str) -> Option<(&'t str, &'t str)> {
    let at = (0..text.len())
        .find(|&at| text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(sought.as_bytes())))?;
    Some((text.get(..at)?, text.get(at.checked_add(sought.len())?..)?))
}

/// A whole number in decimal digits.
pub fn whole_number(text: &str) -> Option<u32> {
    let digit = |number: u32, byte: u8| number.checked_mul(10)?.checked_add(u32::from(byte.wrapping_sub(b'0')));
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.bytes().filter(|_| is_number).try_fold(0, digit).filter(|_| is_number)
}

/// The text with every occurrence of `sought` replaced by `by`.
pub fn replace(text: &str, sought: &str, by: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len() + by.len()), text);
    while let Some((before, after)) = split_once(rest, sought) {
        out.push_str(before);
        out.push_str(by);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a text holds only white space.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_whitespace)
}

/// The first grapheme boundary at or after byte `at`.
pub fn ceil_boundary(text: &str, at: usize) -> usize {
    Clusters::new(text).ceil(at)
}

/// The grapheme clusters of a text: cuts between them never split an emoji sequence, a flag, a letter with its marks or
/// a CRLF. Long clusters, for example of a million marks, and runs of flags are cached, so that searching for many cuts
/// takes linear time.
#[derive(Debug)]
pub struct Clusters<'t> {
    text: &'t str,
    long: RefCell<Vec<Range<usize>>>,
    flags: graphemes::Flags,
}

/// Bytes of a cluster that is cached.
const LONG_CLUSTER: usize = 256;

impl<'t> Clusters<'t> {
    /// The clusters of a text; nothing is computed yet.
    pub fn new(text: &'t str) -> Self {
        Self { text, long: RefCell::default(), flags: graphemes::Flags::default() }
    }

    /// The cluster around byte `at`; empty if the text can be cut there.
    fn around(&self, at: usize) -> Range<usize> {
        let at = self.text.floor_char_boundary(at);
        if let Some(known) = self.long.borrow().iter().find(|cluster| cluster.start < at && at < cluster.end) {
            return known.clone();
        }
        let ends_at = |at| graphemes::is_boundary(self.text, at, &self.flags);
        let (mut start, mut end) = (at, at);
        while !ends_at(start) {
            start = self.text.floor_char_boundary(start.saturating_sub(1));
        }
        if start == at {
            return at..at;
        }
        loop {
            end = self.text.ceil_char_boundary(end + 1);
            if ends_at(end) {
                break;
            }
        }
        if end.saturating_sub(start) >= LONG_CLUSTER {
            self.long.borrow_mut().push(start..end);
        }
        start..end
    }

    /// The last boundary at or before byte `at`.
    pub fn floor(&self, at: usize) -> usize {
        self.around(at).start
    }

    /// The first boundary at or after byte `at`.
    pub fn ceil(&self, at: usize) -> usize {
        self.around(self.text.ceil_char_boundary(at)).end
    }

    /// Whether the text can be cut at byte `at`.
    pub fn is_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at) && self.around(at).is_empty()
    }

    /// The end of a head of at most `at` bytes: the end of a word if one is within [`NEAR_CHARS`], else a boundary.
    pub fn head_end(&self, at: usize) -> usize {
        let exact = self.floor(at);
        if exact == self.text.len() {
            return exact;
        }
        let (head, rest) = self.text.split_at_checked(exact).unwrap_or((self.text, ""));
        let mut after_is_white = rest.starts_with(is_whitespace);
        let mut end = exact;
        for ch in head.chars().rev().take(NEAR_CHARS) {
            if after_is_white && !is_whitespace(ch) && self.is_boundary(end) {
                return end;
            }
            after_is_white = is_whitespace(ch);
            end = end.saturating_sub(ch.len_utf8());
        }
        exact
    }

    /// The beginning of a tail that may begin at byte `at` or later: the start of a word if one is within
    /// [`NEAR_CHARS`], else a boundary.
    pub fn tail_start(&self, at: usize) -> usize {
        let exact = self.ceil(at);
        let (head, rest) = self.text.split_at_checked(exact).unwrap_or((self.text, ""));
        let mut before_is_white = exact == 0 || head.ends_with(is_whitespace);
        let mut start = exact;
        for ch in rest.chars().take(NEAR_CHARS) {
            if before_is_white && !is_whitespace(ch) && self.is_boundary(start) {
                return start;
            }
            before_is_white = is_whitespace(ch);
            start += ch.len_utf8();
        }
        exact
    }
}

/// Concatenates texts.
pub(crate) fn concat(texts: &[&str]) -> String {
    let mut all = String::with_capacity(texts.iter().map(|text| text.len()).sum());
    for text in texts {
        all.push_str(text);
    }
    all
}

/// Converts byte offsets, given in ascending order, to UTF-16 offsets in one pass over the text.
#[derive(Debug)]
pub struct Utf16Offsets<'a> {
    rest: &'a str,
    bytes: usize,
    units: usize,
}

impl<'a> Utf16Offsets<'a> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, bytes: 0, units: 0 }
    }

    /// The UTF-16 offset of byte `at`, which must be a character boundary and not before the previous one.
    pub fn at(&mut self, at: usize) -> usize {
        let step = at.saturating_sub(self.bytes).min(self.rest.len());
        if let Some((passed, rest)) = self.rest.split_at_checked(step) {
            self.units += utf16_len(passed);
            self.bytes += step;
            self.rest = rest;
        }
        self.units
    }
}

#[cfg(test)]
#[path = "../../tests/unit/text.rs"]
mod tests;
