//! Which items are kept if a cut invalidates signatures of thinking.

use crate::assembly::choice::Choice;
use crate::assembly::item::{Item, Kept, Shape};
use crate::assembly::plan::Plan;
use crate::assembly::preserved::{InvalidThinking, PreservedThinking, ThinkingRule, is_signed, without_thinking};
use crate::content::Vendor;
use crate::error::Result;

impl<'a> Plan<'_, 'a> {
    /// Chooses the kept items, without the thinking whose signatures become invalid. The freed tokens are used for more
    /// units.
    pub(crate) fn choose(&self) -> Result<Choice<'a>> {
        if let Some(series) = self.series {
            return self.choose_in_series(series);
        }
        let mut best: Option<(Choice<'a>, (usize, u64))> = None;
        let mut budget = self.limit;
        loop {
            let chosen = match self.choose_within(budget) {
                Ok(choice) => choice,
                Err(error) => return best.map(|(choice, _)| choice).ok_or(error),
            };
            if self.thinking.is_none() {
                return Ok(chosen);
            }
            let (chosen, whole) = self.total_of(chosen);
            let choice = self.with_invalid_thinking(chosen);
            if choice.thinking.without.is_empty() {
                return Ok(best.map_or(choice, |(choice, _)| choice));
            }
            let (choice, total) = self.total_of(choice);
            if total > self.limit {
                if let Some((best, _)) = best {
                    return Ok(best);
                }
                // Texts that become neighbors are joined, which may cost more than the removed thinking.
                budget = budget.saturating_sub(total - self.limit);
                continue;
            }
            let kept = (choice.kept_items(self.items.len()).count(), total);
            if let Some((best, _)) = best.take_if(|(_, before)| *before >= kept) {
                return Ok(best);
            }
            let raised = self.limit.saturating_add(whole.saturating_sub(total));
            // A cut that moves in steps keeps its place.
            let is_fixed = self.settings.cut_step > 0 || choice.is_last_resort;
            if raised <= budget || is_fixed {
                return Ok(choice);
            }
            (budget, best) = (raised, Some((choice, kept)));
        }
    }

    fn with_invalid_thinking(&self, choice: Choice<'a>) -> Choice<'a> {
        let first = self.first_changed(&choice).unwrap_or(usize::MAX);
        let mut choice = self.without_invalid(choice, &|at| at >= first, &|_| true);
        let emptied = choice.emptied();
        if emptied > 0 {
            let removed = choice.removed() + emptied;
            choice.marker = choice.marker.take().and_then(|_| self.costs().marker(removed));
        }
        choice
    }

    /// The choice without invalid thinking, if that is removed. New removals are reported.
    pub(super) fn without_invalid(
        &self,
        mut choice: Choice<'a>,
        is_invalid: &dyn Fn(usize) -> bool,
        is_new: &dyn Fn(usize) -> bool,
    ) -> Choice<'a> {
        let count = self.items.len();
        let mut invalid = InvalidThinking::default();
        choice.thinking = InvalidThinking::default();
        choice.place(count);
        let Some(rule) = self.thinking else { return choice };
        let vendor = if rule == ThinkingRule::Withheld { Vendor::OpenAi } else { Vendor::Anthropic };
        if rule == ThinkingRule::Refused(PreservedThinking::DropBlock) {
            invalid.drops_blocks = choice.kept_items(count).any(|at| self.signed_item(&choice, at, vendor).is_some());
            choice.thinking = invalid;
            return choice;
        }
        for at in choice.kept_items(count).filter(|&at| is_invalid(at)) {
            let Some(item) = self.signed_item(&choice, at, vendor) else { continue };
            if is_new(at) || rule == ThinkingRule::Refused(PreservedThinking::Keep) {
                invalid.items.push(at);
            }
            if rule == ThinkingRule::Refused(PreservedThinking::Strip) {
                invalid.without.insert(at, without_thinking(&item, &self.prices));
            }
        }
        choice.thinking = invalid;
        choice.place(count);
        choice
    }

    /// An item with thinking that the vendor signed.
    fn signed_item(&self, choice: &Choice<'a>, at: usize, vendor: Vendor) -> Option<Item<'a>> {
        let outline = self.items.outline(at).filter(|outline| !matches!(outline.merged_by, Some((_, Shape::Text))));
        outline.and_then(|_| self.item(choice, at)).filter(|item| item.parts.iter().any(|part| is_signed(part, vendor)))
    }

    /// The first item of the first message that a cut, a compaction or a repair changes.
    fn first_changed(&self, choice: &Choice<'a>) -> Option<usize> {
        let is_broken = self.compaction.is_some_and(|compaction| compaction.breaks_prefix);
        let first = if is_broken { Some(0) } else { self.first_cut(choice) };
        first.into_iter().chain(self.first_repaired).min()
    }

    fn first_cut(&self, choice: &Choice<'a>) -> Option<usize> {
        let Kept { head, tail } = choice.kept;
        let after_gap = (tail > head).then(|| choice.inside.first().copied().unwrap_or(tail));
        let shortened = choice.shortened.keys().next().copied();
        let changed = after_gap.into_iter().chain(shortened).min()?;
        let is_gap = after_gap == Some(changed);
        if is_gap && choice.marker.is_some() {
            return Some(changed);
        }
        // Items of one role are one message, also on both sides of a gap without a marker.
        let role = self.items.role(changed);
        let mut first = if is_gap { head } else { changed };
        while first > 0 && self.items.role(first - 1) == role {
            first -= 1;
        }
        Some(first)
    }
}
