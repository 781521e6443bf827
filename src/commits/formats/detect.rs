//! Detects the agent that wrote a session file, by the shape and the content of its records.
//!
//! Formats of different agents share record shapes, so a shape alone is not enough: a record of the conversation has to
//! be readable as one.

use serde_json::{Map, Value};

use super::codec::ReadOptions;
use super::codex::{self, LineKind};
use super::format::{BlobSource, Format};
use super::{claude, entries, events, gemini, generic};
use crate::commits::transcript::{ConversionReport, text};
use crate::content::Block;
use crate::json::Document;
use crate::jsonl::{Reader, Record};
use crate::limits::Limits;

/// The formats whose lines have an envelope.
const ENVELOPED: [Format; 7] = [
    Format::PiV3,
    Format::Sts,
    Format::QwenCodeV1,
    Format::CopilotCliV1,
    Format::GeminiV1,
    Format::CodexV1,
    Format::ClaudeCodeV1,
];

/// The formats whose lines are entries.
const OF_ENTRIES: [Format; 4] = [Format::PiV3, Format::Sts, Format::QwenCodeV1, Format::CopilotCliV1];

/// The format of a session file: that of its first record of a conversation; `None` without such a record. The
/// beginning of a file is enough if it has a whole line with a message.
pub fn detect_format(bytes: &[u8]) -> Option<Format> {
    detect_with_line(bytes).map(|(format, _)| format)
}

/// The format of a session file, and the line of the record that determines it; 0 in CBOR.
pub(crate) fn detect_with_line(bytes: &[u8]) -> Option<(Format, u32)> {
    // JSON never begins with these bytes.
    if matches!(bytes.first(), Some(0x80..=0x9f | 0xf6)) {
        return [Format::BureauAgentV1, Format::EventsV1]
            .into_iter()
            .find(|of| is_of_cbor(*of, bytes))
            .map(|of| (of, 0));
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(whole) = Document::read(text.trim_start_matches('\u{feff}').as_bytes(), &[]) {
        let Ok(Value::Object(session)) = whole.root().to_json() else { return detect_document(&text) };
        return detect_document(&text).or_else(|| Some((Shapes::default().converses(session)?, 1)));
    }
    let mut shapes = Shapes::default();
    let of_line = |record: Record<'_>| Some((shapes.converses(record.value)?, record.line));
    Reader::recovering(bytes, is_any_record).find_map(of_line).or_else(|| detect_document(&text))
}

/// The format of a session: that of its first message of a conversation, with its line. Every whole message of the
/// beginning of a file is tried.
fn detect_document(text: &str) -> Option<(Format, u32)> {
    const ALL: [Format; 5] =
        [Format::ClineV1, Format::OpencodeExport, Format::ContinueV1, Format::AtifV17, Format::OtelGenai];
    if !text.trim_start_matches(['\0', '\u{feff}']).trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')).map(|found| at.saturating_add(found)) {
        at = open.saturating_add(1);
        let Ok((document, _)) = Document::read_first(text.get(open..).unwrap_or_default()) else { continue };
        let Ok(Value::Object(value)) = document.root().to_json() else { continue };
        let line = || {
            let lines = text.bytes().take(open).filter(|&byte| byte == b'\n').count();
            u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
        };
        if let Some(&format) = ALL.iter().find(|&&format| entries::is_conversation(format, &value)) {
            return Some((format, line()));
        }
    }
    None
}

/// The shapes of the records so far.
#[derive(Debug, Default)]
struct Shapes(Vec<Format>);

impl Shapes {
    /// The format in which the next record is one of a conversation, if its file has shown the shape of that format.
    fn converses(&mut self, record: Map<String, Value>) -> Option<Format> {
        if let Some(shape) = shape_of(&record).filter(|shape| !self.0.contains(shape)) {
            self.0.push(shape);
        }
        self.0.iter().copied().find(|&format| is_conversation(format, &record))
    }
}

/// Recognizes a record after damage. The inside of a damaged record may look like a bare record, which determines no
/// format.
fn is_any_record(record: &Map<String, Value>) -> bool {
    ENVELOPED.iter().any(|format| format.is_record()(record))
}

/// The format whose records have this shape.
fn shape_of(record: &Map<String, Value>) -> Option<Format> {
    let has = |name: &str| record.contains_key(name);
    let kind = text(record, "type").unwrap_or_default();
    let is_item = matches!(kind, "message" | "reasoning" | "compaction")
        || kind.ends_with("_call")
        || kind.ends_with("_call_output");
    if let Some(&format) = OF_ENTRIES.iter().find(|format| format.is_record()(record)) {
        return Some(format);
    }
    if has("projectHash") || has("$set") || has("$rewindTo") || kind == "gemini" || has("sessionId") && has("messages")
    {
        Some(Format::GeminiV1)
    } else if has("payload") && has("type") {
        Some(Format::CodexV1)
    } else if has("parentUuid") || has("leafUuid") || has("session_id") || has("type") && has("message") {
        Some(Format::ClaudeCodeV1)
    } else if has("record_type") || has("instructions") && has("id") || is_item {
        Some(Format::CodexV0)
    } else if has("sessionId") && has("type") {
        Some(Format::ClaudeCodeV1)
    } else {
        has("role").then_some(Format::GenericV1)
    }
}

/// Whether a record is one of a conversation in a format.
fn is_conversation(format: Format, record: &Map<String, Value>) -> bool {
    match format {
        Format::ClaudeCodeV1 => claude::is_conversation(record) && claude::is_said(record),
        Format::GeminiV1 => gemini::is_conversation(record),
        Format::GenericV1 => {
            let has_content =
                |blocks: &[Block<'_>]| !blocks.is_empty() || record.get("content").is_some_and(Value::is_string);
            generic::turn(record, &mut ConversionReport::default()).is_some_and(|turn| has_content(&turn.blocks))
        }
        Format::CodexV0 | Format::CodexV1 => {
            let enveloped = record.contains_key("payload");
            let record = Record { line: 0, bytes: &[], value: record.clone() };
            let line = codex::line(record, &mut ConversionReport::default());
            let mut turns = Vec::new();
            if matches!(line.kind, LineKind::Item(_) | LineKind::Compacted(_))
                && enveloped == (format == Format::CodexV1)
            {
                codex::apply(&mut turns, &line, false, &mut ConversionReport::default());
            }
            // Items of other agents have the type names of some of Codex, but not their content.
            let has_content = |block: &Block<'_>| match block {
                Block::Text(text) => !text.is_empty(),
                Block::Reasoning { redacted: true, signature, .. } => signature.is_some(),
                Block::Vendor(block) => block.is_of_compaction() && block.is_sealed(),
                _ => true,
            };
            turns.iter().flat_map(|turn| &turn.blocks).any(has_content)
        }
        Format::BureauAgentV1 | Format::EventsV1 => false,
        _ => entries::is_conversation(format, record),
    }
}

/// Whether CBOR is an array of messages or events. In a truncated array, the first item has to begin like one.
fn is_of_cbor(format: Format, bytes: &[u8]) -> bool {
    let (first, rest) = match bytes.split_first() {
        Some((first, rest)) => (*first, rest),
        None => return false,
    };
    let length_bytes = match first {
        0x98 => 1,
        0x99 => 2,
        0x9a => 4,
        0x9b => 8,
        _ => 0,
    };
    let begins_as_item = match rest.get(length_bytes..) {
        Some([0xa1..=0xbf, key @ ..]) if format == Format::EventsV1 => begins_as_event(key),
        Some([0xa1..=0xbf, key @ ..]) => key.starts_with(b"\x64Role") || key.starts_with(b"\x67Content"),
        _ => false,
    };
    let read = ReadOptions { source: BlobSource::default(), through_compactions: true };
    let read = || format.read(bytes, read, &Limits::default());
    begins_as_item || read().is_ok_and(|(transcript, _)| !transcript.turns.is_empty())
}

/// Whether a map begins with the type of an event, the first key in the order of RFC 8949.
fn begins_as_event(key: &[u8]) -> bool {
    let Some([length, rest @ ..]) = key.strip_prefix(b"\x64type") else { return false };
    let kind = rest.get(..usize::from(length & 0x1f)).and_then(|kind| std::str::from_utf8(kind).ok());
    length >> 5 == 3 && kind.is_some_and(events::knows_type)
}
