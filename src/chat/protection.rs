//! Messages that are shortened rather than removed (SPEC §1 "Strategies", §8 `protect`, `protectTools`).

use std::cmp::Reverse;
use std::ops::Range;

use super::fit::{EarlierMark, Fit};
use super::shortening::MIN_PROTECTED_TOKENS;
use super::unit_index::{CuttableUnits, UnitIndex};
use crate::assembly::settings::Protect;
use crate::content::Role;
use crate::sorting;
use crate::vendors::pieces::message::{At, Kind, Message, Piece};

/// Why a unit is protected. Lower ranks are given up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    System,
    Plan,
    FirstUser,
    LastUser,
    /// The newest unit, shortened next to the others.
    Newest,
}

/// A unit that is shortened rather than removed.
#[derive(Clone, Debug)]
pub(super) struct ProtectedUnit {
    /// Its slices among the free ones.
    pub slices: Range<usize>,
    pub rank: Rank,
    /// Of a plan its latest call, to which the unit may be reduced.
    pub call: Option<At>,
    pub cost: u64,
    /// The fewest tokens it can be shortened to.
    pub min_cost: u64,
    /// Tokens it may have.
    pub room: u64,
}

impl ProtectedUnit {
    pub(super) fn is_whole(&self) -> bool {
        self.room >= self.cost
    }

    pub(super) fn fits(&self) -> bool {
        self.room >= self.min_cost.min(self.cost)
    }
}

/// Tokens of all of them.
pub(super) fn rooms(units: &[ProtectedUnit]) -> u64 {
    units.iter().map(|unit| unit.room).fold(0, u64::saturating_add)
}

/// Reserves a fifth of the available tokens for each of the units before an atom. If that is more than half of them, the lowest ranks
/// are given up.
pub(super) fn reserved(units: &[ProtectedUnit], before: usize, available: u64) -> Vec<ProtectedUnit> {
    let outside = units.iter().filter(|unit| unit.slices.end <= before);
    let reserve = |unit: &ProtectedUnit| ProtectedUnit { room: unit.cost.min(available / 5), ..unit.clone() };
    let mut reserved: Vec<ProtectedUnit> = outside.map(reserve).collect();
    reserved.retain(|unit| unit.rank != Rank::Plan || unit.fits());
    while rooms(&reserved) > available / 2 {
        give_up(&mut reserved);
    }
    reserved
}

/// Gives up the unit of the lowest rank, of equals the oldest.
pub(super) fn give_up(units: &mut Vec<ProtectedUnit>) {
    let lowest = units.iter().enumerate().min_by_key(|(at, unit)| (unit.rank, *at)).map(|(at, _)| at);
    if let Some(at) = lowest {
        units.remove(at);
    }
}

/// Lets the units grow to their full cost within so many tokens for all of them, the highest ranks first; the tokens that are left.
pub(super) fn grow(units: &mut [ProtectedUnit], mut tokens: u64) -> u64 {
    let mut order: Vec<&mut ProtectedUnit> = units.iter_mut().collect();
    sorting::sort_by_key(&mut order, |unit| Reverse(unit.rank));
    for unit in order {
        let more = unit.cost.saturating_sub(unit.room).min(tokens);
        unit.room = unit.room.saturating_add(more);
        tokens -= more;
    }
    tokens
}

impl Fit<'_> {
    /// The units that the options protect, in order, without room.
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
        ProtectedUnit { slices, rank, call, cost, min_cost, room: 0 }
    }

    /// The messages that are protected. A message that is always kept is none of them.
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

    /// Whether the user says something in a message, other than results of tools and what an earlier fit left.
    fn is_user_text(&self, at: usize) -> bool {
        let Some(message) = self.messages.get(at) else { return false };
        let mut pieces = message.pieces.iter().filter(|piece| piece.is_there() && !piece.is_silent());
        message.role == Role::User
            && message.removed.is_none()
            && pieces.any(|piece| !matches!(piece.kind, Kind::Result { .. }))
            && EarlierMark::of(message, &self.options.truncation_marker).is_none()
    }

    /// The latest answered call of a protected tool.
    fn latest_plan(&self) -> Option<At> {
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
