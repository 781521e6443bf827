//! The items of bullet lists.

use crate::markdown::{self, Blocks, Part};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Without the marker; the lines below the first are trimmed; joined by LF.
    pub text: String,
    /// The line that introduces its list, `Never:` or one in bold; else empty.
    pub lead: String,
    /// Its first line, from 0.
    pub first_line: usize,
    /// In bytes.
    pub start: usize,
    pub end: usize,
    /// Whether lines follow that belong to it and are not in its text.
    pub goes_on: bool,
}

/// The bullets of a text, nested ones within their parents, but for those in code and comments.
pub(super) fn items(text: &str) -> Vec<Item> {
    let mut blocks = Blocks::default();
    let mut found: Vec<Item> = Vec::new();
    let mut open = false;
    let mut lead = "";
    for (at, line) in markdown::lines(text).enumerate() {
        let part = blocks.next(line.text);
        let indented = line.text.starts_with([' ', '\t']);
        if let (Part::Prose, Some(bullet)) = (part, bullet(line.text)) {
            open = true;
            found.push(Item {
                text: bullet.trim().to_owned(),
                lead: lead.to_owned(),
                first_line: at,
                start: line.start,
                end: line.end,
                goes_on: false,
            });
            continue;
        }
        let (own, bare) = (line.text.trim(), line.text.trim().trim_matches(['*', '_']));
        if let Some(item) = found.last_mut().filter(|_| open) {
            if part == Part::Prose && indented && !own.is_empty() {
                item.text.push('\n');
                item.text.push_str(own);
                item.end = line.end;
                continue;
            }
            item.goes_on = indented && !own.is_empty();
            open = false;
        }
        if part == Part::Prose && !own.is_empty() {
            let is_bold = bare.len().saturating_add(4) <= own.len();
            lead = if markdown::heading(own).is_none() && (bare.ends_with(':') || is_bold) { bare } else { "" };
        }
    }
    found
}

/// The text of an outermost bullet.
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
#[path = "../../tests/unit/folders/items.rs"]
mod tests;
