//! Units that are shortened rather than removed, and the tokens reserved for them (docs/loom.md).

use std::cmp::Reverse;
use std::ops::Range;

use crate::sorting;

/// Minimal tokens of the text of a protected message.
pub(crate) const MIN_PROTECTED_TOKENS: u64 = 16;
/// Minimal tokens of a shortened text at the edge of a gap, without its marker.
pub(crate) const MIN_FILLED_TOKENS: u64 = 64;

/// The reason why a unit is protected. Lower ranks are given up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    System,
    Plan,
    FirstUser,
    LastUser,
    /// The newest unit, shortened like the others.
    Newest,
}

/// A unit that is shortened rather than removed.
#[derive(Clone, Debug)]
pub(crate) struct ProtectedUnit {
    /// Its range of items, or of the free slices of a chat.
    pub range: Range<usize>,
    pub rank: Rank,
    /// For a plan tool, the message and the piece of its latest call, to which the unit may be reduced.
    pub call: Option<(usize, usize)>,
    pub cost: u64,
    /// The minimal tokens it can be shortened to.
    pub min_cost: u64,
    /// Its token allowance.
    pub allowance: u64,
}

impl ProtectedUnit {
    pub(crate) fn is_whole(&self) -> bool {
        self.allowance >= self.cost
    }

    pub(crate) fn fits(&self) -> bool {
        self.allowance >= self.min_cost.min(self.cost)
    }
}

/// The sum of the allowances.
pub(crate) fn allowances(units: &[ProtectedUnit]) -> u64 {
    units.iter().map(|unit| unit.allowance).fold(0, u64::saturating_add)
}

/// Reserves a fifth of the available tokens for each unit that ends before `before`. If that exceeds half of them, the
/// lowest ranks are given up.
pub(crate) fn reserved(units: &[ProtectedUnit], before: usize, available: u64) -> Vec<ProtectedUnit> {
    let outside = units.iter().filter(|unit| unit.range.end <= before);
    let reserve = |unit: &ProtectedUnit| ProtectedUnit { allowance: unit.cost.min(available / 5), ..unit.clone() };
    let mut reserved: Vec<ProtectedUnit> = outside.map(reserve).collect();
    reserved.retain(|unit| unit.rank != Rank::Plan || unit.fits());
    while allowances(&reserved) > available / 2 {
        give_up(&mut reserved);
    }
    reserved
}

/// Gives up the unit of the lowest rank, and the oldest of these.
pub(crate) fn give_up(units: &mut Vec<ProtectedUnit>) {
    let lowest = units.iter().enumerate().min_by_key(|(at, unit)| (unit.rank, *at)).map(|(at, _)| at);
    if let Some(at) = lowest {
        units.remove(at);
    }
}

/// Raises the allowances towards the full costs, by `tokens` in all, the highest ranks first; returns the remaining
/// tokens.
pub(crate) fn grow(units: &mut [ProtectedUnit], mut tokens: u64) -> u64 {
    let mut order: Vec<&mut ProtectedUnit> = units.iter_mut().collect();
    sorting::sort_by_key(&mut order, |unit| Reverse(unit.rank));
    for unit in order {
        let more = unit.cost.saturating_sub(unit.allowance).min(tokens);
        unit.allowance = unit.allowance.saturating_add(more);
        tokens -= more;
    }
    tokens
}
