//! Reads answers with the provider's reader, and folds events with the provider's fold.

use serde_json::{Map, Value};

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::vendors::blocks::text;
use crate::vendors::bodies::target::Provider;
use crate::vendors::replies::reply::Replies;
use crate::vendors::replies::stream::set;
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::{anthropic, gemini, gemini_interactions, openai_chat, openai_responses};

/// The field that identifies an answer.
fn field(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "content",
        Provider::OpenAi | Provider::Completion => "choices",
        Provider::OpenAiResponses => "output",
        Provider::Gemini => "candidates",
        Provider::GeminiInteractions => "steps",
    }
}

/// Reads a whole answer.
pub(super) fn whole(provider: Provider, whole: &Map<String, Value>, notes: &mut UnreadFields) -> Result<Replies> {
    refuse_error(provider, whole)?;
    let field = field(provider);
    // The answer to a blocked prompt has no candidates.
    if !whole.contains_key(field) && !whole.contains_key("promptFeedback") {
        let message = format!(
            "`response` is not an answer of `{}`: it has no `{field}`; pass the body or its events unchanged, and the right provider",
            provider.name()
        );
        return Err(Error::new(Code::InvalidInput, message).with("path", "response"));
    }
    Ok(match provider {
        Provider::Anthropic => anthropic::reply::read(whole, notes),
        Provider::OpenAi | Provider::Completion => openai_chat::reply::read(whole, notes),
        Provider::OpenAiResponses => openai_responses::reply::read(whole, notes),
        Provider::Gemini => gemini::reply::read(whole, notes),
        Provider::GeminiInteractions => gemini_interactions::reply::read(whole, notes),
    })
}

/// Fails with [`Code::ProviderError`] if an answer, or an event of one, is an error of the provider.
fn refuse_error(provider: Provider, given: &Map<String, Value>) -> Result<()> {
    let kind = text(given, "type").or_else(|| text(given, "event_type")).unwrap_or_default();
    // OpenAI's Responses have the fields of an error in the event itself, other APIs in `error`.
    let of_event = || (kind == "error").then(|| Value::Object(given.clone()));
    let inner = given.get("error").or_else(|| given.get("response")?.get("error"));
    let is_error = |error: &&Value| match error {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    let Some(error) = inner.filter(is_error).cloned().or_else(of_event) else { return Ok(()) };
    let word = |name: &str| error.get(name).and_then(Value::as_str).filter(|word| *word != "error");
    let name = word("type").or_else(|| word("status")).or_else(|| word("code"));
    let name = name.map(|name| format!(", `{name}`")).unwrap_or_default();
    let said = error.as_str().or_else(|| word("message")).unwrap_or("no message");
    let message = format!("the provider's answer is an error{name}: {said}");
    Err(Error::new(Code::ProviderError, message).with("provider", provider.name()).with("error", error))
}

/// The events of a stream, folded.
#[derive(Debug)]
pub(super) struct Events {
    provider: Provider,
    /// The answer so far.
    whole: Map<String, Value>,
    count: usize,
    known: usize,
}

impl Events {
    pub(super) fn new(provider: Provider) -> Self {
        Self { provider, whole: Map::new(), count: 0, known: 0 }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`Code::ProviderError`] if it is an error.
    pub(super) fn add(&mut self, event: Map<String, Value>, notes: &mut UnreadFields) -> Result<()> {
        refuse_error(self.provider, &event)?;
        self.count += 1;
        let whole = &mut self.whole;
        let is_known = match self.provider {
            Provider::Anthropic => anthropic::reply::add(whole, event, notes),
            Provider::OpenAi | Provider::Completion => openai_chat::reply::add(whole, event),
            Provider::OpenAiResponses => openai_responses::reply::add(whole, event, notes),
            Provider::Gemini => gemini::reply::add(whole, event),
            Provider::GeminiInteractions => gemini_interactions::reply::add(whole, event, notes),
        };
        self.known += usize::from(is_known);
        Ok(())
    }

    /// The answer received so far, and whether it is complete.
    pub(super) fn finish(mut self, notes: &mut UnreadFields) -> Result<Replies> {
        if self.known == 0 && self.count > 0 {
            let name = self.provider.name();
            let message = format!(
                "`response` holds no event of a stream of `{name}`; pass the events as received, and the right provider"
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "response"));
        }
        let field = field(self.provider);
        if !self.whole.contains_key(field) {
            set(&mut self.whole, field, Value::Array(Vec::new()));
        }
        let replies = whole(self.provider, &self.whole, notes)?;
        let mut cut_off = |reply| {
            let text = "the stream has no end event; the part received was used";
            notes.find(reply, Diagnostic::new(DiagnosticCode::ReplyCutOff, Severity::Warning, text));
        };
        if replies.replies.is_empty() && replies.stop_reason.is_none() {
            cut_off(None);
        }
        for (at, reply) in replies.replies.iter().enumerate() {
            if reply.stop_reason.is_none() {
                cut_off(Some(at));
            }
        }
        Ok(replies)
    }
}
