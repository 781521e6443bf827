//! The recorded shortening of a text, so that it can be applied again.

use crate::assembly::settings::TEXT_MARKER;
use crate::text::{split_once, trim, whole_number};

/// The bytes kept at both ends of a text, without surrounding white space, and the marker between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptEnds {
    head: usize,
    tail: usize,
    /// `None` for the default.
    pub marker: Option<String>,
}

impl KeptEnds {
    /// The shortening that turned a trimmed text into `cut`.
    pub(crate) fn of(whole: &str, cut: &str) -> Self {
        if let Some((head, tail)) = around_marker(whole, cut) {
            return Self { head, tail, marker: None };
        }
        let (head, tail) = common_ends(whole, cut);
        let marker = cut.get(head..cut.len().saturating_sub(tail)).map(str::to_owned);
        Self { head, tail, marker }
    }

    /// Shortens a trimmed text the same way; `None` if the text is too short or would be cut inside a character.
    pub(crate) fn apply(&self, whole: &str) -> Option<String> {
        let marker = self.marker.as_deref().unwrap_or(TEXT_MARKER);
        let tail = whole.get(whole.len().checked_sub(self.tail)?..)?;
        Some(trim(&[whole.get(..self.head)?, marker, tail].concat()).to_owned())
    }

    /// The text form, without the marker.
    pub(crate) fn to_text(&self) -> String {
        let Self { head, tail, marker } = self;
        format!("{head}.{tail}{}", if marker.is_some() { "m" } else { "" })
    }

    /// Reads the output of [`to_text`](Self::to_text), with the next of these markers if it has a custom one.
    pub(crate) fn parse(text: &str, markers: &mut impl Iterator<Item = String>) -> Option<Self> {
        let (head, tail) = split_once(text, ".")?;
        let (tail, marker) = match tail.strip_suffix('m') {
            Some(tail) => (tail, Some(markers.next()?)),
            None => (tail, None),
        };
        let number = |digits| whole_number(digits).map(|number| number as usize);
        Some(Self { head: number(head)?, tail: number(tail)?, marker })
    }
}

/// The bytes kept at the beginning and the end of a text, around the default marker.
fn around_marker(whole: &str, cut: &str) -> Option<(usize, usize)> {
    let (head, tail) = split_once(cut, TEXT_MARKER)?;
    let fits = head.len() + tail.len() <= whole.len() && whole.starts_with(head) && whole.ends_with(tail);
    fits.then_some((head.len(), tail.len()))
}

/// The length of the common beginning of two texts, and then of their common end.
fn common_ends(whole: &str, cut: &str) -> (usize, usize) {
    let same = |(one, other): &(char, char)| one == other;
    let head: usize = whole.chars().zip(cut.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let (whole, cut) = (whole.get(head..).unwrap_or_default(), cut.get(head..).unwrap_or_default());
    let tail = whole.chars().rev().zip(cut.chars().rev()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    (head, tail)
}
