//! Request bodies: messages or a document in the shape that a provider takes, as JSON in UTF-8, ready to be sent
//! (SPEC §1 "Provider bodies").
//!
//! The shapes are those of the vendors' published TypeScript types, which check every golden body. What a provider
//! cannot express is a diagnostic; docs/bodies.md has the list.

mod anthropic;
mod arguments;
mod completion;
mod escape;
mod gemini;
mod media;
mod openai_chat;
mod openai_responses;
mod target;
mod texts;
mod turns;

use serde_json::Value;

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::prompt::{Content, Message, Part, Role};

pub use escape::escape_into;
pub use target::{CacheMessages, CacheSettings, CacheTtl, OPENING_TEXT, Provider, Target};
pub(crate) use texts::{Texts, Written};

use escape::Json;
use texts::Flow;
use turns::{Notes, Talk};

/// What is known of a conversation beside its messages: where a prompt cache is likely to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// How many leading messages are those of the previous request.
    pub stable: usize,
    /// How many messages come before what truncation removed, where it did.
    pub before_cut: Option<usize>,
}

/// Writes the body of a request for these messages.
///
/// What the provider cannot express, and what had to be changed, is appended to `diagnostics`. Texts are escaped straight
/// into the bytes; nothing in between is built of them.
///
/// # Errors
/// [`Code::InvalidInput`] for [`Provider::Completion`], which takes a document: see [`write_completion`].
pub fn write_body(
    system: Option<&str>,
    messages: &[Message<'_>],
    target: &Target,
    hints: &Hints,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>> {
    let room = messages.iter().map(size).sum::<usize>();
    let mut talk = Talk { system: system.map(|text| (Role::System, text)), messages, flow: None };
    let holder = |at: usize| match messages.get(at)?.node_ids.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    write(&mut talk, room + room / 16, target, hints, &mut Notes { list: diagnostics, holder: &holder })
}

/// The same for a conversation of texts, of which what was written `before` is copied: for the same provider, and for the
/// conversation that [`Texts::known`] speaks of. A system context that is a message has its role, any other none.
///
/// # Errors
/// As [`write_body`]. Nothing where the provider does not take the system context as a message.
pub(crate) fn write_texts(
    system: Option<(Option<Role>, &str)>,
    texts: &dyn Texts,
    target: &Target,
    hints: &Hints,
    before: &Written,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Written>> {
    if system.is_some_and(|(role, _)| role.is_some()) && target.provider != Provider::OpenAi {
        return Ok(None);
    }
    let flow = Flow { texts, before, spots: Vec::new() };
    let room = flow.room();
    let system = system.map(|(role, text)| (role.unwrap_or(Role::System), text));
    let mut talk = Talk { system, messages: &[], flow: Some(flow) };
    let holder = |at: usize| texts.node(at);
    let bytes = write(&mut talk, room, target, hints, &mut Notes { list: diagnostics, holder: &holder })?;
    Ok(Some(Written { bytes, spots: talk.flow.map(|flow| flow.spots).unwrap_or_default() }))
}

fn write<'m>(
    talk: &mut Talk<'_, 'm>,
    room: usize,
    target: &'m Target,
    hints: &Hints,
    notes: &mut Notes<'_>,
) -> Result<Vec<u8>> {
    let system = talk.system.map_or(0, |(_, text)| text.len() + text.len() / 16);
    let mut body = Body::open(target, 1024 + system + room);
    match target.provider {
        Provider::Anthropic => anthropic::write(&mut body, talk, hints, notes),
        Provider::OpenAi => openai_chat::write(&mut body, talk, notes),
        Provider::OpenAiResponses => openai_responses::write(&mut body, talk, notes),
        Provider::Gemini => gemini::write(&mut body, talk, notes),
        Provider::Completion => {
            let message =
                "`target.provider` is `completion`, which takes a document and not messages; assemble a buffer";
            return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
        }
    }
    Ok(body.close(notes))
}

/// Writes the body of a plain completion: the document is the prompt.
///
/// # Errors
/// [`Code::InvalidInput`] for any other provider, which takes messages: see [`write_body`].
pub fn write_completion(
    system: Option<&str>,
    document: &str,
    target: &Target,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>> {
    if target.provider != Provider::Completion {
        let message =
            format!("`target.provider` is `{}`, which takes messages and not a document", target.provider.name());
        return Err(Error::new(Code::InvalidInput, message).with("path", "target.provider"));
    }
    let room = 512 + system.map_or(0, str::len) + document.len();
    let mut body = Body::open(target, room + room / 16);
    completion::write(&mut body, system, document);
    Ok(body.close(&mut Notes { list: diagnostics, holder: &|_| None }))
}

/// About how many bytes a message takes.
fn size(message: &Message<'_>) -> usize {
    48 + content_size(&message.content)
}

fn content_size(content: &Content<'_>) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().map(|part| 64 + part_size(part)).sum(),
    }
}

fn part_size(part: &Part<'_>) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Image(image) => image.data.or(image.url).map_or(0, str::len),
        Part::Audio(audio) => audio.data.or(audio.url).map_or(0, str::len),
        Part::ToolCall(call) => call.name.len() + 128,
        Part::ToolResult(result) => content_size(&result.content),
        Part::Reasoning { text, signature } => text.len() + signature.map_or(0, str::len),
    }
}

/// A body in the making: its own fields, then those that the caller gives.
struct Body<'t> {
    json: Json,
    target: &'t Target,
    written: Vec<&'static str>,
    /// A field of the caller's that is part of one of ours.
    merged: Option<&'static str>,
}

impl<'t> Body<'t> {
    fn open(target: &'t Target, room: usize) -> Self {
        let mut json = Json::with_capacity(room);
        json.open(b'{');
        Self { json, target, written: Vec::new(), merged: None }
    }

    /// Starts a field; its value has to follow.
    fn field(&mut self, name: &'static str) -> &mut Json {
        self.written.push(name);
        self.json.key(name);
        &mut self.json
    }

    fn model(&mut self) {
        if let Some(model) = &self.target.model {
            self.field("model").string(model);
        }
    }

    fn number(&mut self, name: &'static str, value: u64) {
        self.field(name).raw(&value.to_string());
    }

    fn max_tokens(&mut self, name: &'static str) {
        if let Some(tokens) = self.target.max_tokens {
            self.number(name, tokens);
        }
    }

    /// The settings that have the same name everywhere but at Gemini.
    fn settings(&mut self) {
        let target = self.target;
        if let Some(temperature) = &target.temperature {
            self.field("temperature").value(temperature);
        }
        if let Some(stream) = target.stream {
            self.field("stream").raw(if stream { "true" } else { "false" });
        }
    }

    /// `tools`, with those that are in nobody's shape written as the provider wants them.
    fn tools(&mut self, write: impl Fn(&mut Json, &Tool<'_>)) {
        let target = self.target;
        if target.tools.is_empty() {
            return;
        }
        let json = self.field("tools");
        json.open(b'[');
        for value in &target.tools {
            match Tool::neutral(value) {
                Some(tool) => write(json, &tool),
                None => json.value(value),
            }
        }
        json.close(b']');
    }

    /// The caller's own fields, and the end.
    fn close(mut self, notes: &mut Notes<'_>) -> Vec<u8> {
        let target = self.target;
        if target.cache.is_some() && target.provider != Provider::Anthropic {
            let message =
                format!("`target.cache` is for `anthropic` only; {} needs no breakpoints", target.provider.name());
            notes.info(DiagnosticCode::BodyFieldUnused, None, message);
        }
        for (name, value) in &target.fields {
            if self.merged == Some(name.as_str()) {
                continue;
            }
            if self.written.contains(&name.as_str()) {
                let message = format!("`target.{name}` would replace what the body already has; it was left out");
                let diagnostic = Diagnostic::new(DiagnosticCode::BodyFieldUnused, Severity::Warning, message);
                notes.list.push(diagnostic.at_path(format!("target.{name}")));
            } else {
                self.json.value_field(name, value);
            }
        }
        self.json.close(b'}');
        self.json.finish()
    }
}

/// A tool definition in nobody's shape: `{ name, description?, parameters? }` and what else it holds.
struct Tool<'t> {
    name: &'t str,
    parameters: Option<&'t Value>,
    /// Everything but name and parameters.
    rest: Vec<(&'t str, &'t Value)>,
}

impl<'t> Tool<'t> {
    fn neutral(value: &'t Value) -> Option<Self> {
        let fields = value.as_object()?;
        let name = fields.get("name")?.as_str()?;
        let foreign = ["type", "input_schema", "function", "functionDeclarations"];
        if foreign.iter().any(|field| fields.contains_key(*field)) {
            return None;
        }
        let rest = fields.iter().filter(|(key, _)| *key != "name" && *key != "parameters");
        let rest = rest.map(|(key, value)| (key.as_str(), value)).collect();
        Some(Self { name, parameters: fields.get("parameters").filter(|value| !value.is_null()), rest })
    }

    /// Name, parameters under the provider's name for them, and the rest.
    fn fields(&self, json: &mut Json, parameters: &str) {
        json.text_field("name", self.name);
        for (name, value) in &self.rest {
            json.value_field(name, value);
        }
        json.key(parameters);
        match self.parameters {
            Some(schema) => json.value(schema),
            None => json.raw(r#"{"type":"object","properties":{}}"#),
        }
    }
}
