//! Lower and upper case.

use super::unicode;

/// Converts to lower case.
pub(crate) fn lowercase(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { unicode::lowercase(text) }
}

/// Converts to upper case.
pub(crate) fn uppercase(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { unicode::uppercase(text) }
}
