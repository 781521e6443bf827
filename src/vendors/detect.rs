//! Detects the format of a chat, by all its messages (docs/chat-formats.md).

use super::format::{FORMATS, Format};
use crate::error::{Code, Error, Result};
use crate::json::{Kind, Object, Value};
use crate::vendors::ai_sdk::part::PartKind;
use crate::vendors::fields::has_any;
use crate::vendors::gemini_interactions::fields::{StepKind, tool_of};
use crate::vendors::openai_chat::part::THOUGHTS;
use crate::vendors::{anthropic, generic, langchain, openai_agents, openai_chat, openai_responses, otel};

/// The bit of a format in a set.
pub(crate) const fn bit(format: Format) -> Formats {
    1 << format as u16
}

/// A set of formats.
pub(crate) type Formats = u16;

const GENERIC: Formats = bit(Format::Generic);
const OPENAI: Formats = bit(Format::OpenAi);
const RESPONSES: Formats = bit(Format::Responses);
const AGENTS: Formats = bit(Format::Agents);
const ANTHROPIC: Formats = bit(Format::Anthropic);
const AI_SDK: Formats = bit(Format::AiSdk);
const UI: Formats = bit(Format::AiSdkUi);
const LANGCHAIN: Formats = bit(Format::LangChain);
const GEMINI: Formats = bit(Format::Gemini);
const INTERACTIONS: Formats = bit(Format::Interactions);
/// The formats in which tools may be an object by name; `generic` is the format of plain texts.
pub(crate) const WITH_TOOL_RECORDS: Formats = AI_SDK | UI | GENERIC;
/// The formats whose messages have `role` and `content`.
const ROLES: Formats = GENERIC | OPENAI | RESPONSES | AGENTS | ANTHROPIC | AI_SDK | LANGCHAIN;

/// The formats that all messages can be in.
///
/// # Errors
/// [`Code::InvalidInput`] at the first message in an unknown format, or in another format than earlier ones.
pub(crate) fn detect(messages: &[Value<'_>], container: Formats) -> Result<Formats> {
    let mut left = container;
    for (index, &message) in messages.iter().enumerate() {
        left &= formats_next_to(left, message, index)?;
    }
    Ok(left)
}

/// The formats that a message can be in if its neighbors are in one of `left`.
///
/// # Errors
/// As [`detect`].
pub(crate) fn formats_next_to(left: Formats, message: Value<'_>, index: usize) -> Result<Formats> {
    let these = if message.kind() == Kind::Object { formats_of(message.object("a message")?)? } else { 0 };
    if these == 0 {
        return Err(in_no_format(message, index));
    }
    if left & these == 0 {
        let error = message.invalid(|place| {
            format!("{place} is a message of the format `{}`, but earlier ones are `{}`; set `format` or pass messages of one format", first_of(these).name(), first_of(left).name())
        });
        return Err(error.with("index", index));
    }
    Ok(these)
}

/// The field of a container that holds the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListField {
    Messages,
    Contents,
    Input,
}

impl ListField {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Contents => "contents",
            Self::Input => "input",
        }
    }

    /// The possible formats of a container with this field.
    pub(crate) fn formats(self) -> Formats {
        match self {
            // A request to most vendors has `messages`; with a `system` next to it, it is Anthropic's.
            Self::Messages => ROLES | UI,
            Self::Contents => GEMINI,
            Self::Input => Formats::MAX,
        }
    }
}

pub(crate) fn in_no_format(message: Value<'_>, index: usize) -> Error {
    let names: Vec<&str> = FORMATS.iter().map(|&(name, _)| name).collect();
    let error = message.invalid(|place| {
        format!("{place} is not a chat message; pass an object with `role` and `content`, or a message in a supported format")
    });
    debug_assert_eq!(error.code(), Code::InvalidInput, "the caller's input");
    error.with("index", index).with("expected", names)
}

/// The format assumed for plain text.
pub(crate) fn first_of(set: Formats) -> Format {
    let mut all = FORMATS.iter().map(|&(_, format)| format);
    all.find(|format| set & bit(*format) != 0).unwrap_or(Format::Generic)
}

/// The possible formats of a message; none for a value that is not a message.
fn formats_of(message: Object<'_>) -> Result<Formats> {
    let [role, kind, content, parts, data, lc] = message.fields(["role", "type", "content", "parts", "data", "lc"])?;
    let [call_id, tool_calls, tool_call_id, function_call] =
        message.fields(["callId", "tool_calls", "tool_call_id", "function_call"])?;
    let [provider_options, provider_data] = message.fields(["providerOptions", "providerData"])?;
    if lc.is_some() {
        return Ok(LANGCHAIN);
    }
    if let Some(parts) = parts.filter(|parts| parts.kind() == Kind::List) {
        if parts.list("a list")?.any(otel::is_part) {
            return Ok(0);
        }
        let is_typed = |part: Value<'_>| part.as_object().is_some_and(|part| part.last("type").is_some());
        let typed = parts.list("a list")?.next().map(is_typed);
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
    if !role.is_text() {
        return Ok(0);
    }
    if provider_data.is_some() || call_id.is_some() {
        return Ok(AGENTS);
    }
    let mut set = match kind {
        Some(kind) if kind.is_string("message") => RESPONSES | AGENTS,
        Some(kind) if kind.is_string("additional_tools") => return Ok(RESPONSES),
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
    if has_any(message, &THOUGHTS) {
        set &= OPENAI;
    }
    match content {
        Some(content) if content.kind() == Kind::List => {
            for part in content.list("a list of parts")? {
                set &= formats_of_part(part);
            }
        }
        Some(content) if !content.is_text() => return Ok(0),
        Some(_) => {}
        // Only OpenAI's assistant messages may have none.
        None => set &= OPENAI | if message.get_or_null("content")?.is_some() { 0 } else { LANGCHAIN },
    }
    if content.is_none()
        && tool_calls.is_none()
        && function_call.is_none()
        && !has_any(message, &["refusal", "audio", "content"])
    {
        return Ok(0);
    }
    Ok(set)
}

/// The possible formats of an item without a role, by its type.
fn formats_of_item(kind: Value<'_>, has_content: bool, item: Object<'_>) -> Formats {
    let Some(kind) = kind.as_text() else { return 0 };
    match &*kind {
        kind if has_content && langchain::pieces::is_message_type(kind) => LANGCHAIN,
        kind if openai_agents::fields::is_item_type(kind) => AGENTS,
        kind if matches!(
            StepKind::of(kind),
            StepKind::UserInput | StepKind::ModelOutput | StepKind::Thought | StepKind::FunctionResult
        ) =>
        {
            INTERACTIONS
        }
        _ if openai_agents::fields::is_item(item) => AGENTS,
        "reasoning" if openai_agents::fields::is_reasoning(item) => AGENTS,
        "reasoning" if has_any(item, &["summary", "encrypted_content"]) => RESPONSES,
        kind if openai_responses::fields::is_item_type(kind) => RESPONSES | AGENTS,
        kind if kind.ends_with("_call") || kind.ends_with("_output") || kind.ends_with("_result") => {
            formats_of_call(kind, item)
        }
        _ => 0,
    }
}

/// The formats with a call or a result of this type.
fn formats_of_call(kind: &str, item: Object<'_>) -> Formats {
    let has_call_id = item.last("call_id").is_some();
    let of_openai = RESPONSES | if has_call_id { 0 } else { AGENTS };
    match (kind, tool_of(kind)) {
        // Responses name the call by `call_id`, and have its arguments as a text.
        ("function_call", _) if !has_call_id && item.last("arguments").is_some_and(|it| it.kind() == Kind::Object) => {
            INTERACTIONS
        }
        ("file_search_call", _) if !openai_responses::fields::is_search(item) => of_openai | INTERACTIONS,
        ("file_search_call", _) => of_openai,
        (_, (_, true)) => INTERACTIONS,
        (kind, _) if kind.ends_with("_result") => of_openai | INTERACTIONS,
        _ => of_openai,
    }
}

/// The formats with a part like this in the content of a message.
fn formats_of_part(part: Value<'_>) -> Formats {
    let Some(part) = part.as_object() else { return 0 };
    let Some(kind) = part.get("type").ok().flatten().and_then(Value::as_text) else { return 0 };
    let has = |keys: &[&str]| has_any(part, keys);
    let set = match &*kind {
        "text" => GENERIC | OPENAI | ANTHROPIC | AI_SDK | LANGCHAIN,
        "image_url" => OPENAI | LANGCHAIN,
        "image" if has(&["source"]) => ANTHROPIC | LANGCHAIN,
        "image" if has(&["image"]) => AI_SDK,
        "image" if has(&["mimeType", "ref"]) => GENERIC,
        "image" | "audio" | "video" => LANGCHAIN | GENERIC,
        "file" if has(&["file"]) => OPENAI | LANGCHAIN,
        "file" if has(&["mediaType"]) => AI_SDK,
        "file" => LANGCHAIN | AI_SDK | AGENTS,
        "reasoning" if has(&["text"]) => AI_SDK | GENERIC,
        "reasoning" => LANGCHAIN,
        kind if openai_chat::part::is_shared_type(kind) => OPENAI | RESPONSES | AGENTS,
        kind if openai_responses::fields::is_part_type(kind) => RESPONSES | AGENTS,
        kind if anthropic::part::is_block_type(kind) => ANTHROPIC | LANGCHAIN,
        kind if PartKind::of_model(kind).is_of_ai_sdk() => AI_SDK,
        kind if generic::part::is_block_type(kind) => GENERIC,
        kind if langchain::pieces::is_block_type(kind) => LANGCHAIN,
        _ => ANTHROPIC | LANGCHAIN | AI_SDK | OPENAI | RESPONSES | AGENTS,
    };
    if has(&["providerOptions"]) { set & AI_SDK } else { set }
}
