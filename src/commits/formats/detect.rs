//! Which agent wrote a session file, by its shape.

use super::format::Format;
use crate::json::{Document, Object, Value};
use crate::jsonl::Reader;

/// Lines that are looked at: a session says what it is at its beginning.
const LINES: u32 = 50;

/// The format of a session file, by the shape of the first records that have one; none where no record has. The beginning of a
/// file is enough, if it has a whole line.
pub fn detect_format(bytes: &[u8]) -> Option<Format> {
    // An array of CBOR, or the null that stands for an empty one. JSON begins with none of these bytes.
    if matches!(bytes.first(), Some(0x80..=0x9f | 0xf6)) {
        return Some(Format::BureauAgentV1);
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(whole) = Document::read(text.trim_start_matches('\u{feff}').as_bytes(), &[]) {
        return whole.root().object("a session, an object").ok().and_then(of_object);
    }
    let records = Reader::new(bytes).take_while(|record| record.line <= LINES);
    records.filter_map(|record| of_record(&record.value)).next()
}

/// The same for an object of any size, of which only the fields are looked at.
fn of_object(object: Object<'_>) -> Option<Format> {
    let field = |(name, value): (Value<'_>, Value<'_>)| {
        let text = value.as_text().filter(|_| name.is_string("type")).map(serde_json::Value::from);
        Some((name.string().ok()?, text.unwrap_or_default()))
    };
    of_record(&object.entries().filter_map(field).collect())
}

fn of_record(record: &serde_json::Map<String, serde_json::Value>) -> Option<Format> {
    let has = |name: &str| record.contains_key(name);
    let kind = record.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
    let is_item = matches!(kind, "message" | "reasoning" | "compaction")
        || kind.ends_with("_call")
        || kind.ends_with("_call_output");
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
