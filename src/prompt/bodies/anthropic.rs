//! Anthropic Messages.
//!
//! The user speaks first, roles alternate, and the results of a turn's calls are the first blocks of the message after
//! it. Thinking goes back with its signature, unchanged, or not at all.

use std::collections::BTreeSet;

use super::escape::Json;
use super::media::{Kind, Media, Source};
use super::target::{CacheMessages, CacheSettings, Target};
use super::turns::{self, Answer, Call, Notes, Piece, Place, Rules, Saying, Talk, What};
use super::{Body, Hints, arguments};
use crate::error::DiagnosticCode;
use crate::prompt::Role;

const RULES: Rules =
    Rules { name: "Anthropic", user_first: true, system_field: true, takes, takes_reasoning, id: (64, false) };

/// What the provider reads out of one request at most.
const BREAKPOINTS: usize = 4;

fn takes(place: Place, media: &Media<'_>) -> bool {
    let known = matches!(media.kind, Kind::Image(Some("image/png" | "image/jpeg" | "image/gif" | "image/webp")));
    known && place != Place::Assistant
}

fn takes_reasoning(_: &str, signature: Option<&str>) -> bool {
    signature.is_some_and(|signature| match turns::vendor_block(signature) {
        Some(block) => turns::string_of(&block, "redacted_thinking", "data").is_some(),
        None => !signature.is_empty(),
    })
}

pub(super) fn write<'m>(body: &mut Body<'m>, talk: &mut Talk<'_, 'm>, hints: &Hints, notes: &mut Notes<'_>) {
    let target = body.target;
    let plan = turns::plan(talk, target, &RULES, notes);
    body.model();
    max_tokens(body, notes);

    let cache = target.cache.as_ref();
    let control = cache.map(control);
    let tools_last = target.tools.len().checked_sub(1);
    // Tools come before the system context in what is cached, so that one breakpoint is for both.
    let behind_system = control.as_deref().filter(|_| cache.is_some_and(|cache| cache.system));
    let behind_tools = behind_system.filter(|_| plan.system.is_none() && tools_last.is_some());
    let spent = usize::from(behind_system.is_some() && (plan.system.is_some() || tools_last.is_some()));
    let places = cache.map_or_else(Vec::new, |cache| places(cache, talk, hints, BREAKPOINTS - spent, notes));
    let marked = marks(&places, &plan.sayings);

    if let Some(system) = &plan.system {
        let json = body.field("system");
        match behind_system {
            None => json.string(system),
            Some(control) => {
                json.open(b'[');
                text_block(json, system, Some(control));
                json.close(b']');
            }
        }
    }
    let json = body.field("messages");
    json.open(b'[');
    let mut at = 0;
    for turn in plan.sayings.chunk_by(|a, b| a.role == b.role) {
        let control = |index: usize| control.as_deref().filter(|_| marked.contains(&(at + index)));
        message(json, turn, control, notes);
        at += turn.len();
    }
    let marked: BTreeSet<usize> = places.into_iter().collect();
    talk.texts_but(json, &marked, |json, at, role, tell| match control.as_deref().filter(|_| marked.contains(&at)) {
        None => turns::text_message(json, role, tell),
        Some(control) => {
            json.open(b'{');
            json.text_field("role", turns::speaker(role));
            json.key("content");
            json.open(b'[');
            json.open_typed("text");
            json.key("text");
            json.said(tell);
            close(json, Some(control));
            json.close(b']');
            json.close(b'}');
        }
    });
    json.close(b']');
    if talk.ends_with_assistant(&plan) {
        let text = "the last message is the assistant's; models that take no prefill refuse it";
        notes.info(DiagnosticCode::BodyEndsWithAssistant, talk.count().checked_sub(1), text.to_owned());
    }
    tools(body, target, behind_tools);
    body.settings();
}

fn max_tokens(body: &mut Body<'_>, notes: &mut Notes<'_>) {
    let target = body.target;
    if target.max_tokens.is_none() && target.fields.contains_key("max_tokens") {
        return;
    }
    let tokens = target.max_tokens.unwrap_or_else(|| {
        let tokens = target.fallback_max_tokens.max(1);
        let text =
            format!("Anthropic requires `maxTokens`, and `target` gives none; it is {tokens}, the `tokenBuffer`");
        notes.info(DiagnosticCode::BodyMaxTokensAssumed, None, text);
        tokens
    });
    body.number("max_tokens", tokens);
}

fn tools(body: &mut Body<'_>, target: &Target, behind_last: Option<&str>) {
    let Some((last, _)) = target.tools.split_last() else { return };
    let marked = behind_last.filter(|_| last.get("cache_control").is_none());
    body.tools(|json, tool| {
        json.open(b'{');
        tool.fields(json, "input_schema");
        json.close(b'}');
    });
    if let Some(control) = marked {
        body.json.amend_last_object("cache_control", control);
    }
}

/// The value of `cache_control`.
fn control(cache: &CacheSettings) -> String {
    match cache.ttl {
        None => r#"{"type":"ephemeral"}"#.to_owned(),
        Some(ttl) => format!(r#"{{"type":"ephemeral","ttl":"{}"}}"#, ttl.as_str()),
    }
}

/// The messages to put breakpoints behind, as many as there is room for.
fn places(cache: &CacheSettings, talk: &Talk<'_, '_>, hints: &Hints, room: usize, notes: &mut Notes<'_>) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let count = talk.count();
    match &cache.messages {
        CacheMessages::Auto => {
            let last = count.checked_sub(1);
            let earlier = match hints.stable.checked_sub(1) {
                // A turn ago the conversation ended with the user message before the last.
                None => (0..count).rev().filter(|&at| talk.role(at) == Some(Role::User)).nth(1),
                stable => stable,
            };
            let before_cut = hints.before_cut.and_then(|count| count.checked_sub(1));
            for place in [last, earlier, before_cut].into_iter().flatten() {
                if place < count && !places.contains(&place) && places.len() < room {
                    places.push(place);
                }
            }
        }
        CacheMessages::At(given) => {
            let mut left_out = 0;
            for &place in given {
                let whole = i64::try_from(count).unwrap_or(i64::MAX);
                let place = if place < 0 { place.saturating_add(whole) } else { place };
                let place = usize::try_from(place).ok().filter(|&place| place < count);
                match place {
                    Some(place) if places.contains(&place) => {}
                    Some(place) if places.len() < room => places.push(place),
                    _ => left_out += 1,
                }
            }
            if left_out > 0 {
                let text = format!(
                    "{left_out} of the cache breakpoints were left out; Anthropic takes {BREAKPOINTS} in all, at messages that are there"
                );
                notes.warn(DiagnosticCode::BodyCacheCapped, None, text);
            }
        }
    }
    places
}

/// The last saying of each of these messages that can have a breakpoint behind it.
fn marks(places: &[usize], sayings: &[Saying<'_>]) -> BTreeSet<usize> {
    let mut marks = BTreeSet::new();
    for &place in places {
        let can = |saying: &Saying<'_>| saying.message == Some(place) && !matches!(saying.what, What::Thought { .. });
        marks.extend(sayings.iter().rposition(can));
    }
    marks
}

fn message<'c>(
    json: &mut Json,
    turn: &[Saying<'_>],
    control: impl Fn(usize) -> Option<&'c str>,
    notes: &mut Notes<'_>,
) {
    json.open(b'{');
    json.text_field("role", turns::speaker(turn.first().map_or(Role::User, |saying| saying.role)));
    json.key("content");
    if let [Saying { what: What::Text(text), .. }] = turn
        && control(0).is_none()
    {
        json.string(text);
    } else {
        json.open(b'[');
        for (index, saying) in turn.iter().enumerate() {
            block(json, saying, control(index), notes);
        }
        json.close(b']');
    }
    json.close(b'}');
}

fn block(json: &mut Json, saying: &Saying<'_>, control: Option<&str>, notes: &mut Notes<'_>) {
    match &saying.what {
        What::Text(text) => return text_block(json, text, control),
        What::Media(media) => open_image(json, media),
        What::Call(call) => open_call(json, call, saying.message, notes),
        What::Answer(answer) => open_answer(json, answer),
        What::Thought { text, signature } => {
            let signature = signature.unwrap_or_default();
            match turns::vendor_block(signature) {
                Some(block) => {
                    json.open_typed("redacted_thinking");
                    json.text_field("data", turns::string_of(&block, "redacted_thinking", "data").unwrap_or_default());
                }
                None => {
                    json.open_typed("thinking");
                    json.text_field("thinking", text);
                    json.text_field("signature", signature);
                }
            }
        }
    }
    close(json, control);
}

fn text_block(json: &mut Json, text: &str, control: Option<&str>) {
    json.open_typed("text");
    json.text_field("text", text);
    close(json, control);
}

fn close(json: &mut Json, control: Option<&str>) {
    if let Some(control) = control {
        json.key("cache_control");
        json.raw(control);
    }
    json.close(b'}');
}

fn open_image(json: &mut Json, media: &Media<'_>) {
    json.open_typed("image");
    json.key("source");
    match media.source {
        Source::Data(data) => {
            json.open_typed("base64");
            if let Kind::Image(Some(mime)) = media.kind {
                json.text_field("media_type", mime);
            }
            json.text_field("data", data);
        }
        Source::Url(url) => {
            json.open_typed("url");
            json.text_field("url", url);
        }
    }
    json.close(b'}');
}

fn open_call(json: &mut Json, call: &Call<'_>, message: Option<usize>, notes: &mut Notes<'_>) {
    json.open_typed("tool_use");
    json.text_field("id", &call.id);
    json.text_field("name", call.name);
    let (input, wrapped) = arguments::object(call.arguments);
    if wrapped {
        arguments::note(notes, call.name, message);
    }
    json.key("input");
    json.raw(&input);
}

fn open_answer(json: &mut Json, answer: &Answer<'_>) {
    json.open_typed("tool_result");
    json.text_field("tool_use_id", &answer.id);
    json.key("content");
    match answer.text() {
        Some(text) => json.string(text),
        None => {
            json.open(b'[');
            for piece in &answer.content {
                match piece {
                    Piece::Text(text) => json.text_block("text", text),
                    Piece::Media(media) => {
                        open_image(json, media);
                        json.close(b'}');
                    }
                }
            }
            json.close(b']');
        }
    }
    if answer.is_error {
        json.key("is_error");
        json.raw("true");
    }
}
