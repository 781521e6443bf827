//! Request bodies: messages or a document in the provider's shape, as JSON in UTF-8, ready to be sent (docs/bodies.md).
//!
//! The shapes are those of the vendors' published TypeScript types, which check every golden body. Content that a
//! provider cannot express yields a diagnostic.
//!
//! Messages are normalized to an order that every provider accepts (normalize.rs); then the provider's file writes them
//! turn by turn. Messages of plain text need no normalizing; those that are in the last body are copied from it
//! (reuse.rs).

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
/// Changes and content that the provider cannot express are appended to `diagnostics`. Texts are escaped straight into
/// the bytes, without intermediate values.
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

/// Like [`write_body`], for regular messages; those in the `last` body are copied. Regular means: at least one message,
/// user and assistant alternate, and every message is one text that is not blank. The last body has to be for the same
/// provider, and for the messages that [`MessageSource::unchanged`] compares with. A system context that is the first
/// message has its role, any other has none.
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

/// Reports fields that the model of the target rejects.
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

// Bodies and chats share this path.
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
            let message = "`target.provider` is `completion`, which takes a document, not messages; assemble a buffer";
            return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
        }
    }
    Ok(())
}

/// A chat in a format: its messages as JSON, and the system context if it is outside the messages.
#[derive(Debug)]
pub(crate) struct WrittenChat {
    pub system: Option<String>,
    pub messages: Vec<u8>,
}

/// The result of a conversion: messages, system context and diagnostics. `None` for the messages means unchanged.
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

/// Writes these messages in a format, by the same rules as bodies and by the rules of `model`. A call at the end may be
/// open.
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
    // Anthropic's body requires an output limit.
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
            format!("`target.provider` is `{}`, which takes messages, not a document", target.provider.name());
        return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
    }
    let text_bytes = 512 + system.map_or(0, str::len) + document.len();
    let mut body = Body::open(target, text_bytes + text_bytes / 16);
    let mut sink = DiagnosticSink { list: diagnostics, conversation: None };
    completion::write(&mut body, system, document, &mut sink);
    Ok(body.close(&mut sink).bytes)
}
