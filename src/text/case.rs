//! Texts in lower and in upper case.

use super::unicode;

/// A text in lower case.
pub(crate) fn lowercase(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { unicode::lowercase(text) }
}

/// A text in upper case.
pub(crate) fn uppercase(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { unicode::uppercase(text) }
}
