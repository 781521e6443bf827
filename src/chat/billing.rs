//! Messages that a provider does not bill: reasoning of earlier turns that the model does not read, and cleared
//! instructions (docs/chat-costs.md).

use super::options::{FitOptions, RequestFields};
use crate::assembly::settings::Strategy;
use crate::tokens::models;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::Message;

/// Which messages before the last user message are free of charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Billing {
    /// Whether reasoning of earlier turns is billed.
    earlier_reasoning: bool,
    /// Whether everything is billed: the fit may remove the last user message, so no message is certainly earlier.
    all: bool,
}

impl Billing {
    /// Decides by the field `reasoning` of the request, otherwise by the model. Without a model everything is billed.
    pub(super) fn new(format: Format, options: &FitOptions, request: &RequestFields) -> Self {
        let model = options.model.as_deref().or(request.model.as_deref());
        let context = request.reasoning.as_ref().and_then(|reasoning| reasoning.get("context")?.as_str());
        let reads_all = match context {
            Some("all_turns") => true,
            Some("current_turn") => false,
            _ => model.and_then(models::reads_all_reasoning).unwrap_or(true),
        };
        let is_openai = matches!(format, Format::Responses | Format::Agents);
        let all = options.truncation_strategy == Strategy::KeepStart || !options.end_on.is_empty();
        Self { earlier_reasoning: !is_openai || reads_all, all }
    }

    /// Sets the costs of the messages; returns the indices of those whose costs changed.
    pub(super) fn apply(self, messages: &mut [Message<'_>]) -> Vec<usize> {
        let last_user = messages.iter().rposition(Message::has_user_content).filter(|_| !self.all).unwrap_or(0);
        let mut changed = Vec::new();
        for (at, message) in messages.iter_mut().enumerate() {
            let is_free = message.clears || !self.earlier_reasoning && message.is_thought();
            if message.set_billed(!is_free || at >= last_user) {
                changed.push(at);
            }
        }
        changed
    }
}
