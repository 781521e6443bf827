//! `events-v1`: a CBOR array of the events that Bureau records while an agent runs (docs/session-formats.md).
//!
//! An event has a `timestamp`, a `type`, and a map under the name of its type. Each prompt is a turn; other adjacent events
//! of one author are one turn.

use minicbor::Decoder;

use super::cbor::Item;
use super::cbor_array::items;
use super::cbor_fields::Fields;
use super::format::{BlobSource, Format};
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn};
use crate::content::Block;
use crate::error::Result;
use crate::maps::SortedSet;
use crate::time::Timestamp;

const FORMAT: &str = Format::EventsV1.name();

/// The types of events that are part of the conversation.
const CONVERSATION_TYPES: [&str; 5] = ["prompt", "response", "thinking", "tool_call", "tool_result"];

/// The types of events about the session, which are no part of the conversation.
const METADATA_TYPES: [&str; 3] = ["metric", "system", "error"];

/// Whether events have this type.
pub(super) fn knows_type(kind: &str) -> bool {
    CONVERSATION_TYPES.contains(&kind) || METADATA_TYPES.contains(&kind) || kind == "output"
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
        let is_prompt = |block: &Block<'_>| role == Role::User && block.as_text().is_some();
        let continues = |last: &Turn| last.role == role && !last.blocks.iter().chain([&block]).any(is_prompt);
        match turns.last_mut().filter(|last| continues(last)) {
            Some(last) => last.blocks.push(block),
            None => turns.push(Turn { blocks: vec![block], timestamp: time(&event), ..Turn::new(role) }),
        }
    }
    Ok(Transcript::from(turns))
}

fn read_event(event: &Item<'_>, notes: &mut ConversionReport) -> Option<(Role, Block<'static>)> {
    let kind = event.get("type").and_then(Item::text).unwrap_or_default();
    if METADATA_TYPES.contains(&kind) {
        return None;
    }
    let content = event.get(kind).filter(|_| CONVERSATION_TYPES.contains(&kind));
    let shown = if kind.is_empty() { "without a type" } else { kind };
    let mut fields = Fields::of(content, ("event", shown), notes)?;
    Some(match kind {
        "prompt" => (Role::User, fields.text("content")?),
        "response" => (Role::Assistant, fields.text("content")?),
        "thinking" => (Role::Assistant, fields.reasoning(["content", "signature"])?),
        "tool_call" => {
            let is_server = fields.flag("server_tool");
            (Role::Assistant, fields.call(["id", "name", "input"], is_server))
        }
        _ => (Role::User, fields.result(["id", "output", "is_error"], false)),
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
