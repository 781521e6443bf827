//! Text: cuts that fall between grapheme clusters, and offsets in UTF-16 code units (SPEC §0.7).

use unicode_segmentation::GraphemeCursor;

/// How many characters away a white-space boundary may be and still be preferred to the exact place of a cut.
pub const NEAR_CHARS: usize = 40;

/// Length in UTF-16 code units, the unit of every offset that JavaScript is given.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    // A unit for each first byte of a character, and one more for characters of four bytes.
    let units = |byte: u8| u8::from(byte & 0xC0 != 0x80) + u8::from(byte >= 0xF0);
    // So few bytes at a time that their units fit into a byte: then many are added at once.
    let of_chunk = |chunk: &[u8]| usize::from(chunk.iter().map(|&byte| units(byte)).sum::<u8>());
    text.as_bytes().chunks(127).map(of_chunk).sum()
}

/// Whether JavaScript takes a character for white space: that of Unicode, but for U+0085, and U+FEFF.
pub fn is_whitespace(ch: char) -> bool {
    ch == '\u{feff}' || (ch.is_whitespace() && ch != '\u{85}')
}

/// The text without white space at its ends. Most texts have none there, which two bytes tell.
pub fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim_matches(is_whitespace),
    }
}

/// Whether a text is nothing but white space.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_whitespace)
}

/// Whether `at` is a place where `text` can be cut: between two grapheme clusters, so never inside an emoji sequence,
/// a flag, a letter with its marks or a CRLF.
pub fn is_grapheme_boundary(text: &str, at: usize) -> bool {
    text.is_char_boundary(at) && GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

/// The last grapheme boundary at or before byte `at`.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    if is_grapheme_boundary(text, at) {
        return at;
    }
    GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

/// The first grapheme boundary at or after byte `at`.
pub fn ceil_boundary(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    if is_grapheme_boundary(text, at) {
        return at;
    }
    GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
}

/// Where to end a head that may have at most `at` bytes: at the end of a word when one is within [`NEAR_CHARS`], else at
/// a grapheme boundary.
pub fn head_end(text: &str, at: usize) -> usize {
    let exact = floor_boundary(text, at);
    if exact == text.len() {
        return exact;
    }
    let (head, rest) = text.split_at_checked(exact).unwrap_or((text, ""));
    let mut after_is_white = rest.starts_with(char::is_whitespace);
    let mut end = exact;
    for ch in head.chars().rev().take(NEAR_CHARS) {
        if after_is_white && !ch.is_whitespace() && is_grapheme_boundary(text, end) {
            return end;
        }
        after_is_white = ch.is_whitespace();
        end = end.saturating_sub(ch.len_utf8());
    }
    exact
}

/// Where to begin a tail that may begin at byte `at` or later: at the start of a word when one is within [`NEAR_CHARS`],
/// else at a grapheme boundary.
pub fn tail_start(text: &str, at: usize) -> usize {
    let exact = ceil_boundary(text, at);
    let (head, rest) = text.split_at_checked(exact).unwrap_or((text, ""));
    let mut before_is_white = exact == 0 || head.ends_with(char::is_whitespace);
    let mut start = exact;
    for ch in rest.chars().take(NEAR_CHARS) {
        if before_is_white && !ch.is_whitespace() && is_grapheme_boundary(text, start) {
            return start;
        }
        before_is_white = ch.is_whitespace();
        start = start.saturating_add(ch.len_utf8());
    }
    exact
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

    /// The UTF-16 offset of byte `at`, which must be a character boundary and not before the one asked for last.
    pub fn at(&mut self, at: usize) -> usize {
        let step = at.saturating_sub(self.bytes).min(self.rest.len());
        if let Some((passed, rest)) = self.rest.split_at_checked(step) {
            self.units = self.units.saturating_add(utf16_len(passed));
            self.bytes = self.bytes.saturating_add(step);
            self.rest = rest;
        }
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cut_falls_inside_a_cluster() {
        for cluster in ["👨‍👩‍👧‍👦", "🇳🇱", "e\u{301}", "\r\n", "🏳️‍🌈", "각", "क्षि"]
        {
            let text = format!("ab{cluster}cd");
            let (from, to) = (2, 2 + cluster.len());
            for at in from + 1..to {
                assert_eq!(floor_boundary(&text, at), from, "{cluster:?} at {at}");
                assert_eq!(ceil_boundary(&text, at), to, "{cluster:?} at {at}");
            }
            assert_eq!(floor_boundary(&text, to), to);
        }
    }

    #[test]
    fn cuts_prefer_words_that_are_near() {
        let text = "one two three";
        assert_eq!(head_end(text, 9), 7);
        assert_eq!(head_end(text, 7), 7);
        assert_eq!(head_end(text, 8), 7);
        assert_eq!(tail_start(text, 5), 8);
        assert_eq!(tail_start(text, 7), 8);
        assert_eq!(tail_start(text, 8), 8);
        assert_eq!(head_end(text, 99), text.len());
        assert_eq!(tail_start(text, 99), text.len());
        let long = "x".repeat(200);
        assert_eq!((head_end(&long, 100), tail_start(&long, 100)), (100, 100));
    }

    #[test]
    fn a_later_limit_never_begins_a_tail_earlier() {
        let text = "a  bb ccc \u{301}d 👨‍👩‍👧 eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee f\r\n\r\ng";
        for at in 1..text.len() {
            assert!(tail_start(text, at - 1) <= tail_start(text, at));
        }
    }

    #[test]
    fn offsets_count_utf16_units() {
        let text = "aé👍b";
        let mut offsets = Utf16Offsets::new(text);
        assert_eq!([0, 1, 3, 7, 8].map(|at| offsets.at(at)), [0, 1, 2, 4, 5]);
        assert_eq!(utf16_len(text), 5);
    }
}
