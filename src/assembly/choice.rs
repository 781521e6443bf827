//! The kept part of a conversation, and the form of each item.

use std::ops::Range;

use crate::assembly::item::{Item, Kept};
use crate::assembly::preserved::InvalidThinking;
use crate::maps::SortedMap;

#[derive(Debug)]
pub(crate) struct Choice<'a> {
    /// The first gap begins at the head; all items from the tail on are kept.
    pub kept: Kept,
    pub marker: Option<String>,
    /// The number of nodes that the marker counts, in a series.
    pub marker_count: Option<usize>,
    /// Protected items between head and tail, in order.
    pub inside: Vec<usize>,
    /// Items whose texts are shortened.
    pub shortened: SortedMap<usize, Item<'a>>,
    /// Whether not even one unit fits completely.
    pub is_last_resort: bool,
    /// In a series, whether it repeats the last fit.
    pub is_repeated: bool,
    /// In a series, the first item whose predecessor differs from the last result.
    pub change: Option<usize>,
    pub thinking: InvalidThinking<'a>,
    /// The items that are sent at least in part; `None` if these are all before the head and from the tail on.
    pub places: Option<Vec<usize>>,
}

impl<'a> Choice<'a> {
    pub(super) fn new(kept: Kept, marker: Option<String>) -> Self {
        Self {
            kept,
            marker,
            marker_count: None,
            inside: Vec::new(),
            shortened: SortedMap::new(),
            is_last_resort: false,
            is_repeated: false,
            change: None,
            thinking: InvalidThinking::default(),
            places: None,
        }
    }

    /// Computes the places of the sent items, out of `count`.
    pub(super) fn place(&mut self, count: usize) {
        let Kept { head, tail } = self.kept;
        // The sums of costs include only the marker for the removed items.
        let is_counted = self.marker_count.is_none_or(|count| count == tail - head);
        self.places = (self.emptied() > 0 || !self.inside.is_empty() || !is_counted).then(|| {
            let all = (0..head).chain(self.inside.iter().copied()).chain(tail..count);
            all.filter(|&at| !self.thinking.is_emptied(at)).collect()
        });
    }

    /// Whether anything was removed or shortened because of the limit.
    pub(crate) fn is_cut(&self) -> bool {
        self.kept.tail > self.kept.head || !self.shortened.is_empty()
    }

    /// Whether anything is removed or shortened.
    pub(crate) fn truncated(&self) -> bool {
        self.is_cut() || !self.thinking.without.is_empty()
    }

    /// The place of the marker, if there is one.
    pub(super) fn gap(&self) -> Option<usize> {
        self.marker.as_ref().map(|_| self.kept.head)
    }

    /// The number of items that held only invalid thinking.
    pub(super) fn emptied(&self) -> usize {
        self.thinking.without.values().filter(|item| item.parts.is_empty()).count()
    }

    /// The number of items in the gap that are not sent at all.
    pub(super) fn removed(&self) -> usize {
        (self.kept.tail - self.kept.head).saturating_sub(self.inside.len())
    }

    /// The item at a place among the kept ones.
    pub(super) fn item_at(&self, place: usize) -> usize {
        let Kept { head, tail } = self.kept;
        match &self.places {
            Some(places) => places.get(place).copied().unwrap_or(usize::MAX),
            None if place < head => place,
            None => place - head + tail,
        }
    }

    /// The items that are sent at least in part, out of `count`.
    pub(crate) fn kept_items(&self, count: usize) -> impl Iterator<Item = usize> {
        let places = self.places.as_deref();
        let all = |range: Range<usize>| if places.is_none() { range } else { 0..0 };
        let places_of = places.unwrap_or_default().iter().copied();
        all(0..self.kept.head).chain(all(self.kept.tail..count)).chain(places_of)
    }

    /// The number of kept items before the gap.
    pub(super) fn head_places(&self) -> usize {
        self.places_before(self.kept.head)
    }

    /// The number of kept items before an item of the head.
    pub(super) fn places_before(&self, item: usize) -> usize {
        self.places.as_ref().map_or(item, |places| places.partition_point(|&at| at < item))
    }

    /// The form in which an item is sent, if it was changed.
    pub(super) fn rewritten(&self, at: usize) -> Option<&Item<'a>> {
        self.thinking.without.get(&at).or_else(|| self.shortened.get(&at))
    }

    /// The items that are sent in a changed form.
    pub(super) fn rewritten_items(&self) -> impl Iterator<Item = usize> {
        let stripped = self.thinking.without.keys().filter(|at| !self.shortened.contains_key(*at));
        self.shortened.keys().chain(stripped).copied()
    }

    /// Whether all sent items are unchanged, and before the head or from the tail on.
    pub(super) fn is_plain(&self) -> bool {
        self.places.is_none() && self.shortened.is_empty() && self.thinking.without.is_empty()
    }
}
