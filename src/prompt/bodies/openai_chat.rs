//! OpenAI Chat Completions.
//!
//! The system context is a message. Results are messages of their own, of the role `tool`, directly after the message
//! with the calls; they hold text only, so that images in them follow in a user message.

use std::borrow::Cow;

use super::escape::Json;
use super::media::{Kind, Media, Source};
use super::turns::{self, Answer, Notes, Piece, Place, Rules, Saying, Talk, What};
use super::{Body, arguments};
use crate::error::DiagnosticCode;
use crate::prompt::Role;

const RULES: Rules = Rules {
    name: "OpenAI Chat Completions",
    user_first: false,
    system_field: false,
    takes,
    takes_reasoning: |_, _| false,
    id: (40, true),
};

fn takes(place: Place, media: &Media<'_>) -> bool {
    let known = match (media.kind, media.source) {
        (Kind::Image(Some(mime)), _) => is_image(mime),
        (Kind::Audio(Some(mime)), Source::Data(_)) => audio_format(mime).is_some(),
        _ => false,
    };
    known && place != Place::Assistant
}

/// The image types that OpenAI reads.
pub(super) fn is_image(mime: &str) -> bool {
    matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn audio_format(mime: &str) -> Option<&'static str> {
    match mime {
        "audio/wav" => Some("wav"),
        "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

pub(super) fn write<'m>(body: &mut Body<'m>, talk: &mut Talk<'_, 'm>, notes: &mut Notes<'_>) {
    let plan = turns::plan(talk, body.target, &RULES, notes);
    body.model();
    let json = body.field("messages");
    json.open(b'[');
    for turn in plan.sayings.chunk_by(|a, b| a.role == b.role) {
        match turn.first().map(|saying| saying.role) {
            Some(Role::User) => user(json, turn, notes),
            Some(Role::Assistant) => assistant(json, turn),
            Some(Role::Developer) => plain(json, "developer", turn),
            _ => plain(json, "system", turn),
        }
    }
    talk.texts(json, |json, role, tell| turns::text_message(json, role, tell));
    json.close(b']');
    body.tools(|json, tool| {
        json.open_typed("function");
        json.key("function");
        json.open(b'{');
        tool.fields(json, "parameters");
        json.close(b'}');
        json.close(b'}');
    });
    body.max_tokens("max_completion_tokens");
    body.settings();
}

fn open(json: &mut Json, role: &str) {
    json.open(b'{');
    json.text_field("role", role);
}

fn plain(json: &mut Json, role: &str, turn: &[Saying<'_>]) {
    open(json, role);
    json.key("content");
    texts(json, turn);
    json.close(b'}');
}

/// The texts of a turn: one string, or a list where there are several.
fn texts(json: &mut Json, turn: &[Saying<'_>]) {
    let texts: Vec<&str> = turn.iter().filter_map(text_of).collect();
    match texts.as_slice() {
        [] => json.raw("null"),
        [text] => json.string(text),
        several => {
            json.open(b'[');
            for text in several {
                json.text_block("text", text);
            }
            json.close(b']');
        }
    }
}

fn text_of<'s>(saying: &'s Saying<'_>) -> Option<&'s str> {
    if let What::Text(text) = &saying.what { Some(text) } else { None }
}

fn user(json: &mut Json, turn: &[Saying<'_>], notes: &mut Notes<'_>) {
    if let [Saying { what: What::Text(_), .. }] = turn {
        return plain(json, "user", turn);
    }
    // What a result shows, with a text that says which.
    let mut shown: Vec<(Cow<'_, str>, Vec<&Media<'_>>)> = Vec::new();
    for saying in turn {
        if let What::Answer(answer) = &saying.what {
            shown.extend(result(json, answer, saying.message, notes));
        }
    }
    let said = turn.iter().filter(|saying| !matches!(saying.what, What::Answer(_)));
    let said: Vec<&Saying<'_>> = said.collect();
    match said.as_slice() {
        [] if shown.is_empty() => return,
        [only] if shown.is_empty() && text_of(only).is_some() => {
            return plain(json, "user", std::slice::from_ref(*only));
        }
        _ => {}
    }
    open(json, "user");
    json.key("content");
    json.open(b'[');
    for (label, media) in &shown {
        json.text_block("text", label);
        media.iter().for_each(|media| self::media(json, media));
    }
    for saying in said {
        match &saying.what {
            What::Text(text) => json.text_block("text", text),
            What::Media(media) => self::media(json, media),
            What::Call(_) | What::Answer(_) | What::Thought { .. } => {}
        }
    }
    json.close(b']');
    json.close(b'}');
}

/// Writes a result, and gives back what it cannot hold.
fn result<'a>(
    json: &mut Json,
    answer: &'a Answer<'_>,
    message: Option<usize>,
    notes: &mut Notes<'_>,
) -> Option<(Cow<'a, str>, Vec<&'a Media<'a>>)> {
    open(json, "tool");
    json.text_field("tool_call_id", &answer.id);
    json.key("content");
    let media: Vec<&Media<'_>> = answer.content.iter().filter_map(Piece::media).collect();
    let flag = error_text(answer, message, RULES.name, notes);
    if media.is_empty()
        && let Some(text) = answer.text()
    {
        json.strings(&[flag, text]);
    } else {
        json.open(b'[');
        for (at, piece) in answer.content.iter().enumerate() {
            let text = match piece {
                Piece::Text(text) => Cow::Borrowed(text.as_ref()),
                Piece::Media(media) => Cow::Owned(media.stand_in()),
            };
            json.open_typed("text");
            json.key("text");
            json.strings(&[if at == 0 { flag } else { "" }, &text]);
            json.close(b'}');
        }
        json.close(b']');
    }
    json.close(b'}');
    if media.is_empty() {
        return None;
    }
    let text = format!(
        "a tool message holds text only; what the result of `{}` shows is in the user message after it",
        answer.name
    );
    notes.info(DiagnosticCode::BodyPartMoved, message, text);
    Some((Cow::Owned(format!("[shown by the result of {} ({})]", answer.name, answer.id)), media))
}

/// What begins a result's text when the tool failed and the provider has no field that says so.
pub(super) fn error_text(
    answer: &Answer<'_>,
    message: Option<usize>,
    provider: &str,
    notes: &mut Notes<'_>,
) -> &'static str {
    if !answer.is_error {
        return "";
    }
    let text =
        format!("{provider} has no field that says that `{}` failed; its result begins with `Error: `", answer.name);
    notes.info(DiagnosticCode::BodyErrorAsText, message, text);
    "Error: "
}

fn media(json: &mut Json, media: &Media<'_>) {
    match (media.kind, media.source) {
        (Kind::Audio(mime), Source::Data(data)) => {
            json.open_typed("input_audio");
            json.key("input_audio");
            json.open(b'{');
            json.text_field("data", data);
            json.text_field("format", mime.and_then(audio_format).unwrap_or_default());
        }
        (_, source) => {
            json.open_typed("image_url");
            json.key("image_url");
            json.open(b'{');
            json.key("url");
            image_url(json, media.kind, source);
        }
    }
    json.close(b'}');
    json.close(b'}');
}

/// An address, or the bytes as one.
pub(super) fn image_url(json: &mut Json, kind: Kind, source: Source<'_>) {
    match (source, kind) {
        (Source::Url(url), _) => json.string(url),
        (Source::Data(data), Kind::Image(mime) | Kind::Audio(mime)) => {
            json.strings(&["data:", mime.unwrap_or_default(), ";base64,", data]);
        }
    }
}

fn assistant(json: &mut Json, turn: &[Saying<'_>]) {
    open(json, "assistant");
    json.key("content");
    texts(json, turn);
    let mut calls =
        turn.iter().filter_map(|saying| if let What::Call(call) = &saying.what { Some(call) } else { None });
    if let Some(first) = calls.next() {
        json.key("tool_calls");
        json.open(b'[');
        for call in std::iter::once(first).chain(calls) {
            json.open(b'{');
            json.text_field("id", &call.id);
            json.text_field("type", "function");
            json.key("function");
            json.open(b'{');
            json.text_field("name", call.name);
            json.text_field("arguments", &arguments::text(call.arguments));
            json.close(b'}');
            json.close(b'}');
        }
        json.close(b']');
    }
    json.close(b'}');
}
