//! OpenAI Responses.
//!
//! The system context is `instructions`; messages, calls, results and reasoning are items of one list.

use crate::content::Role;
use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::tokens::models::takes_breakpoints;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::breakpoints::{BreakpointLimit, MAX_BREAKPOINTS, breakpoints};
use crate::vendors::bodies::conversation::{Conversation, Text};
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::media::{Kind, Media};
use crate::vendors::bodies::message::write_message;
use crate::vendors::bodies::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::bodies::target::{CacheSettings, CacheTtl, Hints};
use crate::vendors::openai_shared::{error_text, is_image, url_field};
use crate::vendors::signature::ReasoningSignature;
use crate::vendors::vendor_block::BlockFormat;

const RULES: Rules = Rules {
    name: "OpenAI Responses",
    user_first: false,
    turns_alternate: false,
    system_field: true,
    results_apart: false,
    takes,
    takes_reasoning: |_, signature| {
        matches!(
            signature.and_then(ReasoningSignature::read),
            Some(ReasoningSignature::Sealed(..) | ReasoningSignature::Opaque(_))
        )
    },
    id: IdRule::any(64),
    tool_name: IdRule::plain(64),
    failed_result_is_text: false,
    reasoning: ReasoningPlace::NotLast,
    phases: true,
    blocks: &[BlockFormat::OpenAiItem],
    chat: false,
};

fn takes(place: MediaHolder, media: &Media<'_>) -> bool {
    matches!(media.kind, Kind::Image(Some(mime)) if is_image(mime)) && place != MediaHolder::Assistant
}

pub(crate) fn write<'m>(
    body: &mut Body<'m>,
    conversation: Conversation<'m>,
    hints: &Hints,
    sink: &mut DiagnosticSink<'_>,
) {
    let mut normalized = normalize(
        conversation,
        body.target,
        &mut body.names,
        &Rules { system_field: !body.chat, chat: body.chat, ..RULES },
        sink,
    );
    body.model();
    if let Some(cache) = body.target.cache.as_ref().filter(|_| !body.chat)
        && body.target.model.as_deref().is_some_and(takes_breakpoints)
    {
        let places = places(cache, &conversation, hints, sink);
        normalized.mark(&places);
        // Without breakpoints nothing would be cached.
        if !places.is_empty() && !body.target.fields.contains_key(CACHE_OPTIONS) {
            body.field(CACHE_OPTIONS).raw(&cache_options(cache));
        }
    }
    if let Some(system) = &normalized.system {
        body.field("instructions").string(system.as_ref());
    }
    let mut reasonings = 0;
    body.turns("input", &normalized, &mut |json, turn| {
        if turn.first().is_some_and(|item| item.role == Role::Assistant) {
            let mut phase = None;
            for item in turn {
                assistant(json, item, phase, &mut reasonings, sink);
                phase = match &item.content {
                    ItemContent::Vendor(block) => block.phase(),
                    ItemContent::Text(_) => phase,
                    _ => None,
                };
            }
        } else {
            user(json, turn, sink);
        }
    });
    if body.is_chat() {
        return;
    }
    body.functions(|json, tool| {
        tool.fields(json, "parameters");
        if !tool.rest.iter().any(|(name, _)| *name == "strict") {
            // As in Chat Completions; here it defaults to true.
            json.raw_field("strict", "false");
        }
    });
    body.max_tokens("max_output_tokens", "", sink);
    body.settings();
}

const CACHE_OPTIONS: &str = "prompt_cache_options";

/// Breakpoints have no other mode.
const BREAKPOINT: &str = r#"{"mode":"explicit"}"#;

/// The options of the cache: OpenAI's automatic breakpoint is turned off, so all four are available.
fn cache_options(cache: &CacheSettings) -> String {
    match cache.ttl {
        // The default is half an hour, and the next longer one is twelve hours.
        None | Some(CacheTtl::FiveMinutes | CacheTtl::HalfHour) => BREAKPOINT.to_owned(),
        Some(CacheTtl::OneHour | CacheTtl::TwelveHours) => r#"{"mode":"explicit","ttl":"12h"}"#.to_owned(),
    }
}

/// The messages to put breakpoints after. A model message cannot have one: it moves to the message of the user or tool
/// before.
fn places(
    cache: &CacheSettings,
    conversation: &Conversation<'_>,
    hints: &Hints,
    sink: &mut DiagnosticSink<'_>,
) -> Vec<usize> {
    let limit = BreakpointLimit { vendor: RULES.name, free: MAX_BREAKPOINTS, left_out: 0 };
    let takes = |at: &usize| matches!(conversation.role(*at), Some(Role::User | Role::Tool));
    let mut places: Vec<usize> = Vec::new();
    for place in breakpoints(cache, conversation, hints, limit, sink) {
        let place = (0..=place).rev().find(takes);
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places
}

fn message(json: &mut JsonWriter, role: Role, text: &Text<'_>) {
    write_message(json, role, |json| json.string(text));
}

fn assistant(
    json: &mut JsonWriter,
    item: &Item<'_>,
    phase: Option<&str>,
    reasonings: &mut usize,
    sink: &mut DiagnosticSink<'_>,
) {
    match &item.content {
        ItemContent::Text(text) => match phase {
            None => message(json, Role::Assistant, text),
            Some(phase) => json.object(|json| {
                json.text_field("role", "assistant");
                json.text_field("content", text);
                json.text_field("phase", phase);
            }),
        },
        ItemContent::Vendor(block) if block.phase().is_some() => {}
        ItemContent::Call { id, name, arguments } => json.typed("function_call", |json| {
            json.text_field("call_id", id.as_ref());
            json.text_field("name", name.as_ref());
            json.text_field("arguments", arguments::text(arguments).as_ref());
        }),
        ItemContent::Reasoning { text, signature } => {
            *reasonings += 1;
            reasoning(json, text, signature.unwrap_or_default(), *reasonings, item.message, sink);
        }
        ItemContent::Vendor(block) => json.value(&block.value),
        ItemContent::Media(_) | ItemContent::Result(_) => {}
    }
}

/// Sends reasoning back as its original item. The id comes from the item if the signature is that; else one is
/// generated, since the types require it.
fn reasoning(
    json: &mut JsonWriter,
    text: &str,
    signature: &str,
    number: usize,
    message: Option<usize>,
    sink: &mut DiagnosticSink<'_>,
) {
    let (own, sealed) = match ReasoningSignature::read(signature) {
        Some(ReasoningSignature::Sealed(id, sealed)) => (id, sealed),
        _ => (None, signature.into()),
    };
    json.typed("reasoning", |json| {
        match own {
            Some(id) => json.text_field("id", id.as_ref()),
            None => {
                let id = format!("rs_{number}");
                let text = format!(
                    "the signature of this reasoning has no id; it got the id `{id}`; pass the provider's whole item as JSON text to keep its id"
                );
                sink.warn(DiagnosticCode::BodyReasoningChanged, message, text);
                json.text_field("id", id.as_str());
            }
        }
        json.list_field("summary", |json| {
            if !is_blank(text) {
                json.text_block("summary_text", text);
            }
        });
        json.text_field("encrypted_content", sealed.as_ref());
    });
}

fn user(json: &mut JsonWriter, turn: &[Item<'_>], sink: &mut DiagnosticSink<'_>) {
    let role = turn.first().map_or(Role::User, |item| item.role);
    for item in turn {
        if let ItemContent::Result(content) = &item.content {
            result(json, content, item, sink);
        }
    }
    let others = || turn.iter().filter(|item| !matches!(item.content, ItemContent::Result(_)));
    let mut first_two = others();
    match (first_two.next(), first_two.next()) {
        (None, _) => return,
        (Some(Item { content: ItemContent::Text(text), cache_mark: false, .. }), None) => {
            return message(json, role, text);
        }
        _ => {}
    }
    write_message(json, role, |json| {
        json.list(|json| others().for_each(|item| input(json, &item.content, item.cache_mark)));
    });
}

/// A part, with a cache breakpoint after it if `marked`.
fn input(json: &mut JsonWriter, content: &ItemContent<'_>, marked: bool) {
    let breakpoint = |json: &mut JsonWriter| {
        if marked {
            json.raw_field("prompt_cache_breakpoint", BREAKPOINT);
        }
    };
    match content {
        ItemContent::Text(text) => json.typed("input_text", |json| {
            json.text_field("text", text);
            breakpoint(json);
        }),
        ItemContent::Media(media) => json.typed("input_image", |json| {
            json.text_field("detail", "auto");
            url_field(json, "image_url", media);
            breakpoint(json);
        }),
        ItemContent::Call { .. } | ItemContent::Result(_) | ItemContent::Reasoning { .. } | ItemContent::Vendor(_) => {}
    }
}

fn result(json: &mut JsonWriter, result: &ToolResult<'_>, item: &Item<'_>, sink: &mut DiagnosticSink<'_>) {
    let error = error_text(result, item.message, RULES.name, sink);
    json.typed("function_call_output", |json| {
        json.text_field("call_id", result.id.as_ref());
        if let Some(text) = result.text() {
            let text = [error, text];
            if !item.cache_mark {
                return json.text_field("output", text.as_slice());
            }
            return json.list_field("output", |json| {
                json.typed("input_text", |json| {
                    json.text_field("text", text.as_slice());
                    json.raw_field("prompt_cache_breakpoint", BREAKPOINT);
                });
            });
        }
        json.list_field("output", |json| {
            if !error.is_empty() {
                json.text_block("input_text", error.trim_end());
            }
            for (at, content) in result.content.iter().enumerate() {
                input(json, content, item.cache_mark && at + 1 == result.content.len());
            }
        });
    });
}
