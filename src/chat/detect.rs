//! Which format a chat is in, by the evidence of all its messages (CHATS.md "Recognition").

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::json::{Kind, Object, Value};

/// A format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Format {
    Generic,
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "openai-responses")]
    Responses,
    #[serde(rename = "openai-agents")]
    Agents,
    Anthropic,
    AiSdk,
    #[serde(rename = "ai-sdk-ui")]
    AiSdkUi,
    #[serde(rename = "langchain")]
    LangChain,
    Gemini,
}

/// Their names, the ones first that text alone is taken for.
pub(super) const FORMATS: &[(&str, Format)] = &[
    ("generic", Format::Generic),
    ("openai", Format::OpenAi),
    ("openai-responses", Format::Responses),
    ("openai-agents", Format::Agents),
    ("anthropic", Format::Anthropic),
    ("ai-sdk", Format::AiSdk),
    ("ai-sdk-ui", Format::AiSdkUi),
    ("langchain", Format::LangChain),
    ("gemini", Format::Gemini),
];

impl Format {
    pub(super) fn name(self) -> &'static str {
        FORMATS.iter().find(|&&(_, format)| format == self).map_or("", |(name, _)| name)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of formats.
type Formats = u16;

const GENERIC: Formats = Format::Generic.bit();
const OPENAI: Formats = Format::OpenAi.bit();
const RESPONSES: Formats = Format::Responses.bit();
const AGENTS: Formats = Format::Agents.bit();
const ANTHROPIC: Formats = Format::Anthropic.bit();
const AI_SDK: Formats = Format::AiSdk.bit();
const UI: Formats = Format::AiSdkUi.bit();
const LANGCHAIN: Formats = Format::LangChain.bit();
const GEMINI: Formats = Format::Gemini.bit();
/// Those whose messages have `role` and `content`.
const ROLES: Formats = GENERIC | OPENAI | RESPONSES | AGENTS | ANTHROPIC | AI_SDK | LANGCHAIN;

/// The one format that all messages are in.
///
/// # Errors
/// [`Code::InvalidInput`] at the first message that is in none, or in another than those before.
pub(super) fn detect(messages: &[Value<'_>], container: Formats) -> Result<Format> {
    let mut left = container;
    for (index, &message) in messages.iter().enumerate() {
        let these = if message.kind() == Kind::Object { formats_of(message.object("a message")?)? } else { 0 };
        if these == 0 {
            return Err(in_no_format(message, index));
        }
        if left & these == 0 {
            let name = |set: Formats| name_of(set).map_or("", Format::name);
            let error = message.invalid(|place| {
                format!("{place} is a message of the format `{}`, and those before are in `{}`; give `format`, or messages of one format", name(these), name(left))
            });
            return Err(error.with("index", index));
        }
        left &= these;
    }
    Ok(name_of(left).unwrap_or(Format::Generic))
}

/// The formats that a container can be of: `{ contents }` or `{ system, messages }`.
pub(super) fn container(of_contents: bool, is_list: bool) -> Formats {
    match (is_list, of_contents) {
        (true, _) => Formats::MAX,
        (false, true) => GEMINI,
        // A request of most vendors has `messages`; with a `system` beside it, it is Anthropic's.
        (false, false) => ROLES | UI,
    }
}

#[cold]
pub(super) fn in_no_format(message: Value<'_>, index: usize) -> Error {
    let names: Vec<&str> = FORMATS.iter().map(|&(name, _)| name).collect();
    let error = message.invalid(|place| {
        format!(
            "{place} is no chat message; expected an object with `role` and `content`, or one of the formats `{}`",
            names.join("`, `")
        )
    });
    debug_assert_eq!(error.code(), Code::InvalidInput, "what a caller gave");
    error.with("index", index).with("expected", names)
}

fn name_of(set: Formats) -> Option<Format> {
    FORMATS.iter().map(|&(_, format)| format).find(|format| set & format.bit() != 0)
}

/// The formats that a message can be in; none for what is no message.
fn formats_of(message: Object<'_>) -> Result<Formats> {
    let [role, kind, content, parts, data, lc] = message.fields(["role", "type", "content", "parts", "data", "lc"])?;
    let [call_id, tool_calls, tool_call_id, function_call, provider_options, provider_data] =
        message.fields(["callId", "tool_calls", "tool_call_id", "function_call", "providerOptions", "providerData"])?;
    if lc.is_some() {
        return Ok(LANGCHAIN);
    }
    if let Some(parts) = parts.filter(|parts| parts.kind() == Kind::List) {
        let typed = parts.list("a list")?.next().map(|part| has(part, &["type"]));
        return Ok(match typed {
            Some(true) => UI,
            Some(false) => GEMINI,
            None => {
                if message.get("id")?.is_some() {
                    UI
                } else {
                    GEMINI
                }
            }
        });
    }
    let Some(role) = role else {
        return Ok(kind.map_or(0, |kind| formats_of_item(kind, content.or(data).is_some(), message)));
    };
    if role.as_text().is_none() {
        return Ok(0);
    }
    if provider_data.is_some() || call_id.is_some() {
        return Ok(AGENTS);
    }
    let mut set = match kind {
        Some(kind) if kind.is_string("message") => RESPONSES | AGENTS,
        _ => ROLES,
    };
    if role.is_string("developer") {
        set &= GENERIC | OPENAI | RESPONSES;
    }
    if role.is_string("tool") {
        set &= OPENAI | AI_SDK | GENERIC | LANGCHAIN;
    }
    if tool_calls.is_some() || tool_call_id.is_some() || function_call.is_some() || role.is_string("function") {
        set &= OPENAI | if tool_calls.is_some() || tool_call_id.is_some() { LANGCHAIN } else { 0 };
    }
    if provider_options.is_some() {
        set &= AI_SDK;
    }
    match content {
        Some(content) if content.kind() == Kind::List => {
            for part in content.list("a list of parts")? {
                set &= formats_of_part(part);
            }
        }
        Some(content) if content.as_text().is_none() => return Ok(0),
        Some(_) => {}
        // OpenAI's assistant messages alone may have none.
        None => set &= OPENAI | if message.get_or_null("content")?.is_some() { 0 } else { LANGCHAIN },
    }
    if content.is_none()
        && tool_calls.is_none()
        && function_call.is_none()
        && !has(message.value(), &["refusal", "audio", "content"])
    {
        return Ok(0);
    }
    Ok(set)
}

/// The formats that something without a role can be in, by its type.
fn formats_of_item(kind: Value<'_>, has_content: bool, item: Object<'_>) -> Formats {
    let Some(kind) = kind.as_text() else { return 0 };
    let has = |keys: &[&str]| has(item.value(), keys);
    match &*kind {
        "human" | "ai" | "system" | "tool" | "function" | "generic" | "chat" | "developer" | "remove"
            if has_content =>
        {
            LANGCHAIN
        }
        "function_call_result" | "hosted_tool_call" => AGENTS,
        _ if has(&["callId", "providerData"]) => AGENTS,
        "reasoning" if has(&["content"]) && !has(&["summary"]) => AGENTS,
        "reasoning" if has(&["summary", "encrypted_content"]) => RESPONSES,
        "compaction"
        | "item_reference"
        | "program"
        | "configuration_update"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "mcp_approval_response" => RESPONSES | AGENTS,
        kind if kind.ends_with("_call") || kind.ends_with("_output") || kind.ends_with("_result") => {
            RESPONSES | if has(&["call_id"]) { 0 } else { AGENTS }
        }
        _ => 0,
    }
}

/// The formats that have a part like this in the content of a message.
fn formats_of_part(part: Value<'_>) -> Formats {
    let Some(kind) = part.object("a part").ok().and_then(|part| part.get("type").ok()?).and_then(Value::as_text) else {
        return 0;
    };
    let has = |keys: &[&str]| has(part, keys);
    let set = match &*kind {
        "text" => GENERIC | OPENAI | ANTHROPIC | AI_SDK | LANGCHAIN,
        "image_url" => OPENAI | LANGCHAIN,
        "input_audio" | "refusal" => OPENAI | RESPONSES | AGENTS,
        "input_text" | "input_image" | "input_file" | "output_text" => RESPONSES | AGENTS,
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "document" | "search_result"
        | "server_tool_use" => ANTHROPIC | LANGCHAIN,
        "image" if has(&["source"]) => ANTHROPIC | LANGCHAIN,
        "image" if has(&["image"]) => AI_SDK | AGENTS,
        "image" if has(&["mimeType", "ref"]) => GENERIC,
        "image" | "audio" | "video" => LANGCHAIN | GENERIC,
        "file" if has(&["file"]) => OPENAI | LANGCHAIN,
        "file" if has(&["mediaType"]) => AI_SDK,
        "file" => LANGCHAIN | AI_SDK | AGENTS,
        "reasoning" if has(&["text"]) => AI_SDK | GENERIC,
        "reasoning" => LANGCHAIN,
        "tool-call"
        | "tool-result"
        | "tool-approval-request"
        | "tool-approval-response"
        | "reasoning-file"
        | "custom" => AI_SDK,
        "toolCall" | "toolResult" => GENERIC,
        "tool_call" | "server_tool_call" | "non_standard" | "text-plain" => LANGCHAIN,
        _ => ANTHROPIC | LANGCHAIN | AI_SDK | OPENAI | RESPONSES | AGENTS,
    };
    if has(&["providerOptions"]) { set & AI_SDK } else { set }
}

/// Whether an object has one of these keys.
fn has(value: Value<'_>, keys: &[&str]) -> bool {
    let Some(object) = Some(value).filter(|value| value.kind() == Kind::Object).and_then(|value| value.object("").ok())
    else {
        return false;
    };
    object.entries().any(|(key, _)| keys.iter().any(|name| key.is_string(name)))
}
