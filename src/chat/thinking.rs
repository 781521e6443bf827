//! Preserved thinking: signed thinking after the first change is invalid (docs/agents.md).
//!
//! Anthropic binds each signed block to everything before it except thinking: thinking may be removed from the start,
//! but not from the middle.

use serde_json::{Map, Value as Json};

use super::adjacency::MovedResult;
use super::course::StepPlace;
use super::fit::{Cut, Fit};
use super::pairs::MessageSlice;
use super::series::Series;
use crate::assembly::preserved::{PreservedThinking, ThinkingFate, drop_blocks_request};
use crate::error::Diagnostic;
use crate::vendors::pieces::message::{Kind, Message, Piece, Reason, Step};

/// The place of a piece. Pieces before the first step belong to it.
fn place_of(message: usize, piece: &Piece<'_>) -> StepPlace {
    (message, piece.step.max(1))
}

/// Removed slices in order; queries must be in order as well.
struct Removed<'c>(&'c [MessageSlice]);

impl Removed<'_> {
    /// Whether the cut removes a piece.
    fn has(&self, message: usize, piece: usize) -> bool {
        let end = self.0.partition_point(|slice| (slice.message, slice.from) <= (message, piece));
        let slice = end.checked_sub(1).and_then(|at| self.0.get(at));
        slice.is_some_and(|slice| slice.message == message && piece < slice.to)
    }
}

impl<'r> Fit<'r> {
    /// Removes the bound thinking of messages that now follow another message, and reports it.
    pub(super) fn strip_stale(&self, stale: &[usize], recorded: &mut Vec<(usize, Message<'r>)>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for &at in stale {
            let Some(given) = self.messages.all_given().get(at) else { continue };
            let is_bound = |(_, piece): &(usize, &Piece<'_>)| self.is_bound(piece);
            let bound: Vec<usize> = given.pieces.iter().enumerate().filter(is_bound).map(|(place, _)| place).collect();
            if bound.is_empty() {
                continue;
            }
            let place = recorded.partition_point(|(known, _)| *known < at);
            if recorded.get(place).is_none_or(|(known, _)| *known != at) {
                recorded.insert(place, (at, given.borrowed()));
            }
            let Some((_, message)) = recorded.get_mut(place).filter(|(_, message)| message.removed.is_none()) else {
                continue;
            };
            for piece in bound {
                let Some(piece) = message.pieces.get_mut(piece).filter(|piece| piece.is_there()) else { continue };
                found.push(ThinkingFate::Removed.in_chat(at, path_of(at, piece)));
                piece.remove(Reason::ReasoningPrefixChanged);
            }
            drop_emptied(message);
        }
        found
    }
}

impl Fit<'_> {
    /// Whether thinking is bound to earlier messages.
    fn is_bound(&self, piece: &Piece<'_>) -> bool {
        self.rules.preserves_thinking && piece.signed && piece.kind == Kind::Reasoning
    }

    /// Whether invalid bound thinking is removed.
    pub(super) fn strips(&self) -> bool {
        self.rules.preserves_thinking && self.options.preserved_thinking == PreservedThinking::Strip
    }

    /// The first place that differs from the input. Removing thinking from the start is not a change.
    pub(super) fn first_change(&self, cut: &Cut) -> Option<StepPlace> {
        let of_cut = cut.slices.first().map(|slice| self.place_of_gap(slice, cut));
        let is_same_gap = cut.is_recorded || cut.slices.is_empty() && cut.stands_before.is_some();
        let of_front = (cut.is_first && !is_same_gap).then(|| (self.lead(), 1));
        let of_earlier = cut.stands_before.filter(|_| !is_same_gap).map(|before| (before, 1));
        let of_front = of_front.into_iter().chain(of_earlier).min();
        let changed = self.messages.changed();
        let compacted = changed.iter().filter_map(|&at| self.messages.get(at)).any(|message| {
            message.removed.or(message.pieces.first().and_then(|piece| piece.removed)) == Some(Reason::Compacted)
        });
        // The prefix begins at a signed compaction.
        let begins_there = compacted && self.has_signed_compaction();
        let of_messages = changed.iter().find_map(|&at| self.change_in(at, begins_there));
        let of_moved = self.newly_moved().map(|moved| (moved.call + 1, 1)).min();
        let first = of_cut.into_iter().chain(of_front).chain(of_messages).chain(of_moved).min();
        let thinking_goes = self.rules.preserves_thinking
            && changed.iter().filter_map(|&at| self.messages.get(at)).any(|message| {
                let is = |piece: &Piece<'_>| self.is_bound(piece) && piece.removed == Some(Reason::ReasoningRemoved);
                message.pieces.iter().any(is)
            });
        let of_chain = if thinking_goes { self.broken_chain() } else { None };
        first.into_iter().chain(of_chain).min()
    }

    /// The first place from which on bound thinking is invalid.
    pub(super) fn invalid_from(&self, cut: &Cut) -> Option<StepPlace> {
        let is_other_request = self.series.as_ref().is_some_and(|series| series.is_other_request);
        match self.change_since_last(cut) {
            _ if is_other_request => Some((0, 1)),
            Some(Some(at)) => Some((at, 1)),
            Some(None) => None,
            None => self.first_change(cut).into_iter().chain(self.lost_gap(cut)).min(),
        }
    }

    /// The place of the last fit's marker, if the cut no longer has one: the conversation begins with a user's turn again.
    fn lost_gap(&self, cut: &Cut) -> Option<StepPlace> {
        let gap = self.series.as_ref().and_then(Series::gap)?;
        (!cut.is_recorded && cut.added.is_none()).then_some((gap.before, 1))
    }

    /// Results that the last fit of the series did not put after their calls.
    pub(super) fn newly_moved(&self) -> impl Iterator<Item = &MovedResult> {
        let repeated = self.series.as_ref().map_or(0, |series| series.same);
        self.moved.iter().filter(move |moved| moved.result >= repeated)
    }

    /// The start of a cut, or of its marker, which precedes a run in one message that continues after the gap.
    fn place_of_gap(&self, first: &MessageSlice, cut: &Cut) -> StepPlace {
        let pieces = self.messages.get(first.message).map_or(&[][..], |message| &message.pieces);
        let last = cut.slices.iter().take_while(|slice| slice.message == first.message).last();
        let continues = last.is_some_and(|last| last.to < pieces.len());
        match pieces.get(first.from) {
            Some(piece) if cut.added.is_none() || !continues => place_of(first.message, piece),
            _ => (first.message, 1),
        }
    }

    /// The first changed place of a message, unless only thinking was removed from it.
    fn change_in(&self, at: usize, begins_at_compaction: bool) -> Option<StepPlace> {
        let (message, before) = (self.messages.get(at)?, self.messages.before(at)?);
        match message.removed {
            Some(_) if before.removed.is_some() => return None,
            Some(Reason::Compacted) => return (!begins_at_compaction).then_some((at, 1)),
            Some(_) if !message.is_thought() => return Some((at, 1)),
            _ => {}
        }
        let is_changed = |(piece, before): &(&Piece<'_>, &Piece<'_>)| match piece.removed {
            Some(_) if !before.is_there() => false,
            Some(Reason::Compacted) => !begins_at_compaction,
            Some(_) => piece.kind != Kind::Reasoning,
            None => piece.changes != before.changes,
        };
        message.pieces.iter().zip(&before.pieces).find(is_changed).map(|(piece, _)| place_of(at, piece))
    }

    /// The first thinking block that an edit removed while an earlier one is kept.
    fn broken_chain(&self) -> Option<StepPlace> {
        let mut stays = false;
        for (at, message) in self.messages.iter().enumerate() {
            for piece in message.pieces.iter().filter(|piece| self.is_bound(piece)) {
                match piece.removed.or(message.removed) {
                    None => stays = true,
                    Some(Reason::ReasoningRemoved) if stays => return Some(place_of(at, piece)),
                    Some(_) => {}
                }
            }
        }
        None
    }

    /// Removes the bound thinking from a place on that the cut keeps; returns the freed tokens.
    pub(super) fn strip(&mut self, from: StepPlace, cut: &Cut) -> u64 {
        let removed = Removed(&cut.slices);
        let mut touched: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, message) in (from.0..).zip(self.messages.range(from.0, self.messages.len())) {
            let is_invalid = |&(place, piece): &(usize, &Piece<'_>)| {
                self.is_bound(piece) && piece.is_there() && place_of(at, piece) >= from && !removed.has(at, place)
            };
            let pieces = message.pieces.iter().enumerate().filter(|_| message.removed.is_none()).filter(is_invalid);
            let pieces: Vec<usize> = pieces.map(|(place, _)| place).collect();
            if !pieces.is_empty() {
                touched.push((at, pieces));
            }
        }
        let mut freed = 0_u64;
        for (at, pieces) in touched {
            let Some(message) = self.messages.get_mut(at) else { continue };
            let before = message.now();
            for place in pieces {
                message.pieces.get_mut(place).map(|piece| piece.remove(Reason::ReasoningPrefixChanged));
            }
            drop_emptied(message);
            freed = freed.saturating_add(before.saturating_sub(message.now()));
        }
        freed
    }

    /// Removes thinking that is already invalid, before checking whether a cut is required.
    pub(super) fn strip_changed(&mut self) {
        if self.strips()
            && (self.messages.is_changed() || !self.moved.is_empty())
            && !self.series.as_ref().is_some_and(Series::is_afresh)
            && let Some(from) = self.first_change(&Cut::default())
        {
            self.strip(from, &Cut::default());
        }
    }

    /// Reports invalid thinking: removed blocks, or with `keep` those that stay.
    pub(super) fn report_thinking(&mut self, cut: &Cut) {
        if self.rules.withholds_thinking {
            self.report_withheld(cut);
        }
        let keeps = self.options.preserved_thinking == PreservedThinking::Keep;
        if !self.rules.preserves_thinking || !(keeps || self.strips()) {
            return;
        }
        let Some(from) = self.invalid_from(cut) else { return };
        let removed = Removed(&cut.slices);
        let fate = if keeps { ThinkingFate::Refused } else { ThinkingFate::Removed };
        let mut found = Vec::new();
        for (at, message) in (from.0..).zip(self.messages.range(from.0, self.messages.len())) {
            if message.removed.is_some_and(|reason| reason != Reason::ReasoningPrefixChanged) {
                continue;
            }
            let was_there = |place: usize| {
                let before = self.messages.before(at).filter(|before| before.removed.is_none());
                before.and_then(|before| before.pieces.get(place)).is_some_and(Piece::is_there)
            };
            let is_reported = |&(place, piece): &(usize, &Piece<'_>)| {
                let is_invalid = if keeps {
                    self.is_bound(piece) && piece.is_there() && place_of(at, piece) >= from
                } else {
                    piece.removed == Some(Reason::ReasoningPrefixChanged) && was_there(place)
                };
                is_invalid && !removed.has(at, place)
            };
            let reported = message.pieces.iter().enumerate().filter(is_reported);
            found.extend(reported.map(|(_, piece)| fate.in_chat(at, path_of(at, piece))));
        }
        self.diagnostics.extend(found);
    }

    /// Reports reasoning encrypted by OpenAI that the model may not see because an earlier message changed.
    fn report_withheld(&mut self, cut: &Cut) {
        let Some(from) = self.invalid_from(cut) else { return };
        let removed = Removed(&cut.slices);
        let mut withheld = Vec::new();
        for (at, message) in (from.0..).zip(self.messages.range(from.0, self.messages.len())) {
            let is = |&(place, piece): &(usize, &Piece<'_>)| {
                let is_sent = message.removed.is_none() && piece.is_there() && !removed.has(at, place);
                is_sent && piece.is_sealed_by_openai && place_of(at, piece) >= from
            };
            withheld.extend(message.pieces.iter().enumerate().filter(is).map(|(_, piece)| path_of(at, piece)));
        }
        if let Some(first) = withheld.first() {
            self.diagnostics.push(ThinkingFate::Withheld { count: withheld.len() }.in_chat(from.0, first.clone()));
        }
    }

    /// With `dropBlock`, the fields of the request by which the provider drops invalid blocks, and the header they
    /// require.
    pub(super) fn drop_block(&self) -> Option<(Map<String, Json>, Map<String, Json>)> {
        let drops = self.rules.preserves_thinking && self.options.preserved_thinking == PreservedThinking::DropBlock;
        let is_sent = |message: &Message<'_>| {
            message.removed.is_none() && message.pieces.iter().any(|piece| self.is_bound(piece) && piece.is_there())
        };
        if !drops || !self.messages.iter().any(is_sent) {
            return None;
        }
        drop_blocks_request(self.fields.thinking.as_ref())
    }
}

/// Removes a message, or steps of a run in one, in which only removed thinking was left.
fn drop_emptied(message: &mut Message<'_>) {
    const REASON: Reason = Reason::ReasoningPrefixChanged;
    if message.pieces.iter().filter(|piece| piece.is_there()).all(Piece::is_silent) {
        message.removed = Some(REASON);
        return;
    }
    if message.steps < 2 {
        return;
    }
    for step in message.pieces.chunk_by_mut(|a, b| a.step.max(1) == b.step.max(1)) {
        let is_stripped = step.iter().any(|piece| piece.removed == Some(REASON));
        let mut rest = step.iter().filter(|piece| piece.is_there()).peekable();
        if is_stripped && rest.peek().is_some() && rest.all(Piece::is_silent) {
            step.iter_mut().for_each(|piece| {
                piece.remove(REASON);
            });
            message.steps = message.steps.saturating_sub(1).max(1);
        }
    }
}

/// The path of a piece in a message.
fn path_of(at: usize, piece: &Piece<'_>) -> String {
    let mut path = format!("messages[{at}]");
    for step in piece.places.first().into_iter().flatten() {
        match step {
            Step::Key(key) => path.extend([".", key]),
            Step::At(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}
