//! Session files whose lines are entries: `pi-v3`, `qwen-code-v1` and `copilot-cli-v1` (docs/session-formats.md).
//!
//! Entries of pi and Qwen Code form a tree: each names its parent. The conversation is the chain of the newest entry.
//! Events of Copilot CLI are a list. A compaction replaces what precedes it; pi keeps the entries from one that it
//! names, after the summary.

use serde_json::{Map, Value};

use super::format::Format;
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn, flag, given_id, list, object, owned, text};
use crate::content::Block;
use crate::error::{DiagnosticCode, Severity};
use crate::jsonl::{IsRecord, Reader};
use crate::maps::{SortedMap, SortedSet};
use crate::vendors::{copilot, pi, qwen};

/// What an entry adds to a conversation.
#[derive(Debug, Default)]
pub(crate) struct EntryContent {
    pub turns: Vec<Turn>,
    /// Whether the turns replace those before.
    pub compacts: bool,
}

/// The fields with the id of an entry and that of its parent, if entries form a tree.
const fn tree_keys(format: Format) -> Option<[&'static str; 2]> {
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

/// Whether a line describes the session.
pub(crate) fn is_header(format: Format, entry: &Map<String, Value>) -> bool {
    match format {
        Format::PiV3 => text(entry, "type") == Some("session"),
        Format::CopilotCliV1 => text(entry, "type") == Some("session.start"),
        _ => false,
    }
}

/// The id of the session that a line names.
pub(crate) fn session_id(format: Format, entry: &Map<String, Value>) -> Option<String> {
    match format {
        Format::PiV3 if is_header(format, entry) => given_id(entry, "id"),
        Format::QwenCodeV1 => given_id(entry, "sessionId"),
        Format::CopilotCliV1 => object(entry, "data").and_then(|data| given_id(data, "sessionId")),
        _ => None,
    }
}

/// The id of the first entry that a compaction keeps.
pub(crate) fn first_kept(format: Format, entry: &Map<String, Value>) -> Option<&str> {
    let kept = text(entry, "firstKeptEntryId").filter(|_| format == Format::PiV3)?;
    Some(kept).filter(|kept| !kept.is_empty() && text(entry, "id") != Some(kept))
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

pub(super) fn knows_record(format: Format, kind: &str) -> bool {
    match format {
        Format::PiV3 => {
            PI_ASIDE.contains(&kind) || matches!(kind, "message" | "compaction" | "branch_summary" | "custom_message")
        }
        Format::QwenCodeV1 => matches!(kind, "user" | "assistant" | "tool_result" | "system"),
        _ => COPILOT_GROUPS.contains(&kind.split('.').next().unwrap_or_default()),
    }
}

/// Recognizes an entry, to distinguish it from a part of a damaged one.
pub(super) fn is_record(format: Format) -> IsRecord {
    match format {
        Format::PiV3 => is_pi,
        Format::QwenCodeV1 => is_qwen,
        _ => is_copilot,
    }
}

/// Whether an entry has the shape of pi's.
pub(super) fn is_pi(entry: &Map<String, Value>) -> bool {
    let is_known = text(entry, "type").is_some_and(|kind| knows_record(Format::PiV3, kind));
    is_known && given_id(entry, "id").is_some() && (entry.contains_key("parentId") || entry.contains_key("cwd"))
}

/// Whether a record has the shape of Qwen Code's.
pub(super) fn is_qwen(entry: &Map<String, Value>) -> bool {
    let has_parts = object(entry, "message").is_some_and(|message| message.contains_key("parts"));
    let is_system = text(entry, "type") == Some("system") && entry.contains_key("systemPayload");
    given_id(entry, "uuid").is_some() && (has_parts || is_system || entry.contains_key("provenance"))
}

/// Whether an event has the shape of Copilot CLI's.
pub(super) fn is_copilot(entry: &Map<String, Value>) -> bool {
    let is_known = text(entry, "type").is_some_and(|kind| kind.contains('.') || kind == "abort");
    is_known && object(entry, "data").is_some() && given_id(entry, "id").is_some()
}

/// Reads what an entry adds to the conversation; unknown content is reported.
pub(crate) fn content(format: Format, entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let kind = text(entry, "type").unwrap_or_default();
    if !knows_record(format, kind) {
        notes.unknown(if kind.is_empty() { "a line without a type" } else { kind });
        return EntryContent::default();
    }
    let mut content = match format {
        Format::PiV3 => pi_content(kind, entry, notes),
        Format::QwenCodeV1 => qwen_content(kind, entry, notes),
        _ => copilot_content(kind, entry, notes),
    };
    content.turns.retain(|turn| !turn.blocks.is_empty());
    let [id, _] = tree_keys(format).unwrap_or(["id", ""]);
    if let [turn] = content.turns.as_mut_slice() {
        turn.id = given_id(entry, id);
    }
    for turn in &mut content.turns {
        turn.timestamp = owned(entry, "timestamp");
    }
    if let Some(last) = content.turns.last_mut().filter(|_| content.compacts) {
        last.summary = true;
    }
    content
}

fn one((role, blocks): (Role, Vec<Block<'static>>), model: Option<String>) -> EntryContent {
    EntryContent { turns: vec![Turn { blocks, model, ..Turn::new(role) }], compacts: false }
}

fn pi_content(kind: &str, entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let said = |text: String| (Role::User, vec![Block::text(text)]);
    match kind {
        "message" => {
            let Some(message) = object(entry, "message") else {
                notes.unknown("a message without content");
                return EntryContent::default();
            };
            pi::read_message(message, notes).map(|said| one(said, owned(message, "model"))).unwrap_or_default()
        }
        "custom_message" => {
            let blocks = crate::vendors::blocks::read_said(entry.get("content"), None, notes);
            one((Role::User, blocks), None)
        }
        "branch_summary" | "compaction" => {
            let Some(summary) = text(entry, "summary").filter(|summary| !summary.is_empty()) else {
                notes.unknown("a summary without a text");
                return EntryContent::default();
            };
            let compacts = kind == "compaction";
            let summary = if compacts { pi::compaction_summary(summary) } else { pi::branch_summary(summary) };
            EntryContent { compacts, ..one(said(summary), None) }
        }
        _ => EntryContent::default(),
    }
}

fn qwen_content(kind: &str, entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    if kind == "system" {
        let history = object(entry, "systemPayload").map(|payload| list(payload, "compressedHistory"));
        let Some(history) = history.filter(|_| text(entry, "subtype") == Some("chat_compression")) else {
            return EntryContent::default();
        };
        let contents = crate::commits::transcript::objects(history, "a content that is not an object", notes);
        let turns: Vec<Turn> = contents
            .into_iter()
            .map(|content| {
                let (role, blocks) = qwen::read_content(content, notes);
                Turn { blocks, ..Turn::new(role) }
            })
            .collect();
        return EntryContent { compacts: !turns.is_empty(), turns };
    }
    let Some(message) = object(entry, "message").filter(|_| text(entry, "subtype") != Some("realtime_message")) else {
        notes.unknown("a message without content");
        return EntryContent::default();
    };
    one(qwen::read_content(message, notes), owned(entry, "model"))
}

fn copilot_content(kind: &str, entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let Some(data) = object(entry, "data") else {
        notes.unknown("an event without data");
        return EntryContent::default();
    };
    // Messages of another agent that a call started.
    if given_id(data, "parentToolCallId").is_some() || given_id(entry, "agentId").is_some() {
        return EntryContent::default();
    }
    let compacts = kind == "session.compaction_complete";
    if compacts && !flag(data, "success") {
        return EntryContent::default();
    }
    let content = copilot::read_event(kind, data, notes).map(|said| one(said, owned(data, "model")));
    let content = content.unwrap_or_default();
    EntryContent { compacts: compacts && content.turns.iter().any(|turn| !turn.blocks.is_empty()), ..content }
}

/// An entry on the path of the conversation.
struct PathEntry {
    map: Map<String, Value>,
    content: EntryContent,
}

pub(super) fn read(format: Format, bytes: &[u8], through: bool, notes: &mut ConversionReport) -> Transcript {
    let mut reader = Reader::recovering(bytes, is_record(format));
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    let mut places: SortedMap<String, usize> = SortedMap::new();
    for record in reader.by_ref() {
        let id = links(format, &record.value).map(|(id, _)| id.to_owned());
        match id {
            // The blob of a compaction repeats the entries that it keeps.
            Some(id) if places.contains_key(&id) => {
                let place = places.get(&id).copied().unwrap_or_default();
                if entries.get(place) != Some(&record.value) {
                    notes.unknown("an entry with the id of an earlier one");
                }
                continue;
            }
            Some(id) => drop(places.insert(id, entries.len())),
            None => {}
        }
        entries.push(record.value);
    }
    notes.extend(reader.finish());
    let path: Vec<usize> = match tree_keys(format) {
        Some(_) => path_of(format, &entries, &places, notes),
        None => (0..entries.len()).collect(),
    };
    let mut entries: Vec<Option<Map<String, Value>>> = entries.into_iter().map(Some).collect();
    let mut on_path = Vec::with_capacity(path.len());
    for place in path {
        let Some(map) = entries.get_mut(place).and_then(Option::take) else { continue };
        let content = content(format, &map, notes);
        on_path.push(PathEntry { map, content });
    }
    // Only for the findings.
    for map in entries.iter().flatten() {
        content(format, map, notes);
    }
    Transcript { turns: turns_of(format, on_path, through, notes) }
}

/// The entries from the root to the newest one.
fn path_of(
    format: Format,
    entries: &[Map<String, Value>],
    places: &SortedMap<String, usize>,
    notes: &mut ConversionReport,
) -> Vec<usize> {
    let previous = |at: usize| (0..at).rev().find(|&at| entries.get(at).is_some_and(|it| links(format, it).is_some()));
    let mut path = Vec::new();
    let mut seen: SortedSet<usize> = SortedSet::new();
    let mut at = previous(entries.len());
    let mut missing = 0_u32;
    while let Some(place) = at {
        if !seen.insert(place) {
            let message = "the parents of entries form a cycle; the conversation begins where the cycle closes";
            notes.find(DiagnosticCode::BrokenChain, Severity::Error, message);
            break;
        }
        path.push(place);
        let parent = entries.get(place).and_then(|entry| links(format, entry)).and_then(|(_, parent)| parent);
        at = parent.and_then(|parent| {
            places.get(parent).copied().or_else(|| {
                let previous = previous(place);
                missing = missing.saturating_add(u32::from(previous.is_some()));
                previous
            })
        });
    }
    if missing > 0 {
        let message = format!("{missing} entries name a missing parent; the previous entry was used for each");
        notes.find(DiagnosticCode::BrokenChain, Severity::Info, message);
    }
    path.reverse();
    path
}

/// The turns of a path, from its newest compaction on unless `through`.
fn turns_of(format: Format, path: Vec<PathEntry>, through: bool, notes: &mut ConversionReport) -> Vec<Turn> {
    let newest = path.iter().rposition(|entry| entry.content.compacts).filter(|_| !through);
    let mut turns: Vec<Turn> = Vec::new();
    let mut kept = path.len();
    if let Some(compaction) = newest.and_then(|at| path.get(at)) {
        turns.extend(compaction.content.turns.iter().cloned());
        if let Some(first) = first_kept(format, &compaction.map) {
            let is_first = |entry: &PathEntry| links(format, &entry.map).is_some_and(|(id, _)| id == first);
            kept = path.iter().position(is_first).unwrap_or_else(|| {
                let message =
                    "the first entry that a compaction keeps is missing; the conversation begins with its summary";
                notes.find(DiagnosticCode::BrokenChain, Severity::Warning, message);
                path.len()
            });
        }
    }
    for (at, entry) in path.into_iter().enumerate() {
        let is_read = newest.is_none_or(|newest| at > newest || (kept..newest).contains(&at));
        if entry.content.compacts || !is_read {
            continue;
        }
        for turn in entry.content.turns {
            // Copilot records its instructions after the first message, and again if they change.
            if turn.role == Role::System {
                turns.retain(|turn| turn.role != Role::System);
                turns.insert(0, turn);
            } else {
                turns.push(turn);
            }
        }
    }
    turns
}

/// Whether a record is a message.
pub(super) fn is_conversation(format: Format, entry: &Map<String, Value>) -> bool {
    let has_shape = is_record(format)(entry);
    has_shape
        && content(format, entry, &mut ConversionReport::default()).turns.iter().any(|turn| turn.role != Role::System)
}
