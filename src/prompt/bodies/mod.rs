//! Request bodies: messages or a document in the shape that a provider takes, as JSON in UTF-8, ready to be sent
//! (SPEC §1 "Provider bodies").
//!
//! The shapes are those of the vendors' published TypeScript types, which check every golden body. What a provider
//! cannot express is a diagnostic; docs/bodies.md has the list.
//!
//! Messages are brought into an order that every provider takes (normalize.rs); then the provider's file writes them
//! turn by turn. Messages that are nothing but texts need no normalizing, and are copied from the last body where they
//! stand in it (reuse.rs).

mod anthropic;
mod arguments;
mod body;
mod completion;
mod conversation;
mod escape;
mod gemini;
mod ids;
mod json;
mod media;
mod normalize;
mod openai_chat;
mod openai_responses;
mod openai_shared;
mod reuse;
mod signature;
mod sink;
mod target;
mod tool;

use crate::content::Block;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::prompt::message::{Message, Role};
use crate::text::is_blank;

pub use escape::escape_into;
pub(crate) use json::TextWriter;
pub(crate) use reuse::{MessageSource, WrittenBody};
pub use target::{CacheMessages, CacheSettings, CacheTtl, Hints, OPENING_TEXT, Provider, Target};

use body::Body;
use conversation::{Conversation, is_regular};
use reuse::size_hint;
use sink::DiagnosticSink;

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
    let system = conversation.system.map_or(0, |(_, text)| text.len() + text.len() / 16);
    let messages = size_hint(conversation.messages, conversation.last);
    let mut body = Body::open(target, 1024 + system + messages);
    let mut sink = DiagnosticSink { list: diagnostics, conversation: Some(conversation) };
    match target.provider {
        Provider::Anthropic => anthropic::write(&mut body, conversation, hints, &mut sink),
        Provider::OpenAi => openai_chat::write(&mut body, conversation, &mut sink),
        Provider::OpenAiResponses => openai_responses::write(&mut body, conversation, &mut sink),
        Provider::Gemini => gemini::write(&mut body, conversation, &mut sink),
        Provider::Completion => {
            let message =
                "`target.provider` is `completion`, which takes a document and not messages; assemble a buffer";
            return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
        }
    }
    Ok(body.close(&mut sink))
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
    let room = 512 + system.map_or(0, str::len) + document.len();
    let mut body = Body::open(target, room + room / 16);
    completion::write(&mut body, system, document);
    Ok(body.close(&mut DiagnosticSink { list: diagnostics, conversation: None }).bytes)
}
