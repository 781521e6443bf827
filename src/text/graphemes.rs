//! Grapheme cluster boundaries: the rules of UAX #29 on a table of 5 KB. The table of `unicode-segmentation`, from
//! which it is made and against which it is tested, has 25.

use std::cell::Cell;

use crate::code_point_table;

const OTHER: u8 = 0;
/// Controls, including carriage return and line feed.
const CONTROL: u8 = 1;
/// Marks and other characters that extend the previous one.
const EXTEND: u8 = 2;
/// Marks that join two consonants of an Indic script.
const LINKER: u8 = 3;
const JOINER: u8 = 4;
const SPACING_MARK: u8 = 5;
const PREPEND: u8 = 6;
/// Consonants that a linker can join.
const CONSONANT: u8 = 7;
const PICTOGRAPH: u8 = 8;
/// A regional indicator: half of a flag.
const REGIONAL: u8 = 9;
// Parts of Hangul syllables, then whole syllables: without and with a final consonant.
const LEAD: u8 = 10;
const VOWEL: u8 = 11;
const TRAIL: u8 = 12;
const OPEN_SYLLABLE: u8 = 13;
const SYLLABLE: u8 = 14;

/// The code points from here on are not in [`CLASSES`].
const INDEXED: u32 = 0x2_0000;

/// The classes of the code points below [`INDEXED`], as `cargo xtask vocab --unicode` writes them.
static CLASSES: &[u8] = include_bytes!("graphemes.bin");

fn class_of(c: char) -> u8 {
    match u32::from(c) {
        0x20..0x7f => OTHER,
        code @ 0xac00..0xd7a4 if (code - 0xac00) % 28 > 0 => SYLLABLE,
        code @ 0..INDEXED => code_point_table::get(CLASSES, INDEXED, code),
        0xe_0020..0xe_0080 | 0xe_0100..0xe_01f0 => EXTEND,
        0xe_0000..0xe_1000 => CONTROL,
        _ => OTHER,
    }
}

/// The run of flag halves counted last: its start and end.
pub(super) type Flags = Cell<(usize, usize)>;

/// Whether a cluster ends at a place between two characters of a text.
pub(super) fn is_boundary(text: &str, at: usize, flags: &Flags) -> bool {
    let Some((before, after)) = text.split_at_checked(at) else { return false };
    let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else { return true };
    match (class_of(last), class_of(next)) {
        (CONTROL, CONTROL) => (last, next) != ('\r', '\n'),
        (CONTROL, _) | (_, CONTROL) => true,
        (LEAD, LEAD | VOWEL | OPEN_SYLLABLE | SYLLABLE)
        | (OPEN_SYLLABLE | VOWEL, VOWEL | TRAIL)
        | (SYLLABLE | TRAIL, TRAIL)
        | (_, EXTEND | LINKER | JOINER | SPACING_MARK)
        | (PREPEND, _) => false,
        (EXTEND | LINKER | JOINER, CONSONANT) => !is_approval(before),
        (JOINER, PICTOGRAPH) => {
            let mut earlier = before.chars().rev().skip(1).map(class_of);
            earlier.find(|class| !matches!(*class, EXTEND | LINKER)) != Some(PICTOGRAPH)
        }
        (REGIONAL, REGIONAL) => halves_before(text, at, flags).is_multiple_of(2),
        _ => true,
    }
}

/// Extends the previous character and prevents joining.
const NON_JOINER: char = '\u{200c}';

/// Whether a text ends with a consonant and marks that join it to the next one.
fn is_approval(text: &str) -> bool {
    let mut linked = false;
    for c in text.chars().rev() {
        match class_of(c) {
            LINKER => linked = true,
            EXTEND | JOINER if c != NON_JOINER => {}
            class => return linked && class == CONSONANT,
        }
    }
    false
}

/// The number of consecutive flag halves before a place.
fn halves_before(text: &str, at: usize, flags: &Flags) -> usize {
    let (first, end) = flags.get();
    let mut start = at;
    while start <= first || end < start {
        match text.get(..start).and_then(|before| before.chars().next_back()) {
            Some(c) if class_of(c) == REGIONAL => start = start.saturating_sub(c.len_utf8()),
            _ => {
                flags.set((start, at));
                return at.saturating_sub(start) / HALF;
            }
        }
    }
    flags.set((first, end.max(at)));
    at.saturating_sub(first) / HALF
}

/// Bytes of one flag half.
const HALF: usize = 4;
