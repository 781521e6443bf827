//! `codex-v1` and `codex-v0`: the rollouts of Codex (SPEC §5).
//!
//! A `codex-v1` line is `{ timestamp, type, payload }`: `session_meta`, `response_item`, `compacted`, `turn_context`,
//! `event_msg` and others. The response items are the conversation; the events repeat it for the screen. A `codex-v0` line is
//! a response item without the envelope, after a first line with the session. The reader takes either, and messages without
//! a `type`.
//!
//! Consecutive thoughts, texts and calls of the model are one turn, and so are consecutive outputs. `compacted` replaces
//! earlier turns by `replacement_history` or its `message`; the event `thread_rolled_back` removes turns of the user.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::blocks;
use super::continuation::{Continuation, call_id as call_id_from};
use crate::commits::transcript::{
    ConversionReport, Role, Transcript, Turn, arguments, flag, image, image_url, list, objects, owned, text,
};
use crate::content::signature::ReasoningSignature;
use crate::content::{Block, Media, arguments_text};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::jsonl::{IsRecord, Reader, Record};
use crate::maps::SortedSet;
use crate::tool_calls::ToolIds;

/// Line types that are not the conversation.
const ASIDE: &[&str] =
    &["session_meta", "turn_context", "event_msg", "world_state", "session_state", "token_usage_record"];

/// Item types that are not the conversation.
const ITEMS_ASIDE: &[&str] = &["ghost_snapshot", "other", "compaction_trigger"];

pub(super) fn knows_record(kind: &str) -> bool {
    matches!(kind, "response_item" | "compacted" | "") || ASIDE.contains(&kind)
}

/// What a record is, in files of either version.
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

/// The characters of a thread's id that a finding names.
const MAX_THREAD_ID: usize = 48;

/// Where the history of a fork begins (Codex 0.146 and later): in the rollout of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryBase<'a> {
    pub thread_id: &'a str,
    /// The ordinal of the first line of that rollout that is no part of the fork.
    pub end_ordinal_exclusive: Option<u64>,
}

/// The base of a session, if it is a fork.
pub(crate) fn history_base(session: &Map<String, Value>) -> Option<HistoryBase<'_>> {
    let base = session.get("history_base").filter(|base| !base.is_null())?.as_object();
    Some(HistoryBase {
        thread_id: base.and_then(|base| text(base, "thread_id")).unwrap_or_default(),
        end_ordinal_exclusive: base.and_then(|base| base.get("end_ordinal_exclusive")).and_then(Value::as_u64),
    })
}

/// Reports that the history before a fork is not there; `line` is that of its session, if there is one.
pub(crate) fn missing_base(session: &Map<String, Value>, line: Option<u32>) -> Option<Diagnostic> {
    let HistoryBase { thread_id, end_ordinal_exclusive } = history_base(session)?;
    let end = match end_ordinal_exclusive {
        Some(end) => format!("`end_ordinal_exclusive` {end}"),
        None => "the fork".to_owned(),
    };
    let thread: String = thread_id.chars().take(MAX_THREAD_ID).collect();
    let message = format!("the session is a fork of thread `{thread}`; its history before {end} is missing");
    Some(Diagnostic { line, ..Diagnostic::new(DiagnosticCode::MissingBase, Severity::Error, message) })
}

/// Reports the base of a fork, unless what is read begins with a compaction, which replaces it.
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
    /// From 1.
    pub number: u32,
    pub bytes: &'a [u8],
    pub timestamp: Option<String>,
    pub kind: LineKind,
}

pub(crate) enum LineKind {
    Item(Map<String, Value>),
    /// `compacted`: a summary in place of what came before.
    Compacted(Map<String, Value>),
    /// `session_meta`, or the first line of `codex-v0`.
    Session(Map<String, Value>),
    /// The user took back this many turns.
    RolledBack(u64),
    /// Not the conversation.
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
    lines
}

/// The type of an item; one with a role and no type is a message.
pub(crate) fn item_kind(item: &Map<String, Value>) -> &str {
    text(item, "type").unwrap_or(if item.contains_key("role") { "message" } else { "" })
}

pub(super) fn read(bytes: &[u8], enveloped: bool, through: bool, notes: &mut ConversionReport) -> Transcript {
    let mut turns = Vec::new();
    for line in lines(bytes, enveloped, through, notes) {
        apply(&mut turns, &line, through, notes);
    }
    Transcript { turns }
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
    for item in objects(list(compacted, "replacement_history"), "an item that is no object", notes) {
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

/// Takes back turns of the user with all that followed them.
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
    // Calls that the vendor answers itself have no id: one follows from what the item says and where it stands. Others that
    // have none get theirs with their results.
    let made = || call_id_from([timestamp.unwrap_or_default(), &json!([item, place]).to_string()]);
    let given = |key| text(item, key).filter(|id| !id.is_empty()).map(str::to_owned);
    let call_id = |server: bool| {
        let made = || if server { made() } else { String::new() };
        Cow::Owned(given("call_id").or_else(|| given("id")).unwrap_or_else(made))
    };
    let call = |name: String, arguments: Value, server: bool| Block::ToolCall {
        id: call_id(server),
        name: name.into(),
        arguments: Box::new(Cow::Owned(arguments)),
        server,
    };
    let name = || match text(item, "namespace") {
        Some(space) => format!("{space}{}", text(item, "name").unwrap_or_default()),
        None => owned(item, "name").unwrap_or_default(),
    };
    let object = |key| item.get(key).cloned().unwrap_or_else(|| json!({}));
    let (role, block) = match kind {
        "message" => {
            let role = match text(item, "role").unwrap_or_default() {
                "assistant" => Role::Assistant,
                "user" => Role::User,
                "system" | "developer" => Role::System,
                other => {
                    notes.unknown(&format!("role {other}"));
                    return;
                }
            };
            let blocks = blocks::read_said(item.get("content"), notes);
            if role == Role::Assistant {
                blocks.into_iter().for_each(|block| push(turns, role, block, timestamp));
            } else if !blocks.is_empty() {
                let (id, timestamp) = (owned(item, "id"), timestamp.map(str::to_owned));
                turns.push(Turn { blocks, id, timestamp, ..Turn::new(role) });
            }
            return;
        }
        "reasoning" => match blocks::responses_thought(item, notes) {
            Some(thought) => (Role::Assistant, with_id(thought, item)),
            None => return,
        },
        "function_call" => (Role::Assistant, call(name(), arguments(item.get("arguments")), false)),
        "custom_tool_call" => {
            let input = item.get("input").filter(|input| input.is_object()).cloned();
            let text = || Value::String(owned(item, "input").unwrap_or_default());
            (Role::Assistant, call(name(), input.unwrap_or_else(text), false))
        }
        "local_shell_call" => (Role::Assistant, call("local_shell".to_owned(), object("action"), false)),
        "web_search_call" => (Role::Assistant, call("web_search".to_owned(), object("action"), true)),
        "tool_search_call" => (Role::Assistant, call("tool_search".to_owned(), object("arguments"), false)),
        "image_generation_call" => {
            let prompt = json!({ "prompt": text(item, "revised_prompt").unwrap_or_default() });
            push(turns, Role::Assistant, call("image_generation".to_owned(), prompt, true), timestamp);
            let Some(data) = owned(item, "result") else { return };
            let content = vec![Block::Image(Box::new(image("image/png".to_owned(), Media::Data(data))))];
            let tool_call_id = call_id(true);
            (Role::Assistant, Block::ToolResult { tool_call_id, content, is_error: None, server: true })
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => (Role::User, output(item, notes)),
        "compaction" | "compaction_summary" | "context_compaction" => {
            let signature = owned(item, "encrypted_content");
            (Role::Assistant, Block::Reasoning { text: Cow::default(), signature, redacted: true })
        }
        other => {
            if !ITEMS_ASIDE.contains(&other) {
                let kind = if other.is_empty() { "without a type" } else { other };
                notes.unknown(&format!("item {kind}"));
            }
            return;
        }
    };
    push(turns, role, block, timestamp);
}

/// A thought whose signature has the id of its item, which OpenAI wants back with it.
fn with_id(mut thought: Block<'static>, item: &Map<String, Value>) -> Block<'static> {
    if let (Block::Reasoning { signature: Some(signature), .. }, Some(id)) = (&mut thought, owned(item, "id")) {
        *signature = ReasoningSignature::Sealed(Some(id), std::mem::take(signature)).write().into();
    }
    thought
}

/// Adds a block to the last turn if it goes on, or begins one.
fn push(turns: &mut Vec<Turn>, role: Role, block: Block<'static>, timestamp: Option<&str>) {
    let goes_on = |turn: &&mut Turn| {
        turn.role == role
            && !turn.summary
            && (role == Role::Assistant || turn.blocks.iter().all(|block| matches!(block, Block::ToolResult { .. })))
    };
    match turns.last_mut().filter(goes_on) {
        Some(turn) => turn.blocks.push(block),
        None => {
            turns.push(Turn { blocks: vec![block], timestamp: timestamp.map(str::to_owned), ..Turn::new(role) });
        }
    }
}

fn output(item: &Map<String, Value>, notes: &mut ConversionReport) -> Block<'static> {
    let output = item.get("output").or_else(|| item.get("tools"));
    let mut is_error = false;
    let content = match output {
        // Older versions: { content, success }.
        Some(Value::Object(payload)) => {
            is_error = payload.contains_key("success") && !flag(payload, "success");
            blocks::read_content(payload.get("content_items").or_else(|| payload.get("content")), notes)
        }
        other => blocks::read_content(other, notes),
    };
    is_error |= item.get("success").and_then(Value::as_bool) == Some(false);
    Block::ToolResult {
        tool_call_id: owned(item, "call_id").unwrap_or_default(),
        content: blocks::only_shown(content, notes),
        is_error: is_error.then_some(true),
        server: false,
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
    for turn in turns {
        let timestamp = continuation.time(turn.timestamp.as_deref());
        let mut line = |item: Value| {
            lines.push(if enveloped {
                json!({ "timestamp": timestamp, "type": "response_item", "payload": item })
            } else {
                item
            });
        };
        if turn.summary {
            if let ([Block::Text(message)], true) = (turn.blocks.as_slice(), enveloped) {
                lines.push(json!({ "timestamp": timestamp, "type": "compacted", "payload": { "message": message } }));
                continue;
            }
            notes.inexpressible("the mark of a summary");
        }
        let mut parts: Vec<Value> = Vec::new();
        for block in &turn.blocks {
            match block {
                Block::Text(text) => parts.push(text_part(turn.role, text)),
                Block::Image(image) => parts.push(json!({ "type": "input_image", "image_url": image_url(image) })),
                Block::Audio(_) => parts.push(text_part(turn.role, &notes.recording(block))),
                other => {
                    flush(&mut parts, turn.role, &mut line);
                    line(item(other, &answered, notes));
                }
            }
        }
        flush(&mut parts, turn.role, &mut line);
    }
    lines
}

fn flush(parts: &mut Vec<Value>, role: Role, line: &mut impl FnMut(Value)) {
    if parts.is_empty() {
        return;
    }
    let role = if role == Role::System { "developer" } else { role.as_str() };
    line(json!({ "type": "message", "role": role, "content": std::mem::take(parts) }));
}

fn text_part(role: Role, text: &str) -> Value {
    let kind = if role == Role::Assistant { "output_text" } else { "input_text" };
    json!({ "type": kind, "text": text })
}

/// A block that is an item of its own. A search has no output in this format, so an `answered` one is written as a call.
fn item(block: &Block, answered: &SortedSet<String>, notes: &mut ConversionReport) -> Value {
    match block {
        Block::Reasoning { text, signature, redacted } => {
            let summary: Vec<Value> = match *redacted || text.is_empty() {
                true => Vec::new(),
                false => vec![json!({ "type": "summary_text", "text": text })],
            };
            match signature.as_deref().and_then(ReasoningSignature::read) {
                Some(ReasoningSignature::Sealed(Some(id), sealed)) => {
                    json!({ "type": "reasoning", "id": id, "summary": summary, "encrypted_content": sealed })
                }
                _ => json!({ "type": "reasoning", "summary": summary, "encrypted_content": signature }),
            }
        }
        Block::ToolCall { id, name, arguments, .. } if arguments.is_string() => {
            json!({ "type": "custom_tool_call", "call_id": id, "name": name, "input": arguments })
        }
        Block::ToolCall { id, arguments, name, server: true } if name == "web_search" && !answered.contains(&**id) => {
            json!({ "type": "web_search_call", "status": "completed", "action": arguments })
        }
        Block::ToolCall { id, name, arguments, .. } => {
            json!({ "type": "function_call", "name": name, "arguments": arguments_text(arguments), "call_id": id })
        }
        Block::ToolResult { tool_call_id, content, is_error, .. } => {
            let output = match content.as_slice() {
                [] => Value::from(""),
                blocks => blocks::text_or(blocks, |blocks| blocks.iter().filter_map(output_part).collect()),
            };
            // The form of failures; a plain output has succeeded.
            let output = if *is_error == Some(true) { json!({ "content": output, "success": false }) } else { output };
            json!({ "type": "function_call_output", "call_id": tool_call_id, "output": output })
        }
        Block::Text(_) | Block::Image(_) | Block::Audio(_) => {
            notes.inexpressible("a block out of place");
            Value::Null
        }
    }
}

fn output_part(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(text_part(Role::User, text)),
        Block::Image(image) => Some(json!({ "type": "input_image", "image_url": image_url(image) })),
        _ => None,
    }
}

/// Maps lines of `codex-v0` to `codex-v1`, field by field (SPEC §5, tier `fields`).
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
                notes.inexpressible("a line that is no response item");
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
            LineKind::Aside => notes.inexpressible("a line that is no response item"),
        }
    }
    header.extend(out);
    header
}
