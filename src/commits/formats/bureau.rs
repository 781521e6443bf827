//! `bureau-agent-v1`: a CBOR array of messages (docs/session-formats.md).
//!
//! Joining splices the items of each array verbatim under one definite-length header; `80` if there are none. A null
//! counts as an empty array.

use std::borrow::Cow;

use minicbor::data::Type;
use minicbor::{Decoder, Encoder};
use serde_json::{Map, Value};

use super::cbor::{self, Damage, Item};
use super::format::{BlobSource, Format};
use crate::commits::transcript::{
    ConversionReport, Role, Transcript, Turn, parse_arguments, result_text, type_placeholder,
};
use crate::content::{Block, arguments_text};
use crate::error::Result;
use crate::limits;
use crate::vendors::signature::bare_signature;

/// Bytes of the longest header of an array.
const HEADER: usize = 9;

/// Reserves space for a header before the items.
pub(super) fn with_header(capacity: usize) -> Vec<u8> {
    let mut array = Vec::with_capacity(capacity.saturating_add(HEADER));
    array.resize(HEADER, 0);
    array
}

/// Appends the items of a delta; returns their number.
pub(super) fn splice(out: &mut Vec<u8>, blob: &[u8], max_depth: u32, source: BlobSource<'_>) -> Result<u64> {
    let (items, count) = items(blob, max_depth, source)?;
    out.extend_from_slice(items);
    Ok(count)
}

/// The items of a blob that consists of exactly one array, and their number.
fn items<'b>(blob: &'b [u8], max_depth: u32, source: BlobSource<'_>) -> Result<(&'b [u8], u64)> {
    let invalid = |reason: &str| Err(source.invalid(Format::BureauAgentV1, reason));
    let mut decoder = Decoder::new(blob);
    let declared = match decoder.datatype() {
        Ok(Type::Null) => {
            return if blob.len() == 1 { Ok((&[], 0)) } else { invalid("bytes follow its end; store only the array") };
        }
        Ok(Type::Array | Type::ArrayIndef) => match decoder.array() {
            Ok(declared) => declared,
            Err(_) => return invalid("its length stops in the middle"),
        },
        Ok(_) => return invalid("it is not an array of messages"),
        Err(_) => return invalid("it holds no bytes; an empty array is `80`"),
    };
    let start = decoder.position();
    if declared.is_some_and(|count| count > blob.len().saturating_sub(start) as u64) {
        return invalid("it declares more items than there are bytes");
    }
    let mut count: u64 = 0;
    let mut end = start;
    while declared != Some(count) {
        if declared.is_none() && blob.get(end) == Some(&0xff) {
            end = end.saturating_add(1);
            break;
        }
        match cbor::skip(&mut decoder, max_depth) {
            Ok(()) => {}
            Err(Damage::TooDeep) => {
                let depth = (max_depth as usize).saturating_add(1);
                return Err(source.about(limits::exceeded("cborDepth", depth, max_depth)));
            }
            Err(Damage::Malformed(what, at)) => return invalid(&format!("{what} (byte {at})")),
        }
        count = count.saturating_add(1);
        end = decoder.position();
    }
    if end != blob.len() {
        return invalid("bytes follow its end; store only the array");
    }
    let end = if declared.is_none() { end.saturating_sub(1) } else { end };
    Ok((blob.get(start..end).unwrap_or_default(), count))
}

/// Writes the header before the items, which begin at [`HEADER`], and removes the unused space.
pub(super) fn write_header(out: &mut Vec<u8>, count: u64) {
    let mut header = Vec::with_capacity(HEADER);
    // Writing to a vector cannot fail.
    let _ = minicbor::Encoder::new(&mut header).array(count);
    let unused = HEADER.saturating_sub(header.len());
    if let Some(place) = out.get_mut(unused..HEADER) {
        place.copy_from_slice(&header);
    }
    out.drain(..unused);
}

pub(super) fn read(
    bytes: &[u8],
    max_depth: u32,
    source: BlobSource<'_>,
    notes: &mut ConversionReport,
) -> Result<Transcript> {
    let (items, count) = items(bytes, max_depth, source)?;
    let mut decoder = Decoder::new(items);
    let mut turns = Vec::new();
    for _ in 0..count {
        let message =
            Item::read(&mut decoder).map_err(|_| source.invalid(Format::BureauAgentV1, "a message cannot be read"))?;
        let role = match message.get("Role").and_then(Item::text).unwrap_or_default() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            other => {
                notes.unknown(&format!("role {other}"));
                continue;
            }
        };
        let blocks = match message.get("Content") {
            Some(Item::Array(blocks)) => blocks.iter().filter_map(|block| read_block(block, notes)).collect(),
            Some(Item::Text(text)) => vec![Block::text(text.clone())],
            _ => {
                notes.unknown("a message without content");
                Vec::new()
            }
        };
        turns.push(Turn { blocks, ..Turn::new(role) });
    }
    Ok(Transcript { turns })
}

fn read_block(block: &Item<'_>, notes: &mut ConversionReport) -> Option<Block<'static>> {
    let text = |of: Option<&Item<'_>>, key: &str| -> Cow<'static, str> {
        Cow::Owned(of.and_then(|of| of.get(key)).and_then(Item::text).unwrap_or_default().to_owned())
    };
    let kind = block.get("Type").and_then(Item::text).unwrap_or_default();
    let call = |key: &str| {
        let call = block.get(key);
        Block::ToolCall {
            id: text(call, "ID"),
            name: text(call, "Name"),
            arguments: Box::new(Cow::Owned(match text(call, "Input") {
                input if input.is_empty() => Value::Object(Map::new()),
                input => parse_arguments(&input),
            })),
            server: key.starts_with("Server"),
        }
    };
    let result = |key: &str| {
        let result = block.get(key);
        let output = text(result, "Content");
        Block::ToolResult {
            tool_call_id: text(result, "ToolUseID"),
            content: if output.is_empty() { Vec::new() } else { vec![Block::Text(output)] },
            is_error: matches!(result.and_then(|result| result.get("IsError")), Some(Item::Bool(true))).then_some(true),
            server: key.starts_with("Server"),
        }
    };
    Some(match kind {
        "text" => Block::Text(text(Some(block), "Text")),
        "tool_use" => call("ToolUse"),
        "server_tool_use" => call("ServerToolUse"),
        "tool_result" => result("ToolResult"),
        "server_tool_result" => result("ServerToolResult"),
        "thinking" => {
            let thinking = block.get("Thinking");
            let signature = Some(text(thinking, "Signature")).filter(|signature| !signature.is_empty());
            Block::Reasoning { text: text(thinking, "Content"), signature, redacted: false }
        }
        other => {
            notes.unknown(&format!("block {other}"));
            return None;
        }
    })
}

/// The keys of a block in the order of RFC 8949 §4.2.1: by their encoded bytes, so shorter ones first.
const BLOCK_KEYS: [&str; 7] =
    ["Text", "Type", "ToolUse", "Thinking", "ToolResult", "ServerToolUse", "ServerToolResult"];

type Out<'o> = Encoder<&'o mut Vec<u8>>;
type Written = std::result::Result<(), minicbor::encode::Error<std::convert::Infallible>>;

/// Writes messages, without the header of the array.
pub(super) fn write(turns: &[Turn], out: &mut Vec<u8>, notes: &mut ConversionReport) -> u64 {
    let mut encoder = Encoder::new(out);
    for turn in turns {
        if turn.summary {
            notes.inexpressible("the mark of a summary");
        }
        // Writing to a vector cannot fail.
        let _ = write_turn(turn, &mut encoder, notes);
    }
    turns.len() as u64
}

fn write_turn(turn: &Turn, out: &mut Out<'_>, notes: &mut ConversionReport) -> Written {
    out.map(2)?.str("Role")?.str(turn.role.as_str())?.str("Content")?.array(turn.blocks.len() as u64)?;
    for block in &turn.blocks {
        write_block(block, out, notes)?;
    }
    Ok(())
}

fn write_block(block: &Block, out: &mut Out<'_>, notes: &mut ConversionReport) -> Written {
    let (kind, used) = match block {
        Block::Text(_) | Block::Image(_) | Block::Audio(_) | Block::Vendor(_) => ("text", "Text"),
        Block::Reasoning { .. } => ("thinking", "Thinking"),
        Block::ToolCall { server: false, .. } => ("tool_use", "ToolUse"),
        Block::ToolCall { .. } => ("server_tool_use", "ServerToolUse"),
        Block::ToolResult { server: false, .. } => ("tool_result", "ToolResult"),
        Block::ToolResult { .. } => ("server_tool_result", "ServerToolResult"),
    };
    out.map(BLOCK_KEYS.len() as u64)?;
    for key in BLOCK_KEYS {
        out.str(key)?;
        match key {
            "Type" => drop(out.str(kind)?),
            key if key == used => write_value(block, out, notes)?,
            _ => drop(out.null()?),
        }
    }
    Ok(())
}

fn write_value(block: &Block, out: &mut Out<'_>, notes: &mut ConversionReport) -> Written {
    match block {
        Block::Text(text) => drop(out.str(text)?),
        Block::Image(_) => {
            notes.inexpressible("an image, written as its description");
            out.str(&type_placeholder(block))?;
        }
        Block::Audio(_) => drop(out.str(&notes.recording(block))?),
        Block::Vendor(block) => drop(out.str(notes.replacement(block).unwrap_or_default())?),
        Block::Reasoning { text, signature, redacted } => {
            if *redacted {
                notes.inexpressible("the encryption of reasoning");
            }
            out.map(2)?.str("Content")?.str(text)?;
            out.str("Signature")?.str(&signature.as_deref().map_or_else(Cow::default, bare_signature))?;
        }
        Block::ToolCall { id, name, arguments, .. } => {
            let input = arguments_text(arguments);
            out.map(3)?.str("ID")?.str(id)?.str("Name")?.str(name)?.str("Input")?.bytes(input.as_bytes())?;
        }
        Block::ToolResult { tool_call_id, content, is_error, .. } => {
            if content.iter().any(|block| matches!(block, Block::Image(_))) {
                notes.inexpressible("an image within a result, written as its description");
            }
            out.map(3)?.str("Content")?.str(&result_text(content))?;
            out.str("IsError")?.bool(*is_error == Some(true))?.str("ToolUseID")?.str(tool_call_id)?;
        }
    }
    Ok(())
}
