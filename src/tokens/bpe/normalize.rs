//! Unicode normalization, for the vocabularies that require it. Most texts are normalized already.

use std::borrow::Cow;

use crate::text::normal_form::{self, NormalForm};

/// A normal form of Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Characters with their marks composed.
    Nfc = 1,
    /// NFC with compatibility variants of a character replaced by that character.
    Nfkc = 2,
}

/// Ranges in which no character changes under NFC, is reordered or composes with the character before it. Not
/// exhaustive.
const FIXED_BY_NFC: [(u32, u32); 15] = [
    (0x0, 0x2ff),
    (0x388, 0x3ff),
    (0x400, 0x482),
    (0x48a, 0x52f),
    (0x1e00, 0x1eff),
    (0x2002, 0x20cf),
    (0x2100, 0x2125),
    (0x2190, 0x2328),
    (0x2500, 0x2adb),
    (0x3000, 0x3029),
    (0x3030, 0x3098),
    (0x309b, 0x30ff),
    (0x3400, 0x9fff),
    (0xac00, 0xd7a3),
    (0x1f000, 0x1faff),
];

/// The same for NFKC.
const FIXED_BY_NFKC: [(u32, u32); 9] = [
    (0x0, 0x7f),
    (0xc0, 0x131),
    (0x388, 0x3ce),
    (0x400, 0x482),
    (0x48a, 0x52f),
    (0x3041, 0x3096),
    (0x30a1, 0x30fa),
    (0x4e00, 0x9fff),
    (0xac00, 0xd7a3),
];

impl Form {
    /// The normal form of this number in an asset; the inner `None` for 0, the outer one for unknown numbers.
    pub(super) fn from_number(number: u8) -> Option<Option<Self>> {
        match number {
            0 => Some(None),
            1 => Some(Some(Self::Nfc)),
            2 => Some(Some(Self::Nfkc)),
            _ => None,
        }
    }

    /// Maximum growth, in bytes per byte.
    pub(super) fn max_bytes_per_byte(form: Option<Self>) -> usize {
        match form {
            None => 1,
            Some(Self::Nfc) => 3,
            Some(Self::Nfkc) => 11,
        }
    }

    /// Whether a character is known to stay unchanged and not to interact with the character before it.
    pub(crate) fn fixes(self, c: char) -> bool {
        let ranges: &[(u32, u32)] = match self {
            Self::Nfc => &FIXED_BY_NFC,
            Self::Nfkc => &FIXED_BY_NFKC,
        };
        let code = u32::from(c);
        ranges.iter().any(|&(from, to)| (from..=to).contains(&code))
    }

    /// The normalized text.
    pub(crate) fn normalize(self, text: &str) -> String {
        normal_form::normalize(
            text,
            match self {
                Self::Nfc => NormalForm::Nfc,
                Self::Nfkc => NormalForm::Nfkc,
            },
        )
    }
}

/// The text in a normal form; borrowed if it is known to be normalized.
pub(crate) fn normalized(text: &str, form: Option<Form>) -> Cow<'_, str> {
    match form {
        Some(form) if !(text.is_ascii() || text.chars().all(|c| form.fixes(c))) => Cow::Owned(form.normalize(text)),
        _ => Cow::Borrowed(text),
    }
}

/// Maps offsets in a normalized text to offsets in the original.
#[derive(Debug)]
pub(crate) struct Origins<'t> {
    form: Option<Form>,
    /// The rest that was not visited yet.
    rest: &'t str,
    /// Offset of `rest` in the original, and in the normalized text.
    before: (usize, usize),
    /// The segment that was visited last: its offset in both texts, and whether it changed.
    last: (usize, usize, bool),
}

impl<'t> Origins<'t> {
    pub(crate) fn new(text: &'t str, form: Option<Form>) -> Self {
        let form = form.filter(|&form| !text.chars().all(|c| form.fixes(c)));
        Self { form, rest: text, before: (0, 0), last: (0, 0, false) }
    }

    /// The offset in the original text of byte `at` of the normalized text, and whether it is exact: an offset within a
    /// changed segment maps to the begin of that segment. Calls must not decrease `at`.
    pub(crate) fn at(&mut self, at: usize) -> (usize, bool) {
        let Some(form) = self.form else { return (at, true) };
        while self.before.1 < at && !self.rest.is_empty() {
            // A fixed character starts a new segment: the text before it normalizes independently.
            let begins = |&(place, c): &(usize, char)| place > 0 && form.fixes(c);
            let end = self.rest.char_indices().find(begins).map_or(self.rest.len(), |(place, _)| place);
            let (segment, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
            let normal = normalized(segment, Some(form));
            self.last = (self.before.0, self.before.1, normal != segment);
            self.before = (self.before.0.saturating_add(end), self.before.1.saturating_add(normal.len()));
            self.rest = rest;
        }
        let (from, normal_from, changed) = self.last;
        match at {
            _ if at >= self.before.1 => (self.before.0, true),
            _ if changed => (from, at == normal_from),
            _ => (from.saturating_add(at.saturating_sub(normal_from)), true),
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use unicode_normalization::char::canonical_combining_class;
    use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfkc_quick};

    #[test]
    fn what_is_said_to_be_fixed_is() {
        let mut fixed = [0, 0];
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            if Form::Nfc.fixes(c) {
                fixed[0] += 1;
                assert!(
                    is_nfc_quick([c].into_iter()) == IsNormalized::Yes && canonical_combining_class(c) == 0,
                    "{c:?}"
                );
            }
            if Form::Nfkc.fixes(c) {
                fixed[1] += 1;
                assert!(
                    is_nfkc_quick([c].into_iter()) == IsNormalized::Yes && canonical_combining_class(c) == 0,
                    "{c:?}"
                );
            }
            for form in [Form::Nfc, Form::Nfkc] {
                let most = c.len_utf8() * Form::max_bytes_per_byte(Some(form));
                assert!(form.normalize(&c.to_string()).len() <= most, "{c:?}");
            }
        }
        assert!(fixed.iter().all(|&count| count > 30_000), "{fixed:?}");
    }

    #[test]
    fn places_of_a_normalized_text_are_in_the_text() {
        let text = "ae\u{301}b\u{302}\u{301}c \u{212b}\u{1100}\u{1161}x";
        let normal = Form::Nfc.normalize(text);
        assert_ne!(normal, text);
        let mut origins = Origins::new(text, Some(Form::Nfc));
        let places: Vec<(usize, bool)> = (0..=normal.len()).map(|at| origins.at(at)).collect();
        assert_eq!(places.first(), Some(&(0, true)));
        assert_eq!(places.last(), Some(&(text.len(), true)));
        assert!(places.is_sorted_by_key(|&(place, _)| place));
        for (at, &(place, is_exact)) in places.iter().enumerate().filter(|(at, _)| normal.is_char_boundary(*at)) {
            assert!(text.is_char_boundary(place));
            if is_exact {
                assert_eq!(Some(Form::Nfc.normalize(text.get(..place).unwrap()).as_str()), normal.get(..at));
            }
        }
    }
}
