//! What the text so far has taught: the counts of units that were merged, since words come again.
//!
//! The keys are the units themselves, so a count is never another unit's. The table is as large as the text is worth,
//! at most [`MOST`] entries, and goes when the call returns.

/// Units up to this long are remembered.
pub(super) const MEMORABLE: usize = 16;

/// Entries for long texts: 96 KB.
const MOST: usize = 4096;

/// Bytes of text for each entry.
const BYTES_PER_ENTRY: usize = 64;

/// One remembered unit: its key and its count; 0 for none.
#[derive(Clone, Copy)]
struct Entry {
    key: [u64; 2],
    count: u32,
}

/// The remembered units. A newer one takes the place of an older one.
#[derive(Default)]
pub(super) struct Known {
    entries: Vec<Entry>,
    wanted: usize,
}

impl Known {
    /// Prepares for a text of so many bytes. Nothing is allocated before the first unit is there.
    pub(super) fn fit(&mut self, bytes: usize) {
        self.wanted = (bytes / BYTES_PER_ENTRY).clamp(16, MOST).next_power_of_two();
    }

    /// The count of a unit, which `count` finds out where it is not known. It is never 0.
    #[inline(always)]
    pub(super) fn get_or(&mut self, key: [u64; 2], hash: u64, count: impl FnOnce() -> u64) -> u64 {
        if self.entries.len() < self.wanted {
            self.entries = vec![Entry { key, count: 0 }; self.wanted];
        }
        let slot = (hash >> 32) as usize & (self.entries.len() - 1);
        let entry = self.entries[slot];
        if entry.key == key && entry.count != 0 {
            return entry.count.into();
        }
        let count = count();
        self.entries[slot] = Entry { key, count: count as u32 };
        count
    }
}
