//! A chat in another format, and as a Loom tree (docs/chats.md).

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::chat_input::ChatInput;
use super::fit::SUMMARY_PREFIX;
use crate::call::Response;
use crate::content::tree::loom_tree;
use crate::content::{Block, Role, Turn, parse_arguments};
use crate::error::{Diagnostic, Result};
use crate::json::{Object, Value};
use crate::prompt::bodies::{chat_json, write_chat};
use crate::prompt::{self, Prices};
use crate::tokens::Uncounted;
use crate::vendors::chats;
use crate::vendors::detect::WITH_TOOL_RECORDS;
use crate::vendors::format::{FORMATS, Format};
use crate::vendors::normalized_chat::{NormalizedChat, neutral, system_text};
use crate::vendors::openai_chat::count::count_of_tools;
use crate::vendors::pieces::message::Message;

/// A chat that is read for a conversion, not for a fit.
pub(super) struct UncountedChat<'t> {
    given: ChatInput<'t>,
    format: Format,
    diagnostics: Vec<Diagnostic>,
}

/// A chat in another format.
pub(super) struct ConvertedChat {
    /// JSON of the messages; `None` if the format is the same.
    pub messages: Option<Vec<u8>>,
    /// The system context, if the format has it outside the messages.
    pub system: Option<String>,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'t> UncountedChat<'t> {
    /// Reads `{ messages, options }`, with the option `from` for the format.
    fn from_request(request: Value<'t>, known: &[&str]) -> Result<(Self, Option<Object<'t>>)> {
        let mut diagnostics = request.repaired();
        let request = request.object("a chat and options, an object")?;
        let messages = request.need("messages")?;
        let options = request.read("options", |options| options.object("options, an object"))?;
        let mut from = None;
        if let Some(options) = options {
            options.report_unknown(known, &mut diagnostics);
            from = options.one_of("from", FORMATS)?;
        }
        Ok((Self::read(messages, from, diagnostics)?, options))
    }

    /// Reads messages, or a container of them.
    ///
    /// # Errors
    /// [`crate::Code::InvalidInput`] at the first message in an unknown format, or in another format than earlier ones.
    pub(super) fn read(messages: Value<'t>, from: Option<Format>, diagnostics: Vec<Diagnostic>) -> Result<Self> {
        let given = ChatInput::read(messages)?;
        let (format, formats) = given.format(from)?;
        if let Some(tools) = given.tools {
            count_of_tools(tools, formats & WITH_TOOL_RECORDS != 0)?;
        }
        Ok(Self { given, format, diagnostics })
    }

    fn messages(&self) -> Result<Vec<Message<'t>>> {
        chats::read(self.format, &self.given.list, Prices::new(&Uncounted))
    }

    /// The normalized chat for a target format.
    fn neutral(&self, target: Format) -> Result<NormalizedChat<'t>> {
        neutral(self.format, target, self.given.system, &self.given.list, &self.messages()?)
    }

    /// Converts the chat, by the rules of `model` unless it is empty.
    ///
    /// # Errors
    /// Those of reading its messages.
    pub(super) fn convert(self, to: Format, model: &str) -> Result<ConvertedChat> {
        if to == self.format {
            let system = self.given.system.and_then(system_text);
            return Ok(ConvertedChat { messages: None, system, diagnostics: self.diagnostics });
        }
        let mut neutral = self.neutral(to)?;
        let mut diagnostics = self.diagnostics;
        neutral.note_silent();
        let mut found = Vec::new();
        let written = write_chat(neutral.system.as_deref(), &neutral.messages, to, model, &mut found)?;
        diagnostics.extend(found.into_iter().map(|found| in_chat(found, &neutral.from)));
        neutral.notes.finish(&mut diagnostics);
        Ok(ConvertedChat { messages: Some(written.messages), system: written.system, diagnostics })
    }
}

pub(super) fn convert_messages(request: Value<'_>) -> Result<Response> {
    let (chat, options) = UncountedChat::from_request(request, &["from", "to", "model"])?;
    let to = match options.map(|options| options.need("to")).transpose()? {
        Some(to) => to.one_of(FORMATS)?,
        None => return Err(request.lacks("options")),
    };
    let model = options.map(|options| options.string("model")).transpose()?.flatten().unwrap_or_default();
    let ConvertedChat { messages, system, diagnostics } = chat.convert(to, &model)?;
    let json = chat_json(messages.as_deref(), system.as_deref(), &diagnostics);
    Ok(Response { json, bytes: Vec::new(), small: None })
}

/// Moves a finding about a written message to the message of the chat it came from.
fn in_chat(mut found: Diagnostic, from: &[usize]) -> Diagnostic {
    let at = found.path.as_deref().and_then(|path| path.strip_prefix("messages[")?.strip_suffix(']')?.parse().ok());
    if let Some(message) = at.and_then(|at: usize| from.get(at)) {
        found.path = Some(format!("messages[{message}]"));
    }
    found
}

pub(super) fn to_loom_tree(request: Value<'_>) -> Result<Response> {
    let (mut chat, _) = UncountedChat::from_request(request, &["from"])?;
    // The generic format keeps every signature unchanged.
    let neutral = chat.neutral(Format::Generic)?;
    neutral.notes.finish(&mut chat.diagnostics);
    let ids = chat.given.list.iter().map(|message| message.plain_object()?.get("id").ok()??.string().ok());
    let mut ids: Vec<Option<String>> = ids.collect();
    let turn = |(message, from): (prompt::Message<'_>, usize)| {
        let role = match message.role {
            Role::System | Role::Developer => Role::System,
            Role::User | Role::Tool => Role::User,
            Role::Assistant => Role::Assistant,
        };
        let summary = matches!(message.content.as_slice(), [Block::Text(text)] if text.starts_with(SUMMARY_PREFIX));
        let blocks = message.content.into_iter().map(|block| with_object(block.into_owned())).collect();
        Turn { blocks, id: ids.get_mut(from).and_then(Option::take), summary, ..Turn::new(role) }
    };
    let turns: Vec<Turn> = neutral.messages.into_iter().zip(neutral.from).map(turn).collect();
    let system = neutral.system.map(|text| Turn::text(Role::System, text));
    Response::of(&loom_tree(system.into_iter().chain(turns).collect(), chat.diagnostics))
}

/// A call with its arguments parsed, as in trees.
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
