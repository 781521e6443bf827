//! Shortening the texts of a unit to a number of tokens (docs/chats.md).

use super::fit::Fit;
use super::pairs::MessageSlice;
use crate::assembly::protection::{MIN_FILLED_TOKENS, MIN_PROTECTED_TOKENS};
use crate::assembly::settings::{Fill, TEXT_MARKER};
use crate::assembly::shorten::{CLEARED_RESULT, RemovedEnd, largest_cap, shortened};
use crate::content::Role;
use crate::text::Clusters;
use crate::tokens::search;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{At, Kind, Message, Piece, Reason};

/// How to shorten texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortening<'m> {
    pub end: RemovedEnd,
    pub marker: &'m str,
    /// Minimal tokens of each text, without the marker.
    pub min_tokens: u64,
    pub reason: Reason,
}

impl Shortening<'static> {
    /// Keeps the beginning and the end of each text.
    pub(super) const fn middle(min_tokens: u64) -> Self {
        Self { end: RemovedEnd::Middle, marker: TEXT_MARKER, min_tokens, reason: Reason::Shortened }
    }
}

/// A text of a unit that may be shortened.
#[derive(Clone, Copy, Debug)]
struct TextSlot {
    at: At,
    number: usize,
    tokens: u64,
    is_result: bool,
}

/// A unit reduced to one call and its result.
#[derive(Debug, Default)]
pub(super) struct ReducedUnit {
    pieces: Vec<At>,
    /// The slices that are removed completely, and the rest.
    slices: Vec<MessageSlice>,
    kept: Vec<MessageSlice>,
    pub min_cost: u64,
}

/// A shortened text.
#[derive(Debug)]
struct ShortenedText {
    slot: TextSlot,
    text: String,
    tokens: u64,
}

impl<'r> Fit<'r> {
    /// Shortens a unit to `allowance` tokens: its results; otherwise, with [`Fill::All`], all its texts; otherwise clears
    /// its results. Returns the new cost. Returns `None`, without a change, if none of this suffices.
    pub(super) fn shorten_unit(
        &mut self,
        unit: &[MessageSlice],
        allowance: u64,
        fill: Fill,
        min_tokens: u64,
    ) -> Option<u64> {
        let cost = self.unit_cost(unit);
        if cost <= allowance {
            return Some(cost);
        }
        let slots = self.text_slots(unit);
        let how = Shortening::middle(min_tokens);
        let results: Vec<TextSlot> = slots.iter().copied().filter(|slot| slot.is_result).collect();
        let texts = self.shortened_texts(&results, cost, allowance, how);
        let texts = match texts {
            None if fill == Fill::All => self.shortened_texts(&slots, cost, allowance, how),
            texts => texts,
        };
        match texts {
            Some(texts) => Some(self.put_shortened(texts, cost, how.reason)),
            None => self.clear_results(unit, cost, allowance),
        }
    }

    /// Shortens the last cleared result to the remaining tokens instead, if enough of it can be kept; returns the
    /// tokens used.
    pub(super) fn shorten_cleared(&mut self, at: At, whole: Piece<'r>, left: u64) -> u64 {
        if self.options.fill == Fill::Off || self.edits.always || self.edits.step > 0 || self.makes_steps() {
            return 0;
        }
        let Some(piece) = self.messages.piece_mut(at) else { return 0 };
        let cleared = std::mem::replace(piece, whole);
        let slice = MessageSlice { message: at.0, from: at.1, to: at.1 + 1 };
        let overhead = self.messages.get(at.0).map_or(0, |message| message.overhead);
        let allowance = cleared.now.saturating_add(left).saturating_add(overhead);
        let how = Shortening { reason: Reason::ResultShortened, ..Shortening::middle(MIN_FILLED_TOKENS) };
        let before = cleared.now;
        let is_shortened = self.shorten_texts(&[slice], allowance, how);
        let Some(piece) = self.messages.piece_mut(at) else { return 0 };
        if !is_shortened {
            *piece = cleared;
        }
        piece.now.saturating_sub(before)
    }

    /// Shortens all texts of a unit. Returns false, without a change, if that is not enough.
    pub(super) fn shorten_texts(&mut self, unit: &[MessageSlice], allowance: u64, how: Shortening<'_>) -> bool {
        let cost = self.unit_cost(unit);
        let slots = self.text_slots(unit);
        let texts = self.shortened_texts(&slots, cost, allowance, how);
        texts.map(|texts| self.put_shortened(texts, cost, how.reason)).is_some()
    }

    /// A unit reduced to one of its calls with its result: the removed pieces, and the minimal tokens of the rest.
    /// `None` if other pieces depend on removed ones.
    pub(super) fn reduced_unit(&self, unit: &[MessageSlice], call: At) -> Option<ReducedUnit> {
        let pair = self.pairs.answered.binary_search_by(|(known, _)| known.cmp(&call)).ok();
        let result = pair.and_then(|pair| self.pairs.answered.get(pair)).map_or(call, |&(_, result)| result);
        let mut reduced = ReducedUnit::default();
        for &slice in unit {
            let message = self.messages.get(slice.message)?;
            let (mut stays, mut removed) = (false, Vec::new());
            let pieces = message.pieces.iter().enumerate().take(slice.to).skip(slice.from);
            for (place, piece) in pieces.filter(|(_, piece)| piece.is_there()) {
                let at = (slice.message, place);
                let is_first_of_gemini =
                    self.format == Format::Gemini && at < call && matches!(piece.kind, Kind::Call { .. });
                if matches!(piece.kind, Kind::Approval { .. }) || piece.caller.is_some() || is_first_of_gemini {
                    return None;
                }
                // A text that is its message's whole content cannot be removed from it.
                let is_content = piece.places.is_empty();
                if at == call || at == result || piece.kind == Kind::Reasoning || piece.tokens == 0 || is_content {
                    stays |= at == call || at == result || piece.kind == Kind::Reasoning;
                } else {
                    removed.push(at);
                }
            }
            if stays {
                reduced.pieces.extend(removed);
                reduced.kept.push(slice);
            } else {
                reduced.slices.push(slice);
            }
        }
        reduced.min_cost = self.min_cost_without(&reduced.kept, &reduced.pieces, MIN_PROTECTED_TOKENS);
        Some(reduced)
    }

    /// Reduces a unit to one of its calls, and shortens the result as far as needed. Returns the cost and the slices
    /// that are removed completely.
    pub(super) fn reduce_unit(
        &mut self,
        unit: &[MessageSlice],
        call: At,
        allowance: u64,
    ) -> Option<(u64, Vec<MessageSlice>)> {
        let reduced = self.reduced_unit(unit, call)?;
        let before: Vec<(At, Piece<'r>)> = reduced
            .pieces
            .iter()
            .filter_map(|&at| {
                let piece = self.messages.piece_mut(at)?;
                let before = piece.clone();
                piece.remove(Reason::OverLimit);
                Some((at, before))
            })
            .collect();
        let cost = self.shorten_unit(&reduced.kept, allowance, Fill::All, MIN_PROTECTED_TOKENS);
        if cost.is_none() {
            for (at, piece) in before {
                self.messages.piece_mut(at).into_iter().for_each(|place| *place = piece.clone());
            }
        }
        cost.map(|cost| (cost, reduced.slices))
    }

    /// The minimal tokens that a unit can be shortened to.
    pub(super) fn min_cost(&self, unit: &[MessageSlice], min_tokens: u64) -> u64 {
        self.min_cost_without(unit, &[], min_tokens)
    }

    /// Like [`Self::min_cost`], with some pieces removed.
    fn min_cost_without(&self, unit: &[MessageSlice], pieces: &[At], min_tokens: u64) -> u64 {
        let piece_cost = |&(at, place): &At| self.messages.get(at)?.pieces.get(place).map(|piece| piece.now);
        let gone: u64 = pieces.iter().filter_map(piece_cost).sum();
        let cost = self.unit_cost(unit).saturating_sub(gone);
        let cap = min_tokens.saturating_add(self.prices.text(TEXT_MARKER));
        let slots = self.text_slots(unit).into_iter().filter(|slot| !pieces.contains(&slot.at));
        let shortened: u64 = slots.map(|slot| slot.tokens.saturating_sub(cap)).sum();
        let cleared = self.cleared(unit, self.placeholder_tokens());
        let cleared: u64 = cleared.iter().filter(|(at, _)| !pieces.contains(at)).map(|&(_, freed)| freed).sum();
        cost.saturating_sub(shortened.max(cleared))
    }

    /// Tokens of a unit in its current state.
    fn unit_cost(&self, unit: &[MessageSlice]) -> u64 {
        let slice_cost = |slice: &MessageSlice| {
            let message = self.messages.get(slice.message)?;
            let pieces = message.pieces.iter().take(slice.to).skip(slice.from);
            Some(pieces.map(|piece| piece.now).fold(message.overhead, u64::saturating_add))
        };
        unit.iter().filter_map(slice_cost).fold(0, u64::saturating_add)
    }

    fn text_slots(&self, unit: &[MessageSlice]) -> Vec<TextSlot> {
        let mut slots = Vec::new();
        for slice in unit {
            let Some(message) = self.messages.get(slice.message) else { continue };
            let pieces = message.pieces.iter().enumerate().take(slice.to).skip(slice.from);
            // Free content has no tokens to save.
            for (place, piece) in pieces.filter(|(_, piece)| piece.is_there() && message.unbilled.is_none()) {
                let is_result = matches!(piece.kind, Kind::Result { .. } | Kind::CallAndResult { .. });
                let texts = piece.texts.iter().enumerate().filter(|(_, text)| !text.text.is_empty());
                let at = (slice.message, place);
                slots.extend(texts.map(|(number, text)| TextSlot { at, number, tokens: text.tokens, is_result }));
            }
        }
        slots
    }

    /// The longer texts cut to the same number of tokens, the largest with which a unit of this cost fits.
    fn shortened_texts(
        &self,
        slots: &[TextSlot],
        cost: u64,
        allowance: u64,
        how: Shortening<'_>,
    ) -> Option<Vec<ShortenedText>> {
        let tokens: u64 = slots.iter().map(|slot| slot.tokens).sum();
        let budget = allowance.checked_sub(cost.saturating_sub(tokens))?;
        let cap = largest_cap(slots.iter().map(|slot| slot.tokens).collect(), budget)?;
        if cap < how.min_tokens.saturating_add(self.prices.text(how.marker)) {
            return None;
        }
        let mut total = tokens;
        let mut texts = Vec::new();
        for &slot in slots.iter().filter(|slot| slot.tokens > cap) {
            let shortened = self.shortened_text(slot, cap, how)?;
            total = total.saturating_sub(slot.tokens).saturating_add(shortened.tokens);
            texts.push(shortened);
        }
        (total <= budget).then_some(texts)
    }

    fn shortened_text(&self, slot: TextSlot, cap: u64, how: Shortening<'_>) -> Option<ShortenedText> {
        let piece = self.messages.get(slot.at.0)?.pieces.get(slot.at.1)?;
        let text = &piece.texts.get(slot.number)?.text;
        let clusters = Clusters::new(text);
        let cut = |keep: usize| shortened(how.end, how.marker, text, &clusters, keep);
        let guess = text.len() as u64;
        let guess = usize::try_from(guess.saturating_mul(cap) / slot.tokens.max(1)).unwrap_or(usize::MAX);
        let keep = search::largest(1, text.len(), guess, cap, |keep| self.prices.text(&cut(keep)));
        let text = cut(keep.unwrap_or(1));
        let tokens = self.prices.text(&text);
        (tokens < slot.tokens).then_some(ShortenedText { slot, text, tokens })
    }

    /// Applies shortened texts; returns the new cost of the unit.
    fn put_shortened(&mut self, texts: Vec<ShortenedText>, cost: u64, reason: Reason) -> u64 {
        let mut cost = cost;
        for ShortenedText { slot, text, tokens } in texts {
            cost = cost.saturating_sub(slot.tokens).saturating_add(tokens);
            if let Some(piece) = self.messages.piece_mut(slot.at) {
                piece.shorten(slot.number, text, tokens, reason);
            }
        }
        cost
    }

    fn placeholder(&self) -> &str {
        self.edits.tool_results.as_ref().map_or(CLEARED_RESULT, |edit| &edit.placeholder)
    }

    fn placeholder_tokens(&self) -> u64 {
        self.prices.text(self.placeholder())
    }

    /// The results of a unit that the placeholder can replace, with the tokens that each frees.
    fn cleared(&self, unit: &[MessageSlice], placeholder: u64) -> Vec<(At, u64)> {
        let mut cleared = Vec::new();
        let is_models = |message: &Message<'_>| message.role == Role::Assistant && message.removed.is_none();
        let read_to = self.messages.iter().rposition(is_models).unwrap_or(0);
        // Unread results are never cleared.
        for slice in unit.iter().filter(|slice| slice.message <= read_to) {
            let Some(message) = self.messages.get(slice.message) else { continue };
            let pieces = message.pieces.iter().enumerate().take(slice.to).skip(slice.from);
            for (place, piece) in pieces.filter(|(_, piece)| piece.is_there() && piece.body.is_some()) {
                let freed = piece.now.saturating_sub(piece.outside_body.saturating_add(placeholder));
                if freed > 0 && matches!(piece.kind, Kind::Result { .. } | Kind::CallAndResult { .. }) {
                    cleared.push(((slice.message, place), freed));
                }
            }
        }
        cleared
    }

    /// Clears the results of a unit if it fits then.
    fn clear_results(&mut self, unit: &[MessageSlice], cost: u64, allowance: u64) -> Option<u64> {
        let tokens = self.placeholder_tokens();
        let cleared = self.cleared(unit, tokens);
        let freed: u64 = cleared.iter().map(|&(_, freed)| freed).sum();
        let cost = cost.saturating_sub(freed);
        if cleared.is_empty() || cost > allowance {
            return None;
        }
        let placeholder = self.placeholder().to_owned();
        for (at, _) in cleared {
            if let Some(piece) = self.messages.piece_mut(at) {
                piece.put_text(&placeholder, tokens, Reason::ResultCleared);
            }
        }
        Some(cost)
    }
}
