//! Gemini Interactions.
//!
//! The system context is `system_instruction`; messages, reasoning, calls and results are steps of one list. The user
//! speaks first, and signed reasoning is a step before the model's next action.

use crate::content::Role;
use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::media::{ANY_IMAGE, Kind, Media, Source};
use crate::vendors::bodies::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::gemini_shared::{ConfigNames, TOOL_NAME, generation_config};
use crate::vendors::signature::ReasoningSignature;
use crate::vendors::vendor_block::BlockFormat;

const RULES: Rules = Rules {
    name: "Gemini Interactions",
    user_first: true,
    turns_alternate: false,
    system_field: true,
    results_apart: false,
    takes,
    takes_reasoning: |_, signature| read_signature(signature).is_some(),
    id: IdRule::any(usize::MAX),
    tool_name: TOOL_NAME,
    failed_result_is_text: false,
    reasoning: ReasoningPlace::Anywhere,
    phases: false,
    blocks: &[BlockFormat::GeminiStep],
    chat: false,
};

const CONFIG: ConfigNames = ConfigNames {
    field: "generation_config",
    limit: "max_output_tokens",
    limit_path: "generation_config.max_output_tokens",
};

fn takes(_: MediaHolder, media: &Media<'_>) -> bool {
    match media.kind {
        Kind::Image(mime) | Kind::Audio(mime) => mime.is_some(),
    }
}

/// The signature of reasoning that is sent back. Reasoning without one is rejected (googleapis/js-genai#1735).
fn read_signature(signature: Option<&str>) -> Option<ReasoningSignature<'_>> {
    let read = signature.and_then(ReasoningSignature::read);
    read.filter(|it| matches!(it, ReasoningSignature::Thought(_) | ReasoningSignature::Opaque(_)))
}

pub(crate) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let normalized = normalize(conversation, body.target, &mut body.names, &Rules { chat: body.chat, ..RULES }, sink);
    body.model();
    if let (Some(system), false) = (&normalized.system, body.is_chat()) {
        body.field("system_instruction").string(system.as_ref());
    }
    body.turns("input", &normalized, &mut |json, turn| steps(json, turn, sink));
    if body.is_chat() {
        return;
    }
    if normalized.ends_with_assistant() {
        let text =
            "the last turn is the model's; Gemini Interactions may reject a request that does not end with the user's";
        sink.info(DiagnosticCode::BodyEndsWithAssistant, conversation.count().checked_sub(1), text.to_owned());
    }
    body.functions(|json, tool| tool.fields(json, "parameters"));
    generation_config(body, &CONFIG, sink);
    if let Some(stream) = body.target.stream {
        body.field("stream").raw(if stream { "true" } else { "false" });
    }
}

/// Writes the steps of a turn: results come first in a user turn, and adjacent texts and media are one step.
fn steps(json: &mut JsonWriter, turn: &[Item<'_>], sink: &mut DiagnosticSink<'_>) {
    let is_result = |item: &Item<'_>| matches!(item.content, ItemContent::Result(_));
    let is_said = |item: &Item<'_>| matches!(item.content, ItemContent::Text(_) | ItemContent::Media(_));
    turn.iter().filter(|item| is_result(item)).for_each(|item| step(json, item, sink));
    let mut said: Vec<&Item<'_>> = Vec::new();
    for item in turn.iter().filter(|item| !is_result(item)) {
        if is_said(item) {
            said.push(item);
        } else {
            write_said(json, &std::mem::take(&mut said));
            step(json, item, sink);
        }
    }
    write_said(json, &said);
}

/// Writes adjacent texts and media as a step.
fn write_said(json: &mut JsonWriter, items: &[&Item<'_>]) {
    let Some(first) = items.first() else { return };
    let kind = if first.role == Role::Assistant { "model_output" } else { "user_input" };
    json.typed(kind, |json| {
        json.list_field("content", |json| items.iter().for_each(|item| part(json, &item.content)));
    });
}

fn part(json: &mut JsonWriter, content: &ItemContent<'_>) {
    match (content.as_text(), content.media()) {
        (Some(text), _) => json.text_block("text", text),
        (None, Some(found)) => media(json, found),
        (None, None) => {}
    }
}

fn media(json: &mut JsonWriter, media: &Media<'_>) {
    let (kind, mime) = match media.kind {
        Kind::Image(mime) => ("image", mime),
        Kind::Audio(Some("audio/mp4")) => ("audio", Some("audio/m4a")),
        Kind::Audio(mime) => ("audio", mime),
    };
    json.typed(kind, |json| {
        json.optional_text_field("mime_type", mime.filter(|mime| *mime != ANY_IMAGE));
        match media.source {
            Source::Data(data) => json.text_field("data", data),
            Source::Url(url) => json.text_field("uri", url),
        }
    });
}

/// Writes a step other than text and media.
fn step(json: &mut JsonWriter, item: &Item<'_>, sink: &mut DiagnosticSink<'_>) {
    match &item.content {
        ItemContent::Reasoning { text, signature } => json.typed("thought", |json| {
            if let Some(ReasoningSignature::Thought(signature) | ReasoningSignature::Opaque(signature)) =
                read_signature(*signature)
            {
                json.text_field("signature", signature.as_ref());
            }
            if !is_blank(text) {
                json.list_field("summary", |json| json.text_block("text", *text));
            }
        }),
        ItemContent::Call { id, name, arguments } => json.typed("function_call", |json| {
            json.text_field("id", id.as_ref());
            json.text_field("name", name.as_ref());
            json.raw_field("arguments", &arguments::object(arguments, name, item.message, sink));
        }),
        ItemContent::Result(found) => json.typed("function_result", |json| result(json, found)),
        ItemContent::Vendor(block) => json.value(&block.value),
        ItemContent::Text(_) | ItemContent::Media(_) => {}
    }
}

fn result(json: &mut JsonWriter, result: &ToolResult<'_>) {
    json.text_field("call_id", result.id.as_ref());
    json.text_field("name", result.name.as_ref());
    match result.text() {
        Some(text) => json.text_field("result", text),
        None => json.list_field("result", |json| result.content.iter().for_each(|content| part(json, content))),
    }
    if result.is_error {
        json.raw_field("is_error", "true");
    }
}
