//! The insertion order of the nodes or edges of a tree, independent of their slots.

/// The distance of the ranks of neighbors.
const STRIDE: u64 = 1 << 32;

/// Slots in an order. While they are in the order of their numbers, as in one-shot trees, only their count is stored;
/// after that a linked list, in which inserting and removing take constant time.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderedSlots {
    /// Without links: these slots, in the order of their numbers.
    count: u32,
    /// For each slot, its neighbors and its rank.
    links: Option<Vec<SlotLinks>>,
    first: Option<u32>,
    last: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SlotLinks {
    previous: Option<u32>,
    next: Option<u32>,
    /// Ascends along the list.
    rank: u64,
}

impl OrderedSlots {
    /// The slots below `count`, in the order of their numbers.
    pub(crate) fn of(count: u32) -> Self {
        Self { count, ..Self::default() }
    }

    /// A number that ascends along the order. It is valid until a slot is inserted.
    pub(crate) fn rank(&self, place: u32) -> u64 {
        match &self.links {
            None => (u64::from(place) + 1) * STRIDE,
            Some(links) => links.get(place as usize).map_or(0, |linked| linked.rank),
        }
    }

    /// The slot after a slot.
    pub(crate) fn next(&self, place: u32) -> Option<u32> {
        match &self.links {
            None => place.checked_add(1).filter(|&next| next < self.count),
            Some(links) => links.get(place as usize)?.next,
        }
    }

    /// All slots, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let first = if self.links.is_some() { self.first } else { (self.count > 0).then_some(0) };
        std::iter::successors(first, |&place| self.next(place))
    }

    /// Inserts an unused slot before another, or at the end.
    pub(crate) fn put(&mut self, place: u32, before: Option<u32>) {
        if self.links.is_none() && before.is_none() && place == self.count {
            self.count = self.count.saturating_add(1);
            return;
        }
        self.link_all();
        let rank = self.rank_before(before).unwrap_or_else(|| {
            self.renumber();
            self.rank_before(before).unwrap_or(u64::MAX)
        });
        self.link(place, before, rank);
    }

    /// Removes a slot.
    pub(crate) fn take(&mut self, place: u32) {
        if self.links.is_none() && place.checked_add(1) == Some(self.count) {
            self.count = place;
            return;
        }
        self.link_all();
        let Some(SlotLinks { previous, next, .. }) = self.linked(place).copied() else { return };
        match previous {
            Some(previous) => self.change(previous, |linked| linked.next = next),
            None => self.first = next,
        }
        match next {
            Some(next) => self.change(next, |linked| linked.previous = previous),
            None => self.last = previous,
        }
        self.change(place, |linked| *linked = SlotLinks::default());
    }

    fn linked(&self, place: u32) -> Option<&SlotLinks> {
        self.links.as_ref()?.get(place as usize)
    }

    fn change(&mut self, place: u32, change: impl FnOnce(&mut SlotLinks)) {
        let links = self.links.get_or_insert_default();
        if links.len() <= place as usize {
            links.resize(place as usize + 1, SlotLinks::default());
        }
        if let Some(linked) = links.get_mut(place as usize) {
            change(linked);
        }
    }

    fn link(&mut self, place: u32, before: Option<u32>, rank: u64) {
        let previous = match before {
            Some(before) => self.linked(before).and_then(|linked| linked.previous),
            None => self.last,
        };
        self.change(place, |linked| *linked = SlotLinks { previous, next: before, rank });
        match previous {
            Some(previous) => self.change(previous, |linked| linked.next = Some(place)),
            None => self.first = Some(place),
        }
        match before {
            Some(before) => self.change(before, |linked| linked.previous = Some(place)),
            None => self.last = Some(place),
        }
    }

    /// A rank between that of a slot, or the end, and the previous one; `None` if no rank is left.
    fn rank_before(&self, before: Option<u32>) -> Option<u64> {
        let Some(before) = before else {
            return self.last.map_or(0, |last| self.rank(last)).checked_add(STRIDE);
        };
        let high = self.rank(before);
        let low = self.linked(before).and_then(|linked| linked.previous).map_or(0, |previous| self.rank(previous));
        let rank = low + (high - low) / 2;
        (rank > low).then_some(rank)
    }

    fn link_all(&mut self) {
        if self.links.is_some() {
            return;
        }
        let count = self.count;
        let link =
            |place: u32| SlotLinks { previous: place.checked_sub(1), next: self.next(place), rank: self.rank(place) };
        let links = (0..count).map(link).collect();
        (self.first, self.last) = ((count > 0).then_some(0), count.checked_sub(1));
        self.links = Some(links);
    }

    fn renumber(&mut self) {
        let places: Vec<u32> = self.iter().collect();
        for (place, number) in places.into_iter().zip(1..) {
            self.change(place, |linked| linked.rank = number * STRIDE);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/loom/ordered_slots.rs"]
mod tests;
