//! The cuttable part of a chat, as the strategies see it. A resident chat stores it and adds new messages.

use std::ops::Range;

use super::messages::Messages;
use super::pairs::{MessageSlice, add_slices, units};
use crate::assembly::costs::Sums;
use crate::assembly::item::{CutItems, Outline};
use crate::content::Role;
use crate::prompt::{Overhead, Prices};
use crate::tool_calls::ToolPairs;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{At, Message};

/// The units of a chat, with the cost of each and whether it is pinned.
#[derive(Debug, Default)]
pub(super) struct UnitIndex {
    /// For each message, whether it is always kept.
    pub pinned: Vec<bool>,
    /// A piece that is kept together with its slice.
    pub kept: Option<At>,
    /// The number of messages in the units.
    messages: usize,
    slices: Vec<MessageSlice>,
    units: Vec<Unit>,
    pub free: CuttableUnits,
    /// The sums of the free slices, which also cache the costs of markers.
    pub sums: Sums,
    /// Tokens of pinned slices.
    pub fixed: u64,
}

/// The start of a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    slice: usize,
    /// The number of free slices before it.
    free: usize,
    /// Tokens of pinned slices before it.
    fixed: u64,
}

/// The slices that may be cut.
#[derive(Debug, Default)]
pub(super) struct CuttableUnits {
    pub slices: Vec<MessageSlice>,
    pub costs: Vec<u64>,
    /// The start of each unit; the last element closes the last unit.
    pub starts: Vec<usize>,
    /// Whether a window may begin there.
    pub begins: Vec<bool>,
}

impl UnitIndex {
    /// Discards the messages from `messages` on.
    pub(super) fn truncate(&mut self, messages: usize) {
        self.pinned.truncate(messages);
        if messages < self.messages {
            self.messages = messages;
            self.slices.truncate(self.slices.partition_point(|slice| slice.message < messages));
            let units = self.units.partition_point(|unit| unit.slice < self.slices.len());
            self.reopen(units);
        }
    }

    /// Discards the units.
    pub(super) fn forget_units(&mut self) {
        self.messages = 0;
        self.slices.clear();
        self.reopen(0);
    }

    /// Removes the units from one on; returns the start of that unit.
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
        for (message, pinned) in messages.range(known, count).zip(self.pinned.iter_mut().skip(known)) {
            *pinned |= message.asks_compaction;
        }
        // Messages that follow reasoning belong to it.
        let follows = |message: &Message<'_>| message.role == Role::Assistant && !message.is_thought();
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

    /// Adds the new messages. The last unit may continue in them.
    pub(super) fn extend(
        &mut self,
        messages: &Messages<'_>,
        pairs: &ToolPairs<'_>,
        format: Format,
        may_begin: impl Fn(&Message<'_>) -> bool,
        prices: Prices<'_>,
    ) {
        add_slices(&mut self.slices, messages, self.messages);
        self.messages = messages.len();
        let from = self.reopen(self.units.len().saturating_sub(1)).slice;
        let starts = units(messages, &self.slices, from, &pairs.answered, format);
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

/// Messages are never merged: the cost of each is in its item.
pub(super) fn alone(prices: Prices<'_>) -> Prices<'_> {
    Prices { overhead: Overhead { per_message: 0, per_request: 0 }, ..prices }
}

impl CuttableUnits {
    /// The unit of a slice.
    pub(super) fn unit_of(&self, slice: usize) -> Option<Range<usize>> {
        let after = self.starts.partition_point(|&start| start <= slice);
        let start = *self.starts.get(after.checked_sub(1)?)?;
        self.starts.get(after).map(|&end| start..end)
    }

    /// The same without some units, given by their slices and in order.
    pub(super) fn without<'u>(&self, units: impl Iterator<Item = &'u Range<usize>>) -> Self {
        let mut rest = Self::default();
        let mut units = units.peekable();
        for unit in self.starts.windows(2) {
            let &[start, end] = unit else { continue };
            if units.next_if(|unit| unit.start == start).is_some() {
                continue;
            }
            rest.starts.push(rest.slices.len());
            rest.slices.extend_from_slice(self.slices.get(start..end).unwrap_or_default());
            rest.costs.extend_from_slice(self.costs.get(start..end).unwrap_or_default());
            rest.begins.extend_from_slice(self.begins.get(start..end).unwrap_or_default());
        }
        rest.starts.push(rest.slices.len());
        rest
    }

    fn truncate(&mut self, slices: usize) {
        self.slices.truncate(slices);
        self.costs.truncate(slices);
        self.begins.truncate(slices);
        self.starts.truncate(self.starts.partition_point(|&start| start < slices));
        self.starts.push(slices);
    }
}

/// Messages of a chat are never merged.
impl CutItems for CuttableUnits {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn outline(&self, at: usize) -> Option<Outline> {
        Some(Outline { alone: *self.costs.get(at)?, merged_by: None })
    }

    fn may_begin(&self, at: usize) -> bool {
        self.begins.get(at) == Some(&true)
    }
}
