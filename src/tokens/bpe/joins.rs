//! Between which characters a token can reach across, so that the rest of a piece falls apart into short units.
//!
//! A token that is made of two parts joins them at one place. Where that place is between two characters, either both
//! parts hold the character on their side whole, and then the pair of characters is noted, or one of them ends within
//! a character, and then the two bytes that meet are. A merge across the boundary of two characters is the making of
//! such a token, so:
//!
//! - where neither is noted, nothing ever merges across the boundary: each side is encoded by itself;
//! - where the bytes are not noted, nothing merges across it before both characters are whole.

use super::pairs::SPREAD;

/// Bits of the filter of pairs of characters, as a power of two. A pair that is not noted may be taken for one that is:
/// that costs time, no more.
const FILTER_BITS: u32 = 19;

/// The noted pairs.
pub(super) struct Joins {
    /// By the last byte before and the first byte behind.
    bytes: Vec<u64>,
    /// By the hash of the characters.
    characters: Vec<u64>,
}

/// How many bytes the character has that begins with this byte; 0 for a byte within one.
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
fn byte_bit(before: u8, behind: u8) -> (usize, u64) {
    (usize::from(before) * 4 + usize::from(behind >> 6), 1 << (behind & 63))
}

#[inline(always)]
fn character_bit(before: u32, behind: u32) -> (usize, u64) {
    let bit = (u64::from(before) << 32 | u64::from(behind)).wrapping_mul(SPREAD) >> (64 - FILTER_BITS);
    ((bit >> 6) as usize, 1 << (bit & 63))
}

impl Joins {
    /// Nothing noted.
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; 256 * 256 / 64], characters: vec![0; (1 << FILTER_BITS) / 64] }
    }

    /// Notes that a token joins `left` and `right`.
    pub(super) fn note(&mut self, left: &[u8], right: &[u8]) {
        let (Some(&last), Some(&first)) = (left.last(), right.first()) else { return };
        if last < 0x80 && first < 0x80 || width(first) == 0 {
            return; // no question is ever asked within ASCII, and this is no boundary of characters
        }
        match (last_character(left), first_character(right)) {
            (Some(before), Some(behind)) => {
                let (word, bit) = character_bit(before, behind);
                self.characters[word] |= bit;
            }
            _ => {
                let (word, bit) = byte_bit(last, first);
                self.bytes[word] |= bit;
            }
        }
    }

    /// Whether a merge may reach across the boundary before both characters are whole. `before` and `behind` are the
    /// characters' bytes, little-endian, as [`character`] gives them.
    #[inline(always)]
    pub(super) fn of_bytes(&self, before: u32, behind: u32) -> bool {
        let last = before >> ((31 - before.leading_zeros().min(31)) & !7);
        let (word, bit) = byte_bit(last as u8, behind as u8);
        self.bytes[word] & bit != 0
    }

    /// Whether a merge may reach across the boundary between two characters, not both of them ASCII.
    #[inline(always)]
    pub(super) fn any(&self, before: u32, behind: u32) -> bool {
        let (word, bit) = character_bit(before, behind);
        self.characters[word] & bit != 0 || self.of_bytes(before, behind)
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
    let [first, second, third, _] = character.to_le_bytes().map(usize::from);
    if first < 0xe0 {
        (first & 0x1f) << 6 | second & 0x3f
    } else {
        (first & 0x0f) << 12 | (second & 0x3f) << 6 | third & 0x3f
    }
}

/// The first character, if it is there whole.
fn first_character(bytes: &[u8]) -> Option<u32> {
    let width = width(*bytes.first()?);
    let character = bytes.get(..width)?;
    Some(character.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))).filter(|_| width > 0)
}

/// The character that a text is, if it is one.
pub(super) fn only_character(bytes: &[u8]) -> Option<u32> {
    str::from_utf8(bytes).ok()?;
    first_character(bytes).filter(|_| width(bytes[0]) == bytes.len())
}

/// The last character, if it is there whole.
fn last_character(bytes: &[u8]) -> Option<u32> {
    let start = bytes.iter().rposition(|&byte| width(byte) > 0)?;
    let bytes = bytes.get(start..)?;
    first_character(bytes).filter(|_| width(bytes[0]) == bytes.len())
}
