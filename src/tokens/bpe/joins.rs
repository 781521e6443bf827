//! The boundaries between characters that a token can cross; at all others a piece falls apart into short units.
//!
//! A token made of two parts joins them at one boundary. If it lies between two characters, either both parts contain
//! the character on their side completely, and the pair of characters is noted, or one of them ends within a character,
//! and the two bytes that meet are noted. A merge across the boundary of two characters makes such a token, so:
//!
//! - if neither is noted, nothing ever merges across the boundary, and each side is encoded by itself;
//! - if the bytes are not noted, nothing merges across it before both characters are complete.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use super::split::load8;
use super::token_table::SPREAD;

/// Bits of the filter of character pairs, as a power of two. A false positive only costs time.
const FILTER_BITS: u32 = 19;

/// The noted boundaries.
pub(super) struct Joins {
    /// By the last byte before and the first byte after the boundary.
    bytes: Vec<u64>,
    /// By the hash of the characters.
    characters: Vec<u64>,
}

/// The length in bytes of the character that begins with this byte; 0 for a byte within one.
#[inline(always)]
pub(super) fn width(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xc0 => 0,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

#[inline(always)]
fn byte_bit(before: u8, after: u8) -> (usize, u64) {
    (usize::from(before) * 4 + usize::from(after >> 6), 1 << (after & 63))
}

#[inline(always)]
fn character_bit(before: u32, after: u32) -> (usize, u64) {
    let bit = (u64::from(before) << 32 | u64::from(after)).wrapping_mul(SPREAD) >> (64 - FILTER_BITS);
    ((bit >> 6) as usize, 1 << (bit & 63))
}

impl Joins {
    /// An empty filter.
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; 256 * 256 / 64], characters: vec![0; (1 << FILTER_BITS) / 64] }
    }

    /// Notes that a token joins a text that ends with `left` and one that begins with `right`: the last bytes of the
    /// first, at the top of the word, and the first bytes of the second, at the bottom, with their lengths.
    #[inline(always)]
    pub(super) fn note(&mut self, (left, left_len): (u64, usize), (right, right_len): (u64, usize)) {
        let (last, first) = ((left >> 56) as u8, right as u8);
        if last < 0x80 && first < 0x80 || width(first) == 0 {
            return; // boundaries within ASCII or within a character are never looked up
        }
        if let Some(before) = last_character(left, left_len)
            && width(first) <= right_len
        {
            let (word, bit) = character_bit(before, character(right as u32));
            self.characters[word] |= bit;
        } else {
            let (word, bit) = byte_bit(last, first);
            self.bytes[word] |= bit;
        }
    }

    /// Notes every boundary between characters within a token.
    pub(super) fn note_all(&mut self, token: &[u8]) {
        for pair in token.windows(2) {
            if let &[last, first] = pair
                && (last | first) >= 0x80
                && width(first) != 0
            {
                let (word, bit) = byte_bit(last, first);
                self.bytes[word] |= bit;
            }
        }
    }

    /// Whether a merge may cross the boundary before both characters are complete. `before` and `after` are the
    /// characters' bytes, little-endian, as returned by [`character`].
    #[inline(always)]
    pub(super) fn of_bytes(&self, before: u32, after: u32) -> bool {
        let last = before >> ((31 - before.leading_zeros().min(31)) & !7);
        let (word, bit) = byte_bit(last as u8, after as u8);
        self.bytes.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether a merge may cross the boundary between two characters, at least one of them beyond ASCII.
    #[inline(always)]
    pub(super) fn any(&self, before: u32, after: u32) -> bool {
        let (word, bit) = character_bit(before, after);
        self.characters.get(word).is_some_and(|word| word & bit != 0) || self.of_bytes(before, after)
    }

    /// Splits a piece at boundaries that no merge crosses.
    #[inline(always)]
    pub(super) fn each_unit(&self, bytes: &[u8], mut start: usize, end: usize, mut each: impl FnMut(usize, usize)) {
        let mut at = start;
        let mut before = 0;
        while at < end {
            let next = character(load8(bytes, at) as u32);
            if at > start && (before | next) >= 0x80 && !self.any(before, next) {
                each(start, at);
                start = at;
            }
            at += width(next as u8).max(1);
            before = next;
        }
        each(start, end);
    }
}

/// The bytes of the character that begins with the low byte of `word`, little-endian.
#[inline(always)]
pub(super) fn character(word: u32) -> u32 {
    match width(word as u8) {
        1 => word & 0xff,
        2 => word & 0xffff,
        3 => word & 0xff_ffff,
        _ => word,
    }
}

/// The code point of a character of two or three bytes, from its bytes, little-endian.
#[inline(always)]
pub(super) fn code_point(character: u32) -> usize {
    let (second, third) = (character >> 8 & 0x3f, character >> 16 & 0x3f);
    let code_point = match character & 0xff {
        first @ ..0xe0 => (first & 0x1f) << 6 | second,
        first => (first & 0x0f) << 12 | second << 6 | third,
    };
    code_point as usize
}

/// The last character of the text that ends at the top of the word and has `len` bytes, if it is complete.
#[inline(always)]
fn last_character(word: u64, len: usize) -> Option<u32> {
    // Zero for continuation bytes; the first byte above them begins the last character.
    let within = (word ^ 0x8080_8080_8080_8080) & 0xc0c0_c0c0_c0c0_c0c0;
    let bytes = within.leading_zeros() as usize / 8 + 1;
    if bytes > len.min(4) {
        return None;
    }
    let tail = (word >> (64 - 8 * bytes)) as u32;
    Some(tail).filter(|_| width(tail as u8) == bytes)
}

/// The characters of two and three bytes that are one token, by code point.
pub(super) struct Characters(Vec<u64>);

impl Characters {
    /// An empty set.
    pub(super) fn new() -> Self {
        Self(vec![0; 0x1_0000 / 64])
    }

    /// Notes a token of two or three bytes, little-endian and zero-padded, if it is one character.
    #[inline(always)]
    pub(super) fn note(&mut self, token: u32, len: usize) {
        let follows = |byte: u32| (token >> (8 * byte)) & 0xc0 == 0x80;
        if width(token as u8) != len || !follows(1) || len == 3 && !follows(2) {
            return;
        }
        let code_point = code_point(token);
        // Lower code points have shorter encodings.
        if code_point >= if len == 2 { 0x80 } else { 0x800 } {
            self.0[code_point >> 6] |= 1 << (code_point & 63);
        }
    }

    /// Whether a character of two or three bytes is one token.
    #[inline(always)]
    pub(super) fn contains(&self, character: u32) -> bool {
        let code_point = code_point(character);
        self.0.get(code_point >> 6).is_some_and(|word| word & 1 << (code_point & 63) != 0)
    }
}
