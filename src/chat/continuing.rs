//! A fit that continues the last one: applies its treatment again, and makes the state for the next fit
//! (docs/agents.md).

use super::entry::Entry;
use super::fit::{Cut, Fit, SUMMARY_PREFIX};
use super::report::AddedKind;
use super::series::{Relation, Series, digest, options_hash, pinned_hash, text_hash};
use super::state::{KnownState, RecordedGap};
use super::treatment::Treatment;
use crate::assembly::input_hash::InputHash;
use crate::assembly::series::{Prefix, PrefixReason, part_for_step};
use crate::assembly::settings::rounded_excess;
use crate::error::Diagnostic;
use crate::sorting;
use crate::vendors::message_hash::{MessageHash, hash_of, hash_to};
use crate::vendors::pieces::message::Message;

impl Fit<'_> {
    /// Relates the messages to the last fit of the series, and applies its treatment again.
    pub(super) fn begin(&mut self) -> Vec<Diagnostic> {
        let counter = (self.format, self.prices.counter.name());
        let options = (self.options, self.previous);
        self.series = Series::new(options, self.messages.all_given(), self.facts, counter);
        let Some(series) = &self.series else { return Vec::new() };
        let mut recorded = series.recorded(self.messages.all_given(), self.options, self.prices);
        let found = if self.strips() { self.strip_stale(&series.stale, &mut recorded) } else { Vec::new() };
        if !recorded.is_empty() {
            self.messages = self.messages.with_recorded(recorded);
        }
        found
    }

    /// Whether a fit over the limit cuts to a lower target, to leave tokens for the next fits.
    pub(super) fn makes_steps(&self) -> bool {
        self.series.is_some() || self.options.cut_to.is_some()
    }

    /// The target of a step, for edits and cut together.
    pub(super) fn step_target(&self) -> u64 {
        if !self.makes_steps() {
            return self.limit;
        }
        let target = self.part_for_step(self.limit.min(self.edits.trigger.unwrap_or(u64::MAX)));
        self.course.step_target.unwrap_or(target)
    }

    /// Rounds the tokens that a step frees up to a multiple of the `step` of the edits.
    pub(super) fn round_step(&mut self, needed: u64) {
        self.course.step_target = None;
        if self.makes_steps() && self.edits.step > 0 {
            let freed = rounded_excess(needed, self.step_target(), self.edits.step);
            self.course.step_target = Some(needed.saturating_sub(freed));
        }
    }

    /// The target of a step for a limit; the limit itself in a single fit.
    pub(super) fn part_for_step(&self, limit: u64) -> u64 {
        if self.makes_steps() { part_for_step(limit, self.options.cut_to) } else { limit }
    }

    /// Tokens of the marker or summary of the last fit, unless a new marker is reserved before the first turn.
    pub(super) fn recorded_gap_tokens(&self) -> u64 {
        if self.course.first_marker.is_some() { 0 } else { self.tokens_of_gap() }
    }

    fn tokens_of_gap(&self) -> u64 {
        let gap = self.series.as_ref().and_then(Series::gap);
        gap.map_or(0, |gap| self.message_overhead().saturating_add(self.prices.text(&gap.text)))
    }

    /// The cut of the last fit, applied again, if the request then needs no step.
    pub(super) fn recorded_cut(&self) -> Option<Cut> {
        let series = self.series.as_ref().filter(|series| series.continues())?;
        let needed = self.total().saturating_add(self.tokens_of_gap());
        let is_due = self.edits.is_due(needed, self.edits.trigger.unwrap_or(self.limit));
        let is_enough = needed <= self.limit && !is_due && !self.course.is_forced;
        is_enough.then(|| Cut { is_recorded: true, ..series.gap().map(recorded).unwrap_or_default() })
    }

    /// A cut with only the marker or summary of the last fit.
    pub(super) fn recorded_gap(&self) -> Option<Cut> {
        self.series.as_ref().and_then(Series::gap).map(recorded)
    }

    /// The text of the last summary, without the summary prefix.
    pub(super) fn recorded_summary(&self) -> Option<String> {
        let gap = self.series.as_ref().and_then(Series::gap)?;
        let summary = gap.summary.as_deref()?;
        Some(summary.strip_prefix(SUMMARY_PREFIX).unwrap_or(summary).to_owned())
    }

    /// The treatment of each message.
    pub(super) fn treatments(&self, cut: &Cut) -> Vec<(usize, Treatment)> {
        let mut indices = self.messages.changed();
        indices.extend(cut.slices.iter().map(|slice| slice.message));
        sorting::sort(&mut indices);
        indices.dedup();
        let treatment = |at: usize| {
            let gone = cut.slices_of(at);
            Some((at, Treatment::of(self.messages.given(at)?, self.messages.get(at)?, gone)?))
        };
        indices.into_iter().filter_map(treatment).collect()
    }

    /// The first message for which the result of a fit from scratch differs from the last result, if any. `None` for
    /// other fits.
    pub(super) fn change_since_last(&self, cut: &Cut) -> Option<Option<usize>> {
        let series = self.series.as_ref().filter(|series| series.is_afresh())?;
        let lead = self.lead();
        let added = cut.added.as_ref().map(|(kind, text)| RecordedGap {
            kind: *kind,
            text: text.clone(),
            before: cut.first_gap(lead).unwrap_or(lead),
            omitted: 0,
            is_first: cut.is_first,
            summary: None,
        });
        let difference = series.first_difference(&self.treatments(cut), added.as_ref());
        let difference = self.newly_moved().map(|moved| moved.call + 1).fold(difference, usize::min);
        Some(Some(difference).filter(|difference| *difference < series.same))
    }

    /// The state for the next fit, and the part of this request that equals the last one.
    pub(super) fn concluded(
        &self,
        cut: &Cut,
        entries: &[Entry],
        gap_before: Option<usize>,
    ) -> (KnownState, Option<Prefix>) {
        let treatments = self.treatments(cut);
        let added = cut.added.as_ref().zip(gap_before).map(|((kind, text), before)| RecordedGap {
            kind: *kind,
            text: text.clone(),
            before,
            // A new summary includes these messages.
            omitted: if *kind == AddedKind::Summary && cut.summary.is_none() { 0 } else { cut.counted },
            is_first: cut.is_first,
            summary: cut.summary.clone().or_else(|| (*kind == AddedKind::Summary).then(|| text.clone())),
        });
        let hashes = self.facts.hashes;
        let difference = self.series.as_ref().map(|series| series.first_difference(&treatments, added.as_ref()));
        let prefix = self
            .series
            .as_ref()
            .map(|series| self.prefix(series, difference.unwrap_or(0), entries, (&treatments, added.as_ref())));
        let is_untouched = treatments.is_empty() && added.is_none();
        let last_step = self.series.as_ref().and_then(|series| series.previous.as_ref()).map(|previous| previous.step);
        let is_other_input = self.series.as_ref().is_some_and(|series| series.relation == Relation::ContinuesResult);
        let step = match last_step {
            Some(step) if cut.is_recorded && !is_other_input => step,
            _ if is_untouched && !is_other_input => (0, 0),
            _ => (hashes.len(), hash_to(hashes, hashes.len())),
        };
        let result: Vec<u64> = entries.iter().flat_map(|entry| self.entry_hashes(entry, cut)).collect();
        let state = KnownState {
            format: self.format.name().to_owned(),
            options: options_hash(self.options, self.prices.counter.name()),
            pinned: pinned_hash(self.options, hashes.len()),
            system: self.facts.outside.system,
            tools: self.facts.outside.tools,
            input: InputHash::of(hashes),
            step,
            result: (result.len(), hash_of(result)),
            treatments,
            added,
        };
        (state, prefix)
    }

    /// The hashes of the messages of an entry of the result.
    fn entry_hashes(&self, entry: &Entry, cut: &Cut) -> Vec<u64> {
        let whole = |at: usize| self.facts.hashes.get(at).map_or(0, MessageHash::whole);
        match entry {
            Entry::One(at) => vec![whole(*at)],
            Entry::Run(from, to) => (*from..*to).map(whole).collect(),
            Entry::Changed(at, _) => {
                let message = self.messages.get(*at);
                message.map(|message| digest(message, cut.slices_of(*at))).into_iter().collect()
            }
            Entry::Added(_) => cut.added.iter().map(|(_, text)| text_hash(text)).collect(),
        }
    }

    fn prefix(
        &self,
        series: &Series,
        difference: usize,
        entries: &[Entry],
        (treatments, added): (&[(usize, Treatment)], Option<&RecordedGap>),
    ) -> Prefix {
        let known = series.previous.as_ref();
        let is_known = known.is_some() && !series.is_other_request;
        let last_gap = known.and_then(|known| Some(known.added.as_ref()?.in_result(&known.treatments)));
        let is_same_gap = last_gap == added.map(|gap| gap.in_result(treatments));
        let mut same = 0;
        let mut tokens = self.request_overhead.system.saturating_add(self.request_overhead.tools);
        let mut all = 0;
        for entry in entries {
            // A result that was put after its call may be new in the middle.
            let difference = if same == all { difference } else { 0 };
            let (count, of_same, cost) = match *entry {
                Entry::Run(from, to) => {
                    let end = to.min(difference.max(from));
                    (to - from, end - from, self.messages.read_sum(from, end).total())
                }
                Entry::One(at) | Entry::Changed(at, _) => {
                    let cost = self.messages.get(at).map_or(0, Message::now);
                    (1, usize::from(at < difference), if at < difference { cost } else { 0 })
                }
                Entry::Added(_) => {
                    // Everything before it has to be the same as well.
                    let is_same = is_same_gap && same == all;
                    let text = added.map_or(0, |gap| self.prices.text(&gap.text));
                    (1, usize::from(is_same), if is_same { self.message_overhead().saturating_add(text) } else { 0 })
                }
            };
            all += count;
            same += of_same;
            tokens = tokens.saturating_add(cost);
        }
        if !is_known {
            (same, tokens) = (0, 0);
        }
        let last = known.map_or(0, |known| known.result.0);
        let stable = is_known && same >= last;
        same = same.min(last);
        if stable && self.last_grew(series) {
            same = same.saturating_sub(1);
        }
        let reason = if stable { None } else { Some(series.reason.unwrap_or(PrefixReason::Step)) };
        Prefix { stable, messages: same, tokens, breakpoints: Prefix::breakpoints(same, all), reason }
    }

    /// Whether parts were appended to the last message of the previous request.
    fn last_grew(&self, series: &Series) -> bool {
        let known = series.previous.as_ref().filter(|_| series.relation == Relation::Continues);
        known.is_some_and(|known| series.same == known.input.count && !known.input.is_whole(self.facts.hashes))
    }
}

/// A cut that only inserts the marker or summary of the last fit.
fn recorded(gap: &RecordedGap) -> Cut {
    Cut {
        added: Some((gap.kind, gap.text.clone())),
        is_first: gap.is_first,
        omitted: gap.omitted,
        counted: gap.omitted,
        stands_before: Some(gap.before),
        summary: gap.summary.clone(),
        ..Cut::default()
    }
}
