//! The cuttable part of a chat, as the strategies see it. A resident chat keeps it and adds new messages.

use std::borrow::Cow;
use std::ops::Range;

use super::detect::Format;
use super::message::{At, Message, Role as Speaker};
use super::messages::Messages;
use super::pairs::{MessageSlice, Pairs, add_slices, units};
use crate::assembly::costs::Sums;
use crate::assembly::item::{Item, Items, Outline, Shape};
use crate::assembly::message_index::MessageIndex;
use crate::prompt::{Overhead, Prices, Role};

/// The units of a chat, with what each costs and whether it is pinned.
#[derive(Debug, Default)]
pub(super) struct UnitIndex {
    /// For each message, whether it is always kept.
    pub pinned: Vec<bool>,
    /// A piece that is kept with its atom.
    pub kept: Option<At>,
    /// How many messages the units are made of.
    messages: usize,
    slices: Vec<MessageSlice>,
    units: Vec<Unit>,
    pub free: CuttableUnits,
    /// Of the free atoms. They know what markers cost, and are kept for that.
    pub sums: Sums,
    /// Tokens of what is pinned.
    pub fixed: u64,
}

/// Where a unit begins.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    slice: usize,
    /// Free atoms before it.
    free: usize,
    /// Tokens that are pinned before it.
    fixed: u64,
}

/// The atoms that may be cut.
#[derive(Debug, Default)]
pub(super) struct CuttableUnits {
    pub slices: Vec<MessageSlice>,
    pub costs: Vec<u64>,
    /// Where each unit begins; a last element closes the last unit.
    pub starts: Vec<usize>,
    /// Whether a window may begin there.
    pub begins: Vec<bool>,
}

impl UnitIndex {
    /// Forgets the messages from one on.
    pub(super) fn truncate(&mut self, messages: usize) {
        self.pinned.truncate(messages);
        if messages < self.messages {
            self.messages = messages;
            self.slices.truncate(self.slices.partition_point(|slice| slice.message < messages));
            let units = self.units.partition_point(|unit| unit.slice < self.slices.len());
            self.reopen(units);
        }
    }

    /// Forgets which units there are.
    pub(super) fn forget_units(&mut self) {
        self.messages = 0;
        self.slices.clear();
        self.reopen(0);
    }

    /// Takes out the units from one on; where that begins.
    fn reopen(&mut self, unit: usize) -> Unit {
        let Some(&from) = self.units.get(unit) else { return self.units.last().copied().unwrap_or_default() };
        self.units.truncate(unit);
        self.free.truncate(from.free);
        self.sums.truncate(from.free);
        self.fixed = from.fixed;
        from
    }

    /// Marks the new messages that are always kept: the leading ones and the pinned.
    pub(super) fn pin(&mut self, messages: &Messages<'_>, first: usize, pinned: &[usize]) {
        let (known, count) = (self.pinned.len(), messages.len());
        self.pinned.extend((known..count).map(|at| at < first));
        for &at in pinned.iter().filter(|&&at| at >= known) {
            self.pinned.get_mut(at).into_iter().for_each(|pinned| *pinned = true);
        }
        // Messages that follow from reasoning stay with it.
        let follows = |message: &Message<'_>| message.role == Speaker::Assistant && !message.is_thought();
        let begin = messages.range(0, known).rposition(|message| !follows(message)).unwrap_or(0);
        let mut stays = false;
        for (message, pinned) in messages.range(begin, count).zip(self.pinned.iter_mut().skip(begin)) {
            if follows(message) {
                *pinned |= stays;
            } else {
                stays = *pinned && message.is_thought();
            }
        }
    }

    /// Adds the messages that came. The last unit may go on in them.
    pub(super) fn extend(
        &mut self,
        messages: &Messages<'_>,
        pairs: &Pairs<'_>,
        format: Format,
        may_begin: impl Fn(&Message<'_>) -> bool,
        prices: Prices<'_>,
    ) {
        add_slices(&mut self.slices, messages, self.messages);
        self.messages = messages.len();
        let from = self.reopen(self.units.len().saturating_sub(1)).slice;
        let starts = units(messages, &self.slices, from, &pairs.pairs, format);
        self.free.starts.pop();
        for unit in starts.windows(2) {
            let &[slice, end] = unit else { continue };
            self.units.push(Unit { slice, free: self.free.slices.len(), fixed: self.fixed });
            let unit = self.slices.get(slice..end).unwrap_or_default();
            let holds = |slice: &MessageSlice, (message, piece): At| {
                slice.message == message && (slice.from..slice.to).contains(&piece)
            };
            let is_pinned = unit.iter().any(|slice| {
                self.pinned.get(slice.message) == Some(&true) || self.kept.is_some_and(|kept| holds(slice, kept))
            });
            if !is_pinned {
                self.free.starts.push(self.free.slices.len());
            }
            for slice in unit {
                let Some(message) = messages.get(slice.message) else { continue };
                let pieces = message.pieces.iter().take(slice.to).skip(slice.from);
                let cost = pieces.map(|piece| piece.now).fold(message.overhead, u64::saturating_add);
                if is_pinned {
                    self.fixed = self.fixed.saturating_add(cost);
                } else {
                    self.free.slices.push(*slice);
                    self.free.costs.push(cost);
                    self.free.begins.push(may_begin(message));
                }
            }
        }
        self.free.starts.push(self.free.slices.len());
        self.sums.extend(&self.free, &alone(prices));
    }
}

/// Messages are never merged: what one costs is in its item.
pub(super) fn alone(prices: Prices<'_>) -> Prices<'_> {
    Prices { overhead: Overhead { per_message: 0, per_request: 0 }, ..prices }
}

impl CuttableUnits {
    fn truncate(&mut self, slices: usize) {
        self.slices.truncate(slices);
        self.costs.truncate(slices);
        self.begins.truncate(slices);
        self.starts.truncate(self.starts.partition_point(|&start| start < slices));
        self.starts.push(slices);
    }
}

/// As items they are never merged, and only `startOn` asks for a role: that of a user is where a window may begin.
impl<'a> Items<'a> for CuttableUnits {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn outline(&self, at: usize) -> Option<Outline> {
        let shape = Shape::Parts { single: false, begins_with_text: false, ends_with_text: false };
        Some(Outline { role: self.role(at)?, alone: *self.costs.get(at)?, shape })
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.begins.get(at).map(|&begins| if begins { Role::User } else { Role::Assistant })
    }

    fn is_block(&self, _: usize) -> bool {
        false
    }

    fn id(&self, _: usize) -> Option<&'a str> {
        None
    }

    fn text(&self, _: usize, _: bool) -> Option<(&str, &str, bool)> {
        None
    }

    fn borrowed_text(&self, _: usize) -> Option<&'a str> {
        None
    }

    fn utf16_len(&self, _: usize) -> usize {
        0
    }

    fn first_text(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }

    fn last_text(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }

    fn break_after(&self, _: usize, _: &Prices<'_>) -> i64 {
        0
    }

    fn item(&self, _: usize) -> Option<Item<'a>> {
        None
    }

    fn add_to(&self, _: &mut MessageIndex, _: Range<usize>) {}
}
