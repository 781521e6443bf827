//! `events-v1`: a CBOR array of the events that Bureau records while an agent runs (docs/session-formats.md).
//!
//! An event has a `timestamp`, a `type`, and a map under the name of its type. Each prompt is a turn; other adjacent events
//! of one author are one turn.

use std::borrow::Cow;

use minicbor::Decoder;
use serde_json::{Map, Value};

use super::cbor::Item;
use super::cbor_array::items;
use super::format::{BlobSource, Format};
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn, parse_arguments};
use crate::content::Block;
use crate::error::Result;
use crate::maps::SortedSet;
use crate::time::Timestamp;

const FORMAT: &str = Format::EventsV1.name();

/// The types of events that are part of the conversation.
const SAID: [&str; 5] = ["prompt", "response", "thinking", "tool_call", "tool_result"];

/// The types of events about the session: nothing that the model said or saw.
const METADATA: [&str; 3] = ["metric", "system", "error"];

/// Whether events have this type.
pub(super) fn knows_type(kind: &str) -> bool {
    SAID.contains(&kind) || METADATA.contains(&kind) || kind == "output"
}

pub(super) fn read(
    bytes: &[u8],
    max_depth: u32,
    source: BlobSource<'_>,
    notes: &mut ConversionReport,
) -> Result<Transcript> {
    let (items, count) = items(bytes, FORMAT, max_depth, source)?;
    let mut decoder = Decoder::new(items);
    let mut turns: Vec<Turn> = Vec::new();
    let mut server_calls = SortedSet::new();
    for _ in 0..count {
        let event = Item::read(&mut decoder).map_err(|_| source.invalid(FORMAT, "an event cannot be read"))?;
        let Some((mut role, mut block)) = read_event(&event, notes) else { continue };
        match &mut block {
            Block::ToolCall { id, server: true, .. } => drop(server_calls.insert(id.to_string())),
            Block::ToolResult { tool_call_id, server, .. } if server_calls.contains(&**tool_call_id) => {
                (role, *server) = (Role::Assistant, true);
            }
            _ => {}
        }
        let is_prompt = role == Role::User && block.as_text().is_some();
        match turns.last_mut().filter(|last| last.role == role && !is_prompt) {
            Some(last) => last.blocks.push(block),
            None => turns.push(Turn { blocks: vec![block], timestamp: time(&event), ..Turn::new(role) }),
        }
    }
    Ok(Transcript { turns })
}

fn read_event(event: &Item<'_>, notes: &mut ConversionReport) -> Option<(Role, Block<'static>)> {
    let kind = event.get("type").and_then(Item::text).unwrap_or_default();
    if METADATA.contains(&kind) {
        return None;
    }
    let Some(content) = event.get(kind).filter(|_| SAID.contains(&kind)) else {
        notes.unknown(&format!("event {}", if kind.is_empty() { "without a type" } else { kind }));
        return None;
    };
    let text = |key: &str| -> Cow<'static, str> {
        Cow::Owned(content.get(key).and_then(Item::text).unwrap_or_default().to_owned())
    };
    let is = |key: &str| matches!(content.get(key), Some(Item::Bool(true)));
    Some(match kind {
        "prompt" => (Role::User, Block::Text(text("content"))),
        "response" => (Role::Assistant, Block::Text(text("content"))),
        "thinking" => {
            let signature = Some(text("signature")).filter(|signature| !signature.is_empty());
            (Role::Assistant, Block::Reasoning { text: text("content"), signature, redacted: false })
        }
        "tool_call" => {
            let arguments = match text("input") {
                input if input.is_empty() => Value::Object(Map::new()),
                input => parse_arguments(&input),
            };
            let arguments = Box::new(Cow::Owned(arguments));
            let call = Block::ToolCall { id: text("id"), name: text("name"), arguments, server: is("server_tool") };
            (Role::Assistant, call)
        }
        _ => {
            let output = text("output");
            let content = if output.is_empty() { Vec::new() } else { vec![Block::Text(output)] };
            let is_error = is("is_error").then_some(true);
            (Role::User, Block::ToolResult { tool_call_id: text("id"), content, is_error, server: false })
        }
    })
}

/// The time of an event: seconds since 1970, or RFC 3339.
fn time(event: &Item<'_>) -> Option<String> {
    match event.get("timestamp")? {
        Item::Number(seconds) => {
            let millis = seconds * 1000.0;
            #[expect(clippy::cast_possible_truncation, reason = "the range is that of RFC 3339")]
            let written = || Timestamp::from_unix_millis(millis.round() as i64).to_string();
            (-6.2e13..2.5e14).contains(&millis).then(written)
        }
        other => other.text().filter(|text| Timestamp::parse(text).is_some()).map(str::to_owned),
    }
}
