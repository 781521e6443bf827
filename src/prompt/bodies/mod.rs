//! Request bodies: messages or a document in the shape that a provider takes, as JSON in UTF-8, ready to be sent
//! (SPEC §1 "Provider bodies").
//!
//! The shapes are those of the vendors' published TypeScript types, which check every golden body. What a provider
//! cannot express is a diagnostic; docs/bodies.md has the list.
//!
//! Messages are brought into an order that every provider takes (normalize.rs); then the provider's file writes them
//! turn by turn. Messages that are nothing but texts need no normalizing, and are copied from the last body where they
//! stand in it (reuse.rs).

use crate::content::{Block, Role};
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::anthropic::refused::{refused_fields, refused_prefill};
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::completion;
use crate::vendors::bodies::conversation::{Conversation, is_regular};
use crate::vendors::bodies::reuse::{MessageSource, WrittenBody, size_hint};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::format::Format;
use crate::vendors::message::Message;
use crate::vendors::{
    ai_sdk, anthropic, gemini, gemini_interactions, generic, langchain, openai_agents, openai_chat, openai_responses,
};

pub use crate::json::escape_into;
pub use crate::vendors::bodies::target::{
    CacheMessages, CacheSettings, CacheTtl, Hints, OPENING_TEXT, Provider, Target,
};

/// Writes the body of a request for these messages.
///
/// What the provider cannot express, and what had to be changed, is appended to `diagnostics`. Texts are escaped straight
/// into the bytes; nothing in between is built of them.
///
/// # Errors
/// [`Code::InvalidInput`] for [`Provider::Completion`], which takes a document: see [`write_completion`].
pub fn write_body(
    system: Option<&str>,
    messages: &[Message<'_>],
    target: &Target,
    hints: &Hints,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>> {
    let (first, rest) = match messages.split_first() {
        Some((Message { role, content, .. }, rest))
            if role.is_system()
                && system.is_none()
                && let [Block::Text(text)] = content.as_slice()
                && !is_blank(text) =>
        {
            (Some((Some(*role), text.as_ref())), rest)
        }
        _ => (system.map(|text| (None, text)), messages),
    };
    let last = WrittenBody::default();
    let (system, messages, irregular) = if is_regular(rest) {
        (first, rest, None)
    } else {
        (system.map(|text| (None, text)), messages, Some(messages))
    };
    let conversation = Conversation { system, messages: &messages, irregular, last: &last };
    Ok(write(conversation, target, hints, diagnostics)?.bytes)
}

/// The same for regular messages, of which what the `last` body has is copied: there is at least one, user and assistant
/// take turns, and every message is a text that is not blank. The last body has to be for the same provider, and for the
/// messages that [`MessageSource::unchanged`] compares with. A system context that is the first message has its role, any
/// other none.
///
/// # Errors
/// As [`write_body`].
pub(crate) fn write_texts(
    system: Option<(Option<Role>, &str)>,
    messages: &dyn MessageSource,
    target: &Target,
    hints: &Hints,
    last: &WrittenBody,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<WrittenBody> {
    write(Conversation { system, messages, irregular: None, last }, target, hints, diagnostics)
}

fn write(
    conversation: Conversation<'_>,
    target: &Target,
    hints: &Hints,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<WrittenBody> {
    let mut sink = DiagnosticSink { list: diagnostics, conversation: Some(conversation) };
    let mut body = open(&conversation, target);
    fill(&mut body, conversation, hints, &mut sink)?;
    report_refused(&conversation, target, &mut sink);
    Ok(body.close(&mut sink))
}

/// Reports what the model of the target refuses.
fn report_refused(conversation: &Conversation<'_>, target: &Target, sink: &mut DiagnosticSink<'_>) {
    let Some(model) = target.model.as_deref() else { return };
    let field = |name: &str| match name {
        "temperature" => target.temperature.as_ref(),
        name => target.fields.get(name),
    };
    for refused in refused_fields(model, field) {
        let refusal = Diagnostic::new(refused.code, Severity::Warning, refused.message);
        sink.list.push(refusal.at_path(format!("target.{}", refused.name)));
    }
    let last = conversation.count().checked_sub(1);
    if let Some(message) =
        last.filter(|&last| conversation.role(last) == Some(Role::Assistant)).and(refused_prefill(model))
    {
        sink.warn(DiagnosticCode::PrefillRefused, last, message);
    }
}

fn open<'t>(conversation: &Conversation<'_>, target: &'t Target) -> Body<'t> {
    let system = conversation.system.map_or(0, |(_, text)| text.len() + text.len() / 16);
    Body::open(target, 1024 + system + size_hint(conversation.messages, conversation.last))
}

// Bodies and chats go the same way.
fn fill<'m>(
    body: &mut Body<'m>,
    conversation: Conversation<'m>,
    hints: &Hints,
    sink: &mut DiagnosticSink<'_>,
) -> Result<()> {
    match body.target.provider {
        Provider::Anthropic => anthropic::body::write(body, conversation, hints, sink),
        Provider::OpenAi => openai_chat::body::write(body, conversation, sink),
        Provider::OpenAiResponses => openai_responses::body::write(body, conversation, hints, sink),
        Provider::Gemini => gemini::body::write(body, conversation, sink),
        Provider::GeminiInteractions => gemini_interactions::body::write(body, conversation, sink),
        Provider::Completion => {
            let message =
                "`target.provider` is `completion`, which takes a document and not messages; assemble a buffer";
            return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
        }
    }
    Ok(())
}

/// A chat in a format: its messages as JSON, and the system context where that stands next to them.
#[derive(Debug)]
pub(crate) struct WrittenChat {
    pub system: Option<String>,
    pub messages: Vec<u8>,
}

/// The result of a conversion: the messages, the system context next to them, and diagnostics. Without messages they are the same
/// as before.
pub(crate) fn chat_json(messages: Option<&[u8]>, system: Option<&str>, diagnostics: &[Diagnostic]) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(messages.map_or(0, <[u8]>::len) + 256);
    json.object(|json| {
        match messages {
            Some(messages) => {
                json.key("messages");
                json.copy(messages);
            }
            None => json.raw_field("same", "true"),
        }
        json.optional_text_field("system", system);
        json.value_field("diagnostics", diagnostics);
    });
    json.finish()
}

/// Writes these messages in a format, by the same rules as bodies; those of a `model` apply as well. A call at the end may be open.
///
/// # Errors
/// None of its own.
pub(crate) fn write_chat(
    system: Option<&str>,
    messages: &[Message<'_>],
    format: Format,
    model: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<WrittenChat> {
    let provider = match format {
        Format::Anthropic => Some(Provider::Anthropic),
        Format::OpenAi => Some(Provider::OpenAi),
        Format::Responses => Some(Provider::OpenAiResponses),
        Format::Gemini => Some(Provider::Gemini),
        Format::Interactions => Some(Provider::GeminiInteractions),
        Format::Generic | Format::Agents | Format::AiSdk | Format::AiSdkUi | Format::LangChain => None,
    };
    // Anthropic's body has to say how long the answer may be.
    let target = Target { max_tokens: Some(1), ..Target::new(provider.unwrap_or(Provider::OpenAi), model) };
    let last = WrittenBody::default();
    let system = system.map(|text| (None, text));
    let conversation = Conversation { system, messages: &messages, irregular: Some(messages), last: &last };
    let mut sink = DiagnosticSink { list: diagnostics, conversation: Some(conversation) };
    let mut body = open(&conversation, &target);
    body.chat = true;
    match format {
        Format::Generic => generic::body::write(&mut body, conversation, &mut sink),
        Format::Agents => openai_agents::body::write(&mut body, conversation, &mut sink),
        Format::LangChain => langchain::body::write(&mut body, conversation, &mut sink),
        Format::AiSdk => ai_sdk::body::write(&mut body, conversation, false, &mut sink),
        Format::AiSdkUi => ai_sdk::body::write(&mut body, conversation, true, &mut sink),
        _ => fill(&mut body, conversation, &Hints::default(), &mut sink)?,
    }
    let (system, messages) = body.close_chat();
    Ok(WrittenChat { system, messages })
}

/// Writes the body of a plain completion: the document is the prompt.
///
/// # Errors
/// [`Code::InvalidInput`] for any other provider, which takes messages: see [`write_body`].
pub fn write_completion(
    system: Option<&str>,
    document: &str,
    target: &Target,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>> {
    if target.provider != Provider::Completion {
        let message =
            format!("`target.provider` is `{}`, which takes messages and not a document", target.provider.name());
        return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
    }
    let text_bytes = 512 + system.map_or(0, str::len) + document.len();
    let mut body = Body::open(target, text_bytes + text_bytes / 16);
    let mut sink = DiagnosticSink { list: diagnostics, conversation: None };
    completion::write(&mut body, system, document, &mut sink);
    Ok(body.close(&mut sink).bytes)
}
