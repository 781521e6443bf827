//! `generic-v1`: JSONL of `{ role, content }` (SPEC §5).
//!
//! `role` is `system`, `user`, `assistant`, or `tool` with a `tool_call_id`; `content` a string or a list of blocks, in the
//! shapes of a Loom tree (which is what is written), of Anthropic, or of OpenAI's chat messages with their `tool_calls`.

use serde_json::{Value, json};

use super::blocks;
use crate::commits::transcript::{Block, Notes, Role, Transcript, Turn, flag, owned, set, text};
use crate::jsonl::Reader;

/// Whether somebody of this role is known.
pub(super) fn knows_role(role: &str) -> bool {
    matches!(role, "system" | "developer" | "user" | "human" | "assistant" | "model" | "tool")
}

pub(super) fn read(bytes: &[u8], notes: &mut Notes) -> Transcript {
    let mut turns = Vec::new();
    let mut reader = Reader::new(bytes);
    for record in reader.by_ref() {
        let map = &record.value;
        let role = text(map, "role").unwrap_or_default();
        let content = blocks::read_content(map.get("content"), notes);
        let mut turn = match role {
            "system" | "developer" => Turn { blocks: content, ..Turn::new(Role::System) },
            "user" | "human" => Turn { blocks: content, ..Turn::new(Role::User) },
            "assistant" | "model" => Turn { blocks: content, ..Turn::new(Role::Assistant) },
            "tool" => Turn {
                blocks: vec![Block::ToolResult {
                    call_id: owned(map, "tool_call_id").unwrap_or_default(),
                    content: blocks::only_shown(content, notes),
                    is_error: false,
                    server: false,
                }],
                ..Turn::new(Role::User)
            },
            other => {
                notes.unknown(&format!("role {other}"));
                continue;
            }
        };
        turn.blocks.extend(blocks::chat_calls(map));
        turn.id = owned(map, "id");
        turn.timestamp = owned(map, "timestamp");
        turn.model = owned(map, "model");
        turn.summary = flag(map, "summary");
        turns.push(turn);
    }
    notes.extend(reader.finish());
    Transcript { turns }
}

pub(super) fn write(turns: &[Turn]) -> Vec<Value> {
    let mut lines = Vec::new();
    for turn in turns {
        let content = match turn.blocks.as_slice() {
            [] => Value::from(""),
            blocks => blocks::text_or(blocks, blocks::to_generic),
        };
        let mut line = json!({ "role": turn.role.as_str(), "content": content });
        for (key, value) in [("id", &turn.id), ("timestamp", &turn.timestamp), ("model", &turn.model)] {
            if let Some(value) = value {
                set(&mut line, key, value.as_str());
            }
        }
        if turn.summary {
            set(&mut line, "summary", true);
        }
        lines.push(line);
    }
    lines
}
