//! Notes: complete if short, otherwise head and tail (docs/workspace.md).

use serde::Serialize;

use crate::markdown;

use super::Sizes;

/// Notes as in the response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkspaceNotes {
    /// The text; or its head, a line with the number of omitted lines, and its tail.
    pub summary: String,
    /// Whether lines were omitted.
    pub truncated: bool,
}

/// Shortens notes with more lines than head and tail together; line ends are preserved.
pub(super) fn summarize(text: &str, sizes: &Sizes) -> WorkspaceNotes {
    let lines: Vec<_> = markdown::lines(text).collect();
    let keep = sizes.notes_head_lines.saturating_add(sizes.notes_tail_lines);
    let elided = lines.len().saturating_sub(keep);
    if elided == 0 {
        return WorkspaceNotes { summary: text.to_owned(), truncated: false };
    }
    let head_end = sizes.notes_head_lines.checked_sub(1).and_then(|last| lines.get(last)).map_or(0, |l| l.text_end());
    let tail = lines.get(lines.len().saturating_sub(sizes.notes_tail_lines)..).unwrap_or_default();
    let tail = match (tail.first(), tail.last()) {
        (Some(first), Some(last)) => text.get(first.start..last.text_end()).unwrap_or_default(),
        _ => "",
    };
    let head = text.get(..head_end).unwrap_or_default();
    WorkspaceNotes { summary: format!("{head}\n\n... [{elided} lines elided] ...\n\n{tail}"), truncated: true }
}
