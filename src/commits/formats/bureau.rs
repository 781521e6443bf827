//! `bureau-agent-v1`: a CBOR array of messages (docs/session-formats.md).

use std::borrow::Cow;

use minicbor::{Decoder, Encoder};

use super::cbor::Item;
use super::cbor_array::items;
use super::cbor_fields::Fields;
use super::format::{BlobSource, Format};
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn, result_text, type_placeholder};
use crate::content::{Block, arguments_text};
use crate::error::Result;
use crate::vendors::blocks::Unknown as _;
use crate::vendors::left_out::LeftOut;
use crate::vendors::signature::bare_signature;

const FORMAT: &str = Format::BureauAgentV1.name();

pub(super) fn read(
    bytes: &[u8],
    max_depth: u32,
    source: BlobSource<'_>,
    notes: &mut ConversionReport,
) -> Result<Transcript> {
    let (items, count) = items(bytes, FORMAT, max_depth, source)?;
    let mut decoder = Decoder::new(items);
    let mut turns = Vec::new();
    for _ in 0..count {
        let message = Item::read(&mut decoder).map_err(|_| source.invalid(FORMAT, "a message cannot be read"))?;
        let role = match message.get("Role").and_then(Item::text).unwrap_or_default() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            other => {
                notes.left_out(LeftOut::Role(other));
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
    Ok(Transcript::from(turns))
}

fn read_block(block: &Item<'_>, notes: &mut ConversionReport) -> Option<Block<'static>> {
    let kind = block.get("Type").and_then(Item::text).unwrap_or_default();
    let (content, is_server) = match kind {
        "text" => (Some(block), false),
        "thinking" => (block.get("Thinking"), false),
        "tool_use" => (block.get("ToolUse"), false),
        "server_tool_use" => (block.get("ServerToolUse"), true),
        "tool_result" => (block.get("ToolResult"), false),
        "server_tool_result" => (block.get("ServerToolResult"), true),
        _ => (None, false),
    };
    let fields = Fields::of(content, ("block", kind), notes)?;
    match kind {
        "text" => fields.text("Text"),
        "thinking" => fields.reasoning(["Content", "Signature"]),
        "tool_use" | "server_tool_use" => Some(fields.call(["ID", "Name", "Input"], is_server)),
        _ => Some(fields.result(["ToolUseID", "Content", "IsError"], is_server)),
    }
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
