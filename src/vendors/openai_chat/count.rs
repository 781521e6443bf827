//! Counts a chat as in OpenAI's cookbook ("How to count tokens with tiktoken").

use crate::error::Result;
use crate::json::{Kind, Value};
use crate::text::trim;
use crate::tokens::Counter;
use crate::tokens::images::{self, ImageRule};

/// The overhead of messages for a model family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChatOverhead {
    /// For each message, in addition to the tokens of its role, content and name.
    pub(crate) per_message: u32,
    /// For each name, in addition to its tokens. The name of a function replaces its role, and adds nothing.
    pub(crate) per_name: u32,
    /// For the request: every reply is primed.
    pub(crate) per_request: u32,
}

impl Default for ChatOverhead {
    /// The overhead of gpt-3.5-turbo, gpt-4, gpt-4o and later.
    fn default() -> Self {
        Self { per_message: 3, per_name: 1, per_request: 3 }
    }
}

/// For each call, in addition to its name and arguments. OpenAI does not publish it; no counter in use adds more.
const PER_CALL: u64 = 3;

/// Tokens of a chat of OpenAI's messages. Special-token text in the messages is plain text; ids cost nothing. Images
/// cost what OpenAI's documentation states, for the model and the size read from their data.
///
/// # Errors
/// [`crate::Code::InvalidInput`] and [`crate::Code::UnknownValue`] for an invalid message and for content that cannot
/// be counted, such as recordings.
pub(crate) fn count_chat(
    messages: Value<'_>,
    overhead: ChatOverhead,
    model: &str,
    counter: &dyn Counter,
) -> Result<u64> {
    let mut tokens = u64::from(overhead.per_request);
    for message in messages.list("a list of chat messages")? {
        tokens = tokens.saturating_add(count_message(message, overhead, model, counter)?);
    }
    Ok(tokens)
}

/// The cost of tool definitions in addition to their JSON: of each, and of all together. Measured, not published.
pub(crate) const PER_TOOL: u64 = 10;
pub(crate) const PER_TOOLS: u64 = 12;

/// The number of tools in a list, or if allowed in an object by name.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for other values.
pub(crate) fn count_of_tools(tools: Value<'_>, may_be_object: bool) -> Result<usize> {
    let expected = if may_be_object { "a list of tools, or an object of them by name" } else { "a list of tools" };
    if tools.as_text().is_some_and(|text| trim(&text).starts_with(['[', '{'])) {
        return Err(tools.invalid(|place| format!("{place} is JSON text; parse it with `JSON.parse` into {expected}")));
    }
    let check = |tool: Value<'_>| tool.object("the definition of a tool, an object").map(drop);
    if let (Kind::Object, true) = (tools.kind(), may_be_object) {
        let tools = tools.object(expected)?;
        tools.entries().filter(|(_, tool)| !tool.is_null()).try_for_each(|(_, tool)| check(tool))?;
        return Ok(tools.len());
    }
    let list = tools.list(expected)?;
    let count = list.len();
    for tool in list {
        check(tool)?;
    }
    Ok(count)
}

/// Tokens of the tool definitions.
///
/// # Errors
/// Those of [`count_of_tools`].
pub(crate) fn count_tools(tools: Value<'_>, counter: &dyn Counter) -> Result<u64> {
    let count = count_of_tools(tools, false)? as u64;
    if count == 0 {
        return Ok(0);
    }
    Ok(u64::from(counter.count(&tools.json())).saturating_add(PER_TOOL.saturating_mul(count)).saturating_add(PER_TOOLS))
}

fn count_message(message: Value<'_>, overhead: ChatOverhead, model: &str, counter: &dyn Counter) -> Result<u64> {
    let message = message.object("a chat message, an object with `role` and `content`")?;
    let role = message.need("role")?;
    let mut texts = vec![role];
    let mut tokens = u64::from(overhead.per_message);
    for (field, more) in [("name", overhead.per_name), ("refusal", 0), ("reasoning_content", 0)] {
        if let Some(text) = message.get(field)? {
            texts.push(text);
            tokens += if role.is_string("function") { 0 } else { u64::from(more) };
        }
    }
    if let Some(audio) = message.get("audio")? {
        return Err(audio.invalid(|place| format!("{place} is a recording, whose tokens are not known")));
    }
    let parts = message.get("content")?;
    let calls = [message.get("function_call")?, message.get("tool_calls")?];
    match parts {
        Some(content) if !content.is_text() => {
            for part in content.list("a string or a list of parts")? {
                let part = part.object("a part, an object with a `type`")?;
                let kind = part.need("type")?;
                let content = part.need(kind.one_of(KINDS)?)?;
                if kind.is_string("image_url") {
                    tokens = tokens.saturating_add(image(content, model)?);
                } else {
                    texts.push(content);
                }
            }
        }
        Some(text) => texts.push(text),
        // `null` is allowed if there is other content.
        None if texts.len() == 1 && calls.iter().all(Option::is_none) => {
            message.get_or_null("content")?.ok_or_else(|| message.value().lacks("content"))?;
        }
        None => {}
    }
    let [function_call, tool_calls] = calls;
    let mut called: Vec<(Value<'_>, &str)> = function_call.into_iter().map(|call| (call, "arguments")).collect();
    if let Some(calls) = tool_calls {
        for call in calls.list("a list of calls")? {
            let call = call.object("a call, an object")?;
            let kinds = &[("function", ("function", "arguments")), ("custom", ("custom", "input"))];
            let (field, arguments) = call.one_of("type", kinds)?.unwrap_or(kinds[0].1);
            called.push((call.need(field)?, arguments));
        }
    }
    for (call, arguments) in called {
        let call = call.object("a call, an object")?;
        texts.extend([call.need("name")?, call.need(arguments)?]);
        tokens += PER_CALL;
    }
    for text in texts {
        tokens += u64::from(counter.count(&text.text()?));
    }
    Ok(tokens)
}

/// The types of parts, which are also the names of their fields.
const KINDS: &[(&str, &str)] = &[("text", "text"), ("refusal", "refusal"), ("image_url", "image_url")];

/// Tokens of an image: a URL, or an object with a `url`.
fn image(content: Value<'_>, model: &str) -> Result<u64> {
    let url = match content.as_text() {
        Some(url) => url,
        None => content.object("an image, an object with a `url`")?.text("url")?,
    };
    Ok(ImageRule::openai(model).tokens(images::size(&url)))
}
