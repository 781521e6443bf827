//! Cutting a chat: which units are removed, and which are shortened (docs/chats.md).

use super::fit::{Cut, CutTarget, Fit, Selection};
use super::gap::with_marker;
use super::options::{FitOptions, Phase, holds};
use super::pairs::MessageSlice;
use super::protection::Protection;
use super::series::Series;
use super::shortening::Shortening;
use super::unit_index::{CuttableUnits, UnitIndex, alone};
use crate::assembly::budget;
use crate::assembly::costs::{Costs, Gap, Sums, marker_text};
use crate::assembly::item::Kept;
use crate::assembly::protection::{MIN_FILLED_TOKENS, MIN_PROTECTED_TOKENS, ProtectedUnit, Rank, allowances, grow};
use crate::assembly::settings::{CHAT_MARKER, Fill, StartOn, Strategy, TEXT_MARKER};
use crate::assembly::shorten::{RemovedEnd, inline_marker};
use crate::assembly::strategies::OverLimit;
use crate::content::Role;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::object;
use crate::sorting;
use crate::vendors::pieces::message::{Message, PER_REQUEST, Reason};

const PINNED_TOO_LONG: &str = "the pinned messages alone do not fit; pin fewer or raise the limit";

/// The outcome of a strategy.
#[derive(Debug)]
enum Choice {
    Selected(Selection),
    /// Two turns of the model would be adjacent without a marker.
    NeedsMarker,
    /// Not even one unit fits.
    Nothing,
}

impl Fit<'_> {
    /// Cuts a chat that is over the limit.
    pub(super) fn cut(&mut self, layout: &mut UnitIndex) -> Result<Cut> {
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
        let gap = self.series.as_ref().and_then(Series::gap).cloned();
        let summary = gap.as_ref().and_then(|gap| gap.summary.as_deref()).filter(|_| !summarizes);
        let first_marker = self.course.first_marker.filter(|_| !summarizes && summary.is_none());
        let fixed =
            self.request_overhead.tokens().saturating_add(layout.fixed).saturating_add(first_marker.unwrap_or(0));
        self.check_fixed(fixed)?;
        if summarizes {
            self.reserve_summary(fixed);
        }
        // A single marker is enough.
        let marker = if first_marker.is_some() { "" } else { &self.options.truncation_marker };
        let cut = self.cut_free(layout, &CutTarget { fixed, omitted, gap_from, summarizes, marker, summary })?;
        let first = cut.slices.first().map_or(usize::MAX, |slice| slice.message);
        let stands_before = gap.as_ref().map(|gap| gap.before).filter(|before| *before <= first);
        Ok(Cut { omitted, stands_before, summary: summary.map(str::to_owned), ..cut })
    }

    /// The limit of a step: its target, or the cost of the tail and the protected messages, to which only the full
    /// limit applies.
    fn step_limit(&self, layout: &UnitIndex, target: &CutTarget<'_>) -> u64 {
        let UnitIndex { free, sums, .. } = layout;
        let costs = self.costs((free, sums), target, 0);
        let last = free.starts.iter().rev().nth(1).copied().unwrap_or(0);
        let recent = match self.options.truncation_strategy {
            Strategy::TruncateMiddle => costs.recent(self.options.keep_last),
            Strategy::KeepStart => costs.len,
            Strategy::RollingWindow | Strategy::StopAtLimit => last,
        };
        let tail = free.unit_of(recent).map_or(recent, |unit| unit.start);
        let protected = self.protected_units(layout);
        let protected = protected.iter().filter(|unit| unit.range.end <= tail).map(|unit| unit.cost);
        let kept = protected.fold(costs.run_alone(tail, costs.len), u64::saturating_add);
        let least = costs.fixed.saturating_add(costs.marker_tokens(costs.len)).saturating_add(kept);
        self.step_target().max(least).min(self.course.limit)
    }

    /// Fails if the messages that are always kept exceed the limit.
    fn check_fixed(&self, fixed: u64) -> Result<()> {
        let limit = self.course.limit;
        let lead = self
            .messages
            .iter()
            .take(self.lead())
            .map(Message::now)
            .fold(self.request_overhead.tokens(), u64::saturating_add);
        if lead > limit && lead > PER_REQUEST {
            let tools = self.request_overhead.tools;
            let part = match (tools, tools.saturating_add(PER_REQUEST) == lead) {
                (0, _) => "the system context costs",
                (_, true) => "the tool definitions cost",
                (_, false) => "the system context and the tool definitions cost",
            };
            budget::check_lead(part, lead, limit)?;
        }
        if fixed > limit {
            let is_empty = fixed == PER_REQUEST;
            return Err(self.too_long(if is_empty { "raise the limit" } else { PINNED_TOO_LONG }));
        }
        Ok(())
    }

    fn too_long(&self, advice: &str) -> Error {
        let (required, limit) = (self.total(), self.limit);
        let message = format!("the chat costs {required} tokens, over the limit of {limit}; {advice}");
        let row = |(index, message): (usize, &Message<'_>)| {
            object([("index", index.into()), ("tokens", message.now().into())])
        };
        let rows = self.messages.iter().enumerate().map(row);
        budget::over(Code::ContextTooLong, message, limit, required).with("messages", rows.collect::<Vec<_>>())
    }

    fn role_of(&self, slice: &MessageSlice) -> Option<Role> {
        self.messages.get(slice.message).map(|message| message.role)
    }

    fn cut_free(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        if self.options.truncation_strategy == Strategy::StopAtLimit {
            return Err(self.too_long("remove messages, or use a model with a larger context window"));
        }
        if layout.free.slices.is_empty() {
            return Err(self.too_long(PINNED_TOO_LONG));
        }
        if self.makes_steps() {
            self.course.target = Some(self.step_limit(layout, target));
        }
        let protected = self.protected_units(layout);
        let protection = self.protection(&protected, layout, target);
        let cut = match self.choose(&protection, layout, target) {
            Choice::Nothing if protection.reserves() => {
                let nothing = Protection::default();
                let choice = self.choose(&nothing, layout, target);
                self.finish(choice, &nothing, layout, target)
            }
            choice => self.finish(choice, &protection, layout, target),
        }?;
        self.report_lost_plan(&protected, layout, &cut);
        Ok(cut)
    }

    fn finish(
        &mut self,
        choice: Choice,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
    ) -> Result<Cut> {
        match choice {
            Choice::Selected(selection) => Ok(self.carry_out(protection, layout, target, selection)),
            Choice::NeedsMarker => self.cut_with_marker(layout, target),
            Choice::Nothing => self.shorten_one(layout, target),
        }
    }

    /// Reports that the latest plan was removed although it is protected.
    fn report_lost_plan(&mut self, protected: &[ProtectedUnit], layout: &UnitIndex, cut: &Cut) {
        let plan = protected.iter().find(|unit| unit.rank == Rank::Plan);
        let Some((call, _)) = plan.and_then(|plan| plan.call) else { return };
        let first = plan.and_then(|plan| layout.free.slices.get(plan.range.start));
        let is_known = self.diagnostics.iter().any(|known| known.code == DiagnosticCode::ProtectionDropped);
        if is_known || !first.is_some_and(|first| cut.slices.contains(first)) {
            return;
        }
        let message = format!("the plan in message {call} costs more than its share of the limit; it was removed");
        let dropped = Diagnostic::new(DiagnosticCode::ProtectionDropped, Severity::Info, message);
        self.diagnostics.push(dropped.at_path(format!("messages[{call}]")));
    }

    /// The cut with the default marker although the option is empty: without it two turns of the model would be merged.
    fn cut_with_marker(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        let message =
            "`truncationMarker` is empty, but two turns of the model would be merged; the default marker was inserted";
        let ignored = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
        self.diagnostics.push(ignored.at_path("options.truncationMarker"));
        self.cut_free(layout, &CutTarget { marker: CHAT_MARKER, ..*target })
    }
}

impl<'r> Fit<'r> {
    /// The costs of free units, given the tokens of the protected ones.
    pub(super) fn costs<'l>(
        &self,
        units: (&'l CuttableUnits, &'l Sums),
        target: &CutTarget<'l>,
        protected: u64,
    ) -> Costs<'l>
    where
        'r: 'l,
    {
        let overhead = self.message_overhead();
        let summary = |summary: &str| {
            let marker = marker_text(target.marker, units.0.slices.len().saturating_add(target.omitted));
            self.prices.text(&with_marker(summary, marker.as_deref()))
        };
        let of_summary = if target.summarizes { Some(self.summary_limit) } else { target.summary.map(summary) };
        let reserved = of_summary.map(|tokens| tokens.saturating_add(overhead));
        let gap = Gap { reserved, overhead, omitted: target.omitted };
        let fixed = target.fixed.saturating_add(protected);
        Costs::new(units.0, units.1, alone(self.prices), target.marker, fixed).with_gap(gap)
    }
}

/// Choosing the units to keep.
impl Fit<'_> {
    /// The selection of the strategy within `limit`.
    pub(super) fn run_strategy(
        &self,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
        limit: u64,
    ) -> Option<Kept> {
        let FitOptions { truncation_strategy: strategy, keep_last, cut_step, start_on, .. } = self.options;
        let (free, sums) = protection.units(layout);
        let costs = self.costs((free, sums), &protection.target(target), allowances(&protection.units));
        // The gap begins where the earlier one did, so that summaries stay in order.
        let is_before = |start: &usize| free.slices.get(*start).is_some_and(|slice| slice.message < target.gap_from);
        let with_gap = limit.saturating_sub(costs.marker_tokens(free.slices.len())).saturating_sub(protection.unused);
        let is_marked = target.has_summary() || protection.reserves();
        let over = OverLimit {
            costs: &costs,
            units: &free.starts,
            limit: if is_marked && *strategy != Strategy::TruncateMiddle { with_gap } else { limit },
            recent: protection.recent.unwrap_or(*keep_last),
            cut_step: *cut_step,
            start_on: if start_on.is_empty() { StartOn::Any } else { StartOn::User },
            head_tokens: protection.head_tokens,
            most_head: free.starts.partition_point(is_before),
        };
        match strategy {
            Strategy::TruncateMiddle => over.middle(),
            Strategy::KeepStart => {
                let nothing = Kept { head: 0, tail: free.slices.len() };
                let kept = over.start().or_else(|| (!protection.units.is_empty()).then_some(nothing))?;
                Some(Kept { head: kept.head.min(protection.start_to.unwrap_or(usize::MAX)), ..kept })
            }
            _ => over.rolling().map(|kept| Kept { tail: kept.tail.max(protection.window_from), ..kept }),
        }
    }

    fn choose(&mut self, protection: &Protection, layout: &UnitIndex, target: &CutTarget<'_>) -> Choice {
        let (free, sums) = protection.units(layout);
        let costs = self.costs((free, sums), &protection.target(target), allowances(&protection.units));
        let limit = self.cut_limit();
        let is_middle = self.options.truncation_strategy == Strategy::TruncateMiddle;
        let marked = is_middle || target.has_summary() || !protection.units.is_empty();
        let run = |limit| self.run_strategy(protection, layout, target, limit);
        let mut chosen = protection.decided.or_else(|| Some(Selection { kept: run(limit)?, marked }));
        let has_marker = target.has_summary() || costs.marker(1).is_some();
        let has_gaps = self.merges()
            && (self.options.keep_first > 0 || !self.options.pinned.is_empty() || !protection.units.is_empty());
        let wants_user = |&Selection { kept, marked }: &Selection| {
            let marked = marked && has_marker;
            if has_gaps { self.breaks_turns(free, kept, marked) } else { !marked && self.wants_user(free, kept) }
        };
        if chosen.as_ref().is_some_and(|chosen| has_marker && !chosen.marked && wants_user(chosen)) {
            // The marker is a user message.
            let most = costs.marker_tokens(free.slices.len());
            chosen = run(limit.saturating_sub(most)).map(|kept| Selection { kept, marked: true });
        }
        if let Some(Selection { kept, marked }) = chosen.filter(wants_user) {
            // Otherwise the window begins with the next user message.
            let is_user = |&start: &usize| {
                start > kept.tail && free.slices.get(start).is_some_and(|slice| self.role_of(slice) == Some(Role::User))
            };
            let turns = free.starts.iter().copied().filter(is_user).take(MAX_WINDOW_TRIES);
            let mut windows = turns.map(|tail| Selection { kept: Kept { tail, ..kept }, marked });
            chosen = match windows.find(|window| !wants_user(window)) {
                None if !has_marker && self.course.first_marker.is_none() => return Choice::NeedsMarker,
                found => found.or(chosen),
            };
        }
        let Some(mut chosen) = chosen else { return Choice::Nothing };
        self.follow_ends(free, &mut chosen, target);
        Choice::Selected(chosen)
    }

    /// Ends the longest beginning with a role of `endOn`; reports roles that are not found.
    fn follow_ends(&mut self, free: &CuttableUnits, chosen: &mut Selection, target: &CutTarget<'_>) {
        let FitOptions { truncation_strategy, start_on, end_on, .. } = self.options;
        let kept = &mut chosen.kept;
        if *truncation_strategy == Strategy::KeepStart && !target.summarizes && !end_on.is_empty() {
            match free.starts.iter().rfind(|&&start| start <= kept.head && self.ends_on(free, start)) {
                Some(&head) => kept.head = head,
                None => self.role_not_found("endOn"),
            }
        }
        let begins = free.begins.get(kept.tail).copied().unwrap_or(false);
        if *truncation_strategy == Strategy::RollingWindow && !start_on.is_empty() && !begins {
            self.role_not_found("startOn");
        }
    }

    /// Whether the slice before one has a role of `endOn`.
    fn ends_on(&self, free: &CuttableUnits, end: usize) -> bool {
        let last = end.checked_sub(1).and_then(|last| free.slices.get(last));
        last.and_then(|slice| self.role_of(slice)).is_some_and(|role| holds(&self.options.end_on, role))
    }
}

/// Applying a selection: some units are shortened, the others are removed.
impl Fit<'_> {
    fn carry_out(
        &mut self,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
        selection: Selection,
    ) -> Cut {
        let units = protection.units(layout);
        let of_protected = allowances(&protection.units);
        let removed = units.0.slices.get(selection.kept.head..selection.kept.tail).unwrap_or_default();
        let marked = selection.marked && self.needs_marker(protection, layout, target, removed, selection.kept);
        let selection = Selection { marked, ..selection };
        let estimate = self.costs(units, &protection.target(target), of_protected).kept(selection.kept, marked);
        let limit = self.cut_limit().saturating_sub(protection.unused);
        let mut left = limit.saturating_sub(estimate);
        let fills = self.fills(target);
        let lost = self.shorten_protected(protection, layout, &mut left, fills);
        // The marker also counts the lost parts of a shortened unit.
        let target = &CutTarget { omitted: target.omitted.saturating_add(lost.len()), ..*target };
        let costs = self.costs(units, target, of_protected);
        let spent = costs.kept(selection.kept, marked);
        let allowance = left.saturating_add(estimate);
        // With a counter for which a smaller number costs more, the marker may not fit.
        let selection = Selection { marked: marked && spent <= allowance, ..selection };
        let mut edges = Edges { free: units.0, selection, left: allowance.saturating_sub(spent) };
        if fills && !self.makes_steps() {
            self.fill_edges(protection, &mut edges, &costs);
        }
        let Selection { kept, marked } = edges.selection;
        let mut slices = units.0.slices.get(kept.head..kept.tail).unwrap_or_default().to_vec();
        slices.extend(lost);
        sorting::sort_by_key(&mut slices, |slice| (slice.message, slice.from));
        let is_gap = || !slices.is_empty() && self.needs_marker(protection, layout, target, &slices, kept);
        let marked = marked && (target.summary.is_some() || is_gap());
        let count = kept.tail - kept.head;
        let added = if marked { self.gap_text(&costs, count, target.summary) } else { None };
        Cut { slices, added, counted: count.saturating_add(target.omitted), ..Cut::default() }
    }

    /// Whether a cut next to protected units has a marker. A window has none before it, and the longest beginning none
    /// after it, unless two turns of the model would be merged.
    fn needs_marker(
        &self,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
        removed: &[MessageSlice],
        kept: Kept,
    ) -> bool {
        let message = |unit: &ProtectedUnit| layout.free.slices.get(unit.range.start).map(|slice| slice.message);
        let mut protected = protection.units.iter().filter_map(message);
        let (first, last) = (removed.first(), removed.last());
        let is_inside = match self.options.truncation_strategy {
            _ if target.has_summary() || protection.units.is_empty() => true,
            Strategy::RollingWindow => protected.any(|at| last.is_some_and(|last| last.message > at)),
            Strategy::KeepStart => protected.any(|at| first.is_some_and(|first| first.message < at)),
            _ => true,
        };
        is_inside || self.merges_turns(protection.units(layout).0, kept, false)
    }

    fn fills(&self, target: &CutTarget<'_>) -> bool {
        self.options.fill != Fill::Off && self.options.cut_step == 0 && !target.summarizes
    }

    /// Shortens the protected units, which may use the remaining tokens. Returns the slices that are removed after all.
    fn shorten_protected(
        &mut self,
        protection: &Protection,
        layout: &UnitIndex,
        left: &mut u64,
        fills: bool,
    ) -> Vec<MessageSlice> {
        let mut units = protection.units.clone();
        if fills {
            *left = grow(&mut units, *left);
        }
        let mut lost = Vec::new();
        for unit in units.iter().filter(|unit| !unit.is_whole()) {
            let slices = layout.free.slices.get(unit.range.clone()).unwrap_or_default();
            let shortened = self.shorten_unit(slices, unit.allowance, Fill::All, MIN_PROTECTED_TOKENS);
            let shortened = shortened.map(|tokens| (tokens, Vec::new()));
            let shortened = shortened.or_else(|| self.reduce_unit(slices, unit.call?, unit.allowance));
            let (tokens, gone) = shortened.unwrap_or_else(|| (0, slices.to_vec()));
            *left = left.saturating_add(unit.allowance.saturating_sub(tokens));
            lost.extend(gone);
        }
        lost
    }

    /// Restores the removed units at the edges of the gap, shortened to the remaining tokens.
    fn fill_edges(&mut self, protection: &Protection, edges: &mut Edges<'_>, costs: &Costs<'_>) {
        let strategy = self.options.truncation_strategy;
        let kept = edges.selection.kept;
        if kept.head >= kept.tail {
            return;
        }
        if strategy != Strategy::KeepStart && (kept.tail > protection.window_from || protection.window_from == 0) {
            let start = edges.free.unit_of(kept.tail - 1).map_or(kept.tail, |unit| unit.start);
            let begins = edges.free.begins.get(start).copied().unwrap_or(false);
            if self.options.start_on.is_empty() || strategy != Strategy::RollingWindow || begins {
                self.fill_edge(edges, costs, Kept { tail: start.max(kept.head), ..kept });
            }
        }
        let kept = edges.selection.kept;
        let most = protection.start_to.unwrap_or(usize::MAX);
        if strategy != Strategy::RollingWindow && kept.head < kept.tail && kept.head < most {
            let end = edges.free.unit_of(kept.head).map_or(kept.head, |unit| unit.end);
            let ends = self.options.end_on.is_empty() || self.ends_on(edges.free, end);
            if ends || strategy != Strategy::KeepStart {
                self.fill_edge(edges, costs, Kept { head: end.min(kept.tail), ..kept });
            }
        }
    }

    /// Restores one unit, if it can be shortened to the remaining tokens.
    fn fill_edge(&mut self, edges: &mut Edges<'_>, costs: &Costs<'_>, kept: Kept) {
        let Selection { kept: before, marked } = edges.selection;
        let marker = |kept: Kept| if marked { costs.marker_tokens(kept.tail - kept.head) } else { 0 };
        let is_last = kept.head == kept.tail && !costs.omits_earlier();
        let unit = if kept.head > before.head { before.head..kept.head } else { kept.tail..before.tail };
        let slices = edges.free.slices.get(unit).unwrap_or_default();
        let marker_left = if is_last { 0 } else { marker(kept) };
        let has_marker = marked && costs.marker(1).is_some() && !is_last;
        let Some(allowance) = edges.left.saturating_add(marker(before)).checked_sub(marker_left) else { return };
        if slices.is_empty() || !is_last && self.merges_turns(edges.free, kept, has_marker) {
            return;
        }
        let Some(tokens) = self.shorten_unit(slices, allowance, self.options.fill, MIN_FILLED_TOKENS) else { return };
        edges.selection = Selection { kept, marked: marked && !is_last };
        edges.left = allowance.saturating_sub(tokens);
    }

    /// Whether a gap makes two turns of the model adjacent, and the vendor merges them.
    fn merges_turns(&self, free: &CuttableUnits, kept: Kept, marked: bool) -> bool {
        self.merges() && self.breaks_turns(free, kept, marked)
    }
}

/// The gap while its edges are filled.
#[derive(Debug)]
struct Edges<'l> {
    free: &'l CuttableUnits,
    selection: Selection,
    /// The remaining tokens.
    left: u64,
}

/// The last resort.
impl Fit<'_> {
    /// Shortens the one unit that is kept if not even one fits whole.
    fn shorten_one(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        let &CutTarget { fixed, marker, .. } = target;
        let UnitIndex { free, sums, .. } = layout;
        let strategy = self.options.truncation_strategy;
        let is_middle = strategy == Strategy::TruncateMiddle;
        let costs = self.costs((free, sums), target, 0);
        let has_marker = target.has_summary() || costs.marker(1).is_some();
        let unit = match strategy {
            Strategy::KeepStart => 0..free.starts.get(1).copied().unwrap_or(0),
            _ => free.starts.iter().rev().nth(1).copied().unwrap_or(0)..free.slices.len(),
        };
        let others = free.slices.len() - unit.len();
        let wants_user = self.wants_user(free, Kept { head: 0, tail: unit.start });
        let has_gap = (is_middle || target.summarizes || wants_user) && others > 0;
        let wants_gap = target.summary.is_some() || has_gap && strategy != Strategy::KeepStart;
        if wants_user && !has_marker && others > 0 && self.course.first_marker.is_none() {
            return self.cut_with_marker(layout, target);
        }
        let inside = match costs.marker(others) {
            Some(text) if marker != CHAT_MARKER => inline_marker(&text),
            _ => TEXT_MARKER.to_owned(),
        };
        let end = if is_middle || strategy == Strategy::KeepStart { RemovedEnd::Middle } else { RemovedEnd::Head };
        let added = if wants_gap { self.gap_text(&costs, others, target.summary) } else { None };
        let gap = if added.is_some() { costs.marker_tokens(others) } else { 0 };
        let how = Shortening { end, marker: &inside, min_tokens: 0, reason: Reason::Shortened };
        let slices: Vec<MessageSlice> = free.slices.get(unit.clone()).unwrap_or_default().to_vec();
        let allowance = self.cut_limit().saturating_sub(fixed).checked_sub(gap);
        if !allowance.is_some_and(|allowance| self.shorten_texts(&slices, allowance, how)) {
            return Err(self.too_long("not even one shortened message fits; raise the limit"));
        }
        let is_cut = |at: &usize| !unit.contains(at);
        let cut = (0..free.slices.len()).filter(is_cut).filter_map(|at| free.slices.get(at).copied()).collect();
        Ok(Cut { slices: cut, added, counted: others.saturating_add(target.omitted), ..Cut::default() })
    }
}

/// User turns that are tried as the beginning of a window.
const MAX_WINDOW_TRIES: usize = 8;
