//! LangChain's messages, in their flat form.

use crate::content::Role;
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::media::{Kind, Media};
use crate::vendors::bodies::normalize::{Item, ItemContent, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::frameworks::{content, media as other_media, result_content, rules, takes_of_user};
use crate::vendors::openai_shared::url_field;
use crate::vendors::signature::{ReasoningSignature, is_anthropic};

pub(crate) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let rules = Rules {
        takes: takes_of_user,
        takes_reasoning: |text, signature| !is_blank(text) || is_anthropic(signature),
        ..rules("LangChain", body.chat)
    };
    let normalized = normalize(conversation, body.target, &mut body.names, &rules, sink);
    body.turns("messages", &normalized, &mut |json, turn| self::turn(json, turn, sink));
}

fn turn(json: &mut JsonWriter, turn: &[Item<'_>], sink: &mut DiagnosticSink<'_>) {
    let Some(first) = turn.first() else { return };
    if matches!(first.content, ItemContent::Result(_)) {
        return turn.iter().for_each(|item| part(json, item, sink));
    }
    let is_call = |item: &&Item<'_>| matches!(item.content, ItemContent::Call { .. });
    let (calls, parts): (Vec<&Item<'_>>, Vec<&Item<'_>>) = turn.iter().partition(is_call);
    json.typed(type_of(first.role), |json| {
        json.key("content");
        content(json, &parts, &mut |json, item| part(json, item, sink));
        if !calls.is_empty() {
            json.list_field("tool_calls", |json| calls.iter().for_each(|item| part(json, item, sink)));
        }
    });
}

fn part(json: &mut JsonWriter, item: &Item<'_>, sink: &mut DiagnosticSink<'_>) {
    match &item.content {
        ItemContent::Text(text) => json.text_block("text", text),
        ItemContent::Media(found) => media(json, found),
        ItemContent::Reasoning { text, signature } => reasoning(json, text, *signature),
        ItemContent::Call { id, name, arguments } => {
            let arguments = arguments::object(arguments, name, item.message, sink);
            json.typed("tool_call", |json| {
                json.text_field("id", id.as_ref());
                json.text_field("name", name.as_ref());
                json.raw_field("args", &arguments);
            });
        }
        ItemContent::Result(found) => result(json, found),
        ItemContent::Vendor(_) => {}
    }
}

fn media(json: &mut JsonWriter, media: &Media<'_>) {
    match media.kind {
        Kind::Image(_) => {
            json.typed("image_url", |json| json.object_field("image_url", |json| url_field(json, "url", media)));
        }
        Kind::Audio(_) => other_media(json, media),
    }
}

fn reasoning(json: &mut JsonWriter, text: &str, signature: Option<&str>) {
    match signature.and_then(ReasoningSignature::read) {
        Some(ReasoningSignature::Redacted(data)) => {
            json.typed("redacted_thinking", |json| json.text_field("data", data.as_ref()));
        }
        Some(ReasoningSignature::Thinking(signature) | ReasoningSignature::Opaque(signature)) => {
            json.typed("thinking", |json| {
                json.text_field("thinking", text);
                json.text_field("signature", signature.as_ref());
            });
        }
        _ => json.typed("reasoning", |json| json.text_field("reasoning", text)),
    }
}

fn result(json: &mut JsonWriter, result: &ToolResult<'_>) {
    json.typed("tool", |json| {
        json.text_field("tool_call_id", result.id.as_ref());
        json.text_field("name", result.name.as_ref());
        json.key("content");
        result_content(json, result, "text", &media);
        if result.is_error {
            json.text_field("status", "error");
        }
    });
}

fn type_of(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer => "system",
        Role::User | Role::Tool => "human",
        Role::Assistant => "ai",
    }
}
