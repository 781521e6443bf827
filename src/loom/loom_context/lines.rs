//! Parts of the lines that a loom-aware agent reads.

/// Separates the parts of a line.
pub(crate) const SEPARATOR: &str = " · ";

/// A count with its noun: `1 annotation`, `2 annotations`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A text on one line, with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
