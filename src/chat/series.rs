//! Fits of one conversation, each of which continues from the last (SPEC §8 "Continuing fits").

use serde::Serialize;

use super::fit::{Cut, Fit};
use super::message_hash::{MessageHash, hash_of, value_hash};
use super::messages::Messages;
use super::options::FitOptions;
use super::outcome::Entry;
use super::pairs::MessageSlice;
use super::report::AddedKind;
use super::state::{InputHash, KnownState, Previous, RecordedGap, hash_to};
use super::treatment::{Placeholder, Treatment};
use crate::assembly::shorten::CLEARED_RESULT;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::prompt::{Hasher, Prices};
use crate::vendors::chats::text_of;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Kind, Message, Piece};

/// The part of the limit that a step leaves used.
pub(super) const DEFAULT_CUT_TO: f64 = 0.75;

/// What is compared of two requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChatFacts<'h> {
    pub hashes: &'h [MessageHash],
    /// Hashes of the system context and the tools outside the messages.
    pub system: u64,
    pub tools: u64,
}

/// How much of a request equals the previous one of its series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prefix {
    /// Whether each message of the previous result stands unchanged at the same index; the last may have more parts.
    pub stable: bool,
    /// Messages of the result, from its beginning, that equal the previous request's.
    pub messages: usize,
    /// Tokens of these, with the system context and the tools.
    pub tokens: u64,
    /// Indices of messages of the result after which a cache mark pays: the last that equals the previous request's, and the last of all.
    pub breakpoints: Vec<usize>,
    /// Why the requests differ, unless `stable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<PrefixReason>,
}

/// Why a request does not begin with the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixReason {
    /// It is the first of its series.
    First,
    /// The request was over the limit, or over the trigger of an edit.
    Step,
    /// The messages differ at the end.
    Branched,
    /// An earlier message was changed.
    Edited,
    /// Options differ that the result depends on.
    Options,
    /// The system context outside the messages differs.
    System,
    /// The tools differ.
    Tools,
    /// The messages are in another format.
    Format,
    /// The state is damaged, of another version or of another conversation.
    StateUnusable,
}

/// How the messages relate to those of the last fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Nothing is known of the last fit.
    Unknown,
    /// They go on, or differ after the last step: what the last fit did is done again.
    Continues,
    /// They begin with the result of the last fit, which contains what it did.
    ContinuesResult,
    /// They differ earlier: the fit starts afresh.
    Afresh,
}

/// A fit in a series.
#[derive(Clone, Debug)]
pub(super) struct Series {
    relation: Relation,
    previous: Option<KnownState>,
    /// Messages that are the same as in the last request.
    same: usize,
    /// Whether the system context or the tools differ: then all bound thinking is invalid.
    pub is_other_request: bool,
    reason: Option<PrefixReason>,
}

impl Series {
    /// None for a single fit.
    pub(super) fn new(
        (options, previous): (&FitOptions, &Previous),
        messages: &[Message<'_>],
        facts: ChatFacts<'_>,
        (format, counter): (Format, &str),
    ) -> Option<Self> {
        let unknown = |reason| Self {
            relation: Relation::Unknown,
            previous: None,
            same: 0,
            is_other_request: false,
            reason: Some(reason),
        };
        let state = match previous {
            Previous::None => return None,
            Previous::Start => return Some(unknown(PrefixReason::First)),
            Previous::State(state) => state,
        };
        let Some(known) = state.known() else { return Some(unknown(PrefixReason::StateUnusable)) };
        if known.format != format.name() {
            return Some(Self { is_other_request: true, ..unknown(PrefixReason::Format) });
        }
        let mut series = Self { previous: Some(known.clone()), ..unknown(PrefixReason::StateUnusable) };
        series.reason = None;
        if known.input.begins(facts.hashes) {
            (series.relation, series.same) = (Relation::Continues, known.input.count);
        } else if let Some(count) = begins_with_result(known, messages, facts.hashes) {
            (series.relation, series.same) = (Relation::ContinuesResult, count);
        } else if let Some(branch) = known.branch(facts.hashes) {
            let last_common = known.input.count.min(facts.hashes.len()).saturating_sub(1);
            let is_edited = branch < last_common && known.input.ends_alike(facts.hashes);
            series.same = branch;
            series.relation = if branch >= known.step.0 { Relation::Continues } else { Relation::Afresh };
            series.reason = Some(if is_edited { PrefixReason::Edited } else { PrefixReason::Branched });
        } else {
            return Some(unknown(PrefixReason::StateUnusable));
        }
        let pinned = pinned_hash(options, known.input.count);
        let is_pinned_otherwise = pinned != known.pinned && series.relation != Relation::ContinuesResult;
        if options_hash(options, counter) != known.options || is_pinned_otherwise {
            series.reason = Some(PrefixReason::Options);
            if series.relation == Relation::Continues {
                series.relation = Relation::Afresh;
            }
        }
        let others =
            [(facts.system != known.system, PrefixReason::System), (facts.tools != known.tools, PrefixReason::Tools)];
        for (_, reason) in others.into_iter().filter(|(differs, _)| *differs) {
            (series.is_other_request, series.reason) = (true, Some(reason));
        }
        Some(series)
    }

    /// What the last fit did to the messages and is done again.
    fn treatments(&self) -> Vec<(usize, Treatment)> {
        let known = self.previous.iter().flat_map(|previous| &previous.treatments);
        let same = known.filter(|(at, _)| *at < self.same);
        match self.relation {
            Relation::Unknown | Relation::ContinuesResult => Vec::new(),
            Relation::Continues => same.cloned().collect(),
            Relation::Afresh => same.filter_map(|(at, treatment)| Some((*at, treatment.lasting()?))).collect(),
        }
    }

    /// The marker or summary of the last fit, where it stays.
    pub(super) fn gap(&self) -> Option<&RecordedGap> {
        let added = self.previous.as_ref().and_then(|previous| previous.added.as_ref());
        added.filter(|added| self.relation == Relation::Continues && added.before <= self.same)
    }

    /// Whether what the last fit did is done again, or is in the messages.
    pub(super) fn continues(&self) -> bool {
        matches!(self.relation, Relation::Continues | Relation::ContinuesResult)
    }

    /// Whether the fit starts afresh, and what the last fit did is known.
    pub(super) fn is_afresh(&self) -> bool {
        self.relation == Relation::Afresh
    }

    /// The messages with what the last fit did to them.
    pub(super) fn recorded<'m>(
        &self,
        messages: &'m [Message<'m>],
        options: &FitOptions,
        prices: Prices<'_>,
    ) -> Vec<(usize, Message<'m>)> {
        let edits = options.edits();
        let text = edits.tool_results.as_ref().map_or(CLEARED_RESULT, |edit| &edit.placeholder);
        let treated = self.treatments();
        let mut recorded = Vec::with_capacity(treated.len());
        for (at, treatment) in treated {
            let Some(message) = messages.get(at) else { continue };
            let mut message = message.borrowed();
            treatment.apply(&mut message, Placeholder { text, prices });
            recorded.push((at, message));
        }
        recorded
    }

    /// The first message for which this result differs from the last one; the end of the messages that are the same, if none does.
    fn first_difference(&self, treatments: &[(usize, Treatment)], added: Option<&RecordedGap>) -> usize {
        let nothing = (Vec::new(), None);
        let (known, gap) = match (&self.previous, self.relation) {
            (Some(previous), Relation::Continues | Relation::Afresh) => (&previous.treatments, previous.added.as_ref()),
            _ => (&nothing.0, nothing.1),
        };
        let mut first = self.same;
        if gap.map(|gap| (&gap.text, gap.before)) != added.map(|gap| (&gap.text, gap.before)) {
            first = gap.into_iter().chain(added).map(|gap| gap.before).fold(first, usize::min);
        }
        let (mut one, mut other) = (known.iter().peekable(), treatments.iter().peekable());
        loop {
            let at = match (one.peek(), other.peek()) {
                (Some((at, known)), Some((now_at, now))) if at == now_at && known.leaves_same(now) => {
                    (one.next(), other.next());
                    continue;
                }
                (Some((known, _)), Some((now, _))) => *known.min(now),
                (Some((at, _)), None) | (None, Some((at, _))) => *at,
                (None, None) => return first,
            };
            return first.min(at);
        }
    }
}

impl KnownState {
    /// The first message that differs, where it is no other conversation; of long ones, as far as it is known.
    fn branch(&self, hashes: &[MessageHash]) -> Option<usize> {
        let (step, of_step) = self.step;
        let to_step = || (step > 0 && hashes.len() >= step && hash_to(hashes, step) == of_step).then_some(step);
        let branch = self.input.branch(hashes).or_else(to_step)?;
        (branch > 0 || self.input.ends_alike(hashes)).then_some(branch)
    }

    /// The messages of the result: the index of the input and what was done to it, or none for the marker or summary.
    fn result_entries(&self) -> Vec<Option<(usize, Option<&Treatment>)>> {
        let mut treatments = self.treatments.iter().peekable();
        let mut entries = Vec::new();
        let before = self.added.as_ref().map(|added| added.before);
        for at in 0..=self.input.count {
            if before == Some(at) {
                entries.push(None);
            }
            let treatment = treatments.next_if(|(treated, _)| *treated == at).map(|(_, treatment)| treatment);
            if at < self.input.count && !treatment.is_some_and(Treatment::is_removed) {
                entries.push(Some((at, treatment)));
            }
        }
        entries.truncate(self.result.0);
        entries
    }
}

/// How many messages the last result had, if these begin with it.
fn begins_with_result(known: &KnownState, messages: &[Message<'_>], hashes: &[MessageHash]) -> Option<usize> {
    let (count, hash) = known.result;
    if count == 0 || count > messages.len() || known.treatments.is_empty() && known.added.is_none() {
        return None;
    }
    let entries = known.result_entries();
    let of_message = |(at, entry): (usize, &Option<(usize, Option<&Treatment>)>)| match entry {
        Some((_, None)) => hashes.get(at).map(MessageHash::whole),
        Some((_, Some(_))) => messages.get(at).map(|message| digest(message, &[])),
        None => messages.get(at).and_then(text_of).map(text_hash),
    };
    let hashes: Option<Vec<u64>> = entries.iter().enumerate().map(of_message).collect();
    (entries.len() == count && hash_of(hashes?) == hash).then_some(count)
}

/// Hashes of the system context and the tools outside the messages: those of the options and of a container.
pub(super) fn outside_hashes(
    options: Object<'_>,
    system: Option<Value<'_>>,
    tools: Option<Value<'_>>,
) -> Result<(u64, u64)> {
    let hash = |value: Option<Value<'_>>| value.and_then(value_hash).unwrap_or_default();
    let systems = [options.get("system")?, system].map(hash);
    Ok((hash_of(systems), hash(options.get("tools")?.or(tools))))
}

fn text_hash(text: &str) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(text);
    hasher.finish()
}

/// A hash of a message by what it costs and what belongs together.
fn digest(message: &Message<'_>, gone: &[MessageSlice]) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(message.role.as_str());
    let is_gone = |place: usize| gone.iter().any(|slice| (slice.from..slice.to).contains(&place));
    let is_left = |(place, piece): &(usize, &Piece<'_>)| piece.is_there() && piece.now > 0 && !is_gone(*place);
    for (_, piece) in message.pieces.iter().enumerate().filter(is_left) {
        match &piece.kind {
            Kind::Call { id, .. } | Kind::Result { id } => hasher.text(id),
            Kind::CallAndResult { name } => hasher.text(name),
            _ => hasher.text(""),
        }
        hasher.word(piece.now);
    }
    hasher.finish()
}

/// A hash of the options that the treatment depends on.
fn options_hash(options: &FitOptions, counter: &str) -> u64 {
    let FitOptions { truncation_strategy, truncation_marker, fill, keep_first, keep_last, cut_step, repair, .. } =
        options;
    let of_cut = (truncation_strategy, truncation_marker, fill, keep_first, keep_last, cut_step, repair);
    let kept = (options.edits(), options.protected(), &options.protect_tools, &options.start_on, &options.end_on);
    text_hash(&format!("{counter} {of_cut:?} {kept:?} {:?}", options.preserved_thinking))
}

/// A hash of the pinned messages among the first ones.
fn pinned_hash(options: &FitOptions, count: usize) -> u64 {
    let mut pinned: Vec<usize> = options.pinned.iter().copied().filter(|at| *at < count).collect();
    crate::sorting::sort(&mut pinned);
    hash_of(pinned.into_iter().map(|at| at as u64))
}

impl Fit<'_> {
    /// Relates the messages to the last fit of the series, and does again what that did.
    pub(super) fn begin(&mut self) {
        let counter = (self.format, self.prices.counter.name());
        let options = (self.options, self.previous);
        self.series = Series::new(options, self.messages.all_given(), self.facts, counter);
        if let Some(series) = &self.series {
            let recorded = series.recorded(self.messages.all_given(), self.options, self.prices);
            if !recorded.is_empty() {
                self.messages = Messages::clone(&self.messages).with_recorded(recorded);
            }
        }
    }

    /// Whether a fit over the limit goes below it, to leave room for the next ones.
    pub(super) fn makes_steps(&self) -> bool {
        self.series.is_some() || self.options.cut_to.is_some()
    }

    /// Tokens to which a step goes down.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a part of a limit"
    )]
    pub(super) fn step_target(&self) -> u64 {
        if !self.makes_steps() {
            return self.limit;
        }
        let limit = self.limit.min(self.edits.trigger.unwrap_or(u64::MAX));
        (limit as f64 * self.options.cut_to.unwrap_or(DEFAULT_CUT_TO)).floor() as u64
    }

    /// Tokens of the marker or summary of the last fit.
    pub(super) fn recorded_gap_tokens(&self) -> u64 {
        let gap = self.series.as_ref().and_then(Series::gap).filter(|_| self.course.first_marker.is_none());
        gap.map_or(0, |gap| self.message_overhead().saturating_add(self.prices.text(&gap.text)))
    }

    /// The cut of the last fit, which is done again, if the request then needs no step.
    pub(super) fn recorded_cut(&self) -> Option<Cut> {
        let series = self.series.as_ref().filter(|series| series.continues())?;
        let gap = series.gap();
        let of_gap = gap.map_or(0, |gap| self.message_overhead().saturating_add(self.prices.text(&gap.text)));
        let needed = self.total().saturating_add(of_gap);
        let is_due = self.edits.is_due(needed, self.edits.trigger.unwrap_or(self.limit));
        let is_enough = needed <= self.limit && !is_due && !self.course.is_forced;
        is_enough.then(|| Cut { is_recorded: true, ..gap.map(RecordedGap::cut).unwrap_or_default() })
    }

    /// What was done to each message.
    pub(super) fn treatments(&self, cut: &Cut) -> Vec<(usize, Treatment)> {
        let mut indices = self.messages.changed();
        indices.extend(cut.slices.iter().map(|slice| slice.message));
        crate::sorting::sort(&mut indices);
        indices.dedup();
        let treatment = |at: usize| {
            let from = cut.slices.partition_point(|slice| slice.message < at);
            let to = cut.slices.partition_point(|slice| slice.message <= at);
            let gone = cut.slices.get(from..to).unwrap_or_default();
            Some((at, Treatment::of(self.messages.given(at)?, self.messages.get(at)?, gone)?))
        };
        indices.into_iter().filter_map(treatment).collect()
    }

    /// The first message for which the result of a fit that starts afresh differs from the last one, if it does. None for other fits.
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
        Some(Some(difference).filter(|difference| *difference < series.same))
    }

    /// The state for the next fit, and how much of this request equals the last one.
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
            omitted: cut.counted,
            is_first: cut.is_first,
            summary: cut.summary.clone().or_else(|| (*kind == AddedKind::Summary).then(|| text.clone())),
        });
        let hashes = self.facts.hashes;
        let difference = self.series.as_ref().map(|series| series.first_difference(&treatments, added.as_ref()));
        let prefix =
            self.series.as_ref().map(|series| self.prefix(series, difference.unwrap_or(0), entries, added.as_ref()));
        let (kept, count) = self.series.as_ref().map_or((false, 0), |series| (series.continues(), series.same));
        let is_untouched = treatments.is_empty() && added.is_none();
        let last_step = self.series.as_ref().and_then(|series| series.previous.as_ref()).map(|previous| previous.step);
        let is_same = kept && difference.is_some_and(|difference| difference >= count);
        let is_other_input = self.series.as_ref().is_some_and(|series| series.relation == Relation::ContinuesResult);
        let step = match last_step {
            Some(step) if is_same && !is_other_input => step,
            _ if is_untouched && !is_other_input => (0, 0),
            _ => (hashes.len(), hash_to(hashes, hashes.len())),
        };
        let result: Vec<u64> = entries.iter().flat_map(|entry| self.entry_hashes(entry, cut)).collect();
        let state = KnownState {
            format: self.format.name().to_owned(),
            options: options_hash(self.options, self.prices.counter.name()),
            pinned: pinned_hash(self.options, hashes.len()),
            system: self.facts.system,
            tools: self.facts.tools,
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
                let gone: Vec<MessageSlice> = cut.slices.iter().filter(|slice| slice.message == *at).copied().collect();
                self.messages.get(*at).map(|message| digest(message, &gone)).into_iter().collect()
            }
            Entry::Added(_) => cut.added.iter().map(|(_, text)| text_hash(text)).collect(),
        }
    }

    fn prefix(&self, series: &Series, difference: usize, entries: &[Entry], added: Option<&RecordedGap>) -> Prefix {
        let known = series.previous.as_ref();
        let is_known = known.is_some() && !series.is_other_request;
        let is_same_gap =
            known.and_then(|known| known.added.as_ref()).map(|gap| &gap.text) == added.map(|gap| &gap.text);
        let mut same = 0;
        let mut tokens = self.request_overhead.system.saturating_add(self.request_overhead.tools);
        let mut all = 0;
        for entry in entries {
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
                    let is_same = added.is_some_and(|gap| gap.before <= difference) && is_same_gap;
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
        let stable = is_known && known.is_some_and(|known| same >= known.result.0);
        if stable && self.last_grew(series) {
            same = same.saturating_sub(1);
        }
        let reason = if stable { None } else { Some(series.reason.unwrap_or(PrefixReason::Step)) };
        let mut breakpoints: Vec<usize> = [same, all].into_iter().filter_map(|end| end.checked_sub(1)).collect();
        breakpoints.dedup();
        Prefix { stable, messages: same, tokens, breakpoints, reason }
    }

    /// Whether the last message of the previous request has more parts now.
    fn last_grew(&self, series: &Series) -> bool {
        let known = series.previous.as_ref().filter(|_| series.relation == Relation::Continues);
        known.is_some_and(|known| series.same == known.input.count && !known.input.is_whole(self.facts.hashes))
    }
}
