//! How a dialogue continues the last one of its conversation (SPEC §8 "Continuing fits").

use std::ops::Range;

use crate::assembly::choice::Choice;
use crate::assembly::continuing::{CountedMarker, ItemSeries};
use crate::assembly::input_hash::InputHash;
use crate::assembly::item_treatment::ItemTreatment;
use crate::assembly::plan::{Planned, SystemText};
use crate::assembly::preserved::{PreservedThinking, ThinkingRule};
use crate::assembly::result_hash::ResultHash;
use crate::assembly::series::{Prefix, PrefixReason};
use crate::assembly::settings::Settings;
use crate::hashing::Hasher;
use crate::loom::conversation::ConversationItems;
use crate::loom::dialogue::DialoguePlan;
use crate::loom::dialogue_state::DialogueState;
use crate::loom::fit_state::{FitState, KnownState, Previous, RequestHashes};
use crate::loom::path_context::PathContext;
use crate::prompt::message_hash;
use crate::sorting::sort_by_key;
use crate::vendors::message_hash::{MessageHash, hash_to};

/// A dialogue in a series.
#[derive(Debug)]
pub(crate) struct DialogueSeries<'s> {
    /// The last fit, as far as it is known.
    last: Option<&'s KnownState>,
    /// Whether the state of this fit is asked for.
    is_recorded: bool,
    provider: &'static str,
    hashes: RequestHashes,
    /// The hash of each node of the conversation.
    nodes: Vec<MessageHash>,
    /// Nodes that are the same as in the last request.
    same: usize,
    /// Whether what the last fit did is done again.
    repeats: bool,
    reason: Option<PrefixReason>,
    /// Whether everything differs for a cache.
    is_other_request: bool,
    /// The changes that make thinking invalid: the first node whose prefix differs, and how many nodes there are.
    changes: Vec<(usize, usize)>,
    /// The first of them were reported before.
    reported: usize,
    cut_to: Option<f64>,
}

impl<'s> DialogueSeries<'s> {
    /// None for a single fit to the whole limit.
    pub(crate) fn new(
        context: &PathContext<'s>,
        state: &DialogueState,
        system: &SystemText,
        settings: &Settings,
    ) -> Option<Self> {
        let options = context.options;
        let mut series = Self {
            last: None,
            is_recorded: options.previous != Previous::None,
            provider: options.provider.map_or("", |provider| provider.name()),
            hashes: RequestHashes::default(),
            nodes: Vec::new(),
            same: 0,
            repeats: false,
            reason: None,
            is_other_request: false,
            changes: Vec::new(),
            reported: 0,
            cut_to: options.cut_to,
        };
        if !series.is_recorded {
            return options.cut_to.map(|_| series);
        }
        series.nodes = state.conversation.node_hashes(context);
        series.hashes = RequestHashes {
            options: options_hash(context, settings),
            system: system_hash(system),
            tools: context.tools,
            headers: headers_hash(state, series.nodes.len()),
        };
        match &options.previous {
            Previous::State(last) => series.relate(last, state),
            Previous::None | Previous::Start => series.reason = Some(PrefixReason::First),
        }
        Some(series)
    }

    /// Relates the conversation to that of the last fit.
    fn relate(&mut self, last: &'s FitState, state: &DialogueState) {
        let Some(known) = last.known() else {
            self.reason = Some(PrefixReason::StateUnusable);
            return;
        };
        let count = self.nodes.len();
        let is_other = !known.provider.is_empty() && !self.provider.is_empty() && known.provider != self.provider;
        if is_other {
            (self.reason, self.is_other_request) = (Some(PrefixReason::Format), true);
            self.changes.push((0, count));
            return;
        }
        self.changes.clone_from(&known.changes);
        if known.input.begins(&self.nodes) {
            (self.same, self.repeats) = (known.input.count, true);
            self.reported = self.changes.len();
        } else if let Some(branch) = known.input.branch(known.step, &self.nodes) {
            (self.same, self.repeats, self.reason) = (branch.at, branch.at >= known.step.0, Some(branch.reason));
            self.changes.iter_mut().for_each(|(_, length)| *length = (*length).min(branch.at));
            self.changes.retain(|(place, length)| place < length);
            self.reported = self.changes.len();
            // Nodes of another branch were made after another request: whether that was changed the same way is unknown.
            let was_changed = !known.changes.is_empty() || !known.treatments.is_empty() || known.skipped > 0;
            let end = if was_changed { Some(count) } else { branch.stale.last().map(|last| last + 1) };
            self.changes.extend(end.map(|end| (branch.at, end)));
        } else if known.input.knows_any(&self.nodes) {
            self.reason = Some(PrefixReason::Edited);
            self.changes = vec![(0, count)];
        } else {
            self.reason = Some(PrefixReason::StateUnusable);
            self.changes.clear();
            return;
        }
        self.last = Some(known);
        if known.hashes.options != self.hashes.options {
            (self.reason, self.repeats) = (Some(PrefixReason::Options), false);
        }
        let others = [
            (known.hashes.system != self.hashes.system, PrefixReason::System),
            (known.hashes.tools != self.hashes.tools, PrefixReason::Tools),
        ];
        for (_, reason) in others.into_iter().filter(|(differs, _)| *differs) {
            (self.is_other_request, self.reason) = (true, Some(reason));
        }
        if self.is_other_request || headers_hash(state, known.input.count.min(count)) != known.hashes.headers {
            self.changes.push((0, count));
        } else if known.has_block_after && count > self.same {
            self.changes.push((self.same, count));
        }
    }

    /// How many nodes the compaction of the last fit replaced, if it does again.
    pub(crate) fn skipped(&self) -> usize {
        self.last.filter(|_| self.repeats).map_or(0, |last| last.skipped)
    }

    /// The first node whose tool calls or results were repaired since the last fit.
    pub(crate) fn first_repair(&self, state: &DialogueState) -> Option<usize> {
        let known = self.last.filter(|last| self.same == last.input.count).map_or(0, |last| last.repairs);
        match self.last {
            Some(_) => state.conversation.first_repair(known, self.same),
            None => state.conversation.first_invalid(0),
        }
    }

    /// The series by the items of a plan.
    pub(crate) fn of_items(&self, items: &ConversationItems<'_, '_>) -> ItemSeries {
        let place = |node: usize| items.place(node);
        let range = |&(from, to): &(usize, usize)| Some(place(from.max(items.skipped))?..place(to)?);
        let (reported, _) = self.changes.split_at_checked(self.reported).unwrap_or_default();
        let treatments = self.last.map_or(&[][..], |last| &last.treatments);
        let same = treatments.iter().filter(|(at, _)| *at < self.same);
        let last: Vec<(usize, ItemTreatment)> =
            same.filter_map(|(at, treatment)| Some((place(*at)?, treatment.clone()))).collect();
        let is_gap_left = last.iter().any(|(_, treatment)| treatment.is_removed());
        let marker = self.last.and_then(|last| last.marker.clone()).filter(|_| is_gap_left);
        let ranges = |changes: &[(usize, usize)]| changes.iter().filter_map(range).collect::<Vec<Range<usize>>>();
        ItemSeries {
            last,
            last_marker: marker,
            repeats: self.repeats,
            invalid: ranges(&self.changes),
            reported: ranges(reported),
            cut_to: self.cut_to,
        }
    }
}

impl<'a> DialoguePlan<'_, 'a> {
    /// How much of the request equals the last one, in a series. The messages have to be hashed.
    pub(crate) fn prefix(&self, planned: &Planned<'a>) -> Option<Prefix> {
        let series = self.series.filter(|series| series.is_recorded)?;
        let messages: Vec<u64> = planned.index.messages.iter().map(|message| message.hash).collect();
        let last = series.last.filter(|_| !series.is_other_request).map(|last| &last.result);
        let same = last.map_or(0, |last| last.shared(&messages));
        let is_stable = |last: &ResultHash| same == last.count || same + 1 == last.count && self.grew(planned, last);
        let stable = last.is_some_and(is_stable);
        let is_changed = planned.choice.change.is_some();
        let otherwise = if is_changed { PrefixReason::Step } else { PrefixReason::Options };
        Some(Prefix {
            stable,
            messages: same,
            tokens: if last.is_some() { self.plan.prefix_tokens(planned, same) } else { 0 },
            breakpoints: Prefix::breakpoints(same, messages.len()),
            reason: (!stable).then(|| series.reason.unwrap_or(otherwise)),
        })
    }

    /// Whether the last message of the last result has more nodes now.
    fn grew(&self, planned: &Planned<'a>, last: &ResultHash) -> bool {
        let at = last.count.saturating_sub(1);
        if at >= planned.index.messages.len() || planned.index.range(at).len() <= last.last_items {
            return false;
        }
        message_hash(&self.plan.beginning_of(planned, at, last.last_items)) == last.last
    }

    /// The state for the next fit, if there is to be one. The messages have to be hashed.
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

    /// The changes so far, in order; those that overlap are one.
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

/// A hash of the options that the treatment depends on.
fn options_hash(context: &PathContext<'_>, settings: &Settings) -> u64 {
    let Settings { truncation_strategy, minimum_recent_nodes, truncation_marker, cut_step, start_on, .. } = settings;
    let mut hasher = Hasher::default();
    hasher.text(context.tokenizer());
    hasher.text(truncation_marker);
    let thinking = match context.options.preserved_thinking {
        Some(ThinkingRule::Refused(rule)) => rule,
        Some(ThinkingRule::Withheld) | None => PreservedThinking::default(),
    };
    let numbers = [
        *truncation_strategy as u64,
        *minimum_recent_nodes,
        *cut_step,
        *start_on as u64,
        settings.fill as u64,
        thinking as u64,
    ];
    numbers.into_iter().for_each(|number| hasher.word(number));
    settings.protect.iter().for_each(|protect| hasher.word(*protect as u64));
    hasher.finish()
}

fn system_hash(system: &SystemText) -> u64 {
    let mut hasher = Hasher::default();
    hasher.optional(system.role.map(|role| role.as_str()));
    hasher.text(&system.text);
    hasher.finish()
}

/// A hash of the block before the nodes and the headers of the first ones.
fn headers_hash(state: &DialogueState, nodes: usize) -> u64 {
    let mut hasher = Hasher::default();
    let headers = &state.context_headers;
    headers.before.iter().for_each(|(text, _)| hasher.text(text));
    for (number, member) in state.conversation.members.iter().take(nodes).enumerate() {
        if let Some((_, line)) = headers.header(member.entry.node, number) {
            hasher.word(number as u64);
            hasher.text(line);
        }
    }
    hasher.finish()
}
