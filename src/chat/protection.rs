//! Messages that are shortened rather than removed (docs/chats.md, `protect`, `protectTools`).

use std::ops::Range;

use super::fit::{CutTarget, EarlierMark, Fit, Selection};
use super::unit_index::{CuttableUnits, UnitIndex, alone};
use crate::assembly::costs::{Costs, Sums};
use crate::assembly::item::Kept;
use crate::assembly::protection::{MIN_PROTECTED_TOKENS, ProtectedUnit, Rank, allowances, give_up, grow, reserved};
use crate::assembly::settings::{Protect, Strategy};
use crate::content::Role;
use crate::sorting;
use crate::vendors::pieces::message::{At, Kind, Message, Piece};

impl Fit<'_> {
    /// The units that the options protect, in order, without an allowance.
    pub(super) fn protected_units(&self, layout: &UnitIndex) -> Vec<ProtectedUnit> {
        let mut ranks: Vec<(Range<usize>, Rank)> = Vec::new();
        let plan = self.latest_plan();
        let plan_message = plan.map(|(message, _)| (message, Rank::Plan));
        for (message, rank) in self.protected_messages().into_iter().chain(plan_message) {
            let slice = layout.free.slices.partition_point(|slice| slice.message < message);
            let is_free = layout.free.slices.get(slice).is_some_and(|slice| slice.message == message);
            let Some(unit) = layout.free.unit_of(slice).filter(|_| is_free) else { continue };
            match ranks.iter_mut().find(|(known, _)| *known == unit) {
                Some((_, known)) => *known = rank.max(*known),
                None => ranks.push((unit, rank)),
            }
        }
        sorting::sort_by_key(&mut ranks, |(unit, _)| unit.start);
        let call = |rank| plan.filter(|_| rank == Rank::Plan);
        ranks.into_iter().map(|(slices, rank)| self.protected_unit(&layout.free, slices, rank, call(rank))).collect()
    }

    pub(super) fn protected_unit(
        &self,
        free: &CuttableUnits,
        slices: Range<usize>,
        rank: Rank,
        call: Option<At>,
    ) -> ProtectedUnit {
        let costs = free.costs.get(slices.clone()).unwrap_or_default();
        let cost = costs.iter().copied().fold(0, u64::saturating_add);
        let unit = free.slices.get(slices.clone()).unwrap_or_default();
        let reduced = call.and_then(|call| self.reduced_unit(unit, call));
        let min_of_reduced = reduced.map_or(u64::MAX, |reduced| reduced.min_cost);
        let min_cost = self.min_cost(unit, MIN_PROTECTED_TOKENS).min(min_of_reduced);
        ProtectedUnit { range: slices, rank, call, cost, min_cost, allowance: 0 }
    }

    /// The protected messages. Messages that are always kept are not among them.
    fn protected_messages(&self) -> Vec<(usize, Rank)> {
        let protect = self.options.protected();
        let mut found = Vec::new();
        let count = self.messages.len();
        if protect.contains(&Protect::FirstUser) {
            found.extend((0..count).find(|&at| self.is_user_text(at)).map(|at| (at, Rank::FirstUser)));
        }
        if protect.contains(&Protect::LastUser) {
            found.extend((0..count).rev().find(|&at| self.is_user_text(at)).map(|at| (at, Rank::LastUser)));
            let lead = self.lead();
            let is_instruction = |message: &Message<'_>| message.role == Role::System && message.removed.is_none();
            let later = (lead..).zip(self.messages.range(lead.min(count), count));
            found.extend(later.filter(|(_, message)| is_instruction(message)).map(|(at, _)| (at, Rank::System)));
        }
        found
    }

    /// Whether a user message has content and is not a marker or summary of an earlier fit.
    fn is_user_text(&self, at: usize) -> bool {
        let is = |message: &Message<'_>| {
            message.has_user_content() && EarlierMark::of(message, &self.options.truncation_marker).is_none()
        };
        self.messages.get(at).is_some_and(is)
    }

    /// The latest answered call of a protected tool.
    pub(super) fn latest_plan(&self) -> Option<At> {
        let is_protected = |name: &str| self.options.protects_tool(name);
        let is_plan = |at: usize, place: usize, piece: &Piece<'_>| match &piece.kind {
            Kind::Call { name, .. } => {
                is_protected(name) && self.pairs.answered.binary_search_by(|(call, _)| call.cmp(&(at, place))).is_ok()
            }
            Kind::CallAndResult { name } => is_protected(name),
            _ => false,
        };
        let plan_in = |(at, message): (usize, &Message<'_>)| {
            let place = message
                .pieces
                .iter()
                .enumerate()
                .rposition(|(place, piece)| piece.is_there() && is_plan(at, place, piece));
            place.filter(|_| message.removed.is_none()).map(|place| (at, place))
        };
        self.messages.iter().enumerate().rev().find_map(plan_in)
    }
}

/// Protected units outside the head and the tail, and the constraints that they set.
#[derive(Debug, Default)]
pub(super) struct Protection {
    pub units: Vec<ProtectedUnit>,
    /// The unprotected units, if units are set aside.
    rest: Option<(CuttableUnits, Sums)>,
    /// The number of slices at the end that are kept.
    pub recent: Option<u64>,
    /// The token limit of the head.
    pub head_tokens: Option<u64>,
    /// Tokens of insufficient reserves. They stay unused, so that a larger limit never keeps less.
    pub unused: u64,
    /// The first slice that a window may begin with.
    pub window_from: usize,
    /// The last slice before which the longest beginning may end.
    pub start_to: Option<usize>,
    /// The cut, if only one is possible.
    pub decided: Option<Selection>,
}

impl Protection {
    fn of(units: Vec<ProtectedUnit>, layout: &UnitIndex, fit: &Fit<'_>) -> Self {
        let rest = layout.free.without(units.iter().map(|unit| &unit.range));
        let mut sums = Sums::default();
        sums.extend(&rest, &alone(fit.prices));
        Self { units, rest: Some((rest, sums)), ..Self::default() }
    }

    /// The unprotected units.
    pub(super) fn units<'l>(&'l self, layout: &'l UnitIndex) -> (&'l CuttableUnits, &'l Sums) {
        self.rest.as_ref().map_or((&layout.free, &layout.sums), |(units, sums)| (units, sums))
    }

    /// The index of an unprotected slice among the unprotected ones.
    fn index_in_rest(&self, slice: usize) -> usize {
        let before = self.units.iter().filter(|unit| unit.range.start < slice).map(|unit| unit.range.len());
        slice.saturating_sub(before.sum())
    }

    /// The number of slices that shortening may remove: those next to the call of a plan.
    fn max_lost(&self) -> usize {
        let plans = self.units.iter().filter(|unit| unit.call.is_some() && !unit.is_whole());
        plans.map(|unit| unit.range.len().saturating_sub(1)).sum()
    }

    /// The constraints of a selection: its marker has to count slices that shortening may remove.
    pub(super) fn target<'m>(&self, target: &CutTarget<'m>) -> CutTarget<'m> {
        CutTarget { omitted: target.omitted.saturating_add(self.max_lost()), ..*target }
    }

    /// Whether tokens are reserved.
    pub(super) fn reserves(&self) -> bool {
        !self.units.is_empty() || self.unused > 0
    }
}

/// Which units are set aside, and their allowances.
impl Fit<'_> {
    /// Sets protected units aside, by the strategy.
    pub(super) fn protection(&self, units: &[ProtectedUnit], layout: &UnitIndex, target: &CutTarget<'_>) -> Protection {
        if units.is_empty() {
            return Protection::default();
        }
        match self.options.truncation_strategy {
            Strategy::TruncateMiddle => self.protection_of_middle(units, layout, target),
            _ => self.protection_of_window(units, layout, target),
        }
    }

    /// Tokens not used by pinned messages and the marker.
    fn available(&self, costs: &Costs<'_>) -> u64 {
        self.cut_limit().saturating_sub(costs.fixed).saturating_sub(costs.marker_tokens(costs.len))
    }

    /// The tail that fits next to the reserves, and the protected units before it, extended to half of the available
    /// tokens.
    fn protection_of_middle(&self, units: &[ProtectedUnit], layout: &UnitIndex, target: &CutTarget<'_>) -> Protection {
        let UnitIndex { free, sums, .. } = layout;
        let costs = self.costs((free, sums), target, 0);
        let available = self.available(&costs);
        let recent = costs.recent(self.options.keep_last);
        let wanted = free.starts.partition_point(|&start| start <= recent).saturating_sub(1);
        let last = free.starts.len().saturating_sub(2);
        for &from in free.starts.iter().take(last + 1).skip(wanted.min(last)) {
            let outside = reserved(units, from, available);
            let tail = costs.run_alone(from, costs.len);
            if allowances(&outside).saturating_add(tail) <= available {
                return self.protection_next_to(from, outside, layout, target);
            }
        }
        let from = free.starts.get(last).copied().unwrap_or(0);
        self.protection_next_to_shortened(reserved(units, from, available), from..costs.len, layout, target)
    }

    /// Protected units before a tail that fits next to them.
    fn protection_next_to(
        &self,
        tail: usize,
        mut outside: Vec<ProtectedUnit>,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
    ) -> Protection {
        let costs = self.costs((&layout.free, &layout.sums), target, 0);
        let available = self.available(&costs);
        let half = available / 2;
        let left = half.min(available.saturating_sub(costs.run_alone(tail, costs.len)));
        let spare = left.saturating_sub(allowances(&outside));
        grow(&mut outside, spare);
        outside.retain(ProtectedUnit::fits);
        if outside.is_empty() {
            return Protection { recent: Some((costs.len - tail) as u64), ..Protection::default() };
        }
        let of_first = outside.iter().find(|unit| unit.rank == Rank::FirstUser).map_or(0, |unit| unit.allowance);
        let mut protection = Protection::of(outside, layout, self);
        let tail = protection.index_in_rest(tail);
        let rest = protection.units(layout);
        let costs = self.costs(rest, &protection.target(target), allowances(&protection.units));
        let len = costs.len;
        let marked = protection.max_lost() > 0;
        let marker = if marked { costs.marker_tokens(len) } else { 0 };
        let fits = costs.total().saturating_add(marker) <= self.cut_limit();
        let is_all = fits && target.omitted == 0 && !target.summarizes;
        protection.decided = is_all.then_some(Selection { kept: Kept { head: len, tail: len }, marked });
        protection.recent = Some((len - tail) as u64);
        protection.head_tokens = Some(half.saturating_sub(of_first));
        protection
    }

    /// Protected units next to the newest unit, which does not fit whole: it is shortened, or protected ones are given
    /// up.
    fn protection_next_to_shortened(
        &self,
        mut outside: Vec<ProtectedUnit>,
        newest: Range<usize>,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
    ) -> Protection {
        let costs = self.costs((&layout.free, &layout.sums), target, 0);
        let available = self.available(&costs);
        let mut newest = self.protected_unit(&layout.free, newest, Rank::Newest, None);
        while !outside.is_empty() {
            outside.retain(ProtectedUnit::fits);
            newest.allowance = available.saturating_sub(allowances(&outside)).min(newest.cost);
            if newest.fits() && !outside.is_empty() {
                outside.push(newest);
                let mut protection = Protection::of(outside, layout, self);
                let kept = Kept { head: 0, tail: protection.units(layout).0.slices.len() };
                protection.decided = Some(Selection { kept, marked: true });
                return protection;
            }
            give_up(&mut outside);
        }
        Protection::default()
    }

    /// Protected units outside a rolling window or the longest beginning.
    fn protection_of_window(&self, units: &[ProtectedUnit], layout: &UnitIndex, target: &CutTarget<'_>) -> Protection {
        let is_start = self.options.truncation_strategy == Strategy::KeepStart;
        let nothing = Protection::default();
        let plain = self.run_strategy(&nothing, layout, target, self.cut_limit());
        let costs = self.costs((&layout.free, &layout.sums), target, 0);
        let available = self.available(&costs);
        let is_outside = |unit: &&ProtectedUnit| match plain {
            Some(kept) if is_start => unit.range.end > kept.head,
            Some(kept) => unit.range.start < kept.tail,
            None if is_start => unit.range.start > 0,
            None => unit.range.end < costs.len,
        };
        let outside: Vec<ProtectedUnit> = units.iter().filter(is_outside).cloned().collect();
        let outside = reserved(&outside, costs.len, available);
        if outside.is_empty() {
            return nothing;
        }
        let (fitting, others): (Vec<_>, Vec<_>) = outside.into_iter().partition(ProtectedUnit::fits);
        let unused = allowances(&others);
        if fitting.is_empty() {
            return Protection { unused, ..nothing };
        }
        let mut protection = Protection::of(fitting, layout, self);
        let shortened = || protection.units.iter().filter(|unit| !unit.is_whole());
        let window_from = shortened().map(|unit| protection.index_in_rest(unit.range.end)).max();
        let start_to = shortened().map(|unit| protection.index_in_rest(unit.range.start)).min();
        (protection.window_from, protection.start_to) = (window_from.unwrap_or(0), start_to);
        protection.unused = unused;
        if is_start || self.run_strategy(&protection, layout, target, self.cut_limit()).is_some() {
            return protection;
        }
        let last = layout.free.starts.iter().rev().nth(1).copied().unwrap_or(0);
        let protection = self.protection_next_to_shortened(protection.units, last..costs.len, layout, target);
        let window_from = if protection.units.is_empty() { last } else { 0 };
        Protection { window_from, ..protection }
    }
}
