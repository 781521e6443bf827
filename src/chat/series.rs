//! A series of fits of one conversation: how the messages of one relate to those of the last (docs/agents.md).

use super::chat_input::ChatInput;
use super::options::{CallEdit, Edits, FitOptions, ResultEdit, ToolFilter};
use super::pairs::MessageSlice;
use super::sizes::MessageSize;
use super::state::{KnownState, Previous, RecordedGap};
use super::treatment::{Placeholder, Treatment};
use crate::assembly::series::PrefixReason;
use crate::assembly::shorten::CLEARED_RESULT;
use crate::assembly::treatments;
use crate::error::Result;
use crate::hashing::Hasher;
use crate::json::Object;
use crate::prompt::Prices;
use crate::vendors::anthropic::refused::add_cache_marks;
use crate::vendors::chats::text_of;
use crate::vendors::format::Format;
use crate::vendors::message_hash::{MessageHash, content_hash, hash_of, value_hash};
use crate::vendors::pieces::message::{Kind, Message, Piece};

/// The properties of a request that are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChatFacts<'h> {
    pub hashes: &'h [MessageHash],
    /// The size of each message with `maxBytes`, otherwise empty.
    pub sizes: &'h [MessageSize],
    pub outside: OutsideFacts,
}

/// The properties of the system context and the tools outside the messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutsideFacts {
    /// Hashes of both.
    pub system: u64,
    pub tools: u64,
    /// The number of their cache breakpoints, and of those of the request itself.
    pub cache_marks: usize,
}

/// How the messages relate to those of the last fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// The last fit is unknown.
    Unknown,
    /// They continue the last messages, or differ after the last step: the treatment of the last fit is repeated.
    Continues,
    /// They begin with the result of the last fit, which includes its treatment.
    ContinuesResult,
    /// They differ earlier: the fit starts from scratch.
    Afresh,
}

/// A fit in a series.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub relation: Relation,
    pub previous: Option<KnownState>,
    /// The number of messages equal to the last request.
    pub same: usize,
    /// Messages whose bound thinking is invalid because they follow another message now.
    pub stale: Vec<usize>,
    /// Whether the system context or the tools differ: then all bound thinking is invalid.
    pub is_other_request: bool,
    pub reason: Option<PrefixReason>,
}

impl Series {
    /// `None` for a single fit.
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
            stale: Vec::new(),
            is_other_request: false,
            reason: Some(reason),
        };
        let state = match previous {
            Previous::None => return None,
            Previous::Start => return Some(unknown(PrefixReason::First)),
            Previous::State(state) => state,
        };
        let Some(known) = state.known() else { return Some(unknown(PrefixReason::StateUnusable)) };
        // Plain texts fit several formats.
        if known.format != format.name() && known.format != Format::Generic.name() {
            return Some(Self { is_other_request: true, ..unknown(PrefixReason::Format) });
        }
        let mut series = Self { previous: Some(known.clone()), ..unknown(PrefixReason::StateUnusable) };
        series.reason = None;
        if known.input.begins(facts.hashes) {
            (series.relation, series.same) = (Relation::Continues, known.input.count);
            // Messages that `endOn` removed from the last request are present again.
            let returned = known.result_entries().get(known.result.0).copied().flatten();
            if let Some((first, _)) = returned.filter(|_| facts.hashes.len() > known.input.count) {
                series.stale = (first..facts.hashes.len()).collect();
            }
        } else if let Some(count) = begins_with_result(known, messages, facts.hashes) {
            (series.relation, series.same) = (Relation::ContinuesResult, count);
        } else if let Some(branch) = known.input.branch(known.step, facts.hashes) {
            (series.same, series.stale) = (branch.at, branch.stale);
            series.relation = if branch.at >= known.step.0 { Relation::Continues } else { Relation::Afresh };
            series.reason = Some(branch.reason);
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
        let OutsideFacts { system, tools, .. } = facts.outside;
        let others = [(system != known.system, PrefixReason::System), (tools != known.tools, PrefixReason::Tools)];
        for (_, reason) in others.into_iter().filter(|(differs, _)| *differs) {
            (series.is_other_request, series.reason) = (true, Some(reason));
        }
        Some(series)
    }

    /// The treatments of the last fit that are applied again.
    fn treatments(&self) -> Vec<(usize, Treatment)> {
        let known = self.previous.iter().flat_map(|previous| &previous.treatments);
        let same = known.filter(|(at, _)| *at < self.same);
        match self.relation {
            Relation::Unknown | Relation::ContinuesResult => Vec::new(),
            Relation::Continues => same.cloned().collect(),
            Relation::Afresh => same.filter_map(|(at, treatment)| Some((*at, treatment.lasting()?))).collect(),
        }
    }

    /// The marker or summary of the last fit, if it is kept.
    pub(super) fn gap(&self) -> Option<&RecordedGap> {
        let added = self.previous.as_ref().and_then(|previous| previous.added.as_ref());
        added.filter(|added| self.relation == Relation::Continues && added.before <= self.same)
    }

    /// Whether the treatment of the last fit is applied again or part of the messages.
    pub(super) fn continues(&self) -> bool {
        matches!(self.relation, Relation::Continues | Relation::ContinuesResult)
    }

    /// Whether the fit starts from scratch although the last one is known.
    pub(super) fn is_afresh(&self) -> bool {
        self.relation == Relation::Afresh
    }

    /// The messages with the treatment of the last fit.
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
            // Removed messages are never read.
            let mut message = if treatment.is_removed() { message.without_pieces() } else { message.borrowed() };
            treatment.apply(&mut message, Placeholder { text, prices });
            recorded.push((at, message));
        }
        recorded
    }

    /// The first message for which this result differs from the last one; the end of the equal messages if none does.
    pub(super) fn first_difference(&self, treatments: &[(usize, Treatment)], added: Option<&RecordedGap>) -> usize {
        let nothing = (Vec::new(), None);
        let (known, gap) = match (&self.previous, self.relation) {
            (Some(previous), Relation::Continues | Relation::Afresh) => (&previous.treatments, previous.added.as_ref()),
            _ => (&nothing.0, nothing.1),
        };
        let mut first = self.same;
        if gap.map(|gap| gap.in_result(known)) != added.map(|gap| gap.in_result(treatments)) {
            first = gap.into_iter().chain(added).map(|gap| gap.before).fold(first, usize::min);
        }
        treatments::first_difference(known, treatments).map_or(first, |at| first.min(at))
    }
}

impl KnownState {
    /// The messages of the result, including those removed by `endOn`: the index in the input and the treatment, or
    /// `None` for the marker or summary.
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
        entries
    }
}

/// The number of messages in the last result, if these begin with it.
fn begins_with_result(known: &KnownState, messages: &[Message<'_>], hashes: &[MessageHash]) -> Option<usize> {
    let (count, hash) = known.result;
    if count == 0 || count > messages.len() || known.treatments.is_empty() && known.added.is_none() {
        return None;
    }
    let mut entries = known.result_entries();
    entries.truncate(count);
    let of_message = |(at, entry): (usize, &Option<(usize, Option<&Treatment>)>)| match entry {
        Some((_, None)) => hashes.get(at).map(MessageHash::whole),
        Some((_, Some(_))) => messages.get(at).map(|message| digest(message, &[])),
        None => messages.get(at).and_then(text_of).map(text_hash),
    };
    let hashes: Option<Vec<u64>> = entries.iter().enumerate().map(of_message).collect();
    (entries.len() == count && hash_of(hashes?) == hash).then_some(count)
}

impl OutsideFacts {
    /// The properties of the system context and the tools, from the options and the container of the messages.
    ///
    /// # Errors
    /// A field that occurs twice.
    pub(super) fn read(options: Object<'_>, given: Option<&ChatInput<'_>>) -> Result<Self> {
        let systems = [options.get("system")?, given.and_then(|given| given.system)];
        let tools = options.get("tools")?.or(given.and_then(|given| given.tools));
        let container = given.and_then(|given| given.container).map(|(container, _)| container.value());
        let mut marks = Vec::new();
        for outside in systems.into_iter().chain([tools, container]).flatten() {
            add_cache_marks(outside, &[], &mut marks);
        }
        Ok(Self {
            system: hash_of(systems.map(|system| system.map_or(0, content_hash))),
            tools: tools.and_then(value_hash).unwrap_or_default(),
            cache_marks: marks.len(),
        })
    }
}

pub(super) fn text_hash(text: &str) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(text);
    hasher.finish()
}

/// A hash of a message by its cost and its links.
pub(super) fn digest(message: &Message<'_>, gone: &[MessageSlice]) -> u64 {
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
pub(super) fn options_hash(options: &FitOptions, counter: &str) -> u64 {
    let FitOptions { truncation_strategy, truncation_marker, fill, keep_first, keep_last, cut_step, repair, .. } =
        options;
    let mut hasher = Hasher::default();
    hasher.text(counter);
    hasher.text(truncation_marker);
    let numbers = [*truncation_strategy as u64, *fill as u64, *keep_first, *keep_last, *cut_step, u64::from(*repair)];
    numbers.into_iter().for_each(|number| hasher.word(number));
    hasher.word(options.preserved_thinking as u64);
    for roles in [&options.start_on, &options.end_on] {
        hasher.word(roles.len() as u64);
        roles.iter().for_each(|role| hasher.text(role.as_str()));
    }
    options.protected().iter().for_each(|protect| hasher.word(*protect as u64));
    hash_names(options.protect_tools.as_deref(), &mut hasher);
    let Edits { trigger, always, min_tokens_freed, step, tool_results, tool_inputs, tool_calls, reasoning, images } =
        options.edits();
    let or_none = |number: Option<u64>| number.map_or(u64::MAX, |number| number);
    for number in [or_none(trigger), u64::from(always), min_tokens_freed, step, or_none(images)] {
        hasher.word(number);
    }
    hasher.word(reasoning.map_or(u64::MAX, |which| which as u64));
    if let Some(ResultEdit { keep_last, keep_tokens, max_tokens, placeholder, tools, duplicates }) = &tool_results {
        hasher.text(placeholder);
        for number in [1, *keep_last, *keep_tokens, or_none(*max_tokens), u64::from(*duplicates)] {
            hasher.word(number);
        }
        hash_tools(tools, &mut hasher);
    }
    for (kind, edit) in [(2, &tool_inputs), (3, &tool_calls)] {
        let Some(CallEdit { keep_last, tools }) = edit else { continue };
        hasher.word(kind);
        hasher.word(*keep_last);
        hash_tools(tools, &mut hasher);
    }
    hasher.finish()
}

fn hash_tools(tools: &ToolFilter, hasher: &mut Hasher) {
    hash_names(tools.only.as_deref(), hasher);
    hash_names(Some(&tools.exclude), hasher);
}

fn hash_names(names: Option<&[String]>, hasher: &mut Hasher) {
    hasher.word(names.map_or(u64::MAX, |names| names.len() as u64));
    names.unwrap_or_default().iter().for_each(|name| hasher.text(name));
}

/// A hash of the pinned messages among the first ones.
pub(super) fn pinned_hash(options: &FitOptions, count: usize) -> u64 {
    let mut pinned: Vec<usize> = options.pinned.iter().copied().filter(|at| *at < count).collect();
    crate::sorting::sort(&mut pinned);
    hash_of(pinned.into_iter().map(|at| at as u64))
}
