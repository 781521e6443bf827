//! The items of bullet lists.

use crate::markdown::{self, Blocks, Part};

/// One item: its lines, and what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Without the marker; the lines below the first are trimmed; joined by LF.
    pub text: String,
    /// Its first line, from 0.
    pub first_line: usize,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where the next line begins.
    pub end: usize,
    /// Whether something follows that belongs to it and is not in its text.
    pub goes_on: bool,
}

/// The items of a text, nested ones within those that hold them. Those in code and comments do not count.
pub(super) fn items(text: &str) -> Vec<Item> {
    let mut blocks = Blocks::default();
    let mut found: Vec<Item> = Vec::new();
    let mut open = false;
    for (at, line) in markdown::lines(text).enumerate() {
        let part = blocks.next(line.text);
        let indented = line.text.starts_with([' ', '\t']);
        if let (Part::Prose, Some(bullet)) = (part, bullet(line.text)) {
            open = true;
            found.push(Item {
                text: bullet.trim().to_owned(),
                first_line: at,
                start: line.start,
                end: line.end,
                goes_on: false,
            });
        } else if let Some(item) = found.last_mut().filter(|_| open) {
            let blank = line.text.trim().is_empty();
            if part == Part::Prose && indented && !blank {
                item.text.push('\n');
                item.text.push_str(line.text.trim());
                item.end = line.end;
            } else {
                item.goes_on = indented && !blank;
                open = false;
            }
        }
    }
    found
}

/// The text of a bullet at the outermost level.
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
    let marks = || line.chars().filter(|ch| !ch.is_whitespace());
    marks().count() >= 3 && ['-', '*', '_'].iter().any(|mark| marks().all(|ch| ch == *mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_hold_their_lines() {
        let text = "- a\n  more\n  - nested\n* b\n\n- - -\n```\n- code\n```\n<!-- \n- c\n-->\n+ d\nlazy\n- e\n  ```\n  x\n  ```\n-";
        let found: Vec<_> = items(text).into_iter().map(|item| (item.text, item.first_line, item.goes_on)).collect();
        let expected =
            [("a\nmore\n- nested", 0, false), ("b", 3, false), ("d", 12, false), ("e", 14, true), ("", 18, false)];
        assert_eq!(found, expected.map(|(text, line, on)| (text.to_owned(), line, on)));
    }
}
