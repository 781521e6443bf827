//! The tokens of messages with shortened items; those of unchanged items follow from the sums.

use std::borrow::Cow;
use std::ops::Range;

use crate::assembly::costs::{Costs, break_after};
use crate::assembly::item::Item;
use crate::assembly::plan::{Plan, Planned};
use crate::content::Block;

/// Neighbors in one message.
#[derive(Debug)]
enum Piece<'p, 'a> {
    Unchanged(Range<usize>),
    Rewritten(&'p Item<'a>),
    Marker(&'p str),
}

impl<'a> Plan<'_, 'a> {
    /// Tokens of the content of the messages before `end`.
    pub(super) fn content_tokens(&self, planned: &Planned<'a>, end: usize) -> u64 {
        let costs = self.costs();
        let (mut total, mut run) = (0, 0..0);
        for at in self.system.messages()..end {
            match &*pieces(planned, at) {
                [Piece::Unchanged(items)] if !run.is_empty() && items.start == run.end => run.end = items.end,
                [Piece::Unchanged(items)] => {
                    total += costs.content_tokens(std::mem::replace(&mut run, items.clone()));
                }
                pieces => {
                    total += costs.content_tokens(std::mem::take(&mut run));
                    let tokens = self.tokens_of_pieces(&costs, pieces);
                    total += tokens.unwrap_or_else(|| self.prices.message(&self.content_of(planned, at)));
                }
            }
        }
        total + costs.content_tokens(run)
    }

    /// Tokens of a message, if counts are additive at the boundaries of its pieces.
    fn tokens_of_pieces(&self, costs: &Costs<'_>, pieces: &[Piece<'_, 'a>]) -> Option<u64> {
        // Without the thinking between them, texts of one item are joined.
        let is_joined = |parts: &[Block<'_>]| matches!(parts, [Block::Text(_), Block::Text(_)]);
        let joins =
            |piece: &Piece<'_, 'a>| matches!(piece, Piece::Rewritten(item) if item.parts.windows(2).any(is_joined));
        if pieces.iter().any(joins) {
            return None;
        }
        let mut total: i64 = 0;
        for (at, piece) in pieces.iter().enumerate() {
            let tokens = match piece {
                Piece::Unchanged(items) => costs.content_tokens(items.clone()),
                Piece::Rewritten(item) => item.parts.iter().map(|part| self.prices.block(part)).sum(),
                Piece::Marker(text) => self.prices.text(text),
            };
            total = total.saturating_add_unsigned(tokens);
            let next = pieces.get(at + 1).and_then(|next| self.first_text(costs, next));
            if let Some(next) = next
                && self.ends_with_text(costs, piece)
            {
                total += self.break_between(costs, piece, &next)?;
            }
        }
        u64::try_from(total).ok()
    }

    fn first_text<'p>(&'p self, costs: &Costs<'_>, piece: &Piece<'p, 'a>) -> Option<Cow<'p, str>> {
        match piece {
            Piece::Unchanged(items) if costs.begins_with_text(items.start) => self.items.first_text(items.start),
            Piece::Unchanged(_) => None,
            Piece::Rewritten(item) => item.parts.first().and_then(Block::as_text).map(Cow::Borrowed),
            Piece::Marker(text) => Some(Cow::Borrowed(text)),
        }
    }

    fn ends_with_text(&self, costs: &Costs<'_>, piece: &Piece<'_, 'a>) -> bool {
        match piece {
            Piece::Unchanged(items) => costs.ends_with_text(items.end.saturating_sub(1)),
            Piece::Rewritten(item) => matches!(item.parts.last(), Some(Block::Text(_))),
            Piece::Marker(_) => true,
        }
    }

    /// The cost of the break between a piece and a text, if counts are additive there.
    fn break_between(&self, costs: &Costs<'_>, piece: &Piece<'_, 'a>, next: &str) -> Option<i64> {
        if !self.prices.counter.is_additive_before(next) {
            return None;
        }
        match piece {
            Piece::Unchanged(items) => {
                let last = items.end.checked_sub(1)?;
                costs.is_uncoupled(last).then(|| self.items.break_after(last, &self.prices))
            }
            Piece::Rewritten(item) => Some(break_after(item.parts.last()?.as_text()?, &self.prices)),
            Piece::Marker(text) => Some(break_after(text, &self.prices)),
        }
    }
}

/// The pieces of a message, in order.
fn pieces<'p, 'a>(planned: &'p Planned<'a>, at: usize) -> Vec<Piece<'p, 'a>> {
    let mut pieces: Vec<Piece<'p, 'a>> = Vec::new();
    let places = planned.index.range(at);
    for place in places.start..=places.end {
        if planned.gap(at) == Some(place) {
            pieces.extend(planned.choice.marker.as_deref().map(Piece::Marker));
        }
        if place == places.end {
            break;
        }
        let item = planned.choice.item_at(place);
        match (planned.choice.rewritten(item), pieces.last_mut()) {
            (Some(item), _) => pieces.push(Piece::Rewritten(item)),
            (None, Some(Piece::Unchanged(run))) if run.end == item => run.end += 1,
            (None, _) => pieces.push(Piece::Unchanged(item..item + 1)),
        }
    }
    pieces
}
