//! A sorted index over keys stored elsewhere: the base of maps and sorting.
//!
//! The B-trees and sorts of std are compiled for each type: 180 KB of wasm for some 60 types of maps alone. Here only
//! the comparison depends on the type.

use std::cmp::Ordering;

/// Numbers in a full chunk.
const CHUNK_CAPACITY: usize = 256;

/// Numbers in order, in chunks: adding one moves those of one chunk, and finding one takes a bisection.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedIndex {
    /// No chunk is empty.
    chunks: Vec<Vec<usize>>,
}

/// The place of a number in the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexPosition {
    chunk: usize,
    at: usize,
    /// The number, if it is present.
    pub found: Option<usize>,
}

impl SortedIndex {
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Looks for a number; `compare` compares its key with the sought one.
    pub(crate) fn find(&self, compare: &mut dyn FnMut(usize) -> Ordering) -> IndexPosition {
        let Some((last, before)) = self.chunks.split_last() else {
            return IndexPosition { chunk: 0, at: 0, found: None };
        };
        // Most keys are added in order.
        if last.last().is_some_and(|&number| compare(number).is_lt()) {
            return IndexPosition { chunk: before.len(), at: last.len(), found: None };
        }
        let last_of = |chunk: usize| before.get(chunk).and_then(|chunk| chunk.last()).copied();
        let chunk = bisect(before.len(), last_of, compare).0;
        let numbers = self.chunks.get(chunk).unwrap_or(last);
        let (at, equal) = bisect(numbers.len(), |at| numbers.get(at).copied(), compare);
        let found = if equal { numbers.get(at).copied() } else { None };
        IndexPosition { chunk, at, found }
    }

    pub(crate) fn insert(&mut self, place: IndexPosition, number: usize) {
        let Some(chunk) = self.chunks.get_mut(place.chunk) else { return self.chunks.push(vec![number]) };
        if chunk.len() < CHUNK_CAPACITY {
            return chunk.insert(place.at, number);
        }
        // Adding in order leaves full chunks.
        let mut rest = chunk.split_off(if place.at == CHUNK_CAPACITY { CHUNK_CAPACITY } else { CHUNK_CAPACITY / 2 });
        match place.at.checked_sub(chunk.len()) {
            Some(at) => rest.insert(at, number),
            None => chunk.insert(place.at, number),
        }
        self.chunks.insert(place.chunk.saturating_add(1), rest);
    }

    pub(crate) fn replace(&mut self, place: IndexPosition, number: usize) {
        if let Some(known) = self.chunks.get_mut(place.chunk).and_then(|chunk| chunk.get_mut(place.at)) {
            *known = number;
        }
    }

    pub(crate) fn remove(&mut self, place: IndexPosition) {
        let Some(chunk) = self.chunks.get_mut(place.chunk) else { return };
        chunk.remove(place.at);
        if chunk.is_empty() {
            self.chunks.remove(place.chunk);
        }
    }

    pub(crate) fn iter(&self) -> Numbers<'_> {
        Numbers { numbers: [].iter(), chunks: self.chunks.iter() }
    }

    pub(crate) fn from(&self, place: IndexPosition) -> Numbers<'_> {
        let mut chunks = self.chunks.get(place.chunk..).unwrap_or_default().iter();
        let numbers = chunks.next().and_then(|chunk| chunk.get(place.at..)).unwrap_or_default();
        Numbers { numbers: numbers.iter(), chunks }
    }

    pub(crate) fn before(&self, place: IndexPosition) -> Option<usize> {
        let before = self.chunks.get(..place.chunk)?.last().and_then(|chunk| chunk.last());
        self.chunks.get(place.chunk)?.get(..place.at)?.last().or(before).copied()
    }

    /// Sorts a list by this index. `swap` swaps two of its elements.
    pub(crate) fn arrange(self, swap: &mut dyn FnMut(usize, usize)) {
        arrange(self.chunks.concat(), swap);
    }
}

/// Permutes a list into `order`. `swap` swaps two of its elements.
pub(crate) fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        // Each number is the element that belongs here; once it has been placed, the number points to itself.
        while let Some(from) = order.get_mut(at).map(|from| std::mem::replace(from, at)).filter(|&from| from != start) {
            swap(at, from);
            at = from;
        }
    }
}

/// The first of `count` ordered numbers that is not less than the sought one, and whether it is equal. Unlike in the
/// search of std, the processor can predict the comparisons.
fn bisect(
    count: usize,
    number: impl Fn(usize) -> Option<usize>,
    compare: &mut dyn FnMut(usize) -> Ordering,
) -> (usize, bool) {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = usize::midpoint(from, to);
        match number(middle).map_or(Ordering::Equal, &mut *compare) {
            Ordering::Less => from = middle.saturating_add(1),
            Ordering::Equal => return (middle, true),
            Ordering::Greater => to = middle,
        }
    }
    (from, false)
}

#[derive(Clone, Debug)]
pub(crate) struct Numbers<'a> {
    numbers: std::slice::Iter<'a, usize>,
    chunks: std::slice::Iter<'a, Vec<usize>>,
}

impl Iterator for Numbers<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            if let Some(&number) = self.numbers.next() {
                return Some(number);
            }
            self.numbers = self.chunks.next()?.iter();
        }
    }
}

/// Pseudo-random numbers below a given bound, the same in each run.
#[cfg(test)]
pub(crate) fn random_numbers() -> impl FnMut(usize) -> usize {
    let mut seed = 1_u32;
    move |below| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    }
}
