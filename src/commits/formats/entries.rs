//! Session files that consist of entries (docs/session-formats.md): lines of `pi-v3`, `qwen-code-v1` and
//! `copilot-cli-v1`, messages of `cline-v1`, `opencode-export` and `continue-v1`.
//!
//! Entries of pi and Qwen Code form a tree: each names its parent. The conversation is the chain of the newest entry.
//! Those of the others are a list. A compaction replaces what precedes it; pi keeps the entries from one that it
//! names, after the summary, and OpenCode before it.

use serde_json::{Map, Value};

use super::continuation::Continuation;
use super::document::SessionDocument;
use super::entry_shape::{
    answered_request, compaction_request, entry_id, first_kept, is_distinct, is_record, knows_record, links,
    session_id, time, tree_keys,
};
use super::format::Format;
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn, flag, given_id, list, object, owned, text};
use crate::content::Block;
use crate::error::{DiagnosticCode, Severity};
use crate::jsonl::Reader;
use crate::maps::{SortedMap, SortedSet};
use crate::vendors::{atif, cline, continue_dev, copilot, opencode, otel, pi, qwen};

/// What an entry adds to a conversation.
#[derive(Debug, Default)]
pub(crate) struct EntryContent {
    /// The content of the turn.
    pub turns: Vec<Turn>,
    /// The turns that replace everything up to this entry.
    pub summary: Vec<Turn>,
}

impl EntryContent {
    /// Whether the entry replaces those before.
    pub(crate) fn compacts(&self) -> bool {
        !self.summary.is_empty()
    }

    /// Makes the turns replace those before.
    fn into_summary(self) -> Self {
        Self { turns: Vec::new(), summary: self.turns }
    }
}

/// Reads what an entry adds to the conversation; unknown content is reported.
pub(crate) fn content(format: Format, entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let kind = text(entry, "type").unwrap_or_default();
    if !knows_record(format, kind) {
        notes.unknown(if kind.is_empty() { "a line without a type" } else { kind });
        return EntryContent::default();
    }
    let mut content = match format {
        Format::PiV3 | Format::Sts => pi_content(kind, entry, notes),
        Format::QwenCodeV1 => qwen_content(kind, entry, notes),
        Format::AtifV17 => atif_content(entry, notes),
        Format::OtelGenai => otel::read_message(entry, notes).map(|said| one(said, None)).unwrap_or_default(),
        Format::ClineV1 => cline_content(entry, notes),
        Format::ContinueV1 => continue_content(entry, notes),
        Format::OpencodeExport => opencode_content(entry, notes),
        _ => copilot_content(kind, entry, notes),
    };
    let (id, time) = (entry_id(format, entry).or_else(|| given_id(entry, "id")), time(format, entry));
    for turns in [&mut content.turns, &mut content.summary] {
        turns.retain(|turn| !turn.blocks.is_empty());
        let is_single = turns.len() == 1;
        if let Some(turn) = turns.first_mut().filter(|_| is_single || format.is_document()) {
            turn.id.clone_from(&id);
        }
        turns.iter_mut().for_each(|turn| turn.timestamp.clone_from(&time));
    }
    if let Some(last) = content.summary.last_mut() {
        last.summary = true;
    }
    content
}

fn one((role, blocks): (Role, Vec<Block<'static>>), model: Option<String>) -> EntryContent {
    several(vec![(role, blocks)], model)
}

/// The turns of an entry. Only an answer has a model.
fn several(said: Vec<(Role, Vec<Block<'static>>)>, model: Option<String>) -> EntryContent {
    let is_single = said.len() == 1;
    let turn = |(role, blocks)| {
        let model = model.clone().filter(|_| is_single || role == Role::Assistant);
        Turn { blocks, model, ..Turn::new(role) }
    };
    EntryContent { turns: said.into_iter().map(turn).collect(), summary: Vec::new() }
}

fn atif_content(step: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let said = several(atif::read_step(step, notes), owned(step, "model_name"));
    if atif::is_summary(step) { said.into_summary() } else { said }
}

fn cline_content(entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let said = cline::read_message(entry, notes).map(|said| one(said, cline::model(entry))).unwrap_or_default();
    if flag(entry, "isSummary") { said.into_summary() } else { said }
}

fn continue_content(entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let mut said = several(continue_dev::read_item(entry, notes), None);
    if let Some(summary) = text(entry, "conversationSummary").filter(|summary| !summary.is_empty()) {
        said.summary.push(Turn::text(Role::User, continue_dev::compaction_summary(summary)));
    }
    said
}

fn opencode_content(entry: &Map<String, Value>, notes: &mut ConversionReport) -> EntryContent {
    let Some(info) = object(entry, "info") else {
        notes.unknown("a message without `info`");
        return EntryContent::default();
    };
    let said = several(opencode::read_message(info, list(entry, "parts"), notes), owned(info, "modelID"));
    if opencode::is_summary(info) { said.into_summary() } else { said }
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
            if kind == "compaction" {
                one(said(pi::compaction_summary(summary)), None).into_summary()
            } else {
                one(said(pi::branch_summary(summary)), None)
            }
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
        return EntryContent { turns: Vec::new(), summary: turns };
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
    if compacts { content.into_summary() } else { content }
}

/// An entry on the path of the conversation.
struct PathEntry {
    map: Map<String, Value>,
    content: EntryContent,
}

pub(super) fn read(format: Format, bytes: &[u8], through: bool, notes: &mut ConversionReport) -> Transcript {
    if format.is_document() {
        return read_document(format, bytes, through, notes);
    }
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
    let on_path: SortedSet<usize> = path.iter().copied().collect();
    let parent = |entry| links(format, entry).and_then(|(_, parent)| places.get(parent?));
    let before_parents =
        entries.iter().enumerate().filter(|(place, entry)| !on_path.contains(place) && parent(entry) > Some(place));
    notes.before_followed(before_parents.count());
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
    turns_of(format, on_path, through, notes)
}

/// Reads a session that is one value.
fn read_document(format: Format, bytes: &[u8], through: bool, notes: &mut ConversionReport) -> Transcript {
    let mut session = SessionDocument::read(format, bytes);
    notes.extend(std::mem::take(&mut session.diagnostics));
    let mut known: SortedMap<String, usize> = SortedMap::new();
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    for message in session.messages() {
        let place = entries.len();
        let earlier = entry_id(format, &message).map(|id| *known.or_insert(id, place)).filter(|&at| at != place);
        match earlier {
            Some(earlier) => {
                if entries.get(earlier) != Some(&message) {
                    notes.unknown("a message with the id of an earlier one");
                }
            }
            None => entries.push(message),
        }
    }
    let read = |map: Map<String, Value>| PathEntry { content: content(format, &map, notes), map };
    let path = entries.into_iter().map(read).collect();
    let Transcript { mut turns, changed_from } = turns_of(format, path, through, notes);
    let count = turns.len();
    add_fields(format, &session, &mut turns, notes);
    let added = turns.len().saturating_sub(count);
    Transcript { turns, changed_from: changed_from.map(|first| first.saturating_add(added)) }
}

/// Adds the turns in other fields of a session.
fn add_fields(format: Format, session: &SessionDocument, turns: &mut Vec<Turn>, notes: &mut ConversionReport) {
    let list_of = |name: &str| match session.value(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    match format {
        Format::ClineV1 => {
            if let Some(Value::String(prompt)) = session.value("system_prompt")
                && !prompt.is_empty()
            {
                turns.insert(0, Turn::text(Role::System, prompt));
            }
        }
        Format::OtelGenai => {
            let blocks = otel::read_parts(&list_of("gen_ai.system_instructions"), notes);
            if !blocks.is_empty() {
                turns.insert(0, Turn { blocks, ..Turn::new(Role::System) });
            }
            for message in list_of("gen_ai.output.messages") {
                let Some(message) = message.as_object() else { continue };
                turns.extend(content(format, message, notes).turns);
            }
        }
        Format::AtifV17 if !list_of("subagent_trajectories").is_empty() => {
            notes.unknown("trajectories of other agents")
        }
        _ => {}
    }
}

/// Records how a delta ends; false if it has no entry.
pub(super) fn end(format: Format, bytes: &[u8], continuation: &mut Continuation) -> bool {
    let mut found = false;
    for record in Reader::recovering(bytes, is_record(format)) {
        if let Some(session) = session_id(format, &record.value) {
            continuation.session = Some(session);
        }
        if let Some((id, _)) = links(format, &record.value) {
            continuation.parent = Some(id.to_owned());
            continuation.timestamp = time(format, &record.value).or_else(|| continuation.timestamp.take());
            found = true;
        }
    }
    found
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
fn turns_of(format: Format, path: Vec<PathEntry>, through: bool, notes: &mut ConversionReport) -> Transcript {
    let newest = path.iter().rposition(|entry| entry.content.compacts()).filter(|_| !through);
    let compaction = newest.and_then(|at| path.get(at));
    let kept = match (newest, compaction) {
        (Some(newest), Some(compaction)) => kept_from(format, &path, compaction, newest, notes),
        _ => path.len(),
    };
    let is_answer = compaction.is_some_and(|compaction| answered_request(format, &compaction.map).is_some());
    let mut turns: Vec<Turn> = Vec::new();
    for (at, entry) in path.iter().enumerate().filter(|_| newest.is_some() && !is_answer) {
        turns.extend(entry.content.summary.iter().filter(|_| Some(at) == newest).cloned());
    }
    // The model answered the entries that a compaction keeps before it read the summary.
    let mut changed_from = newest.filter(|&newest| kept < newest).map(|_| turns.len());
    for (at, entry) in path.into_iter().enumerate() {
        if through && entry.content.compacts() {
            changed_from = changed_from.or(Some(turns.len()));
        }
        if Some(at) == newest {
            turns.extend(entry.content.summary.into_iter().filter(|_| is_answer));
            continue;
        }
        let is_read = newest.is_none_or(|newest| at > newest || (kept..newest).contains(&at));
        let is_request = through && compaction_request(format, &entry.map).is_some();
        if !is_read || is_request {
            continue;
        }
        for turn in entry.content.turns {
            // Copilot records its instructions after the first message, and again if they change.
            if turn.role == Role::System && format == Format::CopilotCliV1 {
                turns.retain(|turn| turn.role != Role::System);
                turns.insert(0, turn);
            } else {
                push_turn(format, &mut turns, turn);
            }
        }
    }
    Transcript { turns, changed_from }
}

/// Adds a turn. Consecutive results, which pi and Copilot CLI record one by one, are one turn.
fn push_turn(format: Format, turns: &mut Vec<Turn>, turn: Turn) {
    let are_results = |turn: &Turn| turn.blocks.iter().all(|block| matches!(block, Block::ToolResult { .. }));
    let is_listed = matches!(format, Format::PiV3 | Format::Sts | Format::CopilotCliV1) && are_results(&turn);
    match turns.last_mut().filter(|last| is_listed && are_results(last)) {
        Some(last) => last.blocks.extend(turn.blocks),
        None => turns.push(turn),
    }
}

/// The place of the first entry that a compaction keeps; that of the compaction if it keeps none.
fn kept_from(
    format: Format,
    path: &[PathEntry],
    compaction: &PathEntry,
    newest: usize,
    notes: &mut ConversionReport,
) -> usize {
    let request = answered_request(format, &compaction.map).and_then(|answered| {
        let mut requests = path.iter().filter_map(|entry| compaction_request(format, &entry.map));
        requests.find(|(id, _)| *id == answered)
    });
    let Some(first) = request.map(|(_, first)| first).or_else(|| first_kept(format, &compaction.map)) else {
        return newest;
    };
    let is_first = |entry: &PathEntry| entry_id(format, &entry.map).is_some_and(|id| id == first);
    path.iter().position(is_first).unwrap_or_else(|| {
        let message = "the first entry that a compaction keeps is missing; the conversation begins with its summary";
        notes.find(DiagnosticCode::BrokenChain, Severity::Warning, message);
        newest
    })
}

/// Whether a record is a message.
pub(super) fn is_conversation(format: Format, entry: &Map<String, Value>) -> bool {
    let has_shape = is_record(format)(entry) && is_distinct(format, entry);
    has_shape
        && content(format, entry, &mut ConversionReport::default()).turns.iter().any(|turn| turn.role != Role::System)
}
