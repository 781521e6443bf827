//! Gemini generateContent.
//!
//! The model, and whether the answer is streamed, stand in the address. The user speaks first; results are a turn of their
//! own. The signature of a thought belongs to what the model did next, the call above all.

use serde_json::{Map, Value};

use super::arguments;
use super::body::{Body, Tool};
use super::conversation::Conversation;
use super::json::{Json, TextWriter, WriteText};
use super::media::{Kind, Media, Source};
use super::normalize::{Item, ItemContent, Place, Rules, ToolResult, normalize};
use super::signature::vendor_block;
use super::sink::DiagnosticSink;
use crate::error::DiagnosticCode;
use crate::prompt::message::Role;

const RULES: Rules = Rules {
    name: "Gemini",
    user_first: true,
    system_field: true,
    results_apart: true,
    takes,
    takes_reasoning,
    id: (usize::MAX, true),
};

fn takes(_: Place, media: &Media<'_>) -> bool {
    match media.kind {
        Kind::Image(mime) => mime.is_some_and(|mime| mime != "image/gif"),
        Kind::Audio(mime) => mime.is_some(),
    }
}

fn takes_reasoning(text: &str, signature: Option<&str>) -> bool {
    match signature {
        Some(signature) => vendor_block(signature).is_none(),
        None => !text.trim().is_empty(),
    }
}

pub(super) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let normalized = normalize(conversation, body.target, &RULES, sink);
    if let Some(system) = &normalized.system {
        let json = body.field("systemInstruction");
        json.open(b'{');
        json.key("parts");
        json.open(b'[');
        json.open(b'{');
        json.text_field("text", system.as_ref());
        json.close(b'}');
        json.close(b']');
        json.close(b'}');
    }
    body.turns("contents", &normalized, &mut |json, turn| {
        let assistant = turn.first().is_some_and(|item| item.role == Role::Assistant);
        json.raw(if assistant { r#"{"role":"model","parts":"# } else { r#"{"role":"user","parts":"# });
        json.open(b'[');
        parts(json, turn, sink);
        json.close(b']');
        json.close(b'}');
    });
    if normalized.ends_with_assistant() {
        let text = "the last turn is the model's; Gemini may refuse a request that does not end with the user's";
        sink.info(DiagnosticCode::BodyEndsWithAssistant, conversation.count().checked_sub(1), text.to_owned());
    }
    tools(body);
    generation_config(body, sink);
    if body.target.stream.is_some() {
        body.leave_out("stream");
        let text =
            "Gemini streams by its address (`:streamGenerateContent?alt=sse`); `target.stream` is not in the body";
        sink.info(DiagnosticCode::BodyFieldUnused, None, text.to_owned());
    }
}

fn parts(json: &mut Json, turn: &[Item<'_>], sink: &mut DiagnosticSink<'_>) {
    let mut carried: Option<&str> = None;
    for (at, item) in turn.iter().enumerate() {
        let thought = matches!(item.content, ItemContent::Reasoning { .. });
        let next_can_carry =
            turn.get(at + 1).is_some_and(|next| !matches!(next.content, ItemContent::Reasoning { .. }));
        match &item.content {
            ItemContent::Reasoning { text, signature } => {
                let carries = signature.is_some() && next_can_carry;
                if carries {
                    carried = *signature;
                    if text.trim().is_empty() {
                        continue;
                    }
                }
                json.open(b'{');
                json.text_field("text", *text);
                json.raw_field("thought", "true");
                if let Some(signature) = signature.filter(|_| !carries) {
                    json.text_field("thoughtSignature", signature);
                }
            }
            ItemContent::Text(text) => {
                json.open(b'{');
                json.text_field("text", text);
            }
            ItemContent::Media(media) => {
                json.open(b'{');
                inline(json, media);
            }
            ItemContent::Call { id, name, arguments } => {
                json.open(b'{');
                json.key("functionCall");
                json.open(b'{');
                json.text_field("id", id.as_ref());
                json.text_field("name", *name);
                json.raw_field("args", &arguments::object(arguments, name, item.message, sink));
                json.close(b'}');
            }
            ItemContent::Result(content) => {
                json.open(b'{');
                result(json, content);
            }
        }
        if let Some(signature) = carried.take_if(|_| !thought) {
            json.text_field("thoughtSignature", signature);
        }
        json.close(b'}');
    }
}

fn inline(json: &mut Json, media: &Media<'_>) {
    let (Kind::Image(mime) | Kind::Audio(mime)) = media.kind;
    let (field, name, value) = match media.source {
        Source::Data(data) => ("inlineData", "data", data),
        Source::Url(url) => ("fileData", "fileUri", url),
    };
    json.key(field);
    json.open(b'{');
    json.text_field("mimeType", mime.unwrap_or_default());
    json.text_field(name, value);
    json.close(b'}');
}

fn result(json: &mut Json, result: &ToolResult<'_>) {
    json.key("functionResponse");
    json.open(b'{');
    json.text_field("id", result.id.as_ref());
    json.text_field("name", result.name);
    json.key("response");
    json.open(b'{');
    json.key(if result.is_error { "error" } else { "output" });
    json.string(&ResultTexts(&result.content));
    json.close(b'}');
    let mut media = result.content.iter().filter_map(ItemContent::media).peekable();
    if media.peek().is_some() {
        json.key("parts");
        json.open(b'[');
        for media in media {
            json.open(b'{');
            inline(json, media);
            json.close(b'}');
        }
        json.close(b']');
    }
    json.close(b'}');
}

/// The texts of a result in one string.
struct ResultTexts<'r>(&'r [ItemContent<'r>]);

impl WriteText for ResultTexts<'_> {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        let texts = self.0.iter().filter_map(ItemContent::as_text);
        for (at, text) in texts.enumerate() {
            if at > 0 {
                out.plain("\n\n");
            }
            text.write_text(out);
        }
    }
}

/// One tool holds all functions; tools in Gemini's own shape stand beside it.
fn tools(body: &mut Body<'_>) {
    let target = body.target;
    if target.tools.is_empty() {
        return;
    }
    let functions: Vec<Tool<'_>> = target.tools.iter().filter_map(Tool::neutral).collect();
    let json = body.field("tools");
    json.open(b'[');
    if !functions.is_empty() {
        json.open(b'{');
        json.key("functionDeclarations");
        json.open(b'[');
        for function in &functions {
            json.open(b'{');
            function.fields(json, "parametersJsonSchema");
            json.close(b'}');
        }
        json.close(b']');
        json.close(b'}');
    }
    target.tools.iter().filter(|tool| Tool::neutral(tool).is_none()).for_each(|tool| json.value(tool));
    json.close(b']');
}

/// Ours, and the fields of the caller's own `generationConfig` that do not say the same.
fn generation_config(body: &mut Body<'_>, sink: &mut DiagnosticSink<'_>) {
    let target = body.target;
    let mut config = Map::new();
    if let Some(tokens) = target.max_tokens {
        config.insert("maxOutputTokens".to_owned(), tokens.into());
    }
    if let Some(temperature) = &target.temperature {
        config.insert("temperature".to_owned(), temperature.clone());
    }
    match target.fields.get("generationConfig") {
        Some(Value::Object(given)) => {
            for (name, value) in given {
                if config.contains_key(name) {
                    let path = format!("target.generationConfig.{name}");
                    let text = format!("`{path}` says again what `target` says; it was left out");
                    sink.unused_field(path, text);
                } else {
                    config.insert(name.clone(), value.clone());
                }
            }
        }
        // What is no object is the caller's own affair, unless it would hide ours.
        Some(_) if !config.is_empty() => {
            let text = "`target.generationConfig` is no object and would replace what `target` says; it was left out";
            sink.unused_field("target.generationConfig".to_owned(), text.to_owned());
        }
        _ => {}
    }
    if !config.is_empty() {
        body.field("generationConfig").value(&Value::Object(config));
        body.merged = Some("generationConfig");
    }
}
