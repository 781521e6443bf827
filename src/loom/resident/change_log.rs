//! The nodes and edges that changed in each revision of a tree.

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// The node at this slot.
    Node(u32),
    /// The node at this slot was added or moved.
    PlacedNode(u32),
    /// The edge at this slot.
    Edge(u32),
    /// The edge at this slot was added or moved.
    PlacedEdge(u32),
    /// The node of this id was removed.
    NodeRemoved(Box<str>),
    /// The edge of this id was removed.
    EdgeRemoved(Box<str>),
    /// The settings of the tree.
    Settings,
}

/// The revisions of a tree, and the changes of the latest ones.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeLog {
    revision: u32,
    /// The changes, ascending by revision.
    entries: Vec<(u32, Changed)>,
    /// The earliest revision since which the log is complete.
    complete_since: u32,
}

/// The minimal number of changes kept.
const MIN_KEPT_CHANGES: usize = 4096;

impl ChangeLog {
    pub(super) fn revision(&self) -> u32 {
        self.revision
    }

    /// Records an edit as a new revision. `size` is the number of nodes and edges: the log keeps twice that many
    /// changes.
    pub(super) fn note(&mut self, changes: impl IntoIterator<Item = Changed>, size: usize) {
        let mut changes = changes.into_iter().peekable();
        if changes.peek().is_none() {
            return;
        }
        self.revision = self.revision.saturating_add(1);
        for change in changes {
            match self.entries.last_mut() {
                // Repeated changes, as with every piece of a streaming reply, are recorded once.
                Some((revision, last)) if *last == change => *revision = self.revision,
                _ => self.entries.push((self.revision, change)),
            }
        }
        let max_entries = MIN_KEPT_CHANGES.max(size.saturating_mul(2));
        if self.entries.len() > max_entries {
            let dropped = self.entries.len().saturating_sub(max_entries / 2);
            let last = self.entries.drain(..dropped).next_back();
            self.complete_since = last.map_or(self.complete_since, |(revision, _)| revision);
        }
    }

    /// The changes after a revision, oldest first; `None` if the log does not reach back that far.
    pub(super) fn since(&self, revision: u32) -> Option<impl Iterator<Item = &Changed>> {
        if revision < self.complete_since || revision > self.revision {
            return None;
        }
        let first = self.entries.partition_point(|(at, _)| *at <= revision);
        Some(self.entries.iter().skip(first).map(|(_, change)| change))
    }
}
