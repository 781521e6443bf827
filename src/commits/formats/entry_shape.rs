//! The shape of the entries of a session: their ids, times and links (docs/session-formats.md).

use serde_json::{Map, Value};

use super::format::Format;
use crate::commits::transcript::{given_id, list, object, owned, text};
use crate::jsonl::IsRecord;
use crate::time::Timestamp;
use crate::vendors::opencode;

/// The fields with the id of an entry and that of its parent, if entries form a tree.
pub(super) const fn tree_keys(format: Format) -> Option<[&'static str; 2]> {
    match format {
        Format::PiV3 => Some(["id", "parentId"]),
        Format::QwenCodeV1 => Some(["uuid", "parentUuid"]),
        _ => None,
    }
}

/// The id of an entry, and that of its parent.
pub(crate) fn links(format: Format, entry: &Map<String, Value>) -> Option<(&str, Option<&str>)> {
    let [id, parent] = tree_keys(format)?;
    let id = text(entry, id).filter(|id| !id.is_empty() && !is_header(format, entry))?;
    Some((id, text(entry, parent).filter(|parent| !parent.is_empty())))
}

/// The id of an entry.
pub(crate) fn entry_id(format: Format, entry: &Map<String, Value>) -> Option<String> {
    match format {
        Format::ClineV1 => given_id(entry, "id"),
        Format::OpencodeExport => object(entry, "info").and_then(|info| given_id(info, "id")),
        _ => links(format, entry).map(|(id, _)| id.to_owned()),
    }
}

/// The time of an entry.
pub(crate) fn time(format: Format, entry: &Map<String, Value>) -> Option<String> {
    let millis = match format {
        Format::ClineV1 => entry.get("ts"),
        Format::OpencodeExport => object(entry, "info").and_then(|info| object(info, "time")?.get("created")),
        Format::Sts => object(entry, "message").and_then(|message| message.get("timestamp")),
        _ => return owned(entry, "timestamp"),
    };
    millis.and_then(Value::as_i64).map(|millis| Timestamp::from_unix_millis(millis).to_string())
}

/// Whether a line describes the session.
pub(crate) fn is_header(format: Format, entry: &Map<String, Value>) -> bool {
    match format {
        Format::PiV3 | Format::Sts => text(entry, "type") == Some("session"),
        Format::CopilotCliV1 => text(entry, "type") == Some("session.start"),
        _ => false,
    }
}

/// The id of the session that a line names.
pub(crate) fn session_id(format: Format, entry: &Map<String, Value>) -> Option<String> {
    match format {
        Format::PiV3 | Format::Sts if is_header(format, entry) => given_id(entry, "id"),
        Format::QwenCodeV1 => given_id(entry, "sessionId"),
        Format::CopilotCliV1 => object(entry, "data").and_then(|data| given_id(data, "sessionId")),
        Format::OpencodeExport => object(entry, "info").and_then(|info| given_id(info, "sessionID")),
        _ => None,
    }
}

/// The id of the first entry that a compaction keeps.
pub(crate) fn first_kept(format: Format, entry: &Map<String, Value>) -> Option<&str> {
    let kept = text(entry, "firstKeptEntryId").filter(|_| format == Format::PiV3)?;
    Some(kept).filter(|kept| !kept.is_empty() && text(entry, "id") != Some(kept))
}

/// The message of OpenCode that asks for a compaction: its id, and that of the first message that it keeps.
pub(crate) fn compaction_request(format: Format, entry: &Map<String, Value>) -> Option<(&str, &str)> {
    let info = object(entry, "info").filter(|_| format == Format::OpencodeExport)?;
    Some((text(info, "id")?, opencode::compaction_start(info, list(entry, "parts"))?))
}

/// The id of the message that a summary of OpenCode answers.
pub(crate) fn answered_request(format: Format, entry: &Map<String, Value>) -> Option<&str> {
    let info = object(entry, "info").filter(|_| format == Format::OpencodeExport)?;
    text(info, "parentID").filter(|_| opencode::is_summary(info))
}

const PI_ASIDE: [&str; 6] = ["session", "model_change", "thinking_level_change", "custom", "label", "session_info"];

/// The groups of Copilot's events.
const COPILOT_GROUPS: [&str; 17] = [
    "abort",
    "assistant",
    "capabilities",
    "command",
    "elicitation",
    "exit_plan_mode",
    "external_tool",
    "hook",
    "mcp",
    "pending_messages",
    "permission",
    "session",
    "skill",
    "subagent",
    "system",
    "tool",
    "user",
];

pub(crate) fn knows_record(format: Format, kind: &str) -> bool {
    match format {
        Format::Sts => matches!(kind, "session" | "message"),
        Format::PiV3 => {
            PI_ASIDE.contains(&kind) || matches!(kind, "message" | "compaction" | "branch_summary" | "custom_message")
        }
        Format::QwenCodeV1 => matches!(kind, "user" | "assistant" | "tool_result" | "system"),
        _ if format.is_document() => true,
        _ => COPILOT_GROUPS.contains(&kind.split('.').next().unwrap_or_default()),
    }
}

/// Recognizes an entry, to distinguish it from a part of a damaged one.
pub(crate) fn is_record(format: Format) -> IsRecord {
    match format {
        Format::PiV3 => is_pi,
        Format::Sts => is_sts,
        Format::QwenCodeV1 => is_qwen,
        Format::AtifV17 => |entry| is_message(Format::AtifV17, entry),
        Format::OtelGenai => |entry| is_message(Format::OtelGenai, entry),
        Format::ClineV1 => |entry| is_message(Format::ClineV1, entry),
        Format::ContinueV1 => |entry| is_message(Format::ContinueV1, entry),
        Format::OpencodeExport => |entry| is_message(Format::OpencodeExport, entry),
        _ => is_copilot,
    }
}

/// Whether an object has the shape of a message of a format whose sessions are one value.
pub(crate) fn is_message(format: Format, entry: &Map<String, Value>) -> bool {
    let has_role =
        |message: Option<&Map<String, Value>>| message.is_some_and(|message| text(message, "role").is_some());
    match format {
        Format::ClineV1 => {
            has_role(Some(entry)) && entry.get("content").is_some_and(|it| it.is_string() || it.is_array())
        }
        Format::OpencodeExport => has_role(object(entry, "info")) && entry.get("parts").is_some_and(Value::is_array),
        Format::AtifV17 => text(entry, "source").is_some() && entry.contains_key("message"),
        Format::OtelGenai => has_role(Some(entry)) && entry.get("parts").is_some_and(Value::is_array),
        _ => has_role(object(entry, "message")),
    }
}

/// Whether an entry has the shape of pi's.
pub(crate) fn is_pi(entry: &Map<String, Value>) -> bool {
    let is_known = text(entry, "type").is_some_and(|kind| knows_record(Format::PiV3, kind));
    is_known && given_id(entry, "id").is_some() && (entry.contains_key("parentId") || entry.contains_key("cwd"))
}

/// Whether a line has the shape of Hugging Face's: a header that names a harness, or a message without an id.
fn is_sts(entry: &Map<String, Value>) -> bool {
    match text(entry, "type") {
        Some("session") => text(entry, "harness").is_some() && given_id(entry, "id").is_some(),
        Some("message") => {
            let has_role = object(entry, "message").is_some_and(|message| text(message, "role").is_some());
            has_role && ["id", "uuid", "parentId", "parentUuid"].iter().all(|key| !entry.contains_key(*key))
        }
        _ => false,
    }
}

/// Whether a record has the shape of Qwen Code's.
pub(crate) fn is_qwen(entry: &Map<String, Value>) -> bool {
    let has_parts = object(entry, "message").is_some_and(|message| message.contains_key("parts"));
    let is_system = text(entry, "type") == Some("system") && entry.contains_key("systemPayload");
    given_id(entry, "uuid").is_some() && (has_parts || is_system || entry.contains_key("provenance"))
}

/// Whether an event has the shape of Copilot CLI's.
pub(crate) fn is_copilot(entry: &Map<String, Value>) -> bool {
    let is_known = text(entry, "type").is_some_and(|kind| kind.contains('.') || kind == "abort");
    is_known && object(entry, "data").is_some() && given_id(entry, "id").is_some()
}

/// Whether a message has a field that messages of other programs lack.
pub(super) fn is_distinct(format: Format, entry: &Map<String, Value>) -> bool {
    match format {
        Format::ClineV1 => entry.get("ts").is_some_and(Value::is_number),
        Format::AtifV17 => entry.get("step_id").is_some_and(Value::is_number),
        // Other vendors' parts have no `content`.
        Format::OtelGenai => {
            list(entry, "parts").iter().any(|part| part.get("type").is_some() && part.get("content").is_some())
        }
        Format::ContinueV1 => entry.get("contextItems").is_some_and(Value::is_array),
        Format::OpencodeExport => object(entry, "info").is_some_and(|info| info.contains_key("sessionID")),
        _ => true,
    }
}
