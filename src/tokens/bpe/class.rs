//! Character classes of the encodings' patterns.
//!
//! A class is one bit, so a set of classes is a byte and membership is an `&`. Past the end of the text the class is
//! [`END`], which is in no set.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use crate::code_point_table;
use crate::tokens::utf8::code_point;

/// Upper case and title case letters: `\p{Lu}`, `\p{Lt}`.
pub(super) const UPPER: u8 = 1 << 0;
/// Lower case letters: `\p{Ll}`.
pub(super) const LOWER: u8 = 1 << 1;
/// Letters of scripts without case, and modifier letters: `\p{Lo}`, `\p{Lm}`.
pub(super) const CASELESS: u8 = 1 << 2;
/// Combining marks: `\p{M}`.
pub(super) const MARK: u8 = 1 << 3;
/// Numbers: `\p{N}`.
pub(super) const NUMBER: u8 = 1 << 4;
/// White space (`\s`) but for carriage return and line feed.
pub(super) const BLANK: u8 = 1 << 5;
/// Carriage return and line feed.
pub(super) const BREAK: u8 = 1 << 6;
/// Everything else: punctuation, symbols, controls, unassigned code points.
pub(super) const OTHER: u8 = 1 << 7;
/// Past the end of the text.
pub(super) const END: u8 = 0;

/// The classes of ASCII.
pub(super) const ASCII: [u8; 128] = {
    let mut classes = [OTHER; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte as u8 {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => BREAK,
            b'\t' | 0x0b | 0x0c | b' ' => BLANK,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// Code points from here on are not in [`CLASSES`].
const INDEXED: u32 = 0x32400;

static CLASSES: &[u8] = include_bytes!("classes_and_symbols.bin");

/// The table entry of a code point below [`INDEXED`].
#[inline(always)]
fn entry(code_point: u32) -> u8 {
    code_point_table::get(CLASSES, INDEXED, code_point)
}

/// The class of a code point.
#[inline]
pub(super) fn of(code_point: u32) -> u8 {
    if code_point < INDEXED {
        1 << (entry(code_point) & 7)
    } else if (0xE_0100..=0xE_01EF).contains(&code_point) {
        MARK // the variation selectors supplement, the only marks above the table
    } else {
        OTHER
    }
}

/// Whether a code point that is [`OTHER`] is punctuation or a symbol: `\p{P}`, `\p{S}`.
pub(super) fn is_symbol(code_point: u32) -> bool {
    code_point < INDEXED && entry(code_point) & 8 == 0
}

/// Whether a character is a letter or a number.
pub(crate) fn is_letter_or_number(c: char) -> bool {
    of(u32::from(c)) & (UPPER | LOWER | CASELESS | NUMBER) != 0
}

/// Whether a character is a lower case letter.
pub(crate) fn is_lower_case(c: char) -> bool {
    of(u32::from(c)) == LOWER
}

/// The class of the character that begins at `at`, and how many bytes it has. `bytes` is well-formed UTF-8 and `at`
/// is a character boundary; anything else gives a wrong class, never a panic.
#[inline(always)]
pub(super) fn at(bytes: &[u8], at: usize) -> (u8, usize) {
    let Some(&first) = bytes.get(at) else { return (END, 0) };
    match ASCII.get(usize::from(first)) {
        Some(&class) => (class, 1),
        None => beyond_ascii(bytes, at, first),
    }
}

/// [`at`] for characters of two or more bytes.
#[inline]
fn beyond_ascii(bytes: &[u8], at: usize, first: u8) -> (u8, usize) {
    let (code, width) = code_point(bytes, at, first);
    (of(code), width)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// tiktoken-rs matches with regex-syntax. If this fails, its Unicode version has moved: check the differences, then
    /// run `cargo xtask vocab --unicode`.
    #[test]
    fn the_table_is_that_of_the_reference() {
        let patterns = [
            (UPPER, r"[\p{Lu}\p{Lt}]"),
            (LOWER, r"\p{Ll}"),
            (CASELESS, r"[\p{Lm}\p{Lo}]"),
            (MARK, r"\p{M}"),
            (NUMBER, r"\p{N}"),
            (BLANK, r"[\s--\r\n]"),
            (BREAK, r"[\r\n]"),
            (OTHER, r"[^\p{L}\p{M}\p{N}\s]"),
        ];
        let mut seen = 0;
        for (class, pattern) in patterns {
            let hir = regex_syntax::parse(pattern).unwrap();
            let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(set)) = hir.kind() else {
                panic!("`{pattern}` is not a class")
            };
            for character in set.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                assert_eq!(of(character.into()), class, "{character:?}");
                let mut bytes = [0; 4];
                let text = character.encode_utf8(&mut bytes).as_bytes();
                assert_eq!(at(text, 0), (class, text.len()), "{character:?}");
                seen += 1;
            }
        }
        assert_eq!(seen, 0x11_0000 - 0x800);
        // The other table differs only in symbols.
        let plain = include_bytes!("classes.bin");
        for code in 0..INDEXED {
            assert_eq!(code_point_table::get(plain, INDEXED, code), entry(code) & 7, "{code:x}");
        }
        let hir = regex_syntax::parse(r"[\p{P}\p{S}]").unwrap();
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(set)) = hir.kind() else {
            panic!("no class")
        };
        for character in (0..=0x10_ffff).filter_map(char::from_u32).filter(|&c| of(c.into()) == OTHER) {
            let expected = set.ranges().iter().any(|range| range.start() <= character && character <= range.end());
            assert_eq!(is_symbol(character.into()), expected, "{character:?}");
        }
    }
}
