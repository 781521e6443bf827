//! `codex-v1` and `codex-v0`: the rollouts of Codex (docs/session-formats.md).
//!
//! A `codex-v1` line is `{ timestamp, type, payload }`: `session_meta`, `response_item`, `compacted`,
//! `turn_context`, `event_msg` and others. The response items are the conversation; the events repeat it for the
//! screen. A `codex-v0` line is a response item without the envelope, after a first line with the session. The reader
//! accepts either, and messages without a `type`.
//!
//! Consecutive reasoning, texts and calls of the model are one turn, and so are consecutive outputs.
//! `compacted` replaces earlier turns by `replacement_history` or its `message`; the event `thread_rolled_back` removes
//! user turns.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::continuation::{Continuation, call_id as call_id_from};
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn, list, objects, owned, result_text, text};
use crate::content::{Block, Vendor};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::jsonl::{IsRecord, Reader, Record};
use crate::maps::SortedSet;
use crate::text::is_blank;
use crate::time::Timestamp;
use crate::tool_calls::ToolIds;
use crate::vendors::blocks::{Unknown as _, read_said};
use crate::vendors::left_out::LeftOut;
use crate::vendors::openai_responses;
use crate::vendors::openai_responses::blocks::{image_part, text_part, write_item};
use crate::vendors::openai_responses::fields::FIELDS_OF_CODEX;
use crate::vendors::openai_responses::phase;

/// Line types that are not the conversation.
const ASIDE: &[&str] =
    &["session_meta", "turn_context", "event_msg", "world_state", "session_state", "token_usage_record"];

/// Item types that are not the conversation.
const ITEMS_ASIDE: &[&str] = &["ghost_snapshot", "other", "compaction_trigger"];

pub(super) fn knows_record(kind: &str) -> bool {
    matches!(kind, "response_item" | "compacted" | "") || ASIDE.contains(&kind)
}

/// Recognizes a record in files of either version.
pub(crate) fn is_record(enveloped: bool) -> IsRecord {
    if enveloped { |map| map.get("payload").is_some_and(Value::is_object) } else { is_bare }
}

fn is_bare(map: &Map<String, Value>) -> bool {
    let kind = item_kind(map);
    let is_item = matches!(kind, "message" | "reasoning" | "compaction" | "ghost_snapshot")
        || kind.ends_with("_call")
        || kind.ends_with("_output");
    is_item || map.contains_key("record_type") || (map.contains_key("id") && map.contains_key("timestamp"))
}

/// Characters of a thread's id in a diagnostic.
const MAX_THREAD_ID: usize = 48;

/// The start of a fork's history (Codex 0.146 and later): in the rollout of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryBase<'a> {
    pub thread_id: Option<&'a str>,
    /// The ordinal of the first line of that rollout that is not part of the fork.
    pub end_ordinal_exclusive: Option<u64>,
}

/// The base of a session, if it is a fork.
pub(crate) fn history_base(session: &Map<String, Value>) -> Option<HistoryBase<'_>> {
    let base = session.get("history_base").filter(|base| !base.is_null())?.as_object();
    Some(HistoryBase {
        thread_id: base.and_then(|base| text(base, "thread_id")),
        end_ordinal_exclusive: base.and_then(|base| base.get("end_ordinal_exclusive")).and_then(Value::as_u64),
    })
}

/// Reports that the history before a fork is missing; `line` is that of its session, if known.
pub(crate) fn missing_base(session: &Map<String, Value>, line: Option<u32>) -> Option<Diagnostic> {
    let HistoryBase { thread_id, end_ordinal_exclusive } = history_base(session)?;
    let end = match end_ordinal_exclusive {
        Some(end) => format!("`end_ordinal_exclusive` {end}"),
        None => "the fork".to_owned(),
    };
    let id = |id: &str| id.chars().take(MAX_THREAD_ID).collect::<String>();
    let thread = match thread_id.filter(|id| !is_blank(id)) {
        Some(thread) => format!("thread `{}`", id(thread)),
        None => "a thread whose id is missing in `history_base`".to_owned(),
    };
    let message = format!("the session is a fork of {thread}; its history before {end} is missing");
    Some(Diagnostic { line, ..Diagnostic::new(DiagnosticCode::MissingBase, Severity::Error, message) })
}

/// Reports the base of a fork, unless the blob begins with a compaction, which replaces it.
fn report_base(lines: &[Line<'_>], through: bool, notes: &mut ConversionReport) {
    if !through && lines.iter().any(|line| matches!(line.kind, LineKind::Compacted(_))) {
        return;
    }
    let missing = lines.iter().find_map(|line| match &line.kind {
        LineKind::Session(session) => missing_base(session, Some(line.number)),
        _ => None,
    });
    missing.into_iter().for_each(|missing| notes.push(missing));
}

/// One line, without its envelope.
pub(crate) struct Line<'a> {
    /// The line, from 1.
    pub number: u32,
    pub bytes: &'a [u8],
    pub timestamp: Option<String>,
    pub kind: LineKind,
}

pub(crate) enum LineKind {
    Item(Map<String, Value>),
    /// `compacted`: a summary that replaces earlier turns.
    Compacted(Map<String, Value>),
    /// `session_meta`, or the first line of `codex-v0`.
    Session(Map<String, Value>),
    /// The user removed this many turns.
    RolledBack(u64),
    /// Not part of the conversation.
    Aside,
}

/// Reads a line of either version.
pub(crate) fn line<'a>(record: Record<'a>, notes: &mut ConversionReport) -> Line<'a> {
    let mut map = record.value;
    let timestamp = owned(&map, "timestamp");
    let kind: String = owned(&map, "type").unwrap_or_default();
    let kind = match map.remove("payload") {
        Some(Value::Object(payload)) => match kind.as_str() {
            "response_item" | "" => LineKind::Item(payload),
            "compacted" => LineKind::Compacted(payload),
            "session_meta" => LineKind::Session(payload),
            "event_msg" if text(&payload, "type") == Some("thread_rolled_back") => {
                LineKind::RolledBack(payload.get("num_turns").and_then(Value::as_u64).unwrap_or(0))
            }
            kind => {
                if !ASIDE.contains(&kind) {
                    notes.unknown(kind);
                }
                LineKind::Aside
            }
        },
        _ if !item_kind(&map).is_empty() => LineKind::Item(map),
        _ if map.contains_key("record_type") => LineKind::Aside,
        _ if map.contains_key("id") => LineKind::Session(map),
        _ => {
            notes.unknown("a line without a type");
            LineKind::Aside
        }
    };
    Line { number: record.line, bytes: record.bytes, timestamp, kind }
}

fn lines<'a>(bytes: &'a [u8], enveloped: bool, through: bool, notes: &mut ConversionReport) -> Vec<Line<'a>> {
    let mut reader = Reader::recovering(bytes, is_record(enveloped));
    let lines: Vec<Line<'a>> = reader.by_ref().map(|record| line(record, notes)).collect();
    notes.extend(reader.finish());
    report_base(&lines, through, notes);
    if !through {
        notes.out_of_order(around_compaction(&lines), "messages are on the wrong side of a compaction");
    }
    lines
}

/// The number of messages and compactions before the last compaction that were written after it, and of those after it that
/// were written before it.
fn around_compaction(lines: &[Line<'_>]) -> usize {
    let time = |line: &Line<'_>| line.timestamp.as_deref().and_then(Timestamp::parse);
    let last = lines.iter().rposition(|line| matches!(line.kind, LineKind::Compacted(_)));
    let Some((last, compaction)) = last.and_then(|last| Some((last, time(lines.get(last)?)?))) else { return 0 };
    let is_misplaced = |&(at, line): &(usize, &Line<'_>)| {
        matches!(line.kind, LineKind::Item(_) | LineKind::Compacted(_))
            && time(line).is_some_and(|time| if at < last { time > compaction } else { time < compaction })
    };
    lines.iter().enumerate().filter(is_misplaced).count()
}

/// The type of an item; one with a role and without a type is a message.
pub(crate) fn item_kind(item: &Map<String, Value>) -> &str {
    text(item, "type").unwrap_or(if item.contains_key("role") { "message" } else { "" })
}

/// Whether the model reads an item as input: a message of another author, or a result.
pub(crate) fn is_prompt(item: &Map<String, Value>) -> bool {
    let kind = item_kind(item);
    kind.ends_with("_output") || (kind == "message" && text(item, "role") != Some("assistant"))
}

pub(super) fn read(bytes: &[u8], enveloped: bool, through: bool, notes: &mut ConversionReport) -> Transcript {
    let mut turns = Vec::new();
    for line in lines(bytes, enveloped, through, notes) {
        apply(&mut turns, &line, through, notes);
    }
    Transcript::from(turns)
}

pub(crate) fn apply(turns: &mut Vec<Turn>, line: &Line<'_>, through: bool, notes: &mut ConversionReport) {
    match &line.kind {
        LineKind::Item(item) => add(turns, item, line.timestamp.as_deref(), notes),
        LineKind::Compacted(_) if through => {}
        LineKind::Compacted(compacted) => {
            turns.clear();
            turns.extend(compacted_turns(compacted, line.timestamp.as_deref(), notes));
        }
        LineKind::RolledBack(count) => roll_back(turns, *count),
        LineKind::Session(_) | LineKind::Aside => {}
    }
}

/// The turns that replace those before a compaction; the last one is marked as the summary.
fn compacted_turns(compacted: &Map<String, Value>, timestamp: Option<&str>, notes: &mut ConversionReport) -> Vec<Turn> {
    let mut turns = Vec::new();
    for item in objects(list(compacted, "replacement_history"), "an item that is not an object", notes) {
        add(&mut turns, item, timestamp, notes);
    }
    let message = text(compacted, "message").unwrap_or_default();
    if turns.is_empty() || (turns.iter().all(|turn| turn.role != Role::User) && !message.is_empty()) {
        turns.push(Turn::text(Role::User, message.to_owned()));
    }
    if let Some(last) = turns.last_mut() {
        last.summary = true;
        last.timestamp = timestamp.map(str::to_owned);
    }
    turns
}

/// Removes turns of the user with everything after them.
fn roll_back(turns: &mut Vec<Turn>, count: u64) {
    for _ in 0..count {
        let is_prompt = |turn: &Turn| {
            turn.role == Role::User && !turn.blocks.iter().any(|block| matches!(block, Block::ToolResult { .. }))
        };
        match turns.iter().rposition(is_prompt) {
            Some(at) => turns.truncate(at),
            None => return,
        }
    }
}

fn add(turns: &mut Vec<Turn>, item: &Map<String, Value>, timestamp: Option<&str>, notes: &mut ConversionReport) {
    let kind = item_kind(item);
    let place = (turns.len(), turns.last().map_or(0, |turn| turn.blocks.len()));
    // Calls that the vendor answers itself have no id: one is derived from the item and its place. Other calls without
    // an id get one with their results.
    let made = || call_id_from([timestamp.unwrap_or_default(), &crate::json::text(&(item, place))]);
    let given = |key| text(item, key).filter(|id| !id.is_empty()).map(str::to_owned);
    let call_id = |server: bool| {
        let made = || if server { made() } else { String::new() };
        Cow::Owned(given("call_id").or_else(|| given("id")).unwrap_or_else(made))
    };
    match kind {
        "message" => {
            let role = match text(item, "role").unwrap_or_default() {
                "assistant" => Role::Assistant,
                "user" => Role::User,
                "system" | "developer" => Role::System,
                other => {
                    notes.left_out(LeftOut::Role(other));
                    return;
                }
            };
            notes.unknown_fields(item, &["type id role status content phase", FIELDS_OF_CODEX]);
            let blocks = read_said(item.get("content"), None, notes);
            if role == Role::Assistant {
                phase::of_item(item).into_iter().for_each(|block| push(turns, role, block, timestamp));
                blocks.into_iter().for_each(|block| push(turns, role, block, timestamp));
            } else if !blocks.is_empty() {
                let (id, timestamp) = (owned(item, "id"), timestamp.map(str::to_owned));
                turns.push(Turn { blocks, id, timestamp, ..Turn::new(role) });
            }
        }
        other if ITEMS_ASIDE.contains(&other) => {}
        other => match openai_responses::blocks::read_item(other, item, &call_id, notes) {
            Some(blocks) => {
                for block in blocks {
                    let is_handed_over = matches!(block, Block::ToolResult { server: false, .. });
                    push(turns, if is_handed_over { Role::User } else { Role::Assistant }, block, timestamp);
                }
            }
            None => notes.unknown("item without a type"),
        },
    }
}

/// Adds a block to the last turn if it continues that turn, or begins a new one.
fn push(turns: &mut Vec<Turn>, role: Role, block: Block<'static>, timestamp: Option<&str>) {
    let continues = |turn: &&mut Turn| {
        turn.role == role
            && !turn.summary
            && (role == Role::Assistant || turn.blocks.iter().all(|block| matches!(block, Block::ToolResult { .. })))
    };
    match turns.last_mut().filter(continues) {
        Some(turn) => turn.blocks.push(block),
        None => {
            turns.push(Turn { blocks: vec![block], timestamp: timestamp.map(str::to_owned), ..Turn::new(role) });
        }
    }
}

pub(super) fn write(
    turns: &[Turn],
    enveloped: bool,
    continuation: &mut Continuation,
    notes: &mut ConversionReport,
) -> Vec<Value> {
    let mut lines = Vec::new();
    if continuation.begins {
        let id = continuation.session();
        let timestamp = continuation.time(turns.first().and_then(|turn| turn.timestamp.as_deref()));
        lines.push(if enveloped {
            json!({
                "timestamp": timestamp, "type": "session_meta",
                "payload": {
                    "id": id, "timestamp": timestamp, "cwd": "", "originator": "ctxweave", "cli_version": "0.0.0",
                    "instructions": null,
                },
            })
        } else {
            json!({ "id": id, "timestamp": timestamp, "instructions": null })
        });
    }
    let answered = ToolIds::of_blocks(turns.iter().flat_map(|turn| &turn.blocks)).results;
    // A compaction replaces all before it, so it has the turns up to the newest summary.
    let summary = turns.iter().rposition(|turn| turn.summary).filter(|_| enveloped);
    let (replacing, following) =
        turns.split_at_checked(summary.map_or(0, |at| at.saturating_add(1))).unwrap_or_default();
    if let Some(summary) = replacing.last() {
        let timestamp = continuation.time(summary.timestamp.as_deref());
        let payload = write_compaction(replacing, summary, &answered, notes);
        lines.push(json!({ "timestamp": timestamp, "type": "compacted", "payload": payload }));
    }
    for turn in following {
        let timestamp = continuation.time(turn.timestamp.as_deref());
        if turn.summary {
            notes.inexpressible("the mark of a summary");
        }
        write_turn(turn, &answered, notes, &mut |item| {
            lines.push(if enveloped {
                json!({ "timestamp": timestamp, "type": "response_item", "payload": item })
            } else {
                item
            });
        });
    }
    lines
}

/// A compaction with its summary, the last of the turns that replace the history.
fn write_compaction(
    replacing: &[Turn],
    summary: &Turn,
    answered: &SortedSet<String>,
    notes: &mut ConversionReport,
) -> Value {
    let message = result_text(&summary.blocks);
    if let ([_], [Block::Text(_)]) = (replacing, summary.blocks.as_slice()) {
        return json!({ "message": message });
    }
    let mut history = Vec::new();
    for turn in replacing {
        write_turn(turn, answered, notes, &mut |item| history.push(item));
    }
    let older = replacing.iter().filter(|turn| turn.summary).skip(1);
    older.for_each(|_| notes.inexpressible("the mark of a summary"));
    json!({ "message": message, "replacement_history": history })
}

/// Writes the items of a turn.
fn write_turn(
    turn: &Turn,
    answered: &SortedSet<String>,
    notes: &mut ConversionReport,
    mut line: &mut impl FnMut(Value),
) {
    let mut parts: Vec<Value> = Vec::new();
    let mut phase = None;
    for block in &turn.blocks {
        match block {
            Block::Text(text) => parts.push(text_part(turn.role, text)),
            Block::Image(image) => parts.push(image_part(image)),
            Block::Audio(_) => parts.push(text_part(turn.role, &notes.recording(block))),
            Block::Vendor(block) if block.vendor != Vendor::OpenAi => {
                parts.extend(notes.replacement(block).map(|text| text_part(turn.role, text)));
            }
            Block::Vendor(block) if block.phase().is_some() => {
                flush(&mut parts, turn.role, phase, line);
                phase = block.phase();
            }
            other => {
                flush(&mut parts, turn.role, phase.take(), line);
                write_item(other, answered).map_or_else(|| notes.inexpressible("a block out of place"), &mut line);
            }
        }
    }
    flush(&mut parts, turn.role, phase, line);
}

fn flush(parts: &mut Vec<Value>, role: Role, phase: Option<&str>, line: &mut impl FnMut(Value)) {
    if parts.is_empty() {
        return;
    }
    let role = if role == Role::System { "developer" } else { role.as_str() };
    let mut message = json!({ "type": "message", "role": role, "content": std::mem::take(parts) });
    if let (Some(phase), Some(fields)) = (phase, message.as_object_mut()) {
        fields.insert("phase".to_owned(), phase.into());
    }
    line(message);
}

/// Maps lines of `codex-v0` to `codex-v1`, field by field (docs/sessions.md, tier `fields`).
pub(super) fn to_v1(bytes: &[u8], continuation: &mut Continuation, notes: &mut ConversionReport) -> Vec<Value> {
    let mut out = Vec::new();
    for line in lines(bytes, false, true, notes) {
        let timestamp = continuation.time(line.timestamp.as_deref());
        match line.kind {
            LineKind::Item(mut item) => {
                item.remove("timestamp");
                out.push(json!({ "timestamp": timestamp, "type": "response_item", "payload": item }));
            }
            LineKind::Session(mut payload) => {
                for (key, value) in [("cwd", ""), ("originator", "ctxweave"), ("cli_version", "0.0.0")] {
                    if !payload.contains_key(key) {
                        payload.insert(key.to_owned(), Value::String(value.to_owned()));
                    }
                }
                out.push(json!({ "timestamp": timestamp, "type": "session_meta", "payload": payload }));
            }
            LineKind::Compacted(_) | LineKind::RolledBack(_) | LineKind::Aside => {
                notes.inexpressible("a line that is not a response item");
            }
        }
    }
    out
}

/// Maps lines of `codex-v1` to `codex-v0`, which has no lines for compactions and removed turns: they are applied.
pub(super) fn to_v0(bytes: &[u8], through: bool, notes: &mut ConversionReport) -> Vec<Value> {
    let mut header = Vec::new();
    let mut out: Vec<Value> = Vec::new();
    for line in lines(bytes, true, through, notes) {
        match line.kind {
            LineKind::Item(item) => out.push(Value::Object(item)),
            LineKind::Session(meta) => header.push(Value::Object(meta)),
            LineKind::Compacted(_) if through => {}
            LineKind::Compacted(compacted) => {
                notes.inexpressible("the mark of a summary");
                let unmarked = |turn| Turn { summary: false, ..turn };
                let turns = compacted_turns(&compacted, None, notes).into_iter().map(unmarked);
                out = write(&turns.collect::<Vec<_>>(), false, &mut Continuation::default(), notes);
            }
            LineKind::RolledBack(count) => {
                let is_prompt = |item: &Value| item.get("role").and_then(Value::as_str) == Some("user");
                for _ in 0..count {
                    let Some(at) = out.iter().rposition(is_prompt) else { break };
                    out.truncate(at);
                }
            }
            LineKind::Aside => notes.inexpressible("a line that is not a response item"),
        }
    }
    header.extend(out);
    header
}
