//! Answers read by the provider's reader, and events folded by the provider's fold.

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reply::Replies;
use super::stream::Stream;
use super::{anthropic, gemini, openai_chat, openai_responses};
use crate::content::Block;
use crate::content::vendor::text;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::prompt::bodies::Provider;

/// Reads a whole answer.
pub(super) fn whole(provider: Provider, whole: &Map<String, Value>, notes: &mut Notes) -> Result<Replies> {
    refuse_error(provider, whole)?;
    let field = match provider {
        Provider::Anthropic => "content",
        Provider::OpenAi | Provider::Completion => "choices",
        Provider::OpenAiResponses => "output",
        // A prompt that is blocked has no candidates.
        Provider::Gemini if whole.contains_key("promptFeedback") => "promptFeedback",
        Provider::Gemini => "candidates",
    };
    if !whole.contains_key(field) {
        let message = format!(
            "`response` is no answer of `{}`: it has no `{field}`; give the body of the answer as the provider sent it, or the events \
             of its stream, and the provider that it is of",
            provider.name()
        );
        return Err(Error::new(Code::InvalidInput, message).with("path", "response"));
    }
    let mut replies = match provider {
        Provider::Anthropic => anthropic::read(whole, notes),
        Provider::OpenAi => openai_chat::read(whole, notes),
        Provider::Completion => openai_chat::read_completion(whole, notes),
        Provider::OpenAiResponses => openai_responses::read(whole, notes),
        Provider::Gemini => gemini::read(whole, notes),
    };
    replies.replies.iter_mut().for_each(|reply| join_texts(&mut reply.blocks));
    Ok(replies)
}

/// Fails with [`Code::ProviderError`] where an answer, or an event of one, is an error of the provider.
fn refuse_error(provider: Provider, given: &Map<String, Value>) -> Result<()> {
    let kind = text(given, "type").unwrap_or_default();
    // OpenAI's Responses have the fields of an error in the event itself, others have an `error`.
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
    let said = error.as_str().or_else(|| word("message")).unwrap_or("it says no more");
    let message = format!("the provider's answer is an error{name}: {said}");
    Err(Error::new(Code::ProviderError, message).with("provider", provider.name()).with("error", error))
}

/// Joins texts that stand beside each other: providers cut a text where citations begin, and where a stream did.
fn join_texts(blocks: &mut Vec<Block<'static>>) {
    let mut joined: Vec<Block<'static>> = Vec::with_capacity(blocks.len());
    for block in std::mem::take(blocks) {
        match (joined.last_mut(), block) {
            (Some(Block::Text(before)), Block::Text(text)) => before.to_mut().push_str(&text),
            (_, block) => joined.push(block),
        }
    }
    joined.retain(|block| block.as_text() != Some(""));
    *blocks = joined;
}

/// The events of a stream.
#[derive(Debug)]
pub(super) struct Events {
    provider: Provider,
    stream: Stream,
    count: usize,
    known: usize,
}

impl Events {
    pub(super) fn new(provider: Provider) -> Self {
        Self { provider, stream: Stream::default(), count: 0, known: 0 }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`Code::ProviderError`] where it is an error.
    pub(super) fn add(&mut self, event: Map<String, Value>, notes: &mut Notes) -> Result<()> {
        refuse_error(self.provider, &event)?;
        self.count += 1;
        let is_known = match self.provider {
            Provider::Anthropic => anthropic::add(&mut self.stream, &event, notes),
            Provider::OpenAi | Provider::Completion => openai_chat::add(&mut self.stream, event, notes),
            Provider::OpenAiResponses => openai_responses::add(&mut self.stream, event, notes),
            Provider::Gemini => gemini::add(&mut self.stream, event),
        };
        self.known += usize::from(is_known);
        Ok(())
    }

    /// The answer as far as it came, and whether it is at its end.
    pub(super) fn finish(mut self, notes: &mut Notes) -> Result<Replies> {
        if self.known == 0 && self.count > 0 {
            let message = format!(
                "`response` holds no event of a stream of `{}`; give the events as they came, and the provider that they are of",
                self.provider.name()
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "response"));
        }
        let stream = &mut self.stream;
        match self.provider {
            Provider::Anthropic => anthropic::finish(stream),
            Provider::OpenAi | Provider::Completion => openai_chat::finish(stream),
            Provider::OpenAiResponses => openai_responses::finish(stream),
            Provider::Gemini => gemini::finish(stream),
        }
        let replies = whole(self.provider, &self.stream.whole, notes)?;
        let cut_off = |what: &str| {
            let text = format!("{what}, so the stream was cut off or goes on; this is what there is so far");
            Diagnostic::new(DiagnosticCode::ReplyCutOff, Severity::Warning, text)
        };
        if replies.replies.is_empty() && replies.stop_reason.is_none() {
            notes.find(cut_off("no event of an answer has come"));
        }
        for (at, reply) in replies.replies.iter().enumerate() {
            if reply.stop_reason.is_none() {
                notes.find_in(at, cut_off("the last events do not say why the answer ends"));
            }
        }
        Ok(replies)
    }
}
