//! How a dialogue continues the last one of its conversation (docs/agents.md).

use std::ops::Range;

use crate::assembly::costs::marker_text;
use crate::assembly::item_series::ItemSeries;
use crate::assembly::item_treatment::ItemTreatment;
use crate::assembly::plan::SystemText;
use crate::assembly::preserved::{PreservedThinking, ThinkingRule};
use crate::assembly::series::PrefixReason;
use crate::assembly::settings::Settings;
use crate::hashing::Hasher;
use crate::loom::conversation::ConversationItems;
use crate::loom::dialogue_state::DialogueState;
use crate::loom::fit_state::{FitState, KnownState, Previous, RequestHashes};
use crate::loom::path_context::PathContext;
use crate::vendors::message_hash::MessageHash;

/// A dialogue in a series.
#[derive(Debug)]
pub(crate) struct DialogueSeries<'s> {
    /// The last fit, if known.
    pub last: Option<&'s KnownState>,
    /// Whether the state of this fit is requested.
    pub is_recorded: bool,
    pub provider: &'static str,
    pub hashes: RequestHashes,
    /// The hash of each node of the conversation.
    pub nodes: Vec<MessageHash>,
    /// The number of nodes equal to the last request.
    same: usize,
    /// Whether the treatment of the last fit is applied again.
    repeats: bool,
    pub reason: Option<PrefixReason>,
    /// Whether nothing can be cached.
    pub is_other_request: bool,
    /// The changes that make thinking invalid: the first node whose prefix differs, and the number of nodes.
    pub changes: Vec<(usize, usize)>,
    /// The number of leading changes that were already reported.
    reported: usize,
    cut_to: Option<f64>,
}

impl<'s> DialogueSeries<'s> {
    /// `None` for a single fit to the whole limit.
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
            Previous::State(last) => series.relate(last, state, settings),
            Previous::None | Previous::Start => series.reason = Some(PrefixReason::First),
        }
        Some(series)
    }

    /// Relates the conversation to that of the last fit.
    fn relate(&mut self, last: &'s FitState, state: &DialogueState, settings: &Settings) {
        let Some(known) = last.known().filter(|known| self.is_own_marker(known, settings)) else {
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
            // Nodes of another branch were made after another request: whether that was changed the same way is
            // unknown.
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

    /// Whether the marker in a state is the one of these options. Only a damaged state has another text.
    fn is_own_marker(&self, known: &KnownState, settings: &Settings) -> bool {
        let Some(marker) = known.marker.as_ref().filter(|_| known.hashes.options == self.hashes.options) else {
            return true;
        };
        marker_text(&settings.truncation_marker, marker.count).as_deref() == Some(marker.text.as_str())
    }

    /// The number of nodes that the compaction of the last fit replaced, if it is applied again.
    pub(crate) fn skipped(&self) -> usize {
        let last = self.last.filter(|last| self.repeats && last.skipped <= self.same);
        last.map_or(0, |last| last.skipped)
    }

    /// The first node whose tool calls or results were repaired since the last fit.
    pub(crate) fn first_repair(&self, state: &DialogueState) -> Option<usize> {
        let known = self.last.filter(|last| self.same == last.input.count).map_or(0, |last| last.repairs);
        match self.last {
            Some(_) => state.conversation.first_repair(known, self.same),
            None => state.conversation.first_invalid(0),
        }
    }

    /// The series in terms of the items of a plan.
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
