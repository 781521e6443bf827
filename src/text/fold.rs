//! Finds a text in others, ignoring case or marks.
//!
//! Each character is folded by itself: to upper and then lower case, and to its base character without marks; marks
//! that stand alone fold to nothing. So a place in a folded text is a place in the text, and no match covers half a
//! letter.

use super::case::{lowercase, uppercase};
use super::normal_form::{NormalForm, normalize};
use crate::maps::SortedMap;

/// The differences to ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folding {
    /// Upper and lower case.
    pub case: bool,
    /// Marks on letters.
    pub accents: bool,
}

/// A folded query.
#[derive(Debug)]
pub(crate) struct Pattern {
    folding: Folding,
    /// The query, folded.
    query: String,
    /// Cache of folded characters, since folding calls the host.
    folded: SortedMap<char, String>,
}

impl Pattern {
    pub(crate) fn new(query: &str, folding: Folding) -> Self {
        let mut pattern = Self { folding, query: String::new(), folded: SortedMap::new() };
        pattern.query = pattern.fold(query);
        pattern
    }

    /// The places of the query in a text, in bytes, without overlaps.
    pub(crate) fn matches(&mut self, text: &str) -> Vec<(usize, usize)> {
        if self.query.is_empty() {
            return Vec::new();
        }
        if self.folding == Folding::default() {
            return text.match_indices(self.query.as_str()).map(|(at, found)| (at, at + found.len())).collect();
        }
        let folded = self.fold(text);
        let found: Vec<(usize, usize)> =
            folded.match_indices(self.query.as_str()).map(|(at, found)| (at, at + found.len())).collect();
        if found.is_empty() { found } else { self.unfolded(text, &found) }
    }

    fn fold(&mut self, text: &str) -> String {
        let mut folded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
            let (plain, other) = rest.split_at_checked(at).unwrap_or_default();
            self.fold_ascii(plain, &mut folded);
            let mut others = other.chars();
            if let Some(c) = others.next() {
                self.fold_char(c, &mut folded);
            }
            rest = others.as_str();
        }
        self.fold_ascii(rest, &mut folded);
        folded
    }

    fn fold_ascii(&self, text: &str, out: &mut String) {
        let start = out.len();
        out.push_str(text);
        if let Some(added) = out.get_mut(start..).filter(|_| self.folding.case) {
            added.make_ascii_lowercase();
        }
    }

    fn fold_char(&mut self, c: char, out: &mut String) {
        let Folding { case, accents } = self.folding;
        if c.is_ascii() {
            out.push(if case { c.to_ascii_lowercase() } else { c });
        } else {
            out.push_str(self.folded.or_insert_with(c, || folded(c, case, accents)));
        }
    }

    /// Places in the folded text as places in the text. A match that begins or ends within the folding of one character
    /// is dropped; marks after the last character belong to the match.
    fn unfolded(&mut self, text: &str, found: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut places = Vec::with_capacity(found.len());
        let mut wanted = found.iter().copied().peekable();
        let mut start = None;
        let mut piece = String::new();
        let mut at = 0;
        let ends = text.char_indices().map(|(at, c)| (at, Some(c))).chain([(text.len(), None)]);
        for (place, c) in ends {
            piece.clear();
            if let Some(c) = c {
                self.fold_char(c, &mut piece);
            }
            if piece.is_empty() && c.is_some() {
                continue;
            }
            // A match ends at the start of the next character.
            while let Some((from, to)) = wanted.peek().copied().filter(|(_, to)| *to <= at) {
                if let Some(start) = start.take().filter(|_| to == at && from < to) {
                    places.push((start, place));
                }
                wanted.next();
            }
            if wanted.peek().is_some_and(|(from, _)| *from == at) {
                start = Some(place);
            }
            at += piece.len();
        }
        places
    }
}

/// The folding of a character.
fn folded(c: char, case: bool, accents: bool) -> String {
    let base = if accents { base(c) } else { c };
    if accents && is_mark(base) {
        return String::new();
    }
    if !case {
        return String::from(base);
    }
    let mut small = lowercase(&uppercase(base.encode_utf8(&mut [0; 4])));
    // Lower case may add a mark.
    small.retain(|c| !(accents && is_mark(c)));
    small
}

/// The base character without marks; the character itself if it has none.
fn base(c: char) -> char {
    let decomposed = normalize(c.encode_utf8(&mut [0; 4]), NormalForm::Nfd);
    let mut parts = decomposed.chars();
    match parts.next() {
        Some(base) if parts.all(is_mark) => base,
        _ => c,
    }
}

/// Whether a character is a mark that readers may omit: accents and the like, the points of Hebrew, the vowels of
/// Arabic. Signs that other scripts require are not included.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}' | '\u{64b}'..='\u{65f}'
        | '\u{670}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
#[path = "../../tests/unit/text/fold.rs"]
mod tests;
