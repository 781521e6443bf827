//! `generic-v1`: JSONL of `{ role, content }` (docs/session-formats.md).
//!
//! `role` is `system`, `user`, `assistant`, or `tool` with a `tool_call_id`. `content` is a string or a list of blocks,
//! in the shapes of a Loom tree (the written form), of Anthropic, or of OpenAI's chat messages with their other fields:
//! `tool_calls`, `function_call`, whose result has the role `function`, and `reasoning_content`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn, flag, owned, text};
use crate::content::{self, Block};
use crate::jsonl::Reader;
use crate::vendors::blocks::Unknown as _;
use crate::vendors::left_out::LeftOut;
use crate::vendors::{blocks, openai_chat};

pub(super) fn knows_role(role: &str) -> bool {
    matches!(role, "system" | "developer" | "user" | "human" | "assistant" | "model" | "tool" | "function")
}

pub(crate) fn is_record(map: &Map<String, Value>) -> bool {
    text(map, "role").is_some()
}

pub(super) fn read(bytes: &[u8], notes: &mut ConversionReport) -> Transcript {
    let mut reader = Reader::recovering(bytes, is_record);
    let turns: Vec<Turn> = reader.by_ref().filter_map(|record| turn(&record.value, notes)).collect();
    notes.extend(reader.finish());
    Transcript::from(turns)
}

/// The turn of a line; an unknown role is reported.
pub(crate) fn turn(map: &Map<String, Value>, notes: &mut ConversionReport) -> Option<Turn> {
    let of_result = if matches!(text(map, "role"), Some("tool" | "function")) { "name tool_call_id" } else { "" };
    notes.unknown_fields(map, &[openai_chat::blocks::LINE_FIELDS, of_result]);
    let calls = openai_chat::blocks::chat_calls(map, notes);
    let read = if calls.is_empty() { blocks::read_said } else { blocks::read_content };
    let mut content = read(map.get("content"), None, notes);
    if let Some(thought) = openai_chat::blocks::chat_thought(map, notes) {
        content.insert(0, thought);
    }
    let mut turn = match text(map, "role").unwrap_or_default() {
        "system" | "developer" => Turn { blocks: content, ..Turn::new(Role::System) },
        "user" | "human" => Turn { blocks: content, ..Turn::new(Role::User) },
        "assistant" | "model" => Turn { blocks: content, ..Turn::new(Role::Assistant) },
        "tool" | "function" => Turn {
            blocks: vec![Block::ToolResult {
                tool_call_id: owned(map, "tool_call_id").unwrap_or_default(),
                content: blocks::only_shown(content, notes),
                is_error: None,
                server: false,
            }],
            ..Turn::new(Role::User)
        },
        other => {
            notes.left_out(LeftOut::Role(other));
            return None;
        }
    };
    turn.blocks.extend(calls.into_iter().map(|(call, _)| call));
    turn.id = owned(map, "id");
    turn.timestamp = owned(map, "timestamp");
    turn.model = owned(map, "model");
    turn.summary = flag(map, "summary");
    Some(turn)
}

#[derive(Serialize)]
pub(super) struct Line<'t> {
    role: Role,
    #[serde(serialize_with = "content::serialize")]
    content: &'t [Block<'t>],
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'t str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    summary: bool,
}

pub(super) fn write(turns: &[Turn]) -> impl Iterator<Item = Line<'_>> {
    const NOTHING: &[Block<'_>] = &[Block::Text(Cow::Borrowed(""))];
    turns.iter().map(|turn| Line {
        role: turn.role,
        content: if turn.blocks.is_empty() { NOTHING } else { &turn.blocks },
        id: turn.id.as_deref(),
        timestamp: turn.timestamp.as_deref(),
        model: turn.model.as_deref(),
        summary: turn.summary,
    })
}
