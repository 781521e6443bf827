//! OpenAI Responses.
//!
//! The system context is `instructions`; messages, calls, results and reasoning are items of one list.

use super::escape::Json;
use super::media::{Kind, Media};
use super::openai_chat::{error_text, image_url, is_image};
use super::turns::{self, Answer, Notes, Piece, Place, Rules, Saying, Talk, What};
use super::{Body, arguments};
use crate::error::DiagnosticCode;
use crate::prompt::Role;

const RULES: Rules =
    Rules { name: "OpenAI Responses", user_first: false, system_field: true, takes, takes_reasoning, id: (64, true) };

fn takes(place: Place, media: &Media<'_>) -> bool {
    matches!(media.kind, Kind::Image(Some(mime)) if is_image(mime)) && place != Place::Assistant
}

fn takes_reasoning(_: &str, signature: Option<&str>) -> bool {
    signature.is_some_and(|signature| match turns::vendor_block(signature) {
        Some(block) => turns::string_of(&block, "reasoning", "encrypted_content").is_some(),
        None => !signature.is_empty(),
    })
}

pub(super) fn write<'m>(body: &mut Body<'m>, talk: &mut Talk<'_, 'm>, notes: &mut Notes<'_>) {
    let plan = turns::plan(talk, body.target, &RULES, notes);
    body.model();
    if let Some(system) = &plan.system {
        body.field("instructions").string(system);
    }
    let json = body.field("input");
    json.open(b'[');
    let mut thoughts = 0;
    for turn in plan.sayings.chunk_by(|a, b| a.role == b.role) {
        if turn.first().is_some_and(|saying| saying.role == Role::Assistant) {
            turn.iter().for_each(|saying| assistant(json, saying, &mut thoughts, notes));
        } else {
            user(json, turn, notes);
        }
    }
    talk.texts(json, |json, role, tell| turns::text_message(json, role, tell));
    json.close(b']');
    body.tools(|json, tool| {
        json.open_typed("function");
        tool.fields(json, "parameters");
        if !tool.rest.iter().any(|(name, _)| *name == "strict") {
            // As in Chat Completions; here it would be on by itself.
            json.key("strict");
            json.raw("false");
        }
        json.close(b'}');
    });
    body.max_tokens("max_output_tokens");
    body.settings();
}

fn message(json: &mut Json, role: &str, text: &str) {
    json.open(b'{');
    json.text_field("role", role);
    json.text_field("content", text);
    json.close(b'}');
}

fn assistant(json: &mut Json, saying: &Saying<'_>, thoughts: &mut usize, notes: &mut Notes<'_>) {
    match &saying.what {
        What::Text(text) => message(json, "assistant", text),
        What::Call(call) => {
            json.open_typed("function_call");
            json.text_field("call_id", &call.id);
            json.text_field("name", call.name);
            json.text_field("arguments", &arguments::text(call.arguments));
            json.close(b'}');
        }
        What::Thought { text, signature } => {
            *thoughts += 1;
            reasoning(json, text, signature.unwrap_or_default(), *thoughts, saying.message, notes);
        }
        What::Media(_) | What::Answer(_) => {}
    }
}

/// Reasoning goes back as the item that it was. Its id comes with the item where the signature is that; else one is made,
/// since the types require it.
fn reasoning(
    json: &mut Json,
    text: &str,
    signature: &str,
    number: usize,
    message: Option<usize>,
    notes: &mut Notes<'_>,
) {
    let block = turns::vendor_block(signature);
    let own = block.as_ref().and_then(|block| turns::string_of(block, "reasoning", "id"));
    let encrypted = block.as_ref().and_then(|block| turns::string_of(block, "reasoning", "encrypted_content"));
    json.open_typed("reasoning");
    match own {
        Some(id) => json.text_field("id", id),
        None => {
            let id = format!("rs_{number}");
            let said = format!(
                "the signature of this reasoning names no id; it has the id `{id}`. Give the provider's whole item, as JSON text, to hand its own back"
            );
            notes.warn(DiagnosticCode::BodyReasoningChanged, message, said);
            json.text_field("id", &id);
        }
    }
    json.key("summary");
    json.open(b'[');
    if !text.trim().is_empty() {
        json.text_block("summary_text", text);
    }
    json.close(b']');
    json.text_field("encrypted_content", encrypted.unwrap_or(signature));
    json.close(b'}');
}

fn user(json: &mut Json, turn: &[Saying<'_>], notes: &mut Notes<'_>) {
    for saying in turn {
        if let What::Answer(answer) = &saying.what {
            result(json, answer, saying.message, notes);
        }
    }
    let said = || turn.iter().filter(|saying| !matches!(saying.what, What::Answer(_)));
    let mut both = said();
    match (both.next().map(|saying| &saying.what), both.next()) {
        (None, _) => return,
        (Some(What::Text(text)), None) => return message(json, "user", text),
        _ => {}
    }
    json.open(b'{');
    json.text_field("role", "user");
    json.key("content");
    json.open(b'[');
    for saying in said() {
        match &saying.what {
            What::Text(text) => json.text_block("input_text", text),
            What::Media(media) => image(json, media),
            What::Call(_) | What::Answer(_) | What::Thought { .. } => {}
        }
    }
    json.close(b']');
    json.close(b'}');
}

fn image(json: &mut Json, media: &Media<'_>) {
    json.open_typed("input_image");
    json.text_field("detail", "auto");
    json.key("image_url");
    image_url(json, media.kind, media.source);
    json.close(b'}');
}

fn result(json: &mut Json, answer: &Answer<'_>, message: Option<usize>, notes: &mut Notes<'_>) {
    json.open_typed("function_call_output");
    json.text_field("call_id", &answer.id);
    json.key("output");
    let flag = error_text(answer, message, RULES.name, notes);
    match answer.text() {
        Some(text) => json.strings(&[flag, text]),
        None => {
            json.open(b'[');
            if !flag.is_empty() {
                json.text_block("input_text", flag.trim_end());
            }
            for piece in &answer.content {
                match piece {
                    Piece::Text(text) => json.text_block("input_text", text),
                    Piece::Media(media) => image(json, media),
                }
            }
            json.close(b']');
        }
    }
    json.close(b'}');
}
