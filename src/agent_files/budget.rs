//! The caller's budgets: per file, per level and in total.

use crate::markdown::lines;

use super::session::{Loss, Piece, SKILL, Session};

fn level(piece: &Piece) -> &'static str {
    if piece.kind == SKILL { "skills" } else { piece.scope }
}

/// Applies the budgets to the pieces of this step, those from `placed`. Earlier steps stay as they were placed.
pub(super) fn apply_budget(session: &mut Session<'_>, placed: usize) {
    let budget = &session.request.budget;
    if let Some(max) = budget.file {
        cut_long_pieces(session, placed, max);
    }
    for (name, max) in &budget.levels {
        keep_nearest(session, placed, |piece| level(piece) == *name, *max);
    }
    if let Some(max) = budget.total {
        keep_nearest(session, placed, |_| true, max);
    }
    session.drop_imports();
}

/// Cuts each piece that is over the budget for one file. One of which no line fits is left out.
fn cut_long_pieces(session: &mut Session<'_>, placed: usize, max: u32) {
    for mut piece in session.pieces.split_off(placed) {
        if piece.tokens <= max {
            session.pieces.push(piece);
            continue;
        }
        let Some((text, kept)) = cut(session, &piece.text, max) else {
            leave_out(session, &piece);
            continue;
        };
        let bytes = piece.text.len().saturating_sub(kept);
        let tokens = session.counter.count(&text);
        let lost = Some(piece.tokens.saturating_sub(tokens));
        session.losses.push(Loss { path: piece.path.clone(), reason: "budget", bytes, tokens: lost });
        (piece.text, piece.tokens, piece.truncated) = (text, tokens, true);
        session.pieces.push(piece);
    }
}

/// The most lines of a text that fit, with a marker, and their bytes.
fn cut(session: &Session<'_>, text: &str, max: u32) -> Option<(String, usize)> {
    let ends: Vec<usize> = lines(text).map(|line| line.text_end()).collect();
    let shown = |count: usize| {
        let end = *ends.get(count.checked_sub(1)?)?;
        let marker = format!("\n[… {} more lines omitted …]", ends.len().saturating_sub(count));
        let text = format!("{}{marker}", text.get(..end)?);
        session.counter.count_up_to(&text, max).map(|_| (text, end))
    };
    let (mut fits, mut count, mut over) = (None, 0_usize, ends.len());
    while over.saturating_sub(count) > 1 {
        let middle = count.midpoint(over);
        match shown(middle) {
            Some(found) => (fits, count) = (Some(found), middle),
            None => over = middle,
        }
    }
    fits
}

fn leave_out(session: &mut Session<'_>, piece: &Piece) {
    let (path, bytes, tokens) = (piece.path.clone(), piece.text.len(), Some(piece.tokens));
    session.losses.push(Loss { path, reason: "budget", bytes, tokens });
    session.drop_decision(&piece.path, piece.kind, "overBudget");
}

/// Removes the farthest of the pieces that a budget is for until it holds.
fn keep_nearest(session: &mut Session<'_>, placed: usize, is_limited: impl Fn(&Piece) -> bool, max: u32) {
    let earlier = session.pieces.get(..placed).unwrap_or_default().iter().filter(|piece| is_limited(piece));
    let mut left = max.saturating_sub(earlier.fold(0_u32, |sum, piece| sum.saturating_add(piece.tokens)));
    let mut kept = Vec::new();
    for piece in session.pieces.split_off(placed).into_iter().rev() {
        if !is_limited(&piece) {
            kept.push(piece);
        } else if piece.tokens <= left {
            left = left.saturating_sub(piece.tokens);
            kept.push(piece);
        } else {
            leave_out(session, &piece);
        }
    }
    kept.reverse();
    session.pieces.append(&mut kept);
}
