//! Reports content of a request that the model rejects.

use super::fit::{Cut, Fit};
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::anthropic::refused::{refused_cache_marks, refused_fields, refused_prefill};
use crate::vendors::bodies::breakpoints::MAX_BREAKPOINTS;
use crate::vendors::format::Format;

impl Fit<'_> {
    /// Reports fields of the request that the model rejects, messages that end with the model's, and too many cache
    /// breakpoints.
    pub(super) fn report_refused(&mut self, cut: &Cut) {
        if self.format == Format::Anthropic {
            self.report_cache_marks(cut);
        }
        // A list of messages alone is not a request.
        let is_request = self.fields_at.is_empty() || self.fields.model.is_some();
        let model = self.options.model.as_deref().or(self.fields.model.as_deref());
        let Some(model) = model.filter(|_| is_request) else { return };
        let mut found = Vec::new();
        for refused in refused_fields(model, |name| self.fields.refusable(name)) {
            let refusal = Diagnostic::new(refused.code, Severity::Warning, refused.message);
            found.push(refusal.at_path([self.fields_at, refused.name].concat()));
        }
        let is_whole = |at: usize| cut.slices.iter().any(|slice| slice.message == at && slice.from == 0);
        let last = self.messages.iter().enumerate().rev().find(|(at, it)| it.removed.is_none() && !is_whole(*at));
        if let Some((at, _)) = last.filter(|(_, message)| message.role == Role::Assistant)
            && let Some(message) = refused_prefill(model)
        {
            let refusal = Diagnostic::new(DiagnosticCode::PrefillRefused, Severity::Warning, message);
            found.push(refusal.at_path(format!("messages[{at}]")));
        }
        self.diagnostics.extend(found);
    }

    /// Reports more cache breakpoints than Anthropic accepts in a request, at the first message with one too many.
    fn report_cache_marks(&mut self, cut: &Cut) {
        let (mut count, mut first) = (self.facts.outside.cache_marks, None);
        let marked = if self.rules.has_cache_marks { self.messages.len() } else { 0 };
        let messages = self.messages.range(0, marked).enumerate();
        for (at, message) in messages.filter(|(_, message)| message.removed.is_none()) {
            let gone = cut.slices_of(at);
            let is_gone = |place: usize| gone.iter().any(|slice| (slice.from..slice.to).contains(&place));
            let pieces = message.pieces.iter().enumerate();
            let left = pieces.filter(|&(place, piece)| piece.is_there() && !is_gone(place));
            let more = left.map(|(_, piece)| piece.cache_marks_left()).sum::<usize>();
            count += more;
            first = first.or((more > 0 && count > MAX_BREAKPOINTS).then_some(at));
        }
        let Some(message) = refused_cache_marks(count) else { return };
        let found = Diagnostic::new(DiagnosticCode::CacheMarksRefused, Severity::Warning, message);
        self.diagnostics.push(match first {
            Some(at) => found.at_path(format!("messages[{at}]")),
            None => found,
        });
    }
}
