//! Using the tokens that whole units leave of the limit (docs/loom.md).

use std::ops::Range;

use crate::assembly::choice::Choice;
use crate::assembly::item::{Item, Kept};
use crate::assembly::plan::Plan;
use crate::assembly::protection::{MIN_FILLED_TOKENS, MIN_PROTECTED_TOKENS};
use crate::assembly::settings::{Fill, StartOn, Strategy};
use crate::assembly::strategies::OverLimit;

/// How often a text is shortened again because joined texts cost more or less than separate ones.
const MAX_SHORTENINGS: usize = 4;

impl<'a> Plan<'_, 'a> {
    /// A choice that uses the rest of the limit: first protected units are extended, then the removed units at the
    /// edges of the gap are restored, shortened.
    pub(super) fn filled(&self, mut choice: Choice<'a>, limit: u64) -> Choice<'a> {
        if self.settings.fill == Fill::Off || !choice.is_cut() {
            return choice;
        }
        let costs = self.costs();
        let over = self.over_limit(&costs, limit);
        for unit in self.shortened_units(&choice) {
            choice = self.with_unit(&over, choice, unit, Fill::All, MIN_PROTECTED_TOKENS, None);
        }
        // Tokens below the target of a step are the reserve for the next turns.
        if self.makes_step {
            return choice;
        }
        if self.settings.truncation_strategy == Strategy::RollingWindow {
            // Only one unit, so that a larger limit never keeps less.
            return self.with_unit_before_tail(&over, choice);
        }
        loop {
            let before = choice.kept;
            choice = self.with_unit_before_tail(&over, choice);
            choice = self.with_unit_after_head(&over, choice);
            let is_same = choice.kept == before;
            let (filled, total) = self.total_of(choice);
            choice = filled;
            // Cleared results may leave tokens for more.
            if is_same || total >= limit {
                return choice;
            }
        }
    }

    /// Restores the unit before the tail, if it can be shortened to the remaining tokens.
    fn with_unit_before_tail(&self, over: &OverLimit<'_>, choice: Choice<'a>) -> Choice<'a> {
        let Kept { head, tail } = choice.kept;
        let number = self.units.partition_point(|&start| start < tail).saturating_sub(1);
        let unit = over.start_of(number)..tail;
        let is_window = self.settings.truncation_strategy == Strategy::RollingWindow;
        let begins = !is_window || over.start_on == StartOn::Any || self.items.may_begin(unit.start);
        if !begins || head >= tail || unit.start < head {
            return choice;
        }
        let kept = Kept { head, tail: unit.start };
        self.with_unit(over, choice, unit, self.settings.fill, MIN_FILLED_TOKENS, Some(kept))
    }

    /// Restores the unit after the head, if it can be shortened to the remaining tokens.
    fn with_unit_after_head(&self, over: &OverLimit<'_>, choice: Choice<'a>) -> Choice<'a> {
        let Kept { head, tail } = choice.kept;
        let unit = head..over.start_of(self.units.partition_point(|&start| start <= head));
        if head >= tail || unit.end > tail || choice.inside.iter().any(|at| unit.contains(at)) {
            return choice;
        }
        let kept = Kept { head: unit.end, tail };
        self.with_unit(over, choice, unit, self.settings.fill, MIN_FILLED_TOKENS, Some(kept))
    }

    /// The units that are shortened, the last user message first.
    fn shortened_units(&self, choice: &Choice<'a>) -> Vec<Range<usize>> {
        let mut units: Vec<Range<usize>> = Vec::new();
        for &at in choice.shortened.keys() {
            let number = self.units.partition_point(|&start| start <= at).saturating_sub(1);
            let unit = |number: usize| self.units.get(number).copied().unwrap_or(0);
            let range = unit(number)..unit(number + 1);
            if units.last() != Some(&range) {
                units.push(range);
            }
        }
        units.reverse();
        units
    }

    /// The choice with a unit in the longest form that fits the limit; otherwise the unchanged choice.
    fn with_unit(
        &self,
        over: &OverLimit<'_>,
        choice: Choice<'a>,
        unit: Range<usize>,
        fill: Fill,
        min_tokens: u64,
        kept: Option<Kept>,
    ) -> Choice<'a> {
        let Kept { head, tail } = kept.unwrap_or(choice.kept);
        let items = self.items_of(unit.clone());
        let trial = |forms: Option<Vec<Item<'a>>>| {
            let mut trial = Choice::new(Kept { head, tail }, None);
            trial.inside.clone_from(&choice.inside);
            let others = choice.shortened.iter().filter(|(at, _)| !unit.contains(at));
            trial.shortened.extend(others.map(|(&at, item)| (at, item.clone())));
            let forms = unit.clone().zip(&items).zip(forms.into_iter().flatten());
            let changed = forms.filter(|((_, item), form)| form.alone != item.alone);
            trial.shortened.extend(changed.map(|((at, _), form)| (at, form)));
            self.total_of(self.set_gap(over, trial))
        };
        let (whole, total) = trial(None);
        if total <= over.limit {
            return whole;
        }
        let alone: u64 = items.iter().map(|item| item.alone).sum();
        let Some(mut allowance) = alone.checked_sub(total - over.limit) else { return choice };
        let how = self.shortening(fill, min_tokens, unit.start);
        let mut best = None;
        for _ in 0..MAX_SHORTENINGS {
            let Some(forms) = how.items(&items, allowance) else { break };
            let (filled, total) = trial(Some(forms));
            let is_over = total > over.limit;
            if !is_over {
                best = Some(filled);
                if total == over.limit {
                    break;
                }
                allowance = allowance.saturating_add(over.limit - total);
            } else if best.is_some() {
                break;
            } else {
                allowance = allowance.saturating_sub(total - over.limit);
            }
        }
        best.unwrap_or(choice)
    }
}
