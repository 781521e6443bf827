//! A conversation under a budget: the kept items, their messages, and the report.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use crate::assembly::budget;
use crate::assembly::choice::Choice;
use crate::assembly::costs::{Costs, Gap, Sums};
use crate::assembly::item::{Item, Items, Kept};
use crate::assembly::item_series::ItemSeries;
use crate::assembly::message_index::{MessageIndex, MessageKind, PreviousDialogue, PreviousMessages, Run};
use crate::assembly::preserved::ThinkingRule;
use crate::assembly::render::{ByteSpan, JOIN, render, utf16_spans};
use crate::assembly::report::{Removed, Totals};
use crate::assembly::series::Prefix;
use crate::assembly::settings::{DIALOGUE_MARKER, Settings, StartOn, Strategy, TEXT_MARKER};
use crate::assembly::shorten::{RemovedEnd, Shorten, inline_marker};
use crate::assembly::strategies::OverLimit;
use crate::content::{Block, Role};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::prompt::bodies::Hints;
use crate::prompt::{Message, MessageSpan, Prices, message_hash, system_hash};
use crate::sorting::sort_by_key;

#[derive(Clone, Debug, Default)]
pub(crate) struct SystemText {
    pub text: String,
    pub tokens: u64,
    /// The role of its message; `None` if it is a separate field.
    pub role: Option<Role>,
}

impl SystemText {
    /// The text, if it is a separate field.
    pub(crate) fn field(&self) -> Option<&str> {
        (self.role.is_none() && !self.text.is_empty()).then_some(self.text.as_str())
    }

    /// Tokens of a request without messages.
    pub(crate) fn fixed(&self, prices: &Prices<'_>) -> u64 {
        let message = if self.role.is_some() { prices.overhead.per_message } else { 0 };
        self.tokens + prices.overhead.per_request + message
    }

    /// Messages before the conversation: 1 if the system context is a message, else 0.
    pub(crate) fn messages(&self) -> usize {
        usize::from(self.role.is_some())
    }
}

/// A conversation and its budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'p, 'a> {
    pub items: &'p dyn Items<'a>,
    pub sums: &'p Sums,
    /// The start of each unit among the items, and the end.
    pub units: &'p [usize],
    pub prices: Prices<'p>,
    pub settings: &'p Settings,
    pub limit: u64,
    pub system: &'p SystemText,
    /// How signed thinking is treated after a cut; `None` if signatures are not bound to earlier messages.
    pub thinking: Option<ThinkingRule>,
    /// The first item whose thinking a repair made invalid.
    pub first_repaired: Option<usize>,
    /// The compaction that the items begin with, if the items would otherwise exceed the limit together with those
    /// before it.
    pub compaction: Option<Compaction>,
    /// The place in a series of dialogues.
    pub series: Option<&'p ItemSeries>,
    /// Nodes that the marker counts but that are not items.
    pub omitted: usize,
    /// The maximal number of units before the gap.
    pub most_head: usize,
    /// Whether only protected units are filled, so that the rest stays free for the next turns.
    pub makes_step: bool,
}

/// A compaction at the beginning of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compaction {
    /// The items of its unit, which are never removed; 0 if no unit follows.
    pub pinned: usize,
    /// Whether the thinking after it is bound to items that it replaces.
    pub breaks_prefix: bool,
}

/// The messages of a choice, without their contents.
#[derive(Debug)]
pub(crate) struct Planned<'a> {
    pub choice: Choice<'a>,
    pub index: Rc<MessageIndex>,
    marker_at: Option<usize>,
    pub totals: Totals,
    /// Tokens equal to the beginning of the tree's last dialogue.
    pub shared_tokens: u64,
    /// The last dialogue, and the runs of messages equal to it.
    since: Option<(Rc<MessageIndex>, Vec<Run>)>,
}

impl Planned<'_> {
    /// The runs of messages equal to a known dialogue.
    pub(crate) fn runs(&self, known: &PreviousMessages) -> Vec<Run> {
        match &self.since {
            // Usually the known dialogue is the last one.
            Some((before, runs)) if Rc::ptr_eq(before, &known.index) => runs.clone(),
            _ => known.runs(&self.index),
        }
    }

    /// The number of messages that stay unchanged while only the gap is extended.
    pub(crate) fn before_gap(&self) -> usize {
        let head = self.choice.head_places();
        self.marker_at.unwrap_or_else(|| self.index.messages.partition_point(|message| message.end <= head))
    }

    /// The place of the marker among the kept items, if this message holds it.
    pub(super) fn gap(&self, at: usize) -> Option<usize> {
        (self.marker_at == Some(at)).then(|| self.choice.head_places())
    }

    /// Pairs of kept item and message.
    pub(crate) fn item_messages(&self) -> impl Iterator<Item = (usize, usize)> {
        let places = (0..self.index.messages.len()).flat_map(|at| self.index.range(at).map(move |place| (place, at)));
        places.map(|(place, at)| (self.choice.item_at(place), at))
    }
}

impl<'a> Plan<'_, 'a> {
    pub(crate) fn fixed(&self) -> u64 {
        self.system.fixed(&self.prices)
    }

    pub(crate) fn costs(&self) -> Costs<'_> {
        let Self { items, sums, prices, settings, .. } = *self;
        let costs = Costs::new(items, sums, prices, &settings.truncation_marker, self.fixed());
        let gap = Gap { omitted: self.omitted, ..Gap::default() };
        costs.with_gap(gap).with_pinned(self.compaction.map_or(0, |compaction| compaction.pinned))
    }

    /// Chooses the kept items: all of them, those of the strategy, or the last unit shortened.
    pub(super) fn choose_within(&self, limit: u64) -> Result<Choice<'a>> {
        let costs = self.costs();
        let count = costs.len;
        if costs.total() <= limit {
            return Ok(Choice::new(Kept { head: count, tail: count }, None));
        }
        self.choose_over(limit)
    }

    /// Chooses the kept items of a conversation over the limit.
    pub(super) fn choose_over(&self, limit: u64) -> Result<Choice<'a>> {
        let costs = self.costs();
        let (count, total) = (costs.len, costs.total());
        let of_each = || (0..count).filter_map(|at| Some((self.items.id(at)?, costs.alone(at, at + 1))));
        let too_long = |advice: &str| budget::too_long(self.limit, total, of_each(), advice);
        let over = self.over_limit(&costs, limit);
        let (kept, end) = match self.settings.truncation_strategy {
            // `Settings::resolve` rejects `KeepStart`.
            Strategy::StopAtLimit | Strategy::KeepStart => {
                return Err(too_long("exclude nodes, or use a model with a larger context window"));
            }
            Strategy::TruncateMiddle => (over.middle(), RemovedEnd::Middle),
            Strategy::RollingWindow => (over.rolling(), RemovedEnd::Head),
        };
        let plain = |kept: Kept| {
            let is_marked = end == RemovedEnd::Middle;
            Choice::new(kept, if is_marked { costs.marker(kept.tail - kept.head) } else { None })
        };
        let choice = self.choose_protected(&over, kept).or_else(|| kept.map(plain));
        let choice = choice.map(|choice| self.filled(choice, limit)).or_else(|| self.shorten(end, limit));
        choice.ok_or_else(|| {
            too_long("not even the shortened newest message fits; use a model with a larger context window")
        })
    }

    pub(super) fn over_limit<'l>(&'l self, costs: &'l Costs<'l>, limit: u64) -> OverLimit<'l> {
        OverLimit {
            costs,
            units: self.units,
            limit,
            recent: self.settings.minimum_recent_nodes,
            cut_step: self.settings.cut_step,
            start_on: self.settings.start_on,
            head_tokens: None,
            most_head: self.most_head,
        }
    }

    fn shorten(&self, end: RemovedEnd, limit: u64) -> Option<Choice<'a>> {
        let costs = self.costs();
        let start = self.units.iter().rev().nth(1).copied().unwrap_or(0);
        let lead = costs.lead;
        let before = start - lead;
        let gap = (end == RemovedEnd::Middle && before > 0).then(|| costs.marker(before)).flatten();
        let marker = if self.settings.truncation_marker == DIALOGUE_MARKER {
            TEXT_MARKER.to_owned()
        } else {
            inline_marker(&costs.marker(before).unwrap_or_default())
        };
        let budget = limit.checked_sub(costs.fixed)?;
        let shorten =
            Shorten { removed_end: end, marker: &marker, gap: gap.clone(), lead, budget, prices: self.prices };
        let whole: Vec<Item<'a>> = (0..lead).chain(start..costs.len).filter_map(|at| self.items.item(at)).collect();
        let (unit, cut) = shorten.unit(&whole)?;
        let mut choice = Choice::new(Kept { head: lead, tail: start }, gap);
        choice.is_last_resort = true;
        let shortened = unit.into_iter().enumerate().filter(|(at, _)| cut.contains(at));
        choice.shortened = shortened.map(|(at, item)| (at + before, item)).collect();
        Some(choice)
    }

    /// The messages of a choice, and their tokens.
    pub(crate) fn planned(&self, choice: Choice<'a>) -> Planned<'a> {
        let planned = self.plan_messages(choice);
        debug_assert!(planned.totals.total() <= self.limit, "over the limit");
        debug_assert_eq!(planned.totals.content, self.counted(&planned), "the sums differ from the count");
        planned
    }

    pub(super) fn plan_messages(&self, choice: Choice<'a>) -> Planned<'a> {
        let count = self.items.len();
        let Kept { head, tail } = choice.kept;
        let mut index = MessageIndex::with_capacity(head + count.saturating_sub(tail));
        if let Some(role) = self.system.role {
            index.add(role, MessageKind::Parts, None, 0);
        }
        self.add_kept(&choice, 0..head, &mut index);
        let mut marker_at = None;
        if let Some(marker) = &choice.marker {
            index.add(Role::User, MessageKind::Volatile, None, marker.len());
            marker_at = index.messages.len().checked_sub(1);
        }
        self.add_kept(&choice, if choice.places.is_some() { head } else { tail }..count, &mut index);
        let overhead = self.prices.overhead;
        let messages = (index.messages.len() - self.system.messages()) as u64;
        let overhead = self.fixed() - self.system.tokens + overhead.per_message * messages;
        for item in choice.rewritten_items() {
            let place = choice.places_before(item);
            let place = if item < head || choice.places.is_some() { place } else { place - tail + head };
            index.set_kind(place, MessageKind::Parts);
        }
        let is_plain = choice.is_plain();
        let mut planned = Planned {
            choice,
            index: Rc::new(index),
            marker_at,
            totals: Totals::default(),
            shared_tokens: 0,
            since: None,
        };
        let content = if is_plain {
            let total = self.costs().kept(planned.choice.kept, planned.choice.marker.is_some());
            total.saturating_sub(self.system.tokens + overhead)
        } else {
            self.content_tokens(&planned, planned.index.messages.len())
        };
        planned.totals = Totals { system: self.system.tokens, content, overhead };
        planned
    }

    /// The tokens of a request with a choice.
    pub(super) fn total_of(&self, choice: Choice<'a>) -> (Choice<'a>, u64) {
        if choice.is_plain() {
            let total = self.costs().kept(choice.kept, choice.marker.is_some());
            return (choice, total);
        }
        let planned = self.plan_messages(choice);
        (planned.choice, planned.totals.total())
    }

    /// Adds the items of a range that are sent to an index of messages.
    fn add_kept(&self, choice: &Choice<'a>, range: Range<usize>, index: &mut MessageIndex) {
        let Some(places) = &choice.places else { return self.items.add_to(index, range) };
        for &at in places.iter().filter(|at| range.contains(at)) {
            self.items.add_to(index, at..at + 1);
        }
    }

    /// Counts the content of all messages.
    fn counted(&self, planned: &Planned<'a>) -> u64 {
        let messages = self.system.messages()..planned.index.messages.len();
        messages.map(|at| self.prices.message(&self.content_of(planned, at))).sum()
    }

    /// Tokens of the whole conversation.
    pub(crate) fn whole(&self) -> Totals {
        let costs = self.costs();
        let overhead = self.fixed() - self.system.tokens;
        let overhead = overhead + self.prices.overhead.per_message * costs.messages(0, costs.len);
        let content = costs.total().saturating_sub(self.system.tokens + overhead);
        Totals { system: self.system.tokens, content, overhead }
    }

    pub(crate) fn messages(&self, planned: &Planned<'a>) -> Vec<Message<'a>> {
        (0..planned.index.messages.len()).map(|at| self.message(planned, at)).collect()
    }

    pub(crate) fn message(&self, planned: &Planned<'a>, at: usize) -> Message<'a> {
        self.render(planned, at, true)
    }

    /// One message without spans.
    pub(crate) fn content_of(&self, planned: &Planned<'a>, at: usize) -> Message<'a> {
        self.render(planned, at, false)
    }

    fn render(&self, planned: &Planned<'a>, at: usize, with_spans: bool) -> Message<'a> {
        let range = planned.index.range(at);
        let items = || range.clone().map(|place| planned.choice.item_at(place));
        let ids = || self.message_ids(planned, at).collect::<Vec<_>>();
        let role = planned.index.role(at);
        let text_message =
            |text: Cow<'a, str>, spans| Message { role, content: vec![Block::Text(text)], node_ids: ids(), spans };
        if self.system.role.is_some() && at == 0 {
            return text_message(Cow::Owned(self.system.text.clone()), Vec::new());
        }
        if planned.index.kind(at) == MessageKind::Parts {
            let items: Vec<Item<'a>> = items().filter_map(|item| self.item(&planned.choice, item)).collect();
            let gap = planned.gap(at).map_or(items.len(), |gap| gap - range.start);
            let marker = planned.choice.marker.as_deref().filter(|_| planned.gap(at).is_some());
            let rendered = render(&items, Kept { head: gap, tail: gap }, marker, with_spans).pop();
            return rendered.unwrap_or_else(|| text_message(Cow::Borrowed(""), Vec::new()));
        }
        if range.len() == 1
            && planned.gap(at).is_none()
            && let Some(item) = items().next()
            && let (Some(text), Some(id)) = (self.items.borrowed_text(item), self.items.id(item))
        {
            let span = || MessageSpan { node_id: id, part: None, start: 0, end: self.items.utf16_len(item) };
            let spans = if with_spans { vec![span()] } else { Vec::new() };
            return Message { role, content: vec![Block::text(text)], node_ids: vec![id], spans };
        }
        let mut text = String::new();
        let mut spans = Vec::new();
        self.write_text(planned, at, false, &mut |piece, _, item| {
            let start = text.len();
            text.push_str(piece);
            spans.extend(item.and_then(|item| self.items.id(item)).map(|id| ByteSpan {
                id,
                part: 0,
                start,
                end: text.len(),
            }));
        });
        let content = vec![Block::text(text)];
        let spans = if with_spans { utf16_spans(&content, &spans) } else { Vec::new() };
        Message { role, content, node_ids: ids(), spans }
    }

    pub(crate) fn message_ids<'s>(&'s self, planned: &'s Planned<'a>, at: usize) -> impl Iterator<Item = &'a str> + 's {
        planned.index.range(at).filter_map(|place| self.items.id(planned.choice.item_at(place)))
    }

    /// An item as it is sent, shortened or not.
    pub(super) fn item(&self, choice: &Choice<'a>, at: usize) -> Option<Item<'a>> {
        choice.rewritten(at).cloned().or_else(|| self.items.item(at))
    }

    /// Writes the text of a message of plain texts, piece by piece; the text of an item comes with its place. If the
    /// caller accepts them, escaped texts are passed as such, with a flag.
    pub(crate) fn write_text(
        &self,
        planned: &Planned<'a>,
        at: usize,
        takes_escaped: bool,
        write: &mut dyn FnMut(&str, bool, Option<usize>),
    ) {
        let range = planned.index.range(at);
        let gap = planned.gap(at);
        let mut first = true;
        let mut separate = |write: &mut dyn FnMut(&str, bool, Option<usize>)| {
            if !std::mem::take(&mut first) {
                write(JOIN, false, None);
            }
        };
        for place in range.start..=range.end {
            if let Some(marker) = planned.choice.marker.as_deref().filter(|_| gap == Some(place)) {
                separate(write);
                write(marker, false, None);
            }
            let item = planned.choice.item_at(place);
            if place < range.end
                && let Some((header, text, is_escaped)) = self.items.text(item, takes_escaped)
            {
                separate(write);
                if !header.is_empty() {
                    write(header, false, None);
                }
                write(text, is_escaped, Some(item));
            }
        }
    }

    /// The removed items.
    pub(crate) fn removed(&self, choice: &Choice<'a>) -> Removed {
        let costs = self.costs();
        let Kept { head, tail } = choice.kept;
        let inside: u64 = choice.inside.iter().map(|&at| costs.alone(at, at + 1)).sum();
        // Without a gap the cut begins with the first changed item.
        let first = if head < tail { head } else { choice.rewritten_items().min().unwrap_or(head) };
        let mut removed = Removed {
            whole: head..tail,
            inside: choice.inside.clone(),
            tokens: costs.alone(head, tail).saturating_sub(inside),
            position: first.saturating_sub(usize::from(self.items.is_block(0))),
            marker: choice.marker.clone(),
            ..Removed::default()
        };
        let mut rewritten: Vec<usize> = choice.rewritten_items().collect();
        sort_by_key(&mut rewritten, |&at| at);
        for at in rewritten {
            let left: u64 =
                choice.rewritten(at).iter().flat_map(|item| &item.parts).map(|part| self.prices.block(part)).sum();
            removed.tokens += costs.alone(at, at + 1).saturating_sub(left);
            if choice.thinking.is_emptied(at) {
                removed.emptied.push(at);
            } else {
                removed.partial.push((at, left));
            }
        }
        removed
    }

    /// Whether the protected recent nodes are all kept unchanged.
    pub(crate) fn minimum_recent_met(&self, choice: &Choice<'a>) -> bool {
        let recent = self.costs().recent(self.settings.minimum_recent_nodes);
        let is_shortened = || choice.shortened.keys().any(|&at| at >= recent);
        !choice.is_cut() || (choice.kept.tail <= recent && !is_shortened())
    }

    pub(crate) fn start_on_unmet(&self, planned: &Planned<'a>) -> Option<Diagnostic> {
        let first = planned.index.messages.get(self.system.messages())?;
        // A compaction may begin a conversation.
        let is_cut = planned.choice.is_cut() && self.compaction.is_none();
        let unmet = is_cut && self.settings.start_on == StartOn::User && first.role != Role::User;
        let message = "no user message fits; the window begins with an assistant message";
        unmet.then(|| Diagnostic::new(DiagnosticCode::StartOnUserUnmet, Severity::Warning, message))
    }

    /// The places after which a provider's cache is likely to hit.
    pub(crate) fn hints(&self, planned: &Planned<'a>, prefix: Option<&Prefix>) -> Hints {
        let truncated = planned.choice.kept.tail > planned.choice.kept.head;
        Hints {
            stable: prefix.map_or(0, |prefix| prefix.messages),
            before_cut: truncated.then(|| self.before_cut(planned)).flatten(),
        }
    }

    /// Messages before the cut that hold nothing from after it, and so stay the same while the cut does.
    fn before_cut(&self, planned: &Planned<'a>) -> Option<usize> {
        let Choice { kept, shortened, .. } = &planned.choice;
        let stable = shortened.keys().next().map_or(kept.head, |&first| first.min(kept.head));
        let last = planned.choice.places_before(stable).checked_sub(1);
        let last = last.filter(|&last| !self.items.is_block(planned.choice.item_at(last)))?;
        let at = planned.index.messages.partition_point(|message| message.end <= last);
        let message = planned.index.messages.get(at)?;
        // A marker is a user message, and merges with one.
        Some(if message.role == Role::User || message.end > last + 1 { at } else { at + 1 })
    }

    /// Hashes the messages; cached hashes are reused. Only the texts of new messages are read.
    pub(crate) fn hash_messages(
        &self,
        planned: &mut Planned<'a>,
        remembered: Option<&RefCell<Option<PreviousDialogue>>>,
    ) {
        let mut previous = remembered.map(RefCell::borrow_mut);
        let system = system_hash(self.system.field());
        let nothing = PreviousMessages::default();
        let known =
            previous.as_ref().and_then(|previous| previous.as_ref()).map_or(&nothing, |previous| &previous.known);
        let runs = known.runs(&planned.index);
        let mut hashes = Vec::with_capacity(planned.index.messages.len());
        for Run { from, count, known: there } in &runs {
            match there {
                Some(there) => {
                    let messages = known.index.messages.iter().skip(*there).take(*count);
                    hashes.extend(messages.map(|message| message.hash));
                }
                None => {
                    hashes.extend((*from..from + count).map(|at| message_hash(&self.content_of(planned, at))));
                }
            }
        }
        let before = Rc::clone(&known.index);
        if let Some(index) = Rc::get_mut(&mut planned.index) {
            index.messages.iter_mut().zip(hashes).for_each(|(message, hash)| message.hash = hash);
        }
        if let Some(previous) = &mut previous {
            let shared = previous.as_ref().and_then(|previous| previous.shared(system, &planned.index));
            planned.shared_tokens = shared.map_or(0, |messages| self.prefix_tokens(planned, messages));
            previous.get_or_insert_default().replace(system, Rc::clone(&planned.index), &runs);
            planned.since = Some((before, runs));
        }
    }

    /// Tokens of the system context and the leading messages.
    pub(crate) fn prefix_tokens(&self, planned: &Planned<'a>, messages: usize) -> u64 {
        let system = if self.system.field().is_some() { self.system.tokens } else { 0 };
        self.leading_tokens(planned, messages).saturating_add(system)
    }

    /// The content of a message with only its first items.
    pub(crate) fn beginning_of(&self, planned: &Planned<'a>, at: usize, items: usize) -> Message<'a> {
        let start = planned.index.range(at).start;
        let places = start..start.saturating_add(items);
        let kept: Vec<Item<'a>> =
            places.clone().filter_map(|place| self.item(&planned.choice, planned.choice.item_at(place))).collect();
        let gap = planned.gap(at).filter(|gap| places.contains(gap)).map(|gap| gap - start);
        let marker = planned.choice.marker.as_deref().filter(|_| gap.is_some());
        let gap = gap.unwrap_or(kept.len());
        let rendered = render(&kept, Kept { head: gap, tail: gap }, marker, false).pop();
        rendered.unwrap_or_else(|| self.content_of(planned, at))
    }

    /// Tokens of the leading messages with their overhead.
    fn leading_tokens(&self, planned: &Planned<'a>, messages: usize) -> u64 {
        if messages == 0 {
            return 0;
        }
        let per_message = self.prices.overhead.per_message;
        // A system context in the messages is part of the fixed cost.
        let system = if self.system.role.is_some() { self.system.tokens + per_message } else { 0 };
        if !planned.choice.is_plain() {
            let overhead = per_message * (messages - self.system.messages()) as u64;
            return system + overhead + self.content_tokens(planned, messages);
        }
        let costs = self.costs();
        let items = planned.index.range(messages - 1).end;
        let Kept { head, tail } = planned.choice.kept;
        let kept = head + (costs.len - tail);
        let marked = planned.marker_at.is_some_and(|at| at < messages);
        let content = if items <= head && !marked {
            costs.run_alone(0, items)
        } else {
            let rest = costs.run_alone(costs.len - (kept - items).min(costs.len), costs.len);
            planned.totals.total().saturating_sub(self.fixed()).saturating_sub(rest)
        };
        content + system
    }
}
