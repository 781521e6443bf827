//! Fits a chat to its limit: repairs, edits, cuts, shortens or summarizes (docs/chats.md).

use std::cell::RefCell;

use super::adjacency::{MovedResult, drop_empty_texts, results_apart};
use super::course::Course;
use super::edits::Editor;
use super::messages::Messages;
use super::options::{Edits, FitOptions, Phase, RequestFields, holds};
use super::pairs::{MessageSlice, add_slices, drop_links, drop_lone_thoughts, repair, thoughts_of_gone_calls, units};
use super::report::{AddedKind, EditEffect};
use super::request_overhead::RequestOverhead;
use super::rules::Rules;
use super::series::{ChatFacts, Series};
use super::state::Previous;
use super::unit_index::UnitIndex;
use crate::assembly::item::Kept;
use crate::assembly::settings::{CHAT_MARKER, CHAT_MARKER_OF_ONE};
use crate::content::Role;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::prompt::Prices;
use crate::text::{split_once, trim};
use crate::tool_calls::ToolPairs;
use crate::vendors::chats::text_of;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Kind, Message, Piece, Reason};

/// The prefix of a summary, by which a later fit recognizes it.
pub(super) const SUMMARY_PREFIX: &str = "[Summary of the conversation so far]\n\n";

/// A fit in progress.
#[derive(Debug)]
pub(super) struct Fit<'r> {
    pub options: &'r FitOptions,
    pub edits: Edits,
    /// The limit of the request, in tokens.
    pub limit: u64,
    pub phase: Phase,
    pub format: Format,
    pub messages: Messages<'r>,
    pub pairs: &'r ToolPairs<'r>,
    pub facts: ChatFacts<'r>,
    /// The last fit of the series.
    pub previous: &'r Previous,
    /// The relation of this fit to it.
    pub series: Option<Series>,
    /// Messages that may be markers or summaries of an earlier fit; `None` if they have to be searched for.
    pub earlier: Option<&'r [usize]>,
    pub prices: Prices<'r>,
    pub request_overhead: RequestOverhead,
    /// The index of an earlier fit with this counter, or an empty one.
    pub layout: &'r RefCell<UnitIndex>,
    /// Whether that index belongs to a prefix of these messages and to these options. It does after the fit.
    pub can_reuse_layout: bool,
    /// The rules of the vendor.
    pub rules: Rules,
    /// The known fields of the request, and the prefix of their paths.
    pub fields: &'r RequestFields,
    pub fields_at: &'static str,
    pub course: Course,
    /// Results that are put directly after their calls, in their order.
    pub moved: Vec<MovedResult>,
    /// The limit of a summary with its prefix, in tokens; set when something is cut.
    pub summary_limit: u64,
    pub diagnostics: Vec<Diagnostic>,
}

/// The cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The slices that are removed completely.
    pub slices: Vec<MessageSlice>,
    /// The marker or summary in the gap.
    pub added: Option<(AddedKind, String)>,
    /// Whether the marker or summary precedes the first turn, regardless of the gap's place.
    pub is_first: bool,
    /// Messages that earlier markers counted, and that earlier fits removed.
    pub omitted: usize,
    /// The number of messages that the marker counts.
    pub counted: usize,
    /// The message after the marker or summary, if an earlier fit placed it.
    pub stands_before: Option<usize>,
    /// The summary of an earlier fit, with which the added message begins.
    pub summary: Option<String>,
    /// Whether it repeats the cut of the last fit.
    pub is_recorded: bool,
}

impl Cut {
    /// The removed slices of a message.
    pub(super) fn slices_of(&self, message: usize) -> &[MessageSlice] {
        let from = self.slices.partition_point(|slice| slice.message < message);
        let to = self.slices.partition_point(|slice| slice.message <= message);
        self.slices.get(from..to).unwrap_or_default()
    }

    /// The first message after a gap.
    pub(super) fn first_gap(&self, lead: usize) -> Option<usize> {
        let first = self.slices.first().map(|slice| slice.message);
        let is_first = self.is_first.then_some(lead);
        first.into_iter().chain(self.stands_before).chain(is_first).min()
    }
}

/// The constraints of a cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutTarget<'m> {
    /// Tokens of the messages that are always kept.
    pub fixed: u64,
    /// Messages that an earlier marker counted.
    pub omitted: usize,
    /// The first message after the earlier gap, which has to be removed.
    pub gap_from: usize,
    pub summarizes: bool,
    pub marker: &'m str,
    /// The summary of an earlier fit, which is kept.
    pub summary: Option<&'m str>,
}

impl CutTarget<'_> {
    /// Whether the gap holds a summary.
    pub(super) fn has_summary(&self) -> bool {
        self.summarizes || self.summary.is_some()
    }
}

/// The kept slices, and whether a marker or a summary fills the gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    pub kept: Kept,
    pub marked: bool,
}

/// A marker or a summary of an earlier fit.
#[derive(Debug)]
pub(super) enum EarlierMark {
    /// A marker for this many messages.
    Marker(usize),
    Summary,
}

impl EarlierMark {
    pub(super) fn of(message: &Message<'_>, truncation_marker: &str) -> Option<Self> {
        let text = Some(message).filter(|message| message.role == Role::User).and_then(text_of)?;
        if text.starts_with(SUMMARY_PREFIX) {
            return Some(Self::Summary);
        }
        let text = trim(text);
        let of = |template: &str| match split_once(template, "{count}") {
            Some((before, after)) => text.strip_prefix(before)?.strip_suffix(after)?.parse().ok(),
            None => (text == template && !text.is_empty()).then_some(1),
        };
        let one = || (text == CHAT_MARKER_OF_ONE).then_some(1);
        let marker = of(trim(truncation_marker));
        Some(Self::Marker(marker.or_else(|| of(CHAT_MARKER)).or_else(one)?))
    }
}

impl<'r> Fit<'r> {
    /// Repairs, edits and cuts the chat once, given the findings of earlier attempts.
    pub(super) fn attempt(&mut self) -> Result<(Cut, Vec<EditEffect>)> {
        // Results of calls that the provider stores have no calls in the messages.
        if self.options.repair && !self.rules.continues {
            repair(self.pairs, &mut self.messages, &mut self.diagnostics);
            self.moved = results_apart(self.pairs, &self.messages, self.format, &mut self.diagnostics);
            drop_empty_texts(&mut self.messages, self.format, &mut self.diagnostics);
            drop_links(&mut self.messages);
            self.remove_empty();
            drop_lone_thoughts(&mut self.messages, self.format, &mut self.diagnostics);
        }
        self.limit_images();
        self.limit_bytes();
        self.strip_changed();
        if let Some(from) = self.course.stripped_from {
            self.strip(from, &Cut::default());
            let needed = self.needed();
            if needed <= self.course.limit.min(self.edit_target()) {
                // An earlier attempt changed something, and this one has to change something for its findings to hold.
                self.course.limit = needed.saturating_sub(1);
                self.course.is_forced = true;
            }
        }
        let compaction = self.compact();
        self.drop_greeting();
        self.strip_changed();
        let mut layout = self.layout.borrow_mut();
        self.can_reuse_layout &= !self.messages.is_changed() && compaction.is_none();
        if !self.can_reuse_layout {
            layout.truncate(0);
        }
        layout.kept = compaction;
        let ran = self.run_with(&mut layout);
        if let Ok((cut, _)) = &ran {
            self.forget_ids(cut);
        }
        if !self.can_reuse_layout || self.messages.is_changed() {
            layout.truncate(0);
        }
        layout.kept = None;
        ran
    }

    fn run_with(&mut self, layout: &mut UnitIndex) -> Result<(Cut, Vec<EditEffect>)> {
        self.course.step_target = None;
        self.pin(layout)?;
        self.end_on(&layout.pinned);
        if let Some(recorded) = self.recorded_cut() {
            return Ok((recorded, Vec::new()));
        }
        let edits = self.edit(&layout.pinned);
        let is_over = self.needed().saturating_add(self.recorded_gap_tokens()) > self.course.limit;
        if let (Phase::Finish(None), true) = (&self.phase, is_over) {
            let message = "the summary is missing; the strategy cut messages instead";
            self.diagnostics.push(Diagnostic::new(DiagnosticCode::SummaryFailed, Severity::Warning, message));
        }
        let cut = if is_over {
            self.cut(layout)?
        } else if let Some(recorded) = self.recorded_gap() {
            recorded
        } else if self.course.first_marker.is_some() {
            let (omitted, _) = self.take_earlier(layout, false);
            Cut { omitted, ..Cut::default() }
        } else {
            Cut::default()
        };
        Ok((cut, edits))
    }

    /// Tokens of the whole request in its current state, including the marker before its first turn.
    pub(super) fn needed(&self) -> u64 {
        self.total().saturating_add(self.course.first_marker.unwrap_or(0))
    }

    /// The target of a cut, in tokens.
    pub(super) fn cut_limit(&self) -> u64 {
        self.course.target.unwrap_or(self.course.limit)
    }

    /// Edits are made above this number of tokens.
    pub(super) fn edit_target(&self) -> u64 {
        let target = if self.makes_steps() { self.step_target() } else { self.edits.trigger.unwrap_or(self.limit) };
        if self.course.is_forced { target.min(self.course.limit) } else { target }
    }

    /// Whether the request is over the limit, or over the trigger of the edits.
    fn is_due(&self) -> bool {
        let needed = self.needed().saturating_add(self.recorded_gap_tokens());
        needed > self.course.limit || self.edits.is_due(needed, self.edits.trigger.unwrap_or(self.limit))
    }

    /// Tokens of the whole request in its current state.
    pub(super) fn total(&self) -> u64 {
        self.request_overhead.tokens().saturating_add(self.messages.tokens())
    }

    /// The number of leading messages that are never cut.
    pub(super) fn lead(&self) -> usize {
        self.messages.iter().take_while(|message| message.role == Role::System).count()
    }

    /// Marks the messages that are always kept.
    fn pin(&self, layout: &mut UnitIndex) -> Result<()> {
        let count = self.messages.len();
        if let Some(at) = self.options.pinned.iter().find(|&&at| at >= count) {
            let message = format!("`options.pinned` names message {at}, and there are {count}");
            return Err(Error::new(Code::InvalidInput, message).with("path", "options.pinned"));
        }
        let first = usize::try_from(self.options.keep_first).unwrap_or(usize::MAX);
        layout.pin(&self.messages, self.lead().saturating_add(first), &self.options.pinned);
        Ok(())
    }

    /// Removes messages in which nothing visible remains.
    fn remove_empty(&mut self) {
        let mut touched = false;
        for at in self.messages.changed() {
            let Some(message) = self.messages.get_mut(at) else { continue };
            if message.removed.is_some() {
                touched = true;
                continue;
            }
            remove_empty_steps(message);
            let reason = message.pieces.iter().find_map(|piece| piece.removed);
            if let Some(reason) = reason
                && message.pieces.iter().filter(|piece| piece.is_there()).all(Piece::is_silent)
            {
                message.removed = Some(reason);
                touched = true;
            }
        }
        match self.format {
            Format::Responses | Format::Agents if touched => self.remove_unfollowed(),
            Format::Interactions if touched => self.remove_thoughts_of_calls(),
            Format::Anthropic if self.messages.is_changed() => self.drop_before_thinking(),
            _ => {}
        }
    }

    /// Anthropic merges adjacent assistant turns, and then thinking would not come first: the rest of a message whose
    /// call was removed is removed as well.
    fn drop_before_thinking(&mut self) {
        let mut thinks = false;
        for at in (0..self.messages.len()).rev() {
            let Some(message) = self.messages.get(at).filter(|message| message.removed.is_none()) else { continue };
            let gone = message.pieces.iter().find_map(|piece| piece.removed);
            if thinks && message.role == Role::Assistant && gone.is_some() {
                self.remove(at, gone);
                continue;
            }
            let first = message.pieces.iter().find(|piece| piece.is_there());
            thinks = message.role == Role::Assistant && first.is_some_and(|piece| piece.kind == Kind::Reasoning);
        }
    }

    /// Removes reasoning that nothing follows anymore, or whose next item was removed: OpenAI rejects it before another.
    fn remove_unfollowed(&mut self) {
        let (mut follows, mut gone, mut is_next_removed) = (None, false, false);
        for at in (0..self.messages.len()).rev() {
            let Some(message) = self.messages.get(at) else { continue };
            let is_thought = message.is_thought();
            if message.removed.is_some() {
                gone = true;
                is_next_removed |= !is_thought;
            } else if is_thought && (is_next_removed || follows.map_or(gone, |role| role != Role::Assistant)) {
                self.remove(at, Some(Reason::NothingLeft));
            } else {
                follows = Some(message.role);
                is_next_removed &= is_thought;
            }
        }
    }

    /// Removes reasoning whose calls were removed. Gemini requires reasoning back that stood alone from the beginning.
    fn remove_thoughts_of_calls(&mut self) {
        for call in self.messages.changed() {
            for thought in thoughts_of_gone_calls(&self.messages, call) {
                self.remove(thought, Some(Reason::NothingLeft));
            }
        }
    }

    pub(super) fn remove(&mut self, at: usize, reason: Option<Reason>) {
        self.messages.get_mut(at).into_iter().for_each(|message| message.removed = reason);
    }

    /// Removes everything after the last unit that ends with one of the roles.
    fn end_on(&mut self, pinned: &[bool]) {
        if self.options.end_on.is_empty() {
            return;
        }
        let mut slices = Vec::new();
        add_slices(&mut slices, &self.messages, 0);
        let units = units(&self.messages, &slices, 0, &self.pairs.answered, self.format);
        let role = |end: &usize| {
            slices
                .get(end.saturating_sub(1))
                .and_then(|slice| self.messages.get(slice.message))
                .map(|message| message.role)
        };
        let end = units.iter().skip(1).rfind(|end| role(end).is_some_and(|role| holds(&self.options.end_on, role)));
        match end {
            Some(&end) => {
                for unit in units.windows(2).filter(|unit| unit.first().is_some_and(|&start| start >= end)) {
                    let unit = slices.get(unit.first().copied().unwrap_or(0)..unit.last().copied().unwrap_or(0));
                    let unit = unit.unwrap_or_default();
                    if unit.iter().any(|slice| pinned.get(slice.message) == Some(&true)) {
                        continue;
                    }
                    for slice in unit {
                        self.remove(slice.message, Some(Reason::EndOn));
                    }
                }
            }
            None => self.role_not_found("endOn"),
        }
    }

    pub(super) fn role_not_found(&mut self, option: &str) {
        let message = format!("no message has a role that `{option}` names; it was ignored");
        self.diagnostics.push(
            Diagnostic::new(DiagnosticCode::RoleNotFound, Severity::Warning, message)
                .at_path(format!("options.{option}")),
        );
    }

    fn edit(&mut self, pinned: &[bool]) -> Vec<EditEffect> {
        if self.makes_steps() && !self.is_due() {
            return Vec::new();
        }
        self.round_step(self.needed());
        // The edits of a step are only made if they free at least this much together.
        let before = (self.makes_steps() && self.edits.min_tokens_freed > 0).then(|| self.messages.clone());
        let (pairs, total, target, format, prices) =
            (&self.pairs.answered, self.needed(), self.edit_target(), self.format, self.prices);
        let binds_thinking = self.rules.preserves_thinking;
        let is_models = |message: &Message<'_>| message.role == Role::Assistant && message.removed.is_none();
        let read_to = self.messages.iter().rposition(is_models).unwrap_or(0);
        let edits_calls = self.edits.tool_inputs.is_some() || self.edits.tool_calls.is_some();
        let plan = if edits_calls { self.latest_plan() } else { None };
        let messages = &mut self.messages;
        let said = (0, None);
        let last_cleared = None;
        let mut editor = Editor {
            messages,
            pairs,
            pinned,
            format,
            prices,
            binds_thinking,
            total,
            target,
            read_to,
            plan,
            said,
            last_cleared,
            is_step: self.series.is_some() || self.options.cut_to.is_some(),
        };
        let mut edits = editor.make(&self.edits);
        let (left, last_cleared) = (target.saturating_sub(editor.total), editor.last_cleared.take());
        if let Some(before) = before
            && total.saturating_sub(editor.total) < self.edits.min_tokens_freed
            && !self.edits.always
        {
            self.messages = before;
            return Vec::new();
        }
        if let (Some((at, piece)), Some(effect)) = (last_cleared, edits.last_mut()) {
            let put_back = self.shorten_cleared(at, piece, left);
            effect.tokens = effect.tokens.saturating_sub(put_back);
        }
        if !edits.is_empty() {
            drop_links(&mut self.messages);
            self.remove_empty();
            self.strip_changed();
        }
        edits
    }

    /// Removes the ids of items whose reasoning is gone: OpenAI looks them up by their ids, and rejects them without it.
    fn forget_ids(&mut self, cut: &Cut) {
        if !matches!(self.format, Format::Responses | Format::Agents) {
            return;
        }
        let is_gone = |at: usize, item: &Message<'_>| item.removed.is_some() || !cut.slices_of(at).is_empty();
        let (mut orphans, mut follows_gone) = (Vec::new(), false);
        for (at, item) in self.messages.iter().enumerate() {
            if item.role != Role::Assistant || self.is_compaction(at) {
                follows_gone = false;
            } else if item.is_thought() {
                follows_gone = is_gone(at, item);
            } else if follows_gone && item.has_id && !is_gone(at, item) {
                orphans.push(at);
            }
        }
        for at in orphans {
            let pieces = self.messages.get_mut(at).map(|item| item.pieces.iter_mut());
            pieces.and_then(|mut pieces| pieces.find(|piece| piece.is_there())).into_iter().for_each(Piece::remove_id);
        }
    }

    /// The markers and summaries of an earlier fit in the chat.
    fn earlier(&self) -> Vec<(usize, EarlierMark)> {
        let found = |index: usize| {
            let message = self.messages.get(index).filter(|message| message.removed.is_none())?;
            Some((index, EarlierMark::of(message, &self.options.truncation_marker)?))
        };
        match self.earlier {
            Some(known) => known.iter().copied().filter_map(found).collect(),
            None => (0..self.messages.len()).filter_map(found).collect(),
        }
    }

    /// Removes the markers and summaries of an earlier fit that this one replaces. Returns the number of messages they
    /// counted, and the first of them.
    pub(super) fn take_earlier(&mut self, layout: &mut UnitIndex, summarizes: bool) -> (usize, usize) {
        let (mut omitted, mut gap_from) = (0, usize::MAX);
        let earlier = self.earlier();
        self.can_reuse_layout &= earlier.is_empty();
        if let Some(gap) = self.series.as_ref().and_then(Series::gap) {
            (omitted, gap_from) = (gap.omitted, gap.before);
        }
        for (index, earlier) in earlier {
            match earlier {
                EarlierMark::Summary if !summarizes => {
                    layout.pinned.get_mut(index).into_iter().for_each(|pinned| *pinned = true);
                }
                earlier => {
                    gap_from = gap_from.min(index);
                    omitted += if let EarlierMark::Marker(count) = earlier { count } else { 0 };
                    self.remove(index, Some(Reason::Replaced));
                }
            }
        }
        (omitted, gap_from)
    }
}

/// Removes steps of a run in one message in which nothing visible remains.
fn remove_empty_steps(message: &mut Message<'_>) {
    if message.steps < 2 {
        return;
    }
    for step in message.pieces.chunk_by_mut(|a, b| a.step == b.step) {
        let reason = step.iter().find_map(|piece| piece.removed);
        let (Some(reason), true) = (reason, step.iter().filter(|piece| piece.is_there()).all(Piece::is_silent)) else {
            continue;
        };
        if step.iter().any(Piece::is_there) {
            step.iter_mut().for_each(|piece| {
                piece.remove(reason);
            });
            message.steps = message.steps.saturating_sub(1).max(1);
        }
    }
}
