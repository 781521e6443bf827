//! The items of bullet lists.

use crate::markdown::{self, Blocks, Part};
use crate::text::{is_whitespace, trim};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The text without the marker; the lines below the first are trimmed; joined by LF.
    pub text: String,
    /// The first line, from 0.
    pub first_line: usize,
    /// Byte offset of the start.
    pub start: usize,
    pub end: usize,
}

/// The bullets of a text, except those in code and comments. Nested bullets are part of their parents.
pub(super) fn items(text: &str) -> Vec<Item> {
    let mut blocks = Blocks::default();
    let mut found: Vec<Item> = Vec::new();
    let mut open = false;
    for (at, line) in markdown::lines(text).enumerate() {
        let part = blocks.next(line.text);
        let indented = line.text.starts_with([' ', '\t']);
        if let (Part::Prose, Some(bullet)) = (part, bullet(line.text)) {
            open = true;
            found.push(Item { text: trim(bullet).to_owned(), first_line: at, start: line.start, end: line.end });
            continue;
        }
        let own = trim(line.text);
        match found.last_mut() {
            Some(item) if open && part == Part::Prose && indented && !own.is_empty() => {
                item.text.push('\n');
                item.text.push_str(own);
                item.end = line.end;
            }
            _ => open = false,
        }
    }
    found
}

/// The text of a top-level bullet.
fn bullet(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches(' ');
    if line.len().saturating_sub(inner.len()) > 1 || is_break(inner) {
        return None;
    }
    let text = inner.strip_prefix(['-', '*', '+'])?;
    (text.is_empty() || text.starts_with([' ', '\t'])).then_some(text)
}

/// Whether a line is a thematic break: `---`, `* * *`.
pub(super) fn is_break(line: &str) -> bool {
    let marks = || line.chars().filter(|ch| !is_whitespace(*ch));
    marks().count() >= 3 && ['-', '*', '_'].iter().any(|mark| marks().all(|ch| ch == *mark))
}

#[cfg(test)]
#[path = "../../tests/unit/folders/items.rs"]
mod tests;
