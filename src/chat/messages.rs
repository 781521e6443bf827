//! The messages of a chat during a fit: the original ones, and copies of the few that change.

use std::rc::Rc;

use crate::sorting;
use crate::vendors::pieces::message::{At, Message, Piece};

/// Tokens of the contents and of the overhead of all messages before one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub content: u64,
    pub overhead: u64,
}

impl Sum {
    pub(super) fn total(self) -> u64 {
        self.content.saturating_add(self.overhead)
    }

    /// Extends the prefix sums of the costs of a list: one before each message, and one for all.
    pub(super) fn extend(sums: &mut Vec<Self>, messages: &[Message<'_>]) {
        let mut sum = sums.last().copied().unwrap_or_default();
        if sums.is_empty() {
            sums.push(sum);
        }
        for message in messages.iter().skip(sums.len() - 1) {
            sum.overhead = sum.overhead.saturating_add(message.overhead.saturating_mul(message.steps));
            sum.content = message.pieces.iter().map(|piece| piece.now).fold(sum.content, u64::saturating_add);
            sums.push(sum);
        }
    }
}

/// Messages, some of them changed. The original ones stay unchanged; copies borrow their texts.
#[derive(Clone, Debug)]
pub(super) struct Messages<'m> {
    read: &'m [Message<'m>],
    /// Prefix sums of the costs.
    sums: &'m [Sum],
    /// The copies, each with its index.
    copies: Vec<(usize, Message<'m>)>,
    /// For each message the place of its copy plus 1, or 0; empty if there are no copies.
    places: Vec<u32>,
    /// The copies of the last fit, by index.
    recorded: Rc<Vec<(usize, Message<'m>)>>,
}

impl<'m> Messages<'m> {
    /// Wraps messages and their [sums](Sum::extend).
    pub(super) fn new(read: &'m [Message<'m>], sums: &'m [Sum]) -> Self {
        Self { read, sums, copies: Vec::new(), places: Vec::new(), recorded: Rc::default() }
    }

    /// The same messages, with changes of the last fit that [`fresh`](Self::fresh) restores.
    pub(super) fn with_recorded(&self, recorded: Vec<(usize, Message<'m>)>) -> Self {
        Self { recorded: Rc::new(recorded), ..Self::new(self.read, self.sums) }
    }

    /// The same messages with no changes except those of the last fit.
    pub(super) fn fresh(&self) -> Self {
        let mut places = Vec::new();
        if !self.recorded.is_empty() {
            places.resize(self.read.len(), 0);
        }
        for (copy, (at, _)) in self.recorded.iter().enumerate() {
            places.get_mut(*at).into_iter().for_each(|place| *place = copy as u32 + 1);
        }
        let recorded = Rc::clone(&self.recorded);
        Self { read: self.read, sums: self.sums, copies: self.recorded.to_vec(), places, recorded }
    }

    /// A message as this fit found it: with the changes of the last fit.
    pub(super) fn before(&self, at: usize) -> Option<&Message<'m>> {
        let recorded = self.recorded.binary_search_by(|(known, _)| known.cmp(&at)).ok();
        match recorded.and_then(|recorded| self.recorded.get(recorded)) {
            Some((_, message)) => Some(message),
            None => self.read.get(at),
        }
    }

    /// The original messages.
    pub(super) fn all_given(&self) -> &'m [Message<'m>] {
        self.read
    }

    /// An original message.
    pub(super) fn given(&self, at: usize) -> Option<&Message<'m>> {
        self.read.get(at)
    }

    pub(super) fn len(&self) -> usize {
        self.read.len()
    }

    fn copy(&self, at: usize) -> Option<usize> {
        (*self.places.get(at)? as usize).checked_sub(1)
    }

    pub(super) fn get(&self, at: usize) -> Option<&Message<'m>> {
        match self.copy(at) {
            Some(copy) => self.copies.get(copy).map(|(_, message)| message),
            None => self.read.get(at),
        }
    }

    /// A message for changing.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Message<'m>> {
        let copy = match self.copy(at) {
            Some(copy) => copy,
            None => {
                let copy = self.read.get(at)?.borrowed();
                self.places.resize(self.read.len(), 0);
                self.copies.push((at, copy));
                *self.places.get_mut(at)? = self.copies.len() as u32;
                self.copies.len() - 1
            }
        };
        self.copies.get_mut(copy).map(|(_, message)| message)
    }

    pub(super) fn piece_mut(&mut self, (message, piece): At) -> Option<&mut Piece<'m>> {
        self.get_mut(message)?.pieces.get_mut(piece)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Message<'m>> + ExactSizeIterator {
        self.range(0, self.read.len())
    }

    /// The messages from one index to another.
    pub(super) fn range(
        &self,
        from: usize,
        to: usize,
    ) -> impl DoubleEndedIterator<Item = &Message<'m>> + ExactSizeIterator {
        let read = self.read.get(from..to).unwrap_or_default();
        read.iter().enumerate().map(move |(at, read)| {
            let copy = self.copy(from + at).and_then(|copy| self.copies.get(copy));
            copy.map_or(read, |(_, message)| message)
        })
    }

    /// Whether any message was changed.
    pub(super) fn is_changed(&self) -> bool {
        !self.copies.is_empty()
    }

    /// The indices of the changed messages, in order.
    pub(super) fn changed(&self) -> Vec<usize> {
        let mut changed: Vec<usize> = self.copies.iter().map(|&(at, _)| at).collect();
        // The changes of the last fit come first, in order.
        if !changed.is_sorted() {
            sorting::sort(&mut changed);
        }
        changed
    }

    /// Tokens of all messages in their current state.
    pub(super) fn tokens(&self) -> u64 {
        let change = |tokens: u64, (at, message): &(usize, Message<'_>)| {
            tokens.saturating_sub(self.read.get(*at).map_or(0, Message::now)).saturating_add(message.now())
        };
        self.copies.iter().fold(self.read_sum(0, self.len()).total(), change)
    }

    /// The cost of the original messages from one index to another.
    pub(super) fn read_sum(&self, from: usize, to: usize) -> Sum {
        let [from, to] = [from, to].map(|at| self.sums.get(at).copied().unwrap_or_default());
        let content = to.content.saturating_sub(from.content);
        Sum { content, overhead: to.overhead.saturating_sub(from.overhead) }
    }
}
