//! Unicode normal forms.

use super::unicode;

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormalForm {
    /// Characters composed with their marks.
    Nfc,
    /// Characters decomposed from their marks.
    Nfd,
    /// Composed, with compatibility variants replaced.
    Nfkc,
}

/// Normalizes a text to this form.
pub(crate) fn normalize(text: &str, form: NormalForm) -> String {
    unicode::normalize(text, form)
}
