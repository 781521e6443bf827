//! The free places of a tree, which are taken again before there are new ones.

/// Free places. The one that became free last is taken first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeList(Vec<u32>);

/// A list as it was, to be restored.
#[derive(Debug)]
pub(crate) struct FreeMark {
    /// How many places at the bottom cannot have been taken since.
    untouched: usize,
    /// The places above these.
    top: Vec<u32>,
    /// How many places there were, free or not.
    places: u32,
}

impl FreeList {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the place that became free last.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.0.pop()
    }

    /// Adds a place that became free.
    pub(crate) fn give(&mut self, place: u32) {
        self.0.push(place);
    }

    /// Notes the list before at most `takes` places are taken, more than are given. `places` is how many there are, free or not.
    pub(crate) fn mark(&self, takes: usize, places: u32) -> FreeMark {
        let untouched = self.0.len().saturating_sub(takes);
        FreeMark { untouched, top: self.0.get(untouched..).unwrap_or_default().to_vec(), places }
    }

    /// Restores the list of the mark, with the places `next` to be taken first, in this order. Those that are new since the
    /// mark are taken last, as if they were still to be made.
    pub(crate) fn restore(&mut self, mark: FreeMark, places: u32, next: &[u32]) {
        self.0.truncate(mark.untouched);
        self.0.splice(0..0, (mark.places..places).rev());
        self.0.extend(mark.top);
        self.0.extend(next.iter().rev());
    }
}
