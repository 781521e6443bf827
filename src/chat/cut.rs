//! Cutting a chat: which units go, which are shortened, and what stands in the gap (SPEC §1 "Strategies", §8).

use super::fit::{Cut, Fit, SUMMARY_PREFIX};
use super::options::{FitOptions, Phase, holds};
use super::pairs::MessageSlice;
use super::protection::{ProtectedUnit, Rank, give_up, grow, reserved, rooms};
use super::report::AddedKind;
use super::shortening::{MIN_FILLED_TOKENS, MIN_PROTECTED_TOKENS, Shortening};
use super::unit_index::{CuttableUnits, UnitIndex, alone};
use crate::assembly::budget;
use crate::assembly::costs::{Costs, Gap, Sums};
use crate::assembly::item::Kept;
use crate::assembly::settings::{CHAT_MARKER, Fill, StartOn, Strategy, TEXT_MARKER};
use crate::assembly::shorten::{RemovedEnd, inline_marker};
use crate::assembly::strategies::OverLimit;
use crate::content::Role;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::object;
use crate::sorting;
use crate::text::{Clusters, trim};
use crate::tokens::search;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Message, PER_MESSAGE, PER_REQUEST, Reason};

const PINNED_TOO_LONG: &str = "not even what is pinned fits; pin less, or use a larger limit";

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

/// Protected units that stay outside the head and the tail, and the bounds that they set.
#[derive(Debug, Default)]
struct Protection {
    units: Vec<ProtectedUnit>,
    /// The other units, where any are protected.
    rest: Option<(CuttableUnits, Sums)>,
    /// Atoms at the end that stay.
    recent: Option<u64>,
    /// Tokens that the head may have.
    head_tokens: Option<u64>,
    /// Tokens of reserves that do not suffice: they stay free, so that a larger limit never keeps less.
    unused: u64,
    /// No window begins before this atom, and no beginning ends after the other.
    window_from: usize,
    start_to: Option<usize>,
    /// The cut, where nothing is left to choose.
    decided: Option<Selection>,
}

/// The atoms that stay, and whether a marker or a summary stands in the gap.
#[derive(Clone, Copy, Debug)]
struct Selection {
    kept: Kept,
    marked: bool,
}

/// What a strategy came to.
#[derive(Debug)]
enum Choice {
    Selected(Selection),
    /// Two turns of the model would meet without a marker.
    NeedsMarker,
    /// Not even one unit fits.
    Nothing,
}

impl Fit<'_> {
    /// Cuts what is over the limit.
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

    fn cut_free(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        if self.options.truncation_strategy == Strategy::StopAtLimit {
            return Err(self.too_long("remove messages, or use a model with a larger context window"));
        }
        if layout.free.slices.is_empty() {
            return Err(self.too_long(PINNED_TOO_LONG));
        }
        let protection = self.protection(layout, target);
        let choice = match self.choose(&protection, layout, target) {
            Choice::Nothing if !protection.units.is_empty() => {
                return self.cut_unprotected(layout, target);
            }
            choice => choice,
        };
        match choice {
            Choice::Selected(selection) => Ok(self.carry_out(&protection, layout, target, selection)),
            Choice::NeedsMarker => self.cut_with_marker(layout, target),
            Choice::Nothing => self.shorten_one(layout, target),
        }
    }

    fn cut_unprotected(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        let nothing = Protection::default();
        match self.choose(&nothing, layout, target) {
            Choice::Selected(selection) => Ok(self.carry_out(&nothing, layout, target, selection)),
            Choice::NeedsMarker => self.cut_with_marker(layout, target),
            Choice::Nothing => self.shorten_one(layout, target),
        }
    }

    /// The cut with a marker where there is to be none, but two turns of the model's would be merged.
    fn cut_with_marker(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        let message = "`truncationMarker` is empty, and no turn of the user's parts those of the model's; the default marker stands there";
        let found = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
        self.found.push(found.at_path("options.truncationMarker"));
        self.cut_free(layout, &CutTarget { marker: CHAT_MARKER, ..*target })
    }
}

impl<'r> Fit<'r> {
    /// The costs of free units, next to protected ones with these tokens.
    fn costs<'l>(&self, units: (&'l CuttableUnits, &'l Sums), target: &CutTarget<'l>, protected: u64) -> Costs<'l>
    where
        'r: 'l,
    {
        let overhead = self.message_overhead();
        let reserved = target.summarizes.then(|| self.summary_room.saturating_add(overhead));
        let gap = Gap { reserved, overhead, omitted: target.omitted };
        let fixed = target.fixed.saturating_add(protected);
        Costs::new(units.0, units.1, alone(self.prices), target.marker, fixed).with_gap(gap)
    }
}

impl Protection {
    fn of(units: Vec<ProtectedUnit>, layout: &UnitIndex, fit: &Fit<'_>) -> Self {
        let rest = layout.free.without(units.iter().map(|unit| &unit.slices));
        let mut sums = Sums::default();
        sums.extend(&rest, &alone(fit.prices));
        Self { units, rest: Some((rest, sums)), ..Self::default() }
    }

    /// The units that are not protected.
    fn units<'l>(&'l self, layout: &'l UnitIndex) -> (&'l CuttableUnits, &'l Sums) {
        self.rest.as_ref().map_or((&layout.free, &layout.sums), |(units, sums)| (units, sums))
    }

    /// The place among the other units of an atom that is not protected.
    fn place_in_rest(&self, atom: usize) -> usize {
        let before = self.units.iter().filter(|unit| unit.slices.start < atom).map(|unit| unit.slices.len());
        atom.saturating_sub(before.sum())
    }
}

/// Protection: which units are set aside, and with how many tokens.
impl Fit<'_> {
    fn protection(&self, layout: &UnitIndex, target: &CutTarget<'_>) -> Protection {
        let units = self.protected_units(layout);
        if units.is_empty() {
            return Protection::default();
        }
        match self.options.truncation_strategy {
            Strategy::TruncateMiddle => self.protection_of_middle(&units, layout, target),
            _ => self.protection_of_window(&units, layout, target),
        }
    }

    /// Tokens beside what always stays and the marker.
    fn available(&self, costs: &Costs<'_>) -> u64 {
        self.course.limit.saturating_sub(costs.fixed).saturating_sub(costs.marker_tokens(costs.len))
    }

    /// The tail that fits next to the reserves, and the protected units before it, grown to half of what is available.
    fn protection_of_middle(&self, units: &[ProtectedUnit], layout: &UnitIndex, target: &CutTarget<'_>) -> Protection {
        let UnitIndex { free, sums, .. } = layout;
        let costs = self.costs((free, sums), target, 0);
        let available = self.available(&costs);
        let recent = costs.recent(self.options.keep_last);
        let wanted = free.starts.partition_point(|&start| start <= recent).saturating_sub(1);
        let last = free.starts.len().saturating_sub(2);
        for &from in free.starts.iter().take(last + 1).skip(wanted.min(last)) {
            let outside = reserved(units, from, available);
            let tail = costs.run_alone(from, costs.len);
            if rooms(&outside).saturating_add(tail) <= available {
                return self.grown_next_to(from, outside, layout, target);
            }
        }
        let from = free.starts.get(last).copied().unwrap_or(0);
        self.protection_next_to_shortened(reserved(units, from, available), from..costs.len, layout, target)
    }

    /// Protected units before a tail that fits next to them.
    fn grown_next_to(
        &self,
        tail: usize,
        mut outside: Vec<ProtectedUnit>,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
    ) -> Protection {
        let costs = self.costs((&layout.free, &layout.sums), target, 0);
        let available = self.available(&costs);
        let half = available / 2;
        let left = half.min(available.saturating_sub(costs.run_alone(tail, costs.len)));
        let spare = left.saturating_sub(rooms(&outside));
        grow(&mut outside, spare);
        outside.retain(ProtectedUnit::fits);
        if outside.is_empty() {
            return Protection { recent: Some((costs.len - tail) as u64), ..Protection::default() };
        }
        let of_first = outside.iter().find(|unit| unit.rank == Rank::FirstUser).map_or(0, |unit| unit.room);
        let mut protection = Protection::of(outside, layout, self);
        let tail = protection.place_in_rest(tail);
        let rest = protection.units(layout);
        let costs = self.costs(rest, target, rooms(&protection.units));
        let len = costs.len;
        let is_all = costs.total() <= self.course.limit && target.omitted == 0 && !target.summarizes;
        protection.decided = is_all.then_some(Selection { kept: Kept { head: len, tail: len }, marked: false });
        protection.recent = Some((len - tail) as u64);
        protection.head_tokens = Some(half.saturating_sub(of_first));
        protection
    }

    /// Protected units next to the newest unit, which does not fit whole: it is shortened, or protected ones are given up.
    fn protection_next_to_shortened(
        &self,
        mut outside: Vec<ProtectedUnit>,
        newest: std::ops::Range<usize>,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
    ) -> Protection {
        let costs = self.costs((&layout.free, &layout.sums), target, 0);
        let available = self.available(&costs);
        let mut newest = self.protected_unit(&layout.free, newest, Rank::Newest, None);
        while !outside.is_empty() {
            outside.retain(ProtectedUnit::fits);
            newest.room = available.saturating_sub(rooms(&outside)).min(newest.cost);
            if newest.fits() && !outside.is_empty() {
                outside.push(newest);
                let mut protection = Protection::of(outside, layout, self);
                let kept = Kept { head: 0, tail: protection.units(layout).0.slices.len() };
                protection.decided = Some(Selection { kept, marked: true });
                return protection;
            }
            give_up(&mut outside);
        }
        Protection::default()
    }

    /// Protected units that a rolling window, or the longest beginning, does not reach.
    fn protection_of_window(&self, units: &[ProtectedUnit], layout: &UnitIndex, target: &CutTarget<'_>) -> Protection {
        let is_start = self.options.truncation_strategy == Strategy::KeepStart;
        let nothing = Protection::default();
        let plain = self.run_strategy(&nothing, layout, target, self.course.limit);
        let costs = self.costs((&layout.free, &layout.sums), target, 0);
        let available = self.available(&costs);
        let is_outside = |unit: &&ProtectedUnit| match plain {
            Some(kept) if is_start => unit.slices.end > kept.head,
            Some(kept) => unit.slices.start < kept.tail,
            None if is_start => unit.slices.start > 0,
            None => unit.slices.end < costs.len,
        };
        let outside: Vec<ProtectedUnit> = units.iter().filter(is_outside).cloned().collect();
        let outside = reserved(&outside, costs.len, available);
        if outside.is_empty() {
            return nothing;
        }
        let (fitting, others): (Vec<_>, Vec<_>) = outside.into_iter().partition(ProtectedUnit::fits);
        let unused = rooms(&others);
        if fitting.is_empty() {
            return Protection { unused, ..nothing };
        }
        let mut protection = Protection::of(fitting, layout, self);
        let shortened = || protection.units.iter().filter(|unit| !unit.is_whole());
        let window_from = shortened().map(|unit| protection.place_in_rest(unit.slices.end)).max();
        let start_to = shortened().map(|unit| protection.place_in_rest(unit.slices.start)).min();
        (protection.window_from, protection.start_to) = (window_from.unwrap_or(0), start_to);
        protection.unused = unused;
        if is_start || self.run_strategy(&protection, layout, target, self.course.limit).is_some() {
            return protection;
        }
        let last = layout.free.starts.iter().rev().nth(1).copied().unwrap_or(0);
        let protection = self.protection_next_to_shortened(protection.units, last..costs.len, layout, target);
        let window_from = if protection.units.is_empty() { last } else { 0 };
        Protection { window_from, ..protection }
    }
}

/// The choice of what stays.
impl Fit<'_> {
    /// What the strategy keeps within so many tokens.
    fn run_strategy(
        &self,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
        limit: u64,
    ) -> Option<Kept> {
        let FitOptions { truncation_strategy: strategy, keep_last, cut_step, start_on, .. } = self.options;
        let (free, sums) = protection.units(layout);
        let costs = self.costs((free, sums), target, rooms(&protection.units));
        // The gap begins where the earlier one did, so that what is summarised stays in order, after a turn of the user.
        let is_before = |start: &usize| free.slices.get(*start).is_some_and(|slice| slice.message < target.gap_from);
        let with_gap = limit.saturating_sub(costs.marker_tokens(free.slices.len())).saturating_sub(protection.unused);
        let is_marked = target.summarizes || !protection.units.is_empty() || protection.unused > 0;
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
        let costs = self.costs((free, sums), target, rooms(&protection.units));
        let limit = self.course.limit;
        let is_middle = self.options.truncation_strategy == Strategy::TruncateMiddle;
        let marked = is_middle || target.summarizes || !protection.units.is_empty();
        let run = |limit| self.run_strategy(protection, layout, target, limit);
        let mut chosen = protection.decided.or_else(|| Some(Selection { kept: run(limit)?, marked }));
        let has_marker = target.summarizes || costs.marker(1).is_some();
        let has_gaps = self.merges()
            && (self.options.keep_first > 0 || !self.options.pinned.is_empty() || !protection.units.is_empty());
        let wants_user = |&Selection { kept, marked }: &Selection| {
            let marked = marked && has_marker;
            if has_gaps { self.breaks_turns(free, kept, marked) } else { !marked && self.wants_user(free, kept) }
        };
        if chosen.as_ref().is_some_and(|chosen| has_marker && !chosen.marked && wants_user(chosen)) {
            // The marker is a user's turn.
            let most = costs.marker_tokens(free.slices.len());
            chosen = run(limit.saturating_sub(most)).map(|kept| Selection { kept, marked: true });
        }
        if let Some(Selection { kept, marked }) = chosen.filter(wants_user) {
            // Where it is not enough, the window begins with the next turn that is a user's.
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

    /// Whether the atom before one has a role of `endOn`.
    fn ends_on(&self, free: &CuttableUnits, end: usize) -> bool {
        let last = end.checked_sub(1).and_then(|last| free.slices.get(last));
        last.and_then(|slice| self.role_of(slice)).is_some_and(|role| holds(&self.options.end_on, role))
    }
}

/// What is carried out: units are shortened, and the rest is cut.
impl Fit<'_> {
    fn carry_out(
        &mut self,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
        selection: Selection,
    ) -> Cut {
        let units = protection.units(layout);
        let costs = self.costs(units, target, rooms(&protection.units));
        let marked = selection.marked
            && self.is_gap_inside(
                protection,
                layout,
                target,
                units.0.slices.get(selection.kept.head..selection.kept.tail).unwrap_or_default(),
            );
        let selection = Selection { marked, ..selection };
        let spent = costs.kept(selection.kept, marked).saturating_add(protection.unused);
        let mut edges = Edges { free: units.0, selection, left: self.course.limit.saturating_sub(spent) };
        let fills = self.fills(target);
        let lost = self.shorten_protected(protection, layout, &mut edges.left, fills);
        if fills {
            self.fill_edges(protection, &mut edges, &costs);
        }
        let Selection { kept, marked } = edges.selection;
        let mut slices = units.0.slices.get(kept.head..kept.tail).unwrap_or_default().to_vec();
        if !lost.is_empty() {
            slices.extend(lost);
            sorting::sort_by_key(&mut slices, |slice| (slice.message, slice.from));
        }
        let marked = marked && self.is_gap_inside(protection, layout, target, &slices);
        let added = if marked && !slices.is_empty() { self.gap_text(&costs, slices.len()) } else { None };
        Cut { slices, added, ..Cut::default() }
    }

    /// Whether a gap is inside what stays: before a window, or after the longest beginning, there is no marker.
    fn is_gap_inside(
        &self,
        protection: &Protection,
        layout: &UnitIndex,
        target: &CutTarget<'_>,
        removed: &[MessageSlice],
    ) -> bool {
        let message = |unit: &ProtectedUnit| layout.free.slices.get(unit.slices.start).map(|slice| slice.message);
        let mut protected = protection.units.iter().filter_map(message);
        let (first, last) = (removed.first(), removed.last());
        match self.options.truncation_strategy {
            _ if target.summarizes || protection.units.is_empty() => true,
            Strategy::RollingWindow => protected.any(|at| last.is_some_and(|last| last.message > at)),
            Strategy::KeepStart => protected.any(|at| first.is_some_and(|first| first.message < at)),
            _ => true,
        }
    }

    fn fills(&self, target: &CutTarget<'_>) -> bool {
        self.options.fill != Fill::Off && self.options.cut_step == 0 && !target.summarizes
    }

    /// Shortens the protected units, and lets them use what is left. Returns the atoms of those that cannot be shortened so far.
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
            let slices = layout.free.slices.get(unit.slices.clone()).unwrap_or_default();
            let shortened = self.shorten_unit(slices, unit.room, Fill::All, MIN_PROTECTED_TOKENS);
            let shortened = shortened.map(|tokens| (tokens, Vec::new()));
            let shortened = shortened.or_else(|| self.reduce_unit(slices, unit.call?, unit.room));
            let (tokens, gone) = shortened.unwrap_or_else(|| (0, slices.to_vec()));
            *left = left.saturating_add(unit.room.saturating_sub(tokens));
            lost.extend(gone);
        }
        lost
    }

    /// Restores the removed units next to the gap, shortened, as far as there are tokens left.
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

    /// Restores one unit, if it can be shortened to what is left.
    fn fill_edge(&mut self, edges: &mut Edges<'_>, costs: &Costs<'_>, kept: Kept) {
        let Selection { kept: before, marked } = edges.selection;
        let marker = |kept: Kept| if marked { costs.marker_tokens(kept.tail - kept.head) } else { 0 };
        let is_last = kept.head == kept.tail && !costs.omits_earlier();
        let unit = if kept.head > before.head { before.head..kept.head } else { kept.tail..before.tail };
        let slices = edges.free.slices.get(unit).unwrap_or_default();
        let marker_left = if is_last { 0 } else { marker(kept) };
        let has_marker = marked && costs.marker(1).is_some() && !is_last;
        let Some(room) = edges.left.saturating_add(marker(before)).checked_sub(marker_left) else { return };
        if slices.is_empty() || !is_last && self.breaks_turns_anew(edges.free, kept, has_marker) {
            return;
        }
        let Some(tokens) = self.shorten_unit(slices, room, self.options.fill, MIN_FILLED_TOKENS) else { return };
        edges.selection = Selection { kept, marked: marked && !is_last };
        edges.left = room.saturating_sub(tokens);
    }

    /// Whether two turns of the model's would meet at a gap, where the vendor merges them.
    fn breaks_turns_anew(&self, free: &CuttableUnits, kept: Kept, marked: bool) -> bool {
        self.merges() && self.breaks_turns(free, kept, marked)
    }
}

/// The gap while its edges are filled.
#[derive(Debug)]
struct Edges<'l> {
    free: &'l CuttableUnits,
    selection: Selection,
    /// Tokens that are not used yet.
    left: u64,
}

/// The last resort.
impl Fit<'_> {
    /// Shortens the one unit that stays, since not even that fits whole.
    fn shorten_one(&mut self, layout: &UnitIndex, target: &CutTarget<'_>) -> Result<Cut> {
        let &CutTarget { fixed, summarizes, marker, .. } = target;
        let UnitIndex { free, sums, .. } = layout;
        let strategy = self.options.truncation_strategy;
        let is_middle = strategy == Strategy::TruncateMiddle;
        let costs = self.costs((free, sums), target, 0);
        let has_marker = summarizes || costs.marker(1).is_some();
        let unit = match strategy {
            Strategy::KeepStart => 0..free.starts.get(1).copied().unwrap_or(0),
            _ => free.starts.iter().rev().nth(1).copied().unwrap_or(0)..free.slices.len(),
        };
        let others = free.slices.len() - unit.len();
        let wants_user = self.wants_user(free, Kept { head: 0, tail: unit.start });
        let wants_gap = (is_middle || summarizes || wants_user) && others > 0 && strategy != Strategy::KeepStart;
        if wants_user && !has_marker && others > 0 && self.course.first_marker.is_none() {
            return self.cut_with_marker(layout, target);
        }
        let inside = match costs.marker(others) {
            Some(text) if marker != CHAT_MARKER => inline_marker(&text),
            _ => TEXT_MARKER.to_owned(),
        };
        let end = if is_middle || strategy == Strategy::KeepStart { RemovedEnd::Middle } else { RemovedEnd::Head };
        let added = if wants_gap { self.gap_text(&costs, others) } else { None };
        let gap = if added.is_some() { costs.marker_tokens(others) } else { 0 };
        let how = Shortening { end, marker: &inside, min_tokens: 0, reason: Reason::Shortened };
        let slices: Vec<MessageSlice> = free.slices.get(unit.clone()).unwrap_or_default().to_vec();
        let room = self.course.limit.saturating_sub(fixed).checked_sub(gap);
        if !room.is_some_and(|room| self.shorten_texts(&slices, room, how)) {
            return Err(self.too_long("not even one message fits when it is shortened; use a larger limit"));
        }
        let is_cut = |at: &usize| !unit.contains(at);
        let cut = (0..free.slices.len()).filter(is_cut).filter_map(|at| free.slices.get(at).copied()).collect();
        Ok(Cut { slices: cut, added, ..Cut::default() })
    }
}

/// Turns, markers and summaries.
impl Fit<'_> {
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
}

/// How many turns of the user are tried as the beginning of a window.
const MAX_WINDOW_TRIES: usize = 8;

/// Tokens that a summary has at least for itself.
const MIN_SUMMARY_TOKENS: u64 = 16;

/// A summary of which the end is cut.
fn cut_summary(beginning: &str) -> String {
    [SUMMARY_PREFIX, trim(beginning), " […]"].concat()
}
