//! Sizes of notes, log and gaps in the response.

/// The configurable sizes of the response, with their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Lines kept at the start of long notes.
    pub notes_head_lines: usize,
    /// Lines kept at the end of long notes. Notes with no more lines than both together are returned complete.
    pub notes_tail_lines: usize,
    /// Log entries.
    pub log_entries: usize,
    /// Gap records.
    pub gap_records: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { notes_head_lines: 10, notes_tail_lines: 30, log_entries: 10, gap_records: 10 }
    }
}
