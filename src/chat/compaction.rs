//! Compactions: a block or an item of the provider that replaces everything before it (docs/chats.md).

use super::fit::Fit;
use crate::assembly::settings::Strategy;
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{At, Message, Reason};

impl Fit<'_> {
    /// The newest remaining compaction.
    pub(super) fn compaction(&self) -> Option<At> {
        if !self.rules.has_compactions {
            return None;
        }
        let newest = |(at, message): (usize, &Message<'_>)| {
            let piece = message.pieces.iter().rposition(|piece| piece.is_compaction && piece.is_there());
            piece.filter(|_| message.removed.is_none()).map(|piece| (at, piece))
        };
        self.messages.iter().enumerate().rev().find_map(newest)
    }

    /// Whether the newest compaction is signed, so that the prefix of later thinking begins there.
    pub(super) fn has_signed_compaction(&self) -> bool {
        let piece = self.compaction().and_then(|(at, piece)| self.messages.get(at)?.pieces.get(piece));
        piece.is_some_and(|piece| piece.signed)
    }

    /// Whether a message begins a conversation as a compaction may.
    pub(super) fn is_compaction(&self, at: usize) -> bool {
        let message = self.messages.get(at);
        message.is_some_and(|message| message.pieces.iter().any(|piece| piece.is_compaction && piece.is_there()))
    }

    /// Removes everything before the newest compaction, if anything has to be removed; returns the compaction's place.
    pub(super) fn compact(&mut self) -> Option<At> {
        let needed = self.needed();
        let is_over = needed > self.course.limit && self.options.truncation_strategy != Strategy::StopAtLimit;
        if !is_over && !self.course.compacts && !self.edits.is_due(needed, self.edit_target()) {
            return None;
        }
        let (at, piece) = self.compaction()?;
        let kept = self.calls_across(at);
        let mut gone = Vec::new();
        for index in 0..at {
            let Some(message) = self.messages.get(index).filter(|message| message.removed.is_none()) else { continue };
            // Anthropic accepts no instructions before the first turn.
            let stays = message.role == Role::System && self.format != Format::Anthropic || kept.contains(&index);
            if !stays {
                gone.push(index);
            }
        }
        self.report_unpinned(&gone, at);
        for index in gone {
            self.remove(index, Some(Reason::Compacted));
        }
        let step = self.messages.get(at).and_then(|message| message.pieces.get(piece)).map_or(0, |piece| piece.step);
        if step > 1
            && let Some(message) = self.messages.get_mut(at)
        {
            drop_steps_before(message, step);
        }
        Some((at, piece))
    }

    /// The messages before one whose calls are answered after it: without them the answers would be rejected.
    fn calls_across(&self, at: usize) -> Vec<usize> {
        let pairs = self.pairs.answered.iter().filter(|(call, result)| call.0 < at && result.0 > at);
        pairs.map(|(call, _)| call.0).collect()
    }

    /// Reports options that name messages replaced by a compaction.
    fn report_unpinned(&mut self, gone: &[usize], at: usize) {
        let first = self.lead().saturating_add(usize::try_from(self.options.keep_first).unwrap_or(usize::MAX));
        let pinned = self.options.pinned.iter().filter(|pinned| gone.contains(pinned)).count();
        let kept = gone.iter().filter(|&&index| index < first && self.options.keep_first > 0).count();
        for (option, count) in [("pinned", pinned), ("keepFirst", kept)] {
            if count > 0 {
                let message = format!(
                    "`{option}` names {count} of the messages that the compaction in message {at} replaces; they were left out"
                );
                let ignored = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
                self.diagnostics.push(ignored.at_path(format!("options.{option}")));
            }
        }
    }
}

/// Removes the steps of a run in one message before a step.
fn drop_steps_before(message: &mut Message<'_>, step: usize) {
    let mut last = 0;
    for piece in message.pieces.iter_mut().filter(|piece| piece.step < step && piece.is_there()) {
        if piece.step > last {
            last = piece.step;
            message.steps = message.steps.saturating_sub(1).max(1);
        }
        piece.remove(Reason::Compacted);
    }
}
