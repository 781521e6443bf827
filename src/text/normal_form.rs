//! Texts in a normal form of Unicode.

use super::unicode;

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormalForm {
    /// Characters with their marks composed.
    Nfc,
    /// Characters and their marks apart.
    Nfd,
    /// Composed, and what is but another shape of a character is that character.
    Nfkc,
}

/// The text in this form.
pub(crate) fn normalize(text: &str, form: NormalForm) -> String {
    unicode::normalize(text, form)
}
