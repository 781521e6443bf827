//! Items of the Agents SDK: each message, call, result and reasoning block is one item.

use crate::content::Role;
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::media::{Kind, Media, Source};
use crate::vendors::bodies::message::write_message;
use crate::vendors::bodies::normalize::{Item, ItemContent, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::frameworks::{result_content, role_of, rules, takes_of_user};
use crate::vendors::openai_shared::{error_text, url_field};
use crate::vendors::signature::ReasoningSignature;

pub(crate) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let rules = Rules {
        takes: takes_of_user,
        phases: true,
        takes_reasoning: |text, signature| {
            !is_blank(text)
                || matches!(signature.and_then(ReasoningSignature::read), Some(ReasoningSignature::Sealed(..)))
        },
        ..rules("the Agents SDK", body.chat)
    };
    let normalized = normalize(conversation, body.target, &mut body.names, &rules, sink);
    body.turns("messages", &normalized, &mut |json, turn| items(json, turn, sink));
}

fn items(json: &mut JsonWriter, turn: &[Item<'_>], sink: &mut DiagnosticSink<'_>) {
    let Some(first) = turn.first() else { return };
    let is_said = |item: &Item<'_>| matches!(item.content, ItemContent::Text(_) | ItemContent::Media(_));
    if first.role != Role::Assistant && turn.iter().all(is_said) {
        return write_message(json, role_of(first), |json| match turn {
            [Item { content: ItemContent::Text(text), .. }] => json.string(text),
            _ => json.list(|json| {
                for item in turn {
                    match &item.content {
                        ItemContent::Text(text) => json.text_block("input_text", text),
                        ItemContent::Media(found) => media(json, found),
                        _ => {}
                    }
                }
            }),
        });
    }
    let mut phase = None;
    for item in turn {
        match &item.content {
            ItemContent::Text(text) => json.typed("message", |json| {
                json.text_field("role", "assistant");
                json.text_field("status", "completed");
                json.optional_text_field("phase", phase);
                json.list_field("content", |json| json.text_block("output_text", text));
            }),
            ItemContent::Call { id, name, arguments } => json.typed("function_call", |json| {
                json.text_field("callId", id.as_ref());
                json.text_field("name", name.as_ref());
                json.text_field("arguments", arguments::text(arguments).as_ref());
            }),
            ItemContent::Result(found) => result(json, found, item.message, sink),
            ItemContent::Media(found) => media(json, found),
            ItemContent::Reasoning { text, signature } => reasoning(json, text, *signature),
            ItemContent::Vendor(block) => {
                phase = block.phase();
                continue;
            }
        }
        // It belongs to the texts that follow it.
        phase = phase.filter(|_| matches!(item.content, ItemContent::Text(_)));
    }
}

fn result(json: &mut JsonWriter, result: &ToolResult<'_>, message: Option<usize>, sink: &mut DiagnosticSink<'_>) {
    let error = error_text(result, message, "The Agents SDK", sink);
    json.typed("function_call_result", |json| {
        json.text_field("callId", result.id.as_ref());
        json.text_field("name", result.name.as_ref());
        json.text_field("status", "completed");
        json.key("output");
        match result.text() {
            Some(text) => json.text_block("text", [error, text].as_slice()),
            None if error.is_empty() => result_content(json, result, "input_text", &media),
            None => json.text_block("text", [error, &result.joined()].as_slice()),
        }
    });
}

fn media(json: &mut JsonWriter, media: &Media<'_>) {
    let (Source::Data(source) | Source::Url(source)) = media.source;
    match media.kind {
        Kind::Image(_) => json.typed("input_image", |json| url_field(json, "image", media)),
        Kind::Audio(mime) => json.typed("audio", |json| {
            let mime = mime.unwrap_or_default();
            json.text_field("audio", source);
            json.text_field("format", mime.strip_prefix("audio/").unwrap_or(mime));
        }),
    }
}

fn reasoning(json: &mut JsonWriter, text: &str, signature: Option<&str>) {
    let (id, sealed) = match signature.and_then(ReasoningSignature::read) {
        Some(ReasoningSignature::Sealed(id, sealed)) => (id, Some(sealed)),
        _ => (None, None),
    };
    json.typed("reasoning", |json| {
        if let Some(id) = id {
            json.text_field("id", id.as_ref());
        }
        json.list_field("content", |json| {
            if !is_blank(text) {
                json.text_block("input_text", text);
            }
        });
        if let Some(sealed) = sealed {
            json.object_field("providerData", |json| json.text_field("encrypted_content", sealed.as_ref()));
        }
    });
}
