//! The free slots of a tree, which are reused before new ones are made.

/// Free slots, reused last in, first out.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeList(Vec<u32>);

/// A recorded list, for restoring it.
#[derive(Debug)]
pub(crate) struct FreeMark {
    /// The number of slots at the bottom that cannot have been taken since.
    untouched: usize,
    /// The slots above these.
    top: Vec<u32>,
    /// The number of slots, free or not.
    places: u32,
}

impl FreeList {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the slot that became free last.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.0.pop()
    }

    /// Adds a free slot.
    pub(crate) fn give(&mut self, place: u32) {
        self.0.push(place);
    }

    /// Records the list before at most `takes` more slots are taken than given. `places` is the number of slots, free
    /// or not.
    pub(crate) fn mark(&self, takes: usize, places: u32) -> FreeMark {
        let untouched = self.0.len().saturating_sub(takes);
        FreeMark { untouched, top: self.0.get(untouched..).unwrap_or_default().to_vec(), places }
    }

    /// Restores the recorded list, with the slots `next` to be taken first, in this order. Slots that are new since the
    /// recording are taken last, as if they were still to be made.
    pub(crate) fn restore(&mut self, mark: FreeMark, places: u32, next: &[u32]) {
        self.0.truncate(mark.untouched);
        self.0.splice(0..0, (mark.places..places).rev());
        self.0.extend(mark.top);
        self.0.extend(next.iter().rev());
    }
}
