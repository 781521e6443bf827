//! Shared by exports of chats: content in vendors' forms, calls and their results, roles.

use serde_json::{Map, Value as Json};

use crate::content::node_data::name_calls;
use crate::content::{Block, arguments_object, parse_arguments};
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef};
use crate::loom_import::verbatim::Lenient;
use crate::vendors::openai_chat::blocks::{MESSAGE_FIELDS, read_message};

/// A value with everything in it; possible keys to a service count as content here.
pub(super) fn json_of(value: Value<'_>) -> Json {
    value.to_json().unwrap_or_else(|_| Json::String(value.as_written().into_owned()))
}

/// The author of a role; a tool's messages are results, which count as the human's.
pub(super) fn author_of(role: &str) -> Author {
    match role {
        "assistant" | "model" | "ai" | "bot" => Author::Model,
        "system" | "developer" => Author::System,
        _ => Author::Human,
    }
}

/// The blocks of a message with `role` and `content`, and of the calls next to these.
pub(super) fn message_blocks(message: Object<'_>, id: &str, context: &mut Context<'_>) -> Vec<Block<'static>> {
    let mut map = Map::new();
    for name in MESSAGE_FIELDS {
        if let Some(value) = message.field(name) {
            map.insert(name.to_owned(), json_of(value));
        }
    }
    let mut blocks = read_message(&map, &mut context.findings);
    name_calls(&mut blocks, id);
    blocks
}

/// A call whose arguments are a text: the object in its JSON, else `{ input: text }`.
pub(super) fn call(id: &str, name: &str, arguments: &str) -> Block<'static> {
    let arguments = arguments_object(std::borrow::Cow::Owned(parse_arguments(arguments)));
    let arguments = Box::new(std::borrow::Cow::Owned(arguments));
    Block::ToolCall { id: id.to_owned().into(), name: name.to_owned().into(), arguments, server: false }
}

/// A tool's output, as one text.
pub(super) fn result(call: &str, text: String, is_error: Option<bool>) -> Block<'static> {
    let content = vec![Block::text(text)];
    Block::ToolResult { tool_call_id: call.to_owned().into(), content, is_error, server: false }
}

/// Links entries in a row; the first one is the root.
pub(super) fn in_a_row(entries: &mut [Entry]) {
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.parent = EntryRef::at(at.checked_sub(1));
    }
}
