//! What a chat costs, as OpenAI's cookbook counts it ("How to count tokens with tiktoken").

use crate::error::Result;
use crate::json::{Object, Value};
use crate::tokens::Counter;

/// What a model family adds around messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChatOverhead {
    /// For each message, beside the tokens of its role, content and name.
    pub(crate) per_message: u32,
    /// For each name, beside its tokens. The name of a function stands for its role, and adds nothing.
    pub(crate) per_name: u32,
    /// For the request: every reply is primed.
    pub(crate) per_request: u32,
}

impl Default for ChatOverhead {
    /// That of gpt-3.5-turbo, gpt-4, gpt-4o and since.
    fn default() -> Self {
        Self { per_message: 3, per_name: 1, per_request: 3 }
    }
}

/// For each call, beside its name and arguments. OpenAI does not publish it; no counter that is in use takes more.
const PER_CALL: u64 = 3;

/// Tokens of a chat of OpenAI's messages. Special-token text in the messages is plain text; ids cost nothing.
///
/// # Errors
/// [`crate::Code::InvalidInput`] and [`crate::Code::UnknownValue`] for what is no such message, and for what cannot be counted, as images.
pub(crate) fn count_chat(messages: Value<'_>, overhead: ChatOverhead, counter: &dyn Counter) -> Result<u64> {
    let mut tokens = u64::from(overhead.per_request);
    for message in messages.list("a list of chat messages")? {
        tokens = tokens.saturating_add(count_message(message, overhead, counter)?);
    }
    Ok(tokens)
}

fn count_message(message: Value<'_>, overhead: ChatOverhead, counter: &dyn Counter) -> Result<u64> {
    let message = message.object("a chat message, an object with `role` and `content`")?;
    let [role, content, name, refusal, reasoning, audio, tool_calls, function_call] = message.fields([
        "role",
        "content",
        "name",
        "refusal",
        "reasoning_content",
        "audio",
        "tool_calls",
        "function_call",
    ])?;
    let role = role.ok_or_else(|| message.value().lacks("role"))?.text()?;
    if content.is_none() && refusal.is_none() && tool_calls.is_none() && function_call.is_none() {
        message.get_or_null("content")?.ok_or_else(|| message.value().lacks("content"))?;
    }
    if let Some(audio) = audio {
        return Err(audio.invalid(|place| format!("{place} is a recording, whose tokens are not known")));
    }
    let count = |text: Value<'_>| Ok(u64::from(counter.count(&text.text()?)));
    let mut tokens = u64::from(overhead.per_message) + u64::from(counter.count(&role));
    if let Some(name) = name {
        tokens += count(name)? + if role == "function" { 0 } else { u64::from(overhead.per_name) };
    }
    for text in [refusal, reasoning].into_iter().flatten() {
        tokens += count(text)?;
    }
    match content {
        Some(content) if content.as_text().is_none() => {
            for part in content.list("a string or a list of parts")? {
                let part = part.object("a part, an object with a `type`")?;
                tokens += count(part.need(part.need("type")?.one_of(&[("text", "text"), ("refusal", "refusal")])?)?)?;
            }
        }
        Some(text) => tokens += count(text)?,
        None => {}
    }
    let call = |call: Object<'_>, arguments: &str| -> Result<u64> {
        Ok(PER_CALL + count(call.need("name")?)? + count(call.need(arguments)?)?)
    };
    if let Some(called) = function_call {
        tokens += call(called.object("a call, an object")?, "arguments")?;
    }
    for called in tool_calls.map(|calls| calls.list("a list of calls")).transpose()?.into_iter().flatten() {
        let called = called.object("a call, an object")?;
        let kinds = &[("function", ("function", "arguments")), ("custom", ("custom", "input"))];
        let (field, arguments) = called.one_of("type", kinds)?.unwrap_or(kinds[0].1);
        tokens += call(called.need(field)?.object("an object")?, arguments)?;
    }
    Ok(tokens)
}
