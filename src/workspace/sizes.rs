//! How much of notes, log and gaps the response has.

/// The settable sizes of the response, with the seed's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Lines of long notes that stay at the start.
    pub notes_head_lines: usize,
    /// Lines of long notes that stay at the end. Notes of no more lines than both together come back whole.
    pub notes_tail_lines: usize,
    /// Entries of the log.
    pub log_entries: usize,
    /// Gap records.
    pub gap_records: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { notes_head_lines: 10, notes_tail_lines: 30, log_entries: 10, gap_records: 10 }
    }
}
