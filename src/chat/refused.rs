//! Reports content of a request that the model rejects.

use super::entry::Entry;
use super::fit::{Cut, Fit};
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Value;
use crate::vendors::anthropic::refused::{refused_breakpoints, refused_fields, refused_prefill};

impl Fit<'_> {
    /// Reports fields of the request that the model rejects, and messages that end with the model's.
    pub(super) fn report_refused(&mut self, cut: &Cut) {
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
}

/// Reports more cache breakpoints in the messages of a result than Anthropic accepts in a request. `entries` are the
/// messages of the result, all of `list` if nothing changed.
pub(super) fn refused_cache_marks(list: &[Value<'_>], entries: Option<&[Entry]>) -> Option<Diagnostic> {
    let kept = entries.map(|entries| entries.iter().filter_map(Entry::index).collect::<Vec<usize>>());
    let kept = kept.unwrap_or_else(|| (0..list.len()).collect());
    let (at, message) = refused_breakpoints(kept.into_iter().filter_map(|at| Some((at, *list.get(at)?))))?;
    let found = Diagnostic::new(DiagnosticCode::CacheMarksRefused, Severity::Warning, message);
    Some(found.at_path(format!("messages[{at}]")))
}
