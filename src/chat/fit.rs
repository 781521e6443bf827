//! A chat under its limit: what is repaired, edited, cut, shortened or summarized (SPEC §8).

use std::cell::RefCell;

use super::course::Course;
use super::edits::Editor;
use super::messages::Messages;
use super::options::{FitOptions, Phase, holds};
use super::pairs::{MessageSlice, add_slices, drop_links, repair, units};
use super::report::{AddedKind, EditEffect};
use super::request_overhead::RequestOverhead;
use super::rules::Rules;
use super::unit_index::{CuttableUnits, UnitIndex, alone};
use crate::vendors::chats::text_of;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{At, Change, Kind, Message, PER_MESSAGE, PER_REQUEST, Piece, Reason, Step};
use serde_json::Value as Json;

use crate::assembly::budget;
use crate::assembly::costs::{Costs, Gap};
use crate::assembly::item::Kept;
use crate::assembly::settings::{CHAT_MARKER, CHAT_MARKER_OF_ONE, StartOn, Strategy, TEXT_MARKER};
use crate::assembly::shorten::{RemovedEnd, inline_marker, shortened};
use crate::assembly::strategies::OverLimit;
use crate::content::Role;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::object;
use crate::prompt::Prices;
use crate::sorting;
use crate::text::{Clusters, split_once, trim};
use crate::tokens::search;
use crate::tool_calls::ToolPairs;

const PINNED_TOO_LONG: &str = "not even what is pinned fits; pin less, or use a larger limit";

/// The prefix of a summary, by which a later fit recognises it.
pub(super) const SUMMARY_PREFIX: &str = "[Summary of the conversation so far]\n\n";

/// A chat that is being fitted.
#[derive(Debug)]
pub(super) struct Fit<'r> {
    pub options: &'r FitOptions,
    /// Tokens that the request may have.
    pub limit: u64,
    pub phase: Phase,
    pub format: Format,
    pub messages: Messages<'r>,
    pub pairs: &'r ToolPairs<'r>,
    /// Which messages may be markers or summaries of an earlier fit; `None` if they have to be searched for.
    pub earlier: Option<&'r [usize]>,
    pub prices: Prices<'r>,
    pub beside: RequestOverhead,
    /// Of an earlier fit with this counter, or empty.
    pub layout: &'r RefCell<UnitIndex>,
    /// Whether that is of these messages, as far as it goes, and of these options. Then so it is afterwards.
    pub can_reuse_layout: bool,
    /// The rules of the vendor.
    pub rules: Rules,
    /// The field `thinking` of the request, as far as it is known.
    pub thinking: Option<Json>,
    pub course: Course,
    /// Tokens that a summary may have, its prefix included; found when something is cut.
    pub summary_room: u64,
    pub found: Vec<Diagnostic>,
}

/// The cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The atoms of which nothing is left.
    pub slices: Vec<MessageSlice>,
    /// The marker or summary in the gap.
    pub added: Option<(AddedKind, String)>,
    /// Whether that stands before the first turn, wherever the gap is.
    pub is_first: bool,
    /// Messages that an earlier marker stood for.
    pub omitted: usize,
}

/// The constraints of a cut.
#[derive(Clone, Copy, Debug)]
struct CutTarget<'m> {
    /// Tokens of what stays in any case.
    fixed: u64,
    /// Messages that an earlier marker stood for.
    omitted: usize,
    /// The first message that an earlier fit left, which goes.
    gap_from: usize,
    summarizes: bool,
    marker: &'m str,
}

/// A marker or a summary that an earlier fit left in the chat.
#[derive(Debug)]
pub(super) enum EarlierMark {
    /// For so many messages.
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

impl Fit<'_> {
    /// Repairs, edits and cuts the chat once, by what earlier attempts found.
    pub(super) fn attempt(&mut self) -> Result<(Cut, Vec<EditEffect>)> {
        if self.options.repair {
            repair(self.pairs, &mut self.messages, &mut self.found);
            drop_links(&mut self.messages);
            self.remove_empty();
        }
        self.strip_changed();
        if let Some(from) = self.course.stripped_from {
            self.strip(from, &Cut::default());
            let needed = self.needed();
            if needed <= self.course.limit.min(self.edit_target()) {
                // Something changed before, and has to change for this to be right.
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
        if !self.can_reuse_layout || self.messages.is_changed() {
            layout.truncate(0);
        }
        layout.kept = None;
        ran
    }

    fn run_with(&mut self, layout: &mut UnitIndex) -> Result<(Cut, Vec<EditEffect>)> {
        self.pin(layout)?;
        self.end_on(&layout.pinned);
        let edits = self.edit(&layout.pinned);
        let is_over = self.needed() > self.course.limit;
        if let (Phase::Finish(None), true) = (&self.phase, is_over) {
            let message = "there is no summary; what is over the limit was cut";
            self.found.push(Diagnostic::new(DiagnosticCode::SummaryFailed, Severity::Warning, message));
        }
        let cut = if is_over {
            self.cut(layout)?
        } else if self.course.first_marker.is_some() {
            let (omitted, _) = self.take_earlier(layout, false);
            Cut { omitted, ..Cut::default() }
        } else {
            Cut::default()
        };
        Ok((cut, edits))
    }

    /// Tokens of the whole request as it is now, with the marker before its first turn.
    pub(super) fn needed(&self) -> u64 {
        self.total().saturating_add(self.course.first_marker.unwrap_or(0))
    }

    /// Tokens above which edits are made.
    pub(super) fn edit_target(&self) -> u64 {
        let target = self.options.edits.trigger.unwrap_or(self.limit);
        if self.course.is_forced { target.min(self.course.limit) } else { target }
    }

    /// Tokens of the whole request as it is now.
    pub(super) fn total(&self) -> u64 {
        self.beside.tokens().saturating_add(self.messages.tokens())
    }

    /// How many messages stand first that are never cut.
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

    /// Takes out messages of which nothing is left that says anything.
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
            Format::Anthropic if self.messages.is_changed() => self.drop_before_thinking(),
            _ => {}
        }
    }

    /// Anthropic merges turns of the assistant that are neighbours, and then a thought would not come first: what is left of a
    /// message whose call is gone goes too.
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

    /// Takes out reasoning that nothing follows from any more.
    fn remove_unfollowed(&mut self) {
        let (mut follows, mut gone) = (None, false);
        for at in (0..self.messages.len()).rev() {
            let Some(message) = self.messages.get(at) else { continue };
            if message.removed.is_some() {
                gone = true;
            } else if message.is_thought() && follows.map_or(gone, |role| role != Role::Assistant) {
                self.remove(at, Some(Reason::NothingLeft));
            } else {
                follows = Some(message.role);
            }
        }
    }

    pub(super) fn remove(&mut self, at: usize, reason: Option<Reason>) {
        self.messages.get_mut(at).into_iter().for_each(|message| message.removed = reason);
    }

    /// Takes out what stands behind the last unit that ends with one of the roles.
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

    fn role_not_found(&mut self, option: &str) {
        let message = format!("no message has a role that `{option}` names; it was not followed");
        self.found.push(
            Diagnostic::new(DiagnosticCode::RoleNotFound, Severity::Warning, message)
                .at_path(format!("options.{option}")),
        );
    }

    fn edit(&mut self, pinned: &[bool]) -> Vec<EditEffect> {
        let (pairs, total, target, format, prices) =
            (&self.pairs.answered, self.needed(), self.edit_target(), self.format, self.prices);
        let binds_thinking = self.rules.preserves_thinking;
        let is_models = |message: &Message<'_>| message.role == Role::Assistant && message.removed.is_none();
        let read_to = self.messages.iter().rposition(is_models).unwrap_or(0);
        let messages = &mut self.messages;
        let said = (0, None);
        let mut editor =
            Editor { messages, pairs, pinned, format, prices, binds_thinking, total, target, read_to, said };
        let edits = editor.make(&self.options.edits);
        if !edits.is_empty() {
            drop_links(&mut self.messages);
            self.remove_empty();
            self.forget_ids();
            self.strip_changed();
        }
        edits
    }

    /// Items that follow from reasoning are found by their ids at OpenAI, and are refused without it.
    fn forget_ids(&mut self) {
        if self.format != Format::Responses {
            return;
        }
        let mut thought = false;
        for at in 0..self.messages.len() {
            let Some(message) = self.messages.get(at) else { continue };
            if message.is_thought() {
                thought = message.removed.is_some();
            } else if message.role == Role::Assistant {
                if thought && message.has_id {
                    let message = self.messages.get_mut(at);
                    if let Some(piece) =
                        message.and_then(|message| message.pieces.iter_mut().find(|piece| piece.is_there()))
                    {
                        piece.changes.push(Change::Remove([vec![Step::Key("id")]]));
                        piece.changed = Some(Reason::ReasoningRemoved);
                    }
                }
            } else {
                thought = false;
            }
        }
    }

    /// Markers and summaries that an earlier fit left in the chat.
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

    /// Takes out the markers, and the summaries, that an earlier fit left and that this one replaces. Gives how many messages they stood
    /// for, and the first of them.
    fn take_earlier(&mut self, layout: &mut UnitIndex, summarizes: bool) -> (usize, usize) {
        let (mut omitted, mut gap_from) = (0, usize::MAX);
        let earlier = self.earlier();
        self.can_reuse_layout &= earlier.is_empty();
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

    /// Cuts what is over the limit.
    fn cut(&mut self, layout: &mut UnitIndex) -> Result<Cut> {
        let summarizes = matches!(self.phase, Phase::Plan | Phase::Finish(Some(_)));
        let (omitted, mut gap_from) = self.take_earlier(layout, summarizes);
        let omitted = omitted.saturating_add(self.course.also_removed);
        if let Some((from, _)) = self.course.stripped_from {
            gap_from = gap_from.min(from);
        }
        if !self.can_reuse_layout || self.messages.is_changed() {
            layout.forget_units();
        }
        let start_on = &self.options.start_on;
        let may_begin = |message: &Message<'_>| holds(start_on, message.role);
        layout.extend(&self.messages, self.pairs, self.format, may_begin, self.prices);
        let first_marker = self.course.first_marker.filter(|_| !summarizes);
        let fixed = self.beside.tokens().saturating_add(layout.fixed).saturating_add(first_marker.unwrap_or(0));
        self.check_fixed(fixed)?;
        if summarizes {
            self.reserve_summary(fixed);
        }
        // One marker is enough.
        let marker = if first_marker.is_some() { "" } else { &self.options.truncation_marker };
        let cut = self.cut_free(layout, &CutTarget { fixed, omitted, gap_from, summarizes, marker })?;
        Ok(Cut { omitted, ..cut })
    }

    /// Fails where what is never cut is over the limit by itself.
    fn check_fixed(&self, fixed: u64) -> Result<()> {
        let limit = self.course.limit;
        let lead =
            self.messages.iter().take(self.lead()).map(Message::now).fold(self.beside.tokens(), u64::saturating_add);
        if lead > limit && lead > PER_REQUEST {
            budget::check_system("the system context", lead, limit)?;
        }
        if fixed > limit {
            let is_empty = fixed == PER_REQUEST;
            return Err(self.too_long(if is_empty { "use a larger limit" } else { PINNED_TOO_LONG }));
        }
        Ok(())
    }

    fn too_long(&self, advice: &str) -> Error {
        let (required, limit) = (self.total(), self.limit);
        let message = format!("the chat takes {required} tokens, and the limit is {limit}; {advice}");
        let row = |(index, message): (usize, &Message<'_>)| {
            object([("index", index.into()), ("tokens", message.now().into())])
        };
        let rows = self.messages.iter().enumerate().map(row);
        budget::over(Code::ContextTooLong, message, limit, required).with("messages", rows.collect::<Vec<_>>())
    }

    fn role_of(&self, slice: &MessageSlice) -> Option<Role> {
        self.messages.get(slice.message).map(|message| message.role)
    }

    fn cut_free(&mut self, layout: &UnitIndex, aim: &CutTarget<'_>) -> Result<Cut> {
        let &CutTarget { fixed, omitted, gap_from, summarizes, marker } = aim;
        let UnitIndex { free, sums, .. } = layout;
        let FitOptions { truncation_strategy: strategy, keep_last, cut_step, start_on, .. } = self.options;
        let start_on = if start_on.is_empty() { StartOn::Any } else { StartOn::User };
        let limit = &self.course.limit.clone();
        if *strategy == Strategy::StopAtLimit {
            return Err(self.too_long("remove messages, or use a model with a larger context window"));
        }
        if free.slices.is_empty() {
            return Err(self.too_long(PINNED_TOO_LONG));
        }
        let of_message = self.message_overhead();
        let reserved = summarizes.then(|| self.summary_room.saturating_add(of_message));
        let gap = Gap { reserved, overhead: of_message, omitted };
        let costs = Costs::new(free, sums, alone(self.prices), marker, fixed).with_gap(gap);
        // The gap begins where the earlier one did, so that what is summarised stays in order, after a turn of the user.
        let is_before = |start: &usize| free.slices.get(*start).is_some_and(|slice| slice.message < gap_from);
        let most_head = free.starts.partition_point(is_before);
        let over = |limit| OverLimit {
            costs: &costs,
            units: &free.starts,
            limit,
            recent: *keep_last,
            cut_step: *cut_step,
            start_on,
            marked: true,
            most_head,
        };
        let most = costs.marker_tokens(free.slices.len());
        let is_middle = *strategy == Strategy::TruncateMiddle;
        let with_gap = |kept: Option<Kept>| kept.map(|kept| (kept, true));
        let less = limit.saturating_sub(most);
        let mut chosen = match strategy {
            Strategy::TruncateMiddle if summarizes || self.merges() => with_gap(over(*limit).middle()),
            Strategy::TruncateMiddle => over(*limit).middle_or_unmarked(),
            Strategy::KeepStart => over(if summarizes { less } else { *limit }).start().map(|kept| (kept, summarizes)),
            _ => over(if summarizes { less } else { *limit }).rolling().map(|kept| (kept, summarizes)),
        };
        let has_marker = summarizes || costs.marker(1).is_some();
        let has_gaps = self.merges() && (self.options.keep_first > 0 || !self.options.pinned.is_empty());
        let wants_user = |&(kept, marked): &(Kept, bool)| {
            let marked = marked && has_marker;
            if has_gaps { self.breaks_turns(free, kept, marked) } else { !marked && self.wants_user(free, kept) }
        };
        if chosen.as_ref().is_some_and(|chosen| has_marker && !chosen.1 && wants_user(chosen)) {
            // The marker is a user's turn.
            chosen = with_gap(if is_middle { over(*limit).middle() } else { over(less).rolling() });
        }
        if let Some((kept, marked)) = chosen.filter(wants_user) {
            // Where it is not enough, the window begins with the next turn that is a user's.
            let is_user = |&start: &usize| {
                start > kept.tail && free.slices.get(start).is_some_and(|slice| self.role_of(slice) == Some(Role::User))
            };
            let turns = free.starts.iter().copied().filter(is_user).take(MAX_WINDOW_TRIES);
            let mut windows = turns.map(|tail| (Kept { tail, ..kept }, marked));
            chosen = match windows.find(|window| !wants_user(window)) {
                None if !has_marker && self.course.first_marker.is_none() => return self.cut_with_marker(layout, aim),
                found => found.or(chosen),
            };
        }
        let ends = &self.options.end_on;
        if let (Strategy::KeepStart, Some((kept, false)), false) = (strategy, &mut chosen, ends.is_empty()) {
            let is_end = |&&start: &&usize| {
                let last = start.checked_sub(1).and_then(|last| free.slices.get(last));
                start <= kept.head && last.and_then(|slice| self.role_of(slice)).is_some_and(|role| holds(ends, role))
            };
            match free.starts.iter().rfind(is_end) {
                Some(&head) => kept.head = head,
                None => self.role_not_found("endOn"),
            }
        }
        let unit = match chosen {
            Some((kept, marked)) => {
                if *strategy == Strategy::RollingWindow
                    && !self.options.start_on.is_empty()
                    && !free.begins.get(kept.tail).copied().unwrap_or(false)
                {
                    self.role_not_found("startOn");
                }
                let marker = if marked { self.gap_text(&costs, kept.tail - kept.head) } else { None };
                let slices = free.slices.get(kept.head..kept.tail).unwrap_or_default().to_vec();
                return Ok(Cut { slices, added: marker, ..Cut::default() });
            }
            // Not even one unit fits whole.
            None if *strategy == Strategy::KeepStart => 0..free.starts.get(1).copied().unwrap_or(0),
            None => free.starts.iter().rev().nth(1).copied().unwrap_or(0)..free.slices.len(),
        };
        let others = free.slices.len() - unit.len();
        let wants_user = self.wants_user(free, Kept { head: 0, tail: unit.start });
        let wants_gap = (is_middle || summarizes || wants_user) && others > 0 && *strategy != Strategy::KeepStart;
        if wants_user && !has_marker && others > 0 && self.course.first_marker.is_none() {
            return self.cut_with_marker(layout, aim);
        }
        let inside = match costs.marker(others) {
            Some(text) if marker != CHAT_MARKER => inline_marker(&text),
            _ => TEXT_MARKER.to_owned(),
        };
        let end = if is_middle || *strategy == Strategy::KeepStart { RemovedEnd::Middle } else { RemovedEnd::Head };
        let added = wants_gap.then(|| self.gap_text(&costs, others)).flatten();
        let gap = if added.is_some() { costs.marker_tokens(others) } else { 0 };
        let unit_costs: u64 = free.costs.get(unit.clone()).unwrap_or_default().iter().sum();
        let room = limit.saturating_sub(fixed);
        let slices: Vec<MessageSlice> = free.slices.get(unit.clone()).unwrap_or_default().to_vec();
        let fits = |this: &mut Self, room: Option<u64>| {
            room.is_some_and(|room| this.shorten(&slices, unit_costs, room, end, &inside))
        };
        let is_with_gap = fits(self, room.checked_sub(gap));
        // A marker is not worth an error; a summary was asked for, and a user's turn has to be first.
        if !is_with_gap && (gap == 0 || summarizes || wants_user || !fits(self, Some(room))) {
            return Err(self.too_long("not even one message fits when it is shortened; use a larger limit"));
        }
        let is_cut = |at: &usize| !unit.contains(at);
        let cut = (0..free.slices.len()).filter(is_cut).filter_map(|at| free.slices.get(at).copied()).collect();
        Ok(Cut { slices: cut, added: added.filter(|_| is_with_gap), ..Cut::default() })
    }

    /// Whether a cut without a marker would make a turn of the assistant the neighbour of another.
    fn wants_user(&self, free: &CuttableUnits, cut: Kept) -> bool {
        let cut = free.slices.get(cut.head..cut.tail).unwrap_or_default();
        let Some(first) = cut.first().filter(|_| self.merges()) else { return false };
        let stays = |message: &&Message<'_>| message.removed.is_none() && message.role != Role::System;
        let is_assistant = |message: &Message<'_>| message.role == Role::Assistant;
        let before = self.messages.iter().take(first.message).rfind(stays);
        let mut cut = cut.iter().map(|slice| slice.message).peekable();
        let mut is_cut = |index: usize| {
            while cut.next_if(|&message| message < index).is_some() {}
            cut.peek() == Some(&index)
        };
        let after = self.messages.range(first.message + 1, self.messages.len());
        let after = after.zip(first.message + 1..).filter(|&(_, index)| !is_cut(index));
        let after = after.map(|(message, _)| message).find(stays);
        after.is_some_and(is_assistant) && before.is_some_and(is_assistant)
    }

    /// The same, where messages that stay part what is cut into several gaps, of which the first may have a marker.
    fn breaks_turns(&self, free: &CuttableUnits, cut: Kept, mut marked: bool) -> bool {
        let cut = free.slices.get(cut.head..cut.tail).unwrap_or_default();
        let mut cut = cut.iter().map(|slice| slice.message).peekable();
        let (mut before, mut is_gap) = (None, false);
        for (index, message) in self.messages.iter().enumerate() {
            while cut.next_if(|&message| message < index).is_some() {}
            if cut.peek() == Some(&index) {
                is_gap = true;
            } else if message.removed.is_none() && message.role != Role::System {
                let is_parted = is_gap && !std::mem::take(&mut marked);
                if is_parted && message.role == Role::Assistant && before == Some(Role::Assistant) {
                    return true;
                }
                (before, is_gap) = (Some(message.role), false);
            }
        }
        false
    }

    /// Whether the vendor merges neighbours of one role: then a cut keeps its marker, which is a user's turn.
    fn merges(&self) -> bool {
        matches!(self.format, Format::Anthropic | Format::Gemini)
    }

    /// The cut with a marker where there is to be none, but two turns of the model's would be merged.
    fn cut_with_marker(&mut self, layout: &UnitIndex, aim: &CutTarget<'_>) -> Result<Cut> {
        let message = "`truncationMarker` is empty, and no turn of the user's parts those of the model's; the default marker stands there";
        let found = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
        self.found.push(found.at_path("options.truncationMarker"));
        self.cut_free(layout, &CutTarget { marker: CHAT_MARKER, ..*aim })
    }

    /// Tokens of being a user's message.
    pub(super) fn message_overhead(&self) -> u64 {
        PER_MESSAGE + self.prices.text("user")
    }

    /// The marker, or the summary.
    fn gap_text(&self, costs: &Costs<'_>, count: usize) -> Option<(AddedKind, String)> {
        match &self.phase {
            Phase::Finish(Some(summary)) => Some((AddedKind::Summary, self.summary(summary))),
            Phase::Plan => Some((AddedKind::Summary, SUMMARY_PREFIX.to_owned())),
            Phase::Fit | Phase::Finish(None) => Some((AddedKind::Marker, costs.marker(count)?)),
        }
    }

    /// Keeps tokens for a summary: what is asked for, but at least a sentence, and at most half of what is left beside what stays in
    /// any case.
    fn reserve_summary(&mut self, fixed: u64) {
        let wanted = self.options.summary_tokens.unwrap_or(self.limit / 4);
        let least = self.prices.text(&cut_summary(""));
        let half = self.course.limit.saturating_sub(fixed) / 2;
        let room = wanted.max(least.saturating_add(MIN_SUMMARY_TOKENS)).min(half).max(least);
        if room != wanted && self.options.summary_tokens.is_some() {
            let message = format!(
                "`summary.maxTokens` is {wanted}; the summary may have {room} tokens, of which {least} say that it is one"
            );
            let found = Diagnostic::new(DiagnosticCode::InvalidValue, Severity::Warning, message);
            self.found.push(found.at_path("options.summary.maxTokens"));
        }
        self.summary_room = room;
    }

    /// A summary with its prefix, within its tokens.
    fn summary(&self, summary: &str) -> String {
        let (text, most) = (trim(summary), self.summary_room);
        let whole = [SUMMARY_PREFIX, text].concat();
        if self.prices.text(&whole) <= most {
            return whole;
        }
        let clusters = Clusters::new(text);
        let cut = |keep: usize| cut_summary(text.get(..clusters.head_end(keep)).unwrap_or_default());
        let guess = usize::try_from(most.saturating_mul(4)).unwrap_or(usize::MAX);
        let keep = search::largest(0, text.len(), guess, most, |keep| self.prices.text(&cut(keep)));
        cut(keep.unwrap_or(0))
    }

    /// Cuts the largest texts of a unit until it fits. False where it does not, and then nothing is changed.
    fn shorten(&mut self, slices: &[MessageSlice], cost: u64, room: u64, end: RemovedEnd, marker: &str) -> bool {
        let mut slots: Vec<(usize, At, usize)> = Vec::new();
        for slice in slices {
            let Some(message) = self.messages.get(slice.message) else { continue };
            for (place, piece) in
                message.pieces.iter().enumerate().take(slice.to).skip(slice.from).filter(|(_, piece)| piece.is_there())
            {
                let texts = piece.texts.iter().enumerate().filter(|(_, text)| !text.text.is_empty());
                slots.extend(texts.map(|(at, text)| (text.text.len(), (slice.message, place), at)));
            }
        }
        // Largest first; of equals the earliest.
        sorting::sort_by_key(&mut slots, |&(len, at, text)| (std::cmp::Reverse(len), at, text));
        let mut cost = cost;
        let mut cuts: Vec<(At, usize, String, u64)> = Vec::new();
        for (_, at, number) in slots {
            if cost <= room {
                break;
            }
            let text = self
                .messages
                .get(at.0)
                .and_then(|message| message.pieces.get(at.1))
                .and_then(|piece| piece.texts.get(number));
            let Some(text) = text else { continue };
            let rest = cost.saturating_sub(text.tokens);
            let clusters = Clusters::new(&text.text);
            let cut = |keep: usize| shortened(end, marker, &text.text, &clusters, keep);
            let budget = room.saturating_sub(rest);
            let guess = usize::try_from(budget.saturating_mul(4)).unwrap_or(usize::MAX);
            let keep =
                search::largest(1, text.text.len(), guess, budget, |keep| self.prices.text(&cut(keep))).unwrap_or(1);
            let cut = cut(keep);
            let tokens = self.prices.text(&cut);
            if tokens < text.tokens {
                cost = rest.saturating_add(tokens);
                cuts.push((at, number, cut, tokens));
            }
        }
        if cost > room {
            return false;
        }
        for (at, number, text, tokens) in cuts {
            if let Some(piece) = self.messages.piece_mut(at) {
                piece.shorten(number, text, tokens, Reason::Shortened);
            }
        }
        true
    }
}

/// Takes out the steps of a run that is one message of which nothing is left that says anything.
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

/// How many turns of the user are tried as the beginning of a window.
const MAX_WINDOW_TRIES: usize = 8;

/// Tokens that a summary has at least for itself.
const MIN_SUMMARY_TOKENS: u64 = 16;

/// A summary of which the end is cut.
fn cut_summary(beginning: &str) -> String {
    [SUMMARY_PREFIX, trim(beginning), " […]"].concat()
}
