//! The part of a dialogue that equals the last one of its series, and the state for the next one (docs/agents.md).

use crate::assembly::choice::Choice;
use crate::assembly::input_hash::InputHash;
use crate::assembly::item_series::CountedMarker;
use crate::assembly::item_treatment::ItemTreatment;
use crate::assembly::plan::Planned;
use crate::assembly::result_hash::ResultHash;
use crate::assembly::series::{Prefix, PrefixReason};
use crate::loom::dialogue::DialoguePlan;
use crate::loom::fit_state::{FitState, KnownState};
use crate::loom::series::DialogueSeries;
use crate::prompt::message_hash;
use crate::sorting::sort_by_key;
use crate::vendors::message_hash::hash_to;

impl<'a> DialoguePlan<'_, 'a> {
    /// The part of the request that equals the last one, in a series. The messages have to be hashed.
    pub(crate) fn prefix(&self, planned: &Planned<'a>) -> Option<Prefix> {
        let series = self.series.filter(|series| series.is_recorded)?;
        let messages: Vec<u64> = planned.index.messages.iter().map(|message| message.hash).collect();
        let last = series.last.filter(|_| !series.is_other_request).map(|last| &last.result);
        let same = last.map_or(0, |last| last.shared(&messages));
        let is_stable = |last: &ResultHash| same == last.count || same + 1 == last.count && self.grew(planned, last);
        let stable = last.is_some_and(is_stable);
        let is_step = planned.choice.change.is_some() && !planned.choice.is_repeated;
        // Headers for a loom-aware agent differ in each request.
        let otherwise = if is_step { PrefixReason::Step } else { PrefixReason::Options };
        Some(Prefix {
            stable,
            messages: same,
            tokens: if last.is_some() { self.plan.prefix_tokens(planned, same) } else { 0 },
            breakpoints: Prefix::breakpoints(same, messages.len()),
            reason: (!stable).then(|| series.reason.unwrap_or(otherwise)),
        })
    }

    /// Whether nodes were appended to the last message of the last result.
    fn grew(&self, planned: &Planned<'a>, last: &ResultHash) -> bool {
        let at = last.count.saturating_sub(1);
        if at >= planned.index.messages.len() || planned.index.range(at).len() <= last.last_items {
            return false;
        }
        message_hash(&self.plan.beginning_of(planned, at, last.last_items)) == last.last
    }

    /// The state for the next fit, if requested. The messages have to be hashed.
    pub(crate) fn fit_state(&self, planned: &Planned<'a>) -> Option<FitState> {
        let series = self.series.filter(|series| series.is_recorded)?;
        let choice = &planned.choice;
        let number = |at: usize| self.items.number(at);
        let treatments = self.plan.treatments(choice);
        let treatments: Vec<(usize, ItemTreatment)> =
            treatments.into_iter().filter_map(|(at, treatment)| Some((number(at)?, treatment))).collect();
        let count = series.nodes.len();
        let is_untouched = treatments.is_empty() && self.items.skipped == 0;
        let step = match series.last {
            Some(last) if choice.is_repeated => last.step,
            _ if is_untouched => (0, 0),
            _ => (count, hash_to(&series.nodes, count)),
        };
        let marker = choice.marker.clone().zip(choice.marker_count);
        Some(FitState::new(KnownState {
            provider: series.provider.to_owned(),
            hashes: series.hashes,
            input: InputHash::of(&series.nodes),
            step,
            result: self.result_hash(planned),
            treatments,
            marker: marker.map(|(text, count)| CountedMarker { count, text }),
            skipped: self.items.skipped,
            has_block_after: self.has_block_after(),
            repairs: self.repairs(),
            changes: self.changes(series, choice),
        }))
    }

    fn result_hash(&self, planned: &Planned<'a>) -> ResultHash {
        let messages: Vec<u64> = planned.index.messages.iter().map(|message| message.hash).collect();
        let last_items = messages.len().checked_sub(1).map_or(0, |last| planned.index.range(last).len());
        ResultHash::of(&messages, planned.before_gap(), last_items)
    }

    /// The changes so far, in order; overlapping ones are merged.
    fn changes(&self, series: &DialogueSeries<'_>, choice: &Choice<'a>) -> Vec<(usize, usize)> {
        let mut changes = series.changes.clone();
        changes.extend(choice.change.map(|change| (self.items.number(change).unwrap_or(0), series.nodes.len())));
        changes.retain(|(place, length)| place < length);
        sort_by_key(&mut changes, |(place, _)| *place);
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (place, length) in changes {
            match merged.last_mut().filter(|last| place <= last.1) {
                Some(last) => last.1 = last.1.max(length),
                None => merged.push((place, length)),
            }
        }
        merged
    }
}
