//! The messages of a dialogue that are shortened rather than removed: reserve, tail, protected texts, head
//! (docs/truncation.md).

use std::ops::Range;

use crate::assembly::choice::Choice;
use crate::assembly::item::{Item, Kept};
use crate::assembly::plan::Plan;
use crate::assembly::protection::{MIN_PROTECTED_TOKENS, ProtectedUnit, Rank, allowances, give_up, grow, reserved};
use crate::assembly::settings::{Fill, Protect, StartOn, Strategy};
use crate::assembly::shorten::ShortenUnit;
use crate::assembly::strategies::{OverLimit, leap};
use crate::content::Role;
use crate::maps::SortedMap;

/// Protected units within their token allowances.
#[derive(Debug)]
struct ProtectedUnits<'a> {
    units: Vec<ProtectedUnit>,
    /// Their shortened items.
    shortened: SortedMap<usize, Item<'a>>,
}

impl<'a> Plan<'_, 'a> {
    /// A choice that keeps the protected units, if the strategy alone removes one of them; `None` if they cannot be
    /// kept.
    pub(super) fn choose_protected(&self, over: &OverLimit<'_>, kept: Option<Kept>) -> Option<Choice<'a>> {
        let newest = self.units.iter().rev().nth(1).copied().unwrap_or(0);
        let is_removed = |unit: &ProtectedUnit| match kept {
            Some(Kept { head, tail }) => unit.range.end > head && unit.range.start < tail,
            None => unit.range.start < newest,
        };
        let mut units = self.protected_units(over.costs.lead);
        if !units.iter().any(is_removed) {
            return None;
        }
        units.retain(|unit| unit.range.start < newest);
        let available = over.available();
        let is_middle = self.settings.truncation_strategy == Strategy::TruncateMiddle;
        let wanted = if is_middle { over.wanted_tail()? } else { self.units.len().checked_sub(2)? };
        for tail in wanted..self.units.len().saturating_sub(1) {
            let start = over.start_of(tail);
            let mut outside = reserved(&units, start, available);
            let tail_cost = over.costs.run_alone(start, over.costs.len);
            if allowances(&outside).saturating_add(tail_cost) <= available {
                let left = (available / 2).min(available - tail_cost).saturating_sub(allowances(&outside));
                if is_middle {
                    grow(&mut outside, left);
                }
                outside.retain(ProtectedUnit::fits);
                return self.widest(over, outside, tail);
            }
        }
        self.next_to_newest(over, reserved(&units, newest, available), newest)
    }

    /// The units that the settings protect, in order, without an allowance.
    pub(super) fn protected_units(&self, lead: usize) -> Vec<ProtectedUnit> {
        let protect = &self.settings.protect;
        let mut texts = (lead..self.items.len()).filter(|&at| self.items.is_user_text(at));
        let first = if protect.contains(&Protect::FirstUser) { texts.next() } else { None };
        let mut texts = (lead..self.items.len()).rev().filter(|&at| self.items.is_user_text(at));
        let last = if protect.contains(&Protect::LastUser) { texts.next() } else { None };
        let unit = |(at, rank): (usize, Rank)| self.protected_unit(at, rank);
        let first = first.map(|at| (at, Rank::FirstUser)).and_then(unit);
        let last = last.map(|at| (at, Rank::LastUser)).and_then(unit);
        match (first, last) {
            (Some(first), Some(last)) if first.range == last.range => vec![last],
            (first, last) => first.into_iter().chain(last).collect(),
        }
    }

    /// The unit of an item.
    fn protected_unit(&self, item: usize, rank: Rank) -> Option<ProtectedUnit> {
        let number = self.units.partition_point(|&start| start <= item).checked_sub(1)?;
        let range = *self.units.get(number)?..*self.units.get(number + 1)?;
        let items = self.items_of(range.clone());
        let per_message = self.prices.overhead.per_message;
        let overhead = self.costs().messages(range.start, range.end).saturating_mul(per_message);
        let cost = items.iter().map(|item| item.alone).sum::<u64>().saturating_add(overhead);
        let min_cost = self.shortening(Fill::All, MIN_PROTECTED_TOKENS, range.start).min_cost(&items);
        let min_cost = min_cost.saturating_add(overhead);
        Some(ProtectedUnit { range, rank, call: None, cost, min_cost, allowance: 0 })
    }

    pub(super) fn items_of(&self, range: Range<usize>) -> Vec<Item<'a>> {
        range.filter_map(|at| self.items.item(at)).collect()
    }

    /// How to shorten a unit that begins at an item.
    pub(super) fn shortening(&self, fill: Fill, min_tokens: u64, start: usize) -> ShortenUnit<'_> {
        let answer = (start..self.items.len()).rev().find(|&at| self.items.role(at) == Some(Role::Assistant));
        let read = answer.map_or(0, |at| at + 1 - start);
        ShortenUnit { fill, min_tokens, read, prices: self.prices }
    }

    /// Shortens the units whose allowance is below their cost. A unit that cannot be shortened enough is given up.
    fn shorten_protected(&self, mut units: Vec<ProtectedUnit>) -> ProtectedUnits<'a> {
        let mut shortened = SortedMap::new();
        units.retain(|unit| {
            if unit.is_whole() {
                return true;
            }
            let items = self.items_of(unit.range.clone());
            let alone: u64 = items.iter().map(|item| item.alone).sum();
            let allowance = unit.allowance.saturating_sub(unit.cost.saturating_sub(alone));
            let how = self.shortening(Fill::All, MIN_PROTECTED_TOKENS, unit.range.start);
            let Some(forms) = how.items(&items, allowance) else { return false };
            let forms = unit.range.clone().zip(&items).zip(forms);
            let changed = forms.filter(|((_, item), form)| form.alone != item.alone);
            shortened.extend(changed.map(|((at, _), form)| (at, form)));
            true
        });
        ProtectedUnits { units, shortened }
    }

    /// The choice with a head and a tail, and the protected units between them.
    fn with_protected(&self, over: &OverLimit<'_>, protected: &ProtectedUnits<'a>, kept: Kept) -> Choice<'a> {
        let Kept { head, tail } = kept;
        let mut choice = Choice::new(kept, None);
        for unit in &protected.units {
            if unit.range.start >= tail && unit.rank != Rank::Newest {
                continue;
            }
            let forms = unit.range.clone().filter_map(|at| Some((at, protected.shortened.get(&at)?.clone())));
            choice.shortened.extend(forms);
            if unit.range.start >= head && unit.range.end <= tail {
                choice.inside.extend(unit.range.clone());
            }
        }
        self.set_gap(over, choice)
    }

    /// Sets the gap of a choice, without the protected items at its edges, the marker, and the places of the items.
    pub(super) fn set_gap(&self, over: &OverLimit<'_>, mut choice: Choice<'a>) -> Choice<'a> {
        let Kept { mut head, mut tail } = choice.kept;
        let before = choice.inside.iter().zip(head..).take_while(|&(&at, next)| at == next).count();
        head += choice.inside.drain(..before).len();
        while choice.inside.pop_if(|last| *last + 1 == tail).is_some() {
            tail -= 1;
        }
        let is_closed = head >= tail;
        choice.kept = if is_closed { Kept { head: over.costs.len, tail: over.costs.len } } else { Kept { head, tail } };
        choice.marker = if self.is_marked(&choice) { over.costs.marker(choice.removed()) } else { None };
        choice.place(self.items.len());
        choice
    }

    /// Whether the gap of a choice has the marker. A window has none before it, unless it follows a protected unit and
    /// items between them are missing.
    pub(super) fn is_marked(&self, choice: &Choice<'a>) -> bool {
        let is_middle = self.settings.truncation_strategy == Strategy::TruncateMiddle;
        let first = choice.inside.first();
        let is_inside = first.is_some_and(|&first| choice.kept.tail - first > choice.inside.len());
        choice.removed() > 0 && (is_middle || is_inside || choice.kept.head > self.costs().lead)
    }

    /// The longest head and tail around protected units that fit next to a tail of these units.
    fn widest(&self, over: &OverLimit<'_>, mut units: Vec<ProtectedUnit>, mut tail: usize) -> Option<Choice<'a>> {
        let lead = over.lead();
        let mut protected = self.shorten_protected(units.clone());
        let choice = |protected: &ProtectedUnits<'a>, head: usize, tail: usize| {
            self.with_protected(over, protected, Kept { head: over.start_of(head), tail: over.start_of(tail) })
        };
        let total =
            |protected: &ProtectedUnits<'a>, head: usize, tail: usize| self.total_of(choice(protected, head, tail)).1;
        // Texts that become neighbors are joined, which may cost slightly more.
        loop {
            if protected.units.is_empty() {
                return None;
            }
            let excess = total(&protected, lead, tail).saturating_sub(over.limit);
            if excess == 0 {
                break;
            }
            units = protected.units;
            match units
                .iter_mut()
                .rev()
                .find(|unit| unit.allowance.min(unit.cost).saturating_sub(excess) >= unit.min_cost)
            {
                Some(unit) => unit.allowance = unit.allowance.min(unit.cost) - excess,
                None => give_up(&mut units),
            }
            protected = self.shorten_protected(units.clone());
        }
        let fits = |head: usize, tail: usize| total(&protected, head, tail) <= over.limit;
        let mut head = lead;
        if self.settings.truncation_strategy == Strategy::TruncateMiddle {
            let half = over.available() / 2;
            let allowed = |head: usize| self.head_cost(over, &protected, head) <= half;
            head = leap(lead, over.most_head(tail), |head| allowed(head) && fits(head, tail));
            if over.cut_step > 0 {
                let head_by_half = leap(lead, over.most_head(tail), allowed);
                let step_tail = self.step_tail(over, head_by_half, tail, |tail| total(&protected, head_by_half, tail));
                if fits(head_by_half, step_tail) {
                    return Some(choice(&protected, head_by_half, step_tail));
                }
            }
        }
        loop {
            let before = (head, tail);
            tail -= leap(0, tail - head, |more| fits(head, tail - more));
            if self.settings.truncation_strategy == Strategy::RollingWindow {
                let may_begin = |&unit: &usize| over.costs.items.may_begin(over.start_of(unit));
                if over.start_on == StartOn::User && lead == 0 {
                    tail = (tail..over.count()).find(may_begin).unwrap_or(tail);
                }
                return Some(choice(&protected, head, tail));
            }
            head = leap(head, over.most_head(tail).max(head), |head| fits(head, tail));
            if before == (head, tail) {
                return Some(choice(&protected, head, tail));
            }
        }
    }

    /// Tokens of the units before the head, and of the first user message, in the form in which they are kept.
    fn head_cost(&self, over: &OverLimit<'_>, protected: &ProtectedUnits<'a>, head: usize) -> u64 {
        let end = over.start_of(head);
        let whole = protected.units.iter().filter(|unit| unit.range.end <= end).map(|unit| unit.cost);
        let allowances = protected.units.iter().filter(|unit| unit.range.end <= end || unit.rank == Rank::FirstUser);
        let allowances: u64 = allowances.map(|unit| unit.allowance.min(unit.cost)).sum();
        over.costs.run_alone(over.costs.lead, end).saturating_sub(whole.sum()).saturating_add(allowances)
    }

    /// The end of the shortest run after the head that removes a multiple of the step; at most the start of the
    /// protected tail.
    fn step_tail(&self, over: &OverLimit<'_>, head: usize, tail: usize, total: impl Fn(usize) -> u64) -> usize {
        let whole = over.costs.total();
        let target = over.step_target();
        let is_too_little = |tail: usize| whole.saturating_sub(total(tail)) < target;
        leap(head, tail.saturating_sub(1), is_too_little).saturating_add(1).min(tail)
    }

    /// The newest unit, shortened to the tokens outside the reserves. Reserves are given up until it fits.
    fn next_to_newest(&self, over: &OverLimit<'_>, mut units: Vec<ProtectedUnit>, newest: usize) -> Option<Choice<'a>> {
        let mut unit = self.protected_unit(newest, Rank::Newest)?;
        let available = over.available();
        let mut over_by = 0;
        while !units.is_empty() {
            units.retain(ProtectedUnit::fits);
            unit.allowance = available.saturating_sub(allowances(&units)).saturating_sub(over_by).min(unit.cost);
            if units.is_empty() || !unit.fits() {
                give_up(&mut units);
                over_by = 0;
                continue;
            }
            let all = units.iter().cloned().chain([unit.clone()]).collect();
            let protected = self.shorten_protected(all);
            if protected.units.len() <= units.len() {
                give_up(&mut units);
                over_by = 0;
                continue;
            }
            let choice = self.with_protected(over, &protected, Kept { head: over.costs.lead, tail: newest });
            let (choice, total) = self.total_of(choice);
            if total <= over.limit {
                return Some(choice);
            }
            over_by += total - over.limit;
        }
        None
    }
}
