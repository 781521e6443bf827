//! Gemini generateContent.
//!
//! The model, and whether the answer is streamed, stand in the address. The user speaks first; results are a turn of their
//! own. The signature of a thought belongs to what the model did next, the call above all.

use serde_json::{Map, Value};

use super::escape::Json;
use super::media::{Kind, Media, Source};
use super::turns::{self, Answer, Notes, Piece, Place, Rules, Saying, Talk, What};
use super::{Body, Tool, arguments};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::prompt::Role;

const RULES: Rules =
    Rules { name: "Gemini", user_first: true, system_field: true, takes, takes_reasoning, id: (usize::MAX, true) };

fn takes(_: Place, media: &Media<'_>) -> bool {
    match media.kind {
        Kind::Image(mime) => mime.is_some_and(|mime| mime != "image/gif"),
        Kind::Audio(mime) => mime.is_some(),
    }
}

fn takes_reasoning(text: &str, signature: Option<&str>) -> bool {
    match signature {
        Some(signature) => turns::vendor_block(signature).is_none(),
        None => !text.trim().is_empty(),
    }
}

pub(super) fn write<'m>(body: &mut Body<'m>, talk: &mut Talk<'_, 'm>, notes: &mut Notes<'_>) {
    let plan = turns::plan(talk, body.target, &RULES, notes);
    if let Some(system) = &plan.system {
        let json = body.field("systemInstruction");
        json.open(b'{');
        json.key("parts");
        json.open(b'[');
        text_part(json, system);
        json.close(b']');
        json.close(b'}');
    }
    let json = body.field("contents");
    json.open(b'[');
    let is_answer = |saying: &Saying<'_>| matches!(saying.what, What::Answer(_));
    for turn in plan.sayings.chunk_by(|a, b| a.role == b.role && is_answer(a) == is_answer(b)) {
        let assistant = turn.first().is_some_and(|saying| saying.role == Role::Assistant);
        json.open(b'{');
        json.text_field("role", if assistant { "model" } else { "user" });
        json.key("parts");
        json.open(b'[');
        parts(json, turn, notes);
        json.close(b']');
        json.close(b'}');
    }
    talk.texts(json, |json, role, tell| {
        json.open(b'{');
        json.text_field("role", if role == Role::Assistant { "model" } else { "user" });
        json.key("parts");
        json.open(b'[');
        json.open(b'{');
        json.key("text");
        json.said(tell);
        json.close(b'}');
        json.close(b']');
        json.close(b'}');
    });
    json.close(b']');
    if talk.ends_with_assistant(&plan) {
        let text = "the last turn is the model's; Gemini may refuse a request that does not end with the user's";
        notes.info(DiagnosticCode::BodyEndsWithAssistant, talk.count().checked_sub(1), text.to_owned());
    }
    tools(body);
    generation_config(body, notes);
    if body.target.stream.is_some() {
        body.written.push("stream");
        let text =
            "Gemini streams by its address (`:streamGenerateContent?alt=sse`); `target.stream` is not in the body";
        notes.info(DiagnosticCode::BodyFieldUnused, None, text.to_owned());
    }
}

fn text_part(json: &mut Json, text: &str) {
    json.open(b'{');
    json.text_field("text", text);
    json.close(b'}');
}

fn parts(json: &mut Json, turn: &[Saying<'_>], notes: &mut Notes<'_>) {
    let mut carried: Option<&str> = None;
    for (at, saying) in turn.iter().enumerate() {
        let thought = matches!(saying.what, What::Thought { .. });
        let next_is_deed = turn.get(at + 1).is_some_and(|next| !matches!(next.what, What::Thought { .. }));
        match &saying.what {
            What::Thought { text, signature } => {
                let carries = signature.is_some() && next_is_deed;
                if carries {
                    carried = *signature;
                    if text.trim().is_empty() {
                        continue;
                    }
                }
                json.open(b'{');
                json.text_field("text", text);
                json.key("thought");
                json.raw("true");
                if let Some(signature) = signature.filter(|_| !carries) {
                    json.text_field("thoughtSignature", signature);
                }
            }
            What::Text(text) => {
                json.open(b'{');
                json.text_field("text", text);
            }
            What::Media(media) => {
                json.open(b'{');
                inline(json, media);
            }
            What::Call(call) => {
                json.open(b'{');
                json.key("functionCall");
                json.open(b'{');
                json.text_field("id", &call.id);
                json.text_field("name", call.name);
                let (args, wrapped) = arguments::object(call.arguments);
                if wrapped {
                    arguments::note(notes, call.name, saying.message);
                }
                json.key("args");
                json.raw(&args);
                json.close(b'}');
            }
            What::Answer(answer) => {
                json.open(b'{');
                result(json, answer);
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

fn result(json: &mut Json, answer: &Answer<'_>) {
    json.key("functionResponse");
    json.open(b'{');
    json.text_field("id", &answer.id);
    json.text_field("name", answer.name);
    json.key("response");
    json.open(b'{');
    json.key(if answer.is_error { "error" } else { "output" });
    let mut texts: Vec<&str> = Vec::new();
    for piece in &answer.content {
        if let Piece::Text(text) = piece {
            if !texts.is_empty() {
                texts.push("\n\n");
            }
            texts.push(text);
        }
    }
    json.strings(&texts);
    json.close(b'}');
    let mut media = answer.content.iter().filter_map(Piece::media).peekable();
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
fn generation_config(body: &mut Body<'_>, notes: &mut Notes<'_>) {
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
                    let found = Diagnostic::new(DiagnosticCode::BodyFieldUnused, Severity::Warning, text);
                    notes.list.push(found.at_path(path));
                } else {
                    config.insert(name.clone(), value.clone());
                }
            }
        }
        // What is no object is the caller's own affair, unless it would hide ours.
        Some(_) if !config.is_empty() => {
            let text = "`target.generationConfig` is no object and would replace what `target` says; it was left out";
            let found = Diagnostic::new(DiagnosticCode::BodyFieldUnused, Severity::Warning, text);
            notes.list.push(found.at_path("target.generationConfig"));
        }
        _ => {}
    }
    if !config.is_empty() {
        body.field("generationConfig").value(&Value::Object(config));
        body.merged = Some("generationConfig");
    }
}
