//! Which units to keep if the conversation is over the limit (docs/loom.md).
//!
//! Each strategy returns the items to keep, or `None` if not even the last unit fits completely.

use crate::assembly::costs::Costs;
use crate::assembly::item::Kept;
use crate::assembly::settings::{StartOn, rounded_excess};

#[derive(Debug)]
pub(crate) struct OverLimit<'l> {
    pub costs: &'l Costs<'l>,
    /// The start of each unit, and the end.
    pub units: &'l [usize],
    pub limit: u64,
    /// The number of items at the end that `middle` protects.
    pub recent: u64,
    /// Removals are rounded up to a multiple of this many tokens, unless it is 0.
    pub cut_step: u64,
    pub start_on: StartOn,
    /// The token limit of the head. Defaults to half of the available tokens.
    pub head_tokens: Option<u64>,
    /// The maximal number of units before the gap.
    pub most_head: usize,
}

impl OverLimit<'_> {
    /// Removes one run from the middle: the head takes at most half, the tail the rest, then the head what the tail
    /// could not use.
    pub(crate) fn middle(&self) -> Option<Kept> {
        let (head, tail) = self.first_cut()?;
        if self.cut_step > 0
            && let Some(kept) = self.middle_by_step(tail - 1, tail)
        {
            return Some(kept);
        }
        Some(self.widened(head, tail))
    }

    /// The end of the head that takes at most half, and the start of the protected tail.
    fn first_cut(&self) -> Option<(usize, usize)> {
        // At least one unit is removed: all of them together exceed the limit.
        let lead = self.lead();
        let tail = (self.wanted_tail()?..self.count()).find(|&tail| self.fits(lead, tail))?;
        let half = self.half();
        let is_good = |head: usize| self.head_cost(head) <= half && self.fits(head, tail);
        Some((self.furthest(lead, self.most_head(tail - 1), is_good), tail))
    }

    /// The start of the protected tail, if all of it fits.
    pub(super) fn wanted_tail(&self) -> Option<usize> {
        let last = self.count().checked_sub(1)?;
        let recent = self.costs.recent(self.recent);
        let wanted = self.units.partition_point(|&start| start <= recent).saturating_sub(1).min(last);
        Some(wanted.max(self.lead() + 1))
    }

    /// Extends the tail, then the head, as far as the limit allows.
    fn widened(&self, mut head: usize, mut tail: usize) -> Kept {
        loop {
            let before = (head, tail);
            let back = tail.saturating_sub(head + 1);
            tail -= self.furthest(0, back, |more| self.fits(head, tail - more));
            let max_head = self.most_head(tail.saturating_sub(1)).max(head);
            head = self.furthest(head, max_head, |head| self.fits(head, tail));
            // Joining texts can free tokens, so the tail may take more after the head was extended.
            if before == (head, tail) {
                return self.kept(head, tail);
            }
        }
    }

    /// The shortest run after the head that removes a multiple of the step. The head depends on the half rule alone, so
    /// that it stays in place as the conversation is extended.
    fn middle_by_step(&self, head_max: usize, protected: usize) -> Option<Kept> {
        let half = self.half();
        let head = self.furthest(self.lead(), self.most_head(head_max), |head| self.head_cost(head) <= half);
        let total = self.costs.total();
        let target = self.step_target();
        let removed = |tail: usize| total.saturating_sub(self.cost(head, tail));
        let tail = (head + 1..protected).find(|&tail| removed(tail) >= target).unwrap_or(protected);
        self.fits(head, tail).then(|| self.kept(head, tail))
    }

    /// Keeps the longest run of recent units that fits.
    pub(crate) fn rolling(&self) -> Option<Kept> {
        let count = self.count();
        let last = count.checked_sub(1)?;
        let first = self.lead();
        let fits = |tail: usize| self.window(tail) <= self.limit;
        if !fits(last) {
            return None;
        }
        let good = |more: usize| fits(last - more);
        // If costs are monotonic, the longest fitting window is found without trying each.
        let monotonic = self.costs.is_monotonic();
        let back = if monotonic { leap(0, last - first, good) } else { self.furthest(0, last - first, good) };
        let mut tail = last - back;
        if self.cut_step > 0 {
            let total = self.costs.total();
            let target = self.step_target();
            let removed = |tail: usize| total.saturating_sub(self.window(tail));
            tail = (tail..count).find(|&tail| removed(tail) >= target && fits(tail)).unwrap_or(tail);
        }
        // A block before the conversation is a user message already.
        if self.start_on == StartOn::User && first == 0 {
            tail = (tail..count).find(|&unit| self.costs.items.may_begin(self.start_of(unit))).unwrap_or(tail);
        }
        Some(Kept { head: self.costs.lead, tail: self.start_of(tail) })
    }

    /// Keeps the longest beginning that fits; `None` if not even one unit does.
    pub(crate) fn start(&self) -> Option<Kept> {
        let to = Kept { head: 0, tail: self.costs.len };
        let fits = |head: usize| self.costs.kept(Kept { head: self.start_of(head), ..to }, false) <= self.limit;
        let head = self.furthest(0, self.count(), fits);
        (head > 0).then(|| Kept { head: self.start_of(head), ..to })
    }

    /// The maximal number of units in the head, out of `most`.
    pub(super) fn most_head(&self, most: usize) -> usize {
        most.min(self.most_head).max(self.lead())
    }

    /// Units at the beginning that are never removed.
    pub(super) fn lead(&self) -> usize {
        self.units.partition_point(|&start| start < self.costs.lead)
    }

    /// Tokens without system context, overhead, pinned items and marker.
    pub(super) fn available(&self) -> u64 {
        let kept = self.costs.blocks_alone().saturating_add(self.costs.pinned_alone());
        self.limit.saturating_sub(self.costs.fixed).saturating_sub(kept)
    }

    fn half(&self) -> u64 {
        self.head_tokens.unwrap_or_else(|| self.available() / 2)
    }

    /// Tokens that a cut with a step removes.
    pub(super) fn step_target(&self) -> u64 {
        rounded_excess(self.costs.total(), self.limit, self.cut_step)
    }

    /// The furthest point between `from` and `to` up to which every point after `from` is good.
    ///
    /// If a check is costly it tries few points, and relies on good points never following bad ones.
    fn furthest(&self, from: usize, to: usize, good: impl Fn(usize) -> bool) -> usize {
        if self.costs.is_cheap() {
            return (from..to).take_while(|&at| good(at + 1)).last().map_or(from, |at| at + 1);
        }
        leap(from, to, good)
    }

    pub(super) fn count(&self) -> usize {
        self.units.len().saturating_sub(1)
    }

    pub(super) fn start_of(&self, unit: usize) -> usize {
        self.units.get(unit).copied().unwrap_or(self.costs.len)
    }

    fn kept(&self, head: usize, tail: usize) -> Kept {
        Kept { head: self.start_of(head), tail: self.start_of(tail) }
    }

    fn cost(&self, head: usize, tail: usize) -> u64 {
        self.costs.cut(self.kept(head, tail))
    }

    fn fits(&self, head: usize, tail: usize) -> bool {
        self.cost(head, tail) <= self.limit
    }

    fn head_cost(&self, head: usize) -> u64 {
        self.costs.run_alone(self.costs.lead, self.start_of(head))
    }

    fn window(&self, tail: usize) -> u64 {
        self.costs.window(self.start_of(tail))
    }
}

/// The furthest good point, if no good point follows a bad one.
pub(super) fn leap(from: usize, to: usize, good: impl Fn(usize) -> bool) -> usize {
    let (mut best, mut step) = (from, 1);
    while best + step <= to && good(best + step) {
        best += step;
        step *= 2;
    }
    while step > 0 {
        if best + step <= to && good(best + step) {
            best += step;
        }
        step /= 2;
    }
    best
}
