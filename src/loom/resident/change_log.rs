//! Which nodes and edges changed in which revision of a tree.

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// The node at this place.
    Node(u32),
    /// The same, which was added or moved.
    PlacedNode(u32),
    /// The edge at this place.
    Edge(u32),
    /// The same, which was added or moved.
    PlacedEdge(u32),
    /// The node of this id was removed.
    NodeGone(Box<str>),
    /// The edge of this id was removed.
    EdgeGone(Box<str>),
    /// What the tree says about itself.
    Settings,
}

/// The revisions of a tree, and what changed in the last of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeLog {
    revision: u32,
    /// Ascending by revision.
    entries: Vec<(u32, Changed)>,
    /// The earliest revision since which all changes are here.
    complete_since: u32,
}

/// So many changes are kept at least.
const MIN_KEPT_CHANGES: usize = 4096;

impl ChangeLog {
    pub(super) fn revision(&self) -> u32 {
        self.revision
    }

    /// Notes an edit that changed something as a revision of its own. `size` is how many nodes and edges there are: so many changes are kept twice
    /// over.
    pub(super) fn note(&mut self, changes: impl IntoIterator<Item = Changed>, size: usize) {
        let mut changes = changes.into_iter().peekable();
        if changes.peek().is_none() {
            return;
        }
        self.revision = self.revision.saturating_add(1);
        for change in changes {
            match self.entries.last_mut() {
                // The same again, as with every piece of a reply that is streamed.
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

    /// What changed after a revision, oldest first; nothing where that is not known.
    pub(super) fn since(&self, revision: u32) -> Option<impl Iterator<Item = &Changed>> {
        if revision < self.complete_since || revision > self.revision {
            return None;
        }
        let first = self.entries.partition_point(|(at, _)| *at <= revision);
        Some(self.entries.iter().skip(first).map(|(_, change)| change))
    }
}
