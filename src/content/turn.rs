//! A turn of a conversation, the same for all formats it may be read from.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::block::Block;
use crate::json::Document;

/// Who a message or a turn is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions. In transcripts and chats those of developers, too.
    System,
    /// Instructions, as newer OpenAI models call them.
    Developer,
    /// The human; in dialogues and transcripts the results of tools, too.
    User,
    /// The model.
    Assistant,
    /// A tool, in chats.
    Tool,
}

impl Role {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    pub(crate) fn is_system(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// One turn. All calls of one answer are one turn, however many records they came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// Its content.
    pub blocks: Vec<Block<'static>>,
    /// The id that the format gave it.
    pub id: Option<String>,
    /// When it was said, as the format wrote it.
    pub timestamp: Option<String>,
    /// The model that said it.
    pub model: Option<String>,
    /// Whether it is the summary of a compaction, which replaces what came before.
    pub summary: bool,
}

impl Turn {
    /// A turn without blocks.
    pub fn new(role: Role) -> Self {
        Self { role, blocks: Vec::new(), id: None, timestamp: None, model: None, summary: false }
    }

    /// A turn with one text.
    pub fn text(role: Role, text: impl Into<Cow<'static, str>>) -> Self {
        Self { blocks: vec![Block::text(text)], ..Self::new(role) }
    }
}

/// Arguments from JSON text: the object, or the text itself if it is none.
pub(crate) fn parse_arguments(json: &str) -> Value {
    match Document::read(json.as_bytes(), &[]).and_then(|document| document.root().to_json()) {
        Ok(value @ Value::Object(_)) => value,
        _ => Value::String(json.to_owned()),
    }
}

/// The arguments as the object that most vendors want; plain text becomes `{ "input": text }`.
pub(crate) fn arguments_object(arguments: Cow<'_, Value>) -> Value {
    match arguments.into_owned() {
        object @ Value::Object(_) => object,
        other => Value::Object(Map::from_iter([("input".to_owned(), other)])),
    }
}
