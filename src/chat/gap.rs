//! The gap of a cut: its marker or summary, and whether it separates two turns of the model (docs/chats.md).

use super::fit::{Fit, SUMMARY_PREFIX};
use super::options::Phase;
use super::report::AddedKind;
use super::unit_index::CuttableUnits;
use crate::assembly::costs::Costs;
use crate::assembly::item::Kept;
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::text::{Clusters, trim};
use crate::tokens::search;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Message, PER_MESSAGE};

impl Fit<'_> {
    /// Whether a cut without a marker makes two turns of the model adjacent, and the vendor merges them.
    pub(super) fn wants_user(&self, free: &CuttableUnits, cut: Kept) -> bool {
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

    /// Like [`Self::wants_user`], for a cut with several gaps because messages between them are kept. The first gap may
    /// have a marker.
    pub(super) fn breaks_turns(&self, free: &CuttableUnits, cut: Kept, mut marked: bool) -> bool {
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

    /// Whether the vendor merges adjacent messages of one role. A marker, which is a user message, then separates them.
    pub(super) fn merges(&self) -> bool {
        matches!(self.format, Format::Anthropic | Format::Gemini)
    }

    /// Tokens of the overhead of a user message.
    pub(super) fn message_overhead(&self) -> u64 {
        PER_MESSAGE + self.prices.text("user")
    }

    /// The marker or the summary. A summary of an earlier fit that no new one replaces is kept, followed by the marker.
    pub(super) fn gap_text(
        &self,
        costs: &Costs<'_>,
        count: usize,
        summary: Option<&str>,
    ) -> Option<(AddedKind, String)> {
        if let Some(summary) = summary {
            let marker = if count > 0 || costs.omits_earlier() { costs.marker(count) } else { None };
            return Some((AddedKind::Summary, with_marker(summary, marker.as_deref())));
        }
        match &self.phase {
            Phase::Finish(Some(summary)) => Some((AddedKind::Summary, self.summary(summary))),
            Phase::Plan => Some((AddedKind::Summary, SUMMARY_PREFIX.to_owned())),
            Phase::Fit | Phase::Finish(None) => Some((AddedKind::Marker, costs.marker(count)?)),
        }
    }

    /// Reserves the tokens of a summary: those requested, at least a sentence, and at most half of the tokens that the
    /// messages always kept leave.
    pub(super) fn reserve_summary(&mut self, fixed: u64) {
        let wanted = self.options.summary_tokens.unwrap_or(self.limit / 4);
        let least = self.prices.text(&cut_summary(""));
        let half = self.cut_limit().saturating_sub(fixed) / 2;
        let limit = wanted.max(least.saturating_add(MIN_SUMMARY_TOKENS)).min(half).max(least);
        if limit != wanted && self.options.summary_tokens.is_some() {
            let message = format!(
                "`summary.maxTokens` is {wanted}; the summary gets {limit} tokens, including {least} for its prefix"
            );
            let adjusted = Diagnostic::new(DiagnosticCode::InvalidValue, Severity::Warning, message);
            self.diagnostics.push(adjusted.at_path("options.summary.maxTokens"));
        }
        self.summary_limit = limit;
    }

    /// A summary with its prefix, cut to its limit.
    fn summary(&self, summary: &str) -> String {
        let (text, most) = (trim(summary), self.summary_limit);
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

/// A summary with the marker for messages removed after it.
pub(super) fn with_marker(summary: &str, marker: Option<&str>) -> String {
    marker.map_or_else(|| summary.to_owned(), |marker| [summary, marker].join("\n\n"))
}

/// Minimal tokens of a summary without its prefix.
const MIN_SUMMARY_TOKENS: u64 = 16;

/// A summary, cut at its end.
fn cut_summary(beginning: &str) -> String {
    [SUMMARY_PREFIX, trim(beginning), " […]"].concat()
}
