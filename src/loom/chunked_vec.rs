//! A list that is extended without moving its elements.

/// A list in pages of one size. Extending a large `Vec` doubles its allocation, half of it unused, and frees the old
/// one: in a module, whose memory never shrinks, both count. Only the first page is extended like that.
#[derive(Clone, Debug)]
pub(crate) struct ChunkedVec<T>(Vec<Vec<T>>);

/// Elements of a page.
const PAGE: usize = 256;

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ChunkedVec<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * PAGE + last.len())
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at / PAGE)?.get(at % PAGE)
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.0.get_mut(at / PAGE)?.get_mut(at % PAGE)
    }

    pub(crate) fn push(&mut self, element: T) {
        match self.0.last_mut() {
            Some(page) if page.len() < PAGE => page.push(element),
            last => {
                let mut page = if last.is_some() { Vec::with_capacity(PAGE) } else { Vec::new() };
                page.push(element);
                self.0.push(page);
            }
        }
    }

    /// Reserves capacity for `count` elements, if the list is empty.
    pub(crate) fn reserve(&mut self, count: usize) {
        if self.0.is_empty() && count > 0 {
            self.0.reserve_exact(count.div_ceil(PAGE));
            self.0.push(Vec::with_capacity(count.min(PAGE)));
        }
    }

    /// Fills the list up to `len` elements.
    pub(crate) fn fill(&mut self, len: usize, mut element: impl FnMut() -> T) {
        for _ in self.len()..len {
            self.push(element());
        }
    }
}
