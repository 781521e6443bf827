//! A turn of a conversation, the same for all formats.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::block::Block;
use crate::json::Document;

/// The author of a message or a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions. In transcripts and chats also those of developers.
    System,
    /// Instructions under the role name of newer OpenAI models.
    Developer,
    /// The user; in dialogues and transcripts also the results of tools.
    User,
    /// The model.
    Assistant,
    /// A tool, in chats.
    Tool,
}

impl Role {
    /// The role's name in JSON.
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

/// One turn. All calls of one answer are one turn, regardless of the number of records.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The author.
    pub role: Role,
    /// The content.
    pub blocks: Vec<Block<'static>>,
    /// The id that the format assigned.
    pub id: Option<String>,
    /// The time, as the format wrote it.
    pub timestamp: Option<String>,
    /// The model that wrote it.
    pub model: Option<String>,
    /// Whether it is the summary of a compaction, which replaces the turns before it.
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

/// Arguments from JSON text: the object, or the text itself if it is not one.
pub(crate) fn parse_arguments(json: &str) -> Value {
    match Document::read(json.as_bytes(), &[]).and_then(|document| document.root().to_json()) {
        Ok(value @ Value::Object(_)) => value,
        _ => Value::String(json.to_owned()),
    }
}

/// The arguments as the object that most vendors require; plain text becomes `{ "input": text }`.
pub(crate) fn arguments_object(arguments: Cow<'_, Value>) -> Value {
    match arguments.into_owned() {
        object @ Value::Object(_) => object,
        other => Value::Object(Map::from_iter([("input".to_owned(), other)])),
    }
}
