//! Where a text can be cut so that no grapheme cluster is torn: the rules of UAX #29 on a table of 5 KB. That of
//! `unicode-segmentation`, which it is made from and tested against, has 25.

use std::cell::Cell;

use crate::code_point_table;

const OTHER: u8 = 0;
/// Controls, carriage return and line feed among them.
const CONTROL: u8 = 1;
/// Marks and what else belongs to the character before.
const EXTEND: u8 = 2;
/// Marks that join two consonants of an Indic script.
const LINKER: u8 = 3;
const JOINER: u8 = 4;
const SPACING_MARK: u8 = 5;
const PREPEND: u8 = 6;
/// Consonants that a linker joins.
const CONSONANT: u8 = 7;
const PICTOGRAPH: u8 = 8;
/// Half of a flag.
const REGIONAL: u8 = 9;
// Parts of Hangul syllables, and syllables: those without an end, and those with one.
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

/// The halves of flags that were counted last: where the first is, and where the last ends.
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

/// Belongs to the character before, and parts consonants.
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

/// How many halves of flags stand before a place, one after the other.
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

/// Bytes of half a flag.
const HALF: usize = 4;
