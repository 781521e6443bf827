//! OpenAI Chat Completions.
//!
//! The system context is a message. Results are separate messages with the role `tool`, directly after the message with
//! the calls; they hold only text, so images in them follow in a user message.

use super::compatible::{self, ReasoningField};
use crate::content::Role;
use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::{Conversation, Text};
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::media::{Kind, Media, Source};
use crate::vendors::bodies::message::write_message;
use crate::vendors::bodies::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::openai_shared::{error_text, is_image, url_field};

const RULES: Rules = Rules {
    name: "OpenAI Chat Completions",
    user_first: false,
    turns_alternate: false,
    system_field: false,
    results_apart: false,
    takes,
    takes_reasoning: |_, _| false,
    id: IdRule::any(40),
    tool_name: IdRule::plain(64),
    failed_result_is_text: false,
    reasoning: ReasoningPlace::Anywhere,
    phases: false,
    blocks: &[],
    chat: false,
};

fn takes(place: MediaHolder, media: &Media<'_>) -> bool {
    let known = match (media.kind, media.source) {
        (Kind::Image(Some(mime)), _) => is_image(mime),
        (Kind::Audio(Some(mime)), Source::Data(_)) => audio_format(mime).is_some(),
        _ => false,
    };
    known && place != MediaHolder::Assistant
}

fn audio_format(mime: &str) -> Option<&'static str> {
    match mime {
        "audio/wav" => Some("wav"),
        "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

pub(crate) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let replayed = body.target.model.as_deref().and_then(compatible::reasoning_field);
    let rules = match replayed {
        Some(_) => {
            Rules { takes_reasoning: compatible::takes_reasoning, reasoning: ReasoningPlace::MessageField, ..RULES }
        }
        None => RULES,
    };
    let normalized = normalize(conversation, body.target, &mut body.names, &Rules { chat: body.chat, ..rules }, sink);
    body.model();
    body.turns("messages", &normalized, &mut |json, turn| match turn.first().map_or(Role::User, |item| item.role) {
        Role::User => user(json, turn, sink),
        role => message(json, role, turn, replayed),
    });
    if body.is_chat() {
        return;
    }
    body.functions(|json, tool| {
        json.object_field("function", |json| tool.fields(json, "parameters"));
    });
    let (name, also) = limit_fields(body.target.model.as_deref().unwrap_or_default());
    body.max_tokens(name, also, sink);
    body.settings();
}

/// The field of a body that limits the output of a model, and another one that the model also accepts; empty if none.
pub(crate) fn limit_fields(model: &str) -> (&'static str, &'static str) {
    match compatible::reasoning_field(model) {
        Some(_) => ("max_tokens", ""),
        None if takes_completion_tokens_only(model) => ("max_completion_tokens", ""),
        None => ("max_completion_tokens", "max_tokens"),
    }
}

/// Whether OpenAI rejects `max_tokens` for a model, as for all reasoning models.
fn takes_completion_tokens_only(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let name = name.strip_prefix("ft:").unwrap_or(&name);
    let is =
        |family: &str| name.strip_prefix(family).is_some_and(|rest| !rest.starts_with(|ch: char| ch.is_ascii_digit()));
    ["o1", "o3", "o4", "gpt-5", "gpt-6", "codex-mini"].into_iter().any(is)
}

fn message(json: &mut JsonWriter, role: Role, turn: &[Item<'_>], replayed: Option<ReasoningField>) {
    write_message(json, role, |json| {
        let mut texts = turn.iter().filter_map(|item| item.content.as_text());
        match (texts.next(), texts.next()) {
            (None, _) => json.raw("null"),
            (Some(text), None) => json.string(text),
            (Some(first), Some(second)) => json.list(|json| {
                [first, second].into_iter().chain(texts).for_each(|text| json.text_block("text", text));
            }),
        }
        if let Some(field) = replayed {
            compatible::write_reasoning(json, turn, field);
        }
        if turn.iter().any(|item| matches!(item.content, ItemContent::Call { .. })) {
            json.list_field("tool_calls", |json| turn.iter().for_each(|item| call(json, &item.content)));
        }
    });
}

fn call(json: &mut JsonWriter, content: &ItemContent<'_>) {
    let ItemContent::Call { id, name, arguments } = content else { return };
    json.object(|json| {
        json.text_field("id", id.as_ref());
        json.text_field("type", "function");
        json.object_field("function", |json| {
            json.text_field("name", name.as_ref());
            json.text_field("arguments", arguments::text(arguments).as_ref());
        });
    });
}

fn user(json: &mut JsonWriter, turn: &[Item<'_>], sink: &mut DiagnosticSink<'_>) {
    // Media of results, which follow in a user message: first a label with their result.
    let mut moved: Vec<&ToolResult<'_>> = Vec::new();
    for item in turn {
        if let ItemContent::Result(content) = &item.content
            && result(json, content, item.message, sink)
        {
            moved.push(content);
        }
    }
    let others = || turn.iter().filter(|item| !matches!(item.content, ItemContent::Result(_)));
    let mut first_two = others();
    match (first_two.next(), first_two.next()) {
        (None, _) if moved.is_empty() => return,
        (Some(item), None) if moved.is_empty() && item.content.as_text().is_some() => {
            return message(json, Role::User, std::slice::from_ref(item), None);
        }
        _ => {}
    }
    write_message(json, Role::User, |json| {
        json.list(|json| {
            for result in moved {
                json.text_block("text", result.media_label().as_str());
                result.content.iter().filter_map(ItemContent::media).for_each(|media| self::media(json, media));
            }
            for item in others() {
                match &item.content {
                    ItemContent::Text(text) => json.text_block("text", text),
                    ItemContent::Media(media) => self::media(json, media),
                    ItemContent::Call { .. }
                    | ItemContent::Result(_)
                    | ItemContent::Reasoning { .. }
                    | ItemContent::Vendor(_) => {}
                }
            }
        });
    });
}

/// Writes a result without its media. Returns whether it has media.
fn result(
    json: &mut JsonWriter,
    result: &ToolResult<'_>,
    message: Option<usize>,
    sink: &mut DiagnosticSink<'_>,
) -> bool {
    let error = error_text(result, message, RULES.name, sink);
    json.object(|json| {
        json.text_field("role", "tool");
        json.text_field("tool_call_id", result.id.as_ref());
        if let Some(text) = result.text() {
            return json.text_field("content", [error, text].as_slice());
        }
        json.list_field("content", |json| {
            for (at, content) in result.content.iter().enumerate() {
                let error = if at == 0 { error } else { "" };
                match content {
                    ItemContent::Text(Text::Whole(text)) => json.text_block("text", [error, text].as_slice()),
                    ItemContent::Media(media) => json.text_block("text", [error, &media.stand_in()].as_slice()),
                    _ => {}
                }
            }
        });
    });
    let has_media = result.content.iter().any(|content| content.media().is_some());
    if has_media {
        let text = format!(
            "a tool message can only hold text; the media of the result of `{}` were moved to a user message after it",
            result.name
        );
        sink.info(DiagnosticCode::BodyPartMoved, message, text);
    }
    has_media
}

fn media(json: &mut JsonWriter, media: &Media<'_>) {
    match (media.kind, media.source) {
        (Kind::Audio(mime), Source::Data(data)) => json.typed("input_audio", |json| {
            json.object_field("input_audio", |json| {
                json.text_field("data", data);
                json.text_field("format", mime.and_then(audio_format).unwrap_or_default());
            });
        }),
        _ => json.typed("image_url", |json| json.object_field("image_url", |json| url_field(json, "url", media))),
    }
}
