//! Anthropic Messages.
//!
//! The user speaks first, roles alternate, and the results of a turn's calls are the first blocks of the message after
//! it. Thinking is sent back with its signature, unchanged and at its place, or not at all; with manual thinking it
//! comes first.

use serde_json::Value;

use super::images::{MANY_IMAGES, is_large, many_large_images};
use super::refused::refused_prefill;
use crate::content::{Block, Role};
use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::breakpoints::{BreakpointLimit, MAX_BREAKPOINTS, breakpoints};
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::media::{ANY_IMAGE, Kind, Media, Source};
use crate::vendors::bodies::message::write_message;
use crate::vendors::bodies::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::bodies::target::{CacheSettings, CacheTtl, Hints, Target};
use crate::vendors::bodies::tool::Tool;
use crate::vendors::signature::{self, ReasoningSignature};
use crate::vendors::vendor_block::BlockFormat;

const RULES: Rules = Rules {
    name: "Anthropic",
    user_first: true,
    turns_alternate: true,
    system_field: true,
    results_apart: false,
    takes,
    takes_reasoning: |_, signature| signature::is_anthropic(signature),
    id: IdRule::plain(64),
    tool_name: IdRule::plain(128),
    failed_result_is_text: true,
    reasoning: ReasoningPlace::NotLast,
    phases: false,
    blocks: &[BlockFormat::Anthropic],
    chat: false,
};

/// Whether the target sets manual thinking, which requires thinking first in a turn.
fn is_manual(target: &Target) -> bool {
    target.fields.get("thinking").and_then(|thinking| thinking.get("type")).is_some_and(|kind| kind == "enabled")
}

fn takes(place: MediaHolder, media: &Media<'_>) -> bool {
    let known =
        matches!(media.kind, Kind::Image(Some("image/png" | "image/jpeg" | "image/gif" | "image/webp" | ANY_IMAGE)));
    known && place != MediaHolder::Assistant
}

pub(crate) fn write<'m>(
    body: &mut Body<'m>,
    conversation: Conversation<'m>,
    hints: &Hints,
    sink: &mut DiagnosticSink<'_>,
) {
    let target = body.target;
    let reasoning = if is_manual(target) { ReasoningPlace::First } else { RULES.reasoning };
    let rules = Rules { chat: body.chat, reasoning, ..RULES };
    let mut normalized = normalize(conversation, body.target, &mut body.names, &rules, sink);
    if body.is_chat() {
        return body.turns("messages", &normalized, &mut |json, turn| message(json, turn, None, sink));
    }
    body.model();
    max_tokens(body, sink);

    let cache = target.cache.as_ref();
    let mut control = cache.map(control);
    if cache.is_some_and(|cache| cache.ttl == Some(CacheTtl::OneHour)) && target.tools.iter().any(is_short) {
        let text = "a tool of `target` is cached for five minutes, so later breakpoints cannot last an hour; they last five minutes";
        sink.warn(DiagnosticCode::BodyCacheCapped, None, text.to_owned());
        control = Some(EPHEMERAL.to_owned());
    }
    // In the cached prefix tools precede the system context, so one breakpoint covers both.
    let last_is_ours = || target.tools.last().is_some_and(|tool| tool.get("cache_control").is_none());
    let mut after_system = control
        .as_deref()
        .filter(|_| cache.is_some_and(|cache| cache.system) && (normalized.system.is_some() || last_is_ours()));
    let given = own_breakpoints(target, normalized.system.is_none());
    if given > MAX_BREAKPOINTS {
        let text = format!("`target` itself has {given} cache breakpoints; Anthropic accepts {MAX_BREAKPOINTS} in all");
        sink.warn(DiagnosticCode::BodyCacheCapped, None, text);
    }
    if let Some(cache) = cache {
        let free_marks = MAX_BREAKPOINTS.saturating_sub(given);
        let left_out = usize::from(free_marks == 0 && after_system.is_some());
        after_system = after_system.filter(|_| free_marks > 0);
        let free_marks = free_marks - usize::from(after_system.is_some());
        let limit = BreakpointLimit { vendor: RULES.name, free: free_marks, left_out };
        normalized.mark(&breakpoints(cache, &conversation, hints, limit, sink));
    }

    if let Some(system) = &normalized.system {
        let json = body.field("system");
        match after_system {
            None => json.string(system.as_ref()),
            Some(control) => json.list(|json| {
                json.typed("text", |json| {
                    json.text_field("text", system.as_ref());
                    json.raw_field("cache_control", control);
                });
            }),
        }
    }
    body.turns("messages", &normalized, &mut |json, turn| message(json, turn, control.as_deref(), sink));
    if let Some(images) = many_images(&conversation) {
        sink.warn(DiagnosticCode::ManyLargeImages, None, images);
    }
    let is_refused = target.model.as_deref().is_some_and(|model| refused_prefill(model).is_some());
    if normalized.ends_with_assistant() && !is_refused {
        let text = "the last message is the assistant's; models without prefill reject it";
        sink.info(DiagnosticCode::BodyEndsWithAssistant, conversation.count().checked_sub(1), text.to_owned());
    }
    tools(body, after_system.filter(|_| normalized.system.is_none()));
    body.settings();
}

fn max_tokens(body: &mut Body<'_>, sink: &mut DiagnosticSink<'_>) {
    if !body.max_tokens("max_tokens", "", sink) {
        let tokens = body.target.fallback_max_tokens.max(1);
        let which = if body.target.fallback_max_tokens > 0 { ", the `tokenBuffer`" } else { "" };
        let text = format!("Anthropic requires `maxTokens`, and `target` has none; {tokens} is used{which}");
        sink.info(DiagnosticCode::BodyMaxTokensAssumed, None, text);
        body.number("max_tokens", tokens);
    }
}

/// The finding about large images among many.
fn many_images(conversation: &Conversation<'_>) -> Option<String> {
    let mut sizes = Vec::new();
    let blocks = conversation.irregular.into_iter().flatten().flat_map(|message| message.content.iter());
    for block in blocks {
        let inner = if let Block::ToolResult { content, .. } = block { content.as_slice() } else { &[] };
        for block in [block].into_iter().chain(inner) {
            if let Block::Image(image) = block {
                sizes.push(image.width.zip(image.height));
            }
        }
    }
    let has_large = sizes.iter().flatten().any(|&size| is_large(size));
    (has_large && sizes.len() > MANY_IMAGES).then(|| many_large_images(sizes.len()))
}

/// The number of breakpoints in the target: on its tools, for the whole request, and in its system context.
fn own_breakpoints(target: &Target, without_system: bool) -> usize {
    let system = target.fields.get("system").filter(|_| without_system).and_then(Value::as_array);
    let blocks = target.tools.iter().chain(system.into_iter().flatten()).map(|block| block.get("cache_control"));
    blocks.chain([target.fields.get("cache_control")]).flatten().filter(|control| !control.is_null()).count()
}

fn tools(body: &mut Body<'_>, after_last: Option<&str>) {
    body.tools(|json, tools| {
        for (at, value) in tools.iter().enumerate() {
            let Some(fields) = value.as_object() else {
                json.value(value);
                continue;
            };
            json.object(|json| {
                match Tool::neutral(value) {
                    Some(tool) => tool.fields(json, "input_schema"),
                    None => fields.iter().for_each(|(name, value)| json.value_field(name, value)),
                }
                cache_control(json, after_last.filter(|_| at + 1 == tools.len()));
            });
        }
    });
}

const CACHE_CONTROL: &str = "cache_control";

/// Cached for five minutes.
const EPHEMERAL: &str = r#"{"type":"ephemeral"}"#;

/// Whether a tool is cached for five minutes.
fn is_short(tool: &Value) -> bool {
    let control = tool.get("cache_control").filter(|control| !control.is_null());
    control.is_some_and(|control| control.get("ttl").is_none_or(|ttl| ttl == "5m"))
}

/// The value of `cache_control`.
fn control(cache: &CacheSettings) -> String {
    match cache.ttl {
        None => EPHEMERAL.to_owned(),
        Some(ttl) => format!(r#"{{"type":"ephemeral","ttl":"{}"}}"#, ttl.as_str()),
    }
}

fn message(json: &mut JsonWriter, turn: &[Item<'_>], control: Option<&str>, sink: &mut DiagnosticSink<'_>) {
    write_message(json, turn.first().map_or(Role::User, |item| item.role), |json| match turn {
        [Item { content: ItemContent::Text(text), cache_mark: false, .. }] => json.string(text),
        _ => json.list(|json| {
            for item in turn {
                json.object(|json| {
                    block(json, &item.content, item.message, sink);
                    cache_control(json, control.filter(|_| item.cache_mark));
                });
            }
        }),
    });
}

/// Writes the fields of a block.
fn block(json: &mut JsonWriter, content: &ItemContent<'_>, message: Option<usize>, sink: &mut DiagnosticSink<'_>) {
    match content {
        ItemContent::Text(text) => {
            json.text_field("type", "text");
            json.text_field("text", text);
        }
        ItemContent::Media(media) => {
            json.text_field("type", "image");
            json.key("source");
            source(json, media);
        }
        ItemContent::Call { id, name, arguments } => {
            json.text_field("type", "tool_use");
            json.text_field("id", id.as_ref());
            json.text_field("name", name.as_ref());
            json.raw_field("input", &arguments::object(arguments, name, message, sink));
        }
        ItemContent::Result(result) => {
            json.text_field("type", "tool_result");
            json.text_field("tool_use_id", result.id.as_ref());
            json.key("content");
            match result.text() {
                Some(text) => json.string(text),
                None => json.list(|json| {
                    let contents = result.content.iter();
                    contents.for_each(|content| json.object(|json| block(json, content, message, sink)));
                }),
            }
            if result.is_error {
                json.raw_field("is_error", "true");
            }
        }
        ItemContent::Vendor(block) => {
            // The target decides about caching.
            let fields = block.value.as_object().into_iter().flatten().filter(|(name, _)| *name != CACHE_CONTROL);
            fields.for_each(|(name, value)| json.value_field(name, value));
        }
        ItemContent::Reasoning { text, signature } => match signature.and_then(ReasoningSignature::read) {
            Some(ReasoningSignature::Redacted(data)) => {
                json.text_field("type", "redacted_thinking");
                json.text_field("data", data.as_ref());
            }
            Some(ReasoningSignature::Thinking(signature) | ReasoningSignature::Opaque(signature)) => {
                json.text_field("type", "thinking");
                json.text_field("thinking", *text);
                json.text_field("signature", signature.as_ref());
            }
            _ => {}
        },
    }
}

fn cache_control(json: &mut JsonWriter, control: Option<&str>) {
    if let Some(control) = control {
        json.raw_field(CACHE_CONTROL, control);
    }
}

fn source(json: &mut JsonWriter, media: &Media<'_>) {
    match media.source {
        Source::Data(data) => json.typed("base64", |json| {
            if let Kind::Image(Some(mime)) = media.kind {
                json.text_field("media_type", mime);
            }
            json.text_field("data", data);
        }),
        Source::Url(url) => json.typed("url", |json| json.text_field("url", url)),
    }
}
