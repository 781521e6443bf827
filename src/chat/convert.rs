//! A chat in another format, and as a Loom tree (SPEC §7 "chats").

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::chat_input::ChatInput;
use super::detect::{FORMATS, Format, WITH_TOOL_RECORDS};
use super::fit::SUMMARY_PREFIX;
use super::formats;
use super::message::Message;
use super::normalized_chat::{NormalizedChat, neutral, system_text};
use crate::call::Response;
use crate::content::tree::loom_tree;
use crate::content::{Block, Role, Turn, parse_arguments};
use crate::error::{Diagnostic, Result};
use crate::json::{Object, Value};
use crate::prompt::bodies::{chat_json, write_chat};
use crate::prompt::{self, Prices};
use crate::tokens::Counter;
use crate::tokens::chat::count_of_tools;

/// For chats of which nothing is counted.
#[derive(Debug)]
struct Uncounted;

impl Counter for Uncounted {
    fn name(&self) -> &str {
        ""
    }

    fn count(&self, _: &str) -> u32 {
        0
    }
}

/// A chat that is read for something else than a fit.
struct Read<'t> {
    given: ChatInput<'t>,
    format: Format,
    found: Vec<Diagnostic>,
}

impl<'t> Read<'t> {
    /// Reads `{ messages, options }`, where the option `from` says the format.
    fn new(request: Value<'t>, known: &[&str]) -> Result<(Self, Option<Object<'t>>)> {
        let mut found = request.repaired();
        let request = request.object("a chat and options, an object")?;
        let given = ChatInput::read(request.need("messages")?)?;
        let options = request.read("options", |options| options.object("options, an object"))?;
        let mut from = None;
        if let Some(options) = options {
            options.report_unknown(known, &mut found);
            from = options.one_of("from", FORMATS)?;
        }
        let (format, formats) = given.format(from)?;
        if let Some(tools) = given.tools {
            count_of_tools(tools, formats & WITH_TOOL_RECORDS != 0)?;
        }
        Ok((Self { given, format, found }, options))
    }

    fn messages(&self) -> Result<Vec<Message<'t>>> {
        formats::read(self.format, &self.given.list, Prices::new(&Uncounted))
    }

    /// The chat for a target.
    fn neutral(&self, target: Format) -> Result<NormalizedChat<'t>> {
        neutral(self.format, target, &self.given, &self.messages()?)
    }
}

pub(super) fn convert_messages(request: Value<'_>) -> Result<Response> {
    let (mut chat, options) = Read::new(request, &["from", "to"])?;
    let to = match options.map(|options| options.need("to")).transpose()? {
        Some(to) => to.one_of(FORMATS)?,
        None => return Err(request.lacks("options")),
    };
    if to == chat.format {
        let system = chat.given.system.and_then(system_text);
        return Ok(Response { json: chat_json(None, system.as_deref(), &chat.found)?, bytes: Vec::new(), small: None });
    }
    let mut neutral = chat.neutral(to)?;
    neutral.note_silent();
    let mut found = Vec::new();
    let written = write_chat(neutral.system.as_deref(), &neutral.messages, to, &mut found)?;
    chat.found.extend(found.into_iter().map(|found| in_chat(found, &neutral.from)));
    neutral.notes.finish(&mut chat.found);
    let json = chat_json(Some(&written.messages), written.system.as_deref(), &chat.found)?;
    Ok(Response { json, bytes: Vec::new(), small: None })
}

/// A finding about a message that was written, at the message of the chat that it is from.
fn in_chat(mut found: Diagnostic, from: &[usize]) -> Diagnostic {
    let at = found.path.as_deref().and_then(|path| path.strip_prefix("messages[")?.strip_suffix(']')?.parse().ok());
    if let Some(message) = at.and_then(|at: usize| from.get(at)) {
        found.path = Some(format!("messages[{message}]"));
    }
    found
}

pub(super) fn to_loom_tree(request: Value<'_>) -> Result<Response> {
    let (mut chat, _) = Read::new(request, &["from"])?;
    // Our own format has every proof as it is.
    let neutral = chat.neutral(Format::Generic)?;
    neutral.notes.finish(&mut chat.found);
    let ids = chat.given.list.iter().map(|message| message.object("").ok()?.get("id").ok()??.string().ok());
    let mut ids: Vec<Option<String>> = ids.collect();
    let turn = |(message, from): (prompt::Message<'_>, usize)| {
        let role = match message.role {
            prompt::Role::System | prompt::Role::Developer => Role::System,
            prompt::Role::User => Role::User,
            prompt::Role::Assistant => Role::Assistant,
        };
        let summary = matches!(message.content.as_slice(), [Block::Text(text)] if text.starts_with(SUMMARY_PREFIX));
        let blocks = message.content.into_iter().map(|block| with_object(block.into_owned())).collect();
        Turn { blocks, id: ids.get_mut(from).and_then(Option::take), summary, ..Turn::new(role) }
    };
    let turns: Vec<Turn> = neutral.messages.into_iter().zip(neutral.from).map(turn).collect();
    let system = neutral.system.map(|text| Turn::text(Role::System, text));
    Response::of(&loom_tree(system.into_iter().chain(turns).collect(), chat.found))
}

/// A call with its arguments read, as trees have them.
fn with_object(mut block: Block<'static>) -> Block<'static> {
    if let Block::ToolCall { arguments, .. } = &mut block {
        **arguments = Cow::Owned(match &***arguments {
            Json::Null => Json::Object(Map::new()),
            Json::String(text) => parse_arguments(text),
            other => other.clone(),
        });
    }
    block
}
