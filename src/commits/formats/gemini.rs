//! `gemini-v1`: Gemini CLI's session files (docs/session-formats.md).
//!
//! One JSON object with `messages`, or JSONL: a header line, a line for each message, which replaces an earlier one
//! with its id, `{ "$set": … }` lines with changed fields (`messages` replaces all), and `{ "$rewindTo": id }` lines,
//! which remove that message and all after it.
//!
//! A message of type `gemini` becomes a turn of the model and one with the results of its calls. Messages of type
//! `info`, `warning` and `error` are for the screen.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::continuation::Continuation;
use super::gemini_join::{FileKind, file_kind, is_record};
use crate::commits::transcript::{
    ConversionReport, Role, Transcript, Turn, arguments_object, given_id, list, object, objects, owned, set, text,
};
use crate::content::{Block, Vendor};
use crate::error::{DiagnosticCode, Severity};
use crate::json::Document;
use crate::jsonl::{Reader, not_utf8};
use crate::maps::{SortedMap, SortedSet};
use crate::time::Timestamp;
use crate::vendors::blocks::Unknown as _;
use crate::vendors::gemini::blocks::{
    SESSION_CALL_FIELDS, SESSION_FIELDS, as_list, call_of, carried_signature, classify, failed, gemini_call,
    image_part, push_part, push_signature, response, response_of, result_content, signed_part, tool_result,
};
use crate::vendors::gemini::part::CALL_FIELDS;
use crate::vendors::left_out::LeftOut;

/// The messages of a session, by id.
#[derive(Debug, Default)]
struct Messages {
    /// The messages, in order.
    list: Vec<Map<String, Value>>,
    places: SortedMap<String, usize>,
    /// How many messages were replaced by older lines.
    outdated: usize,
}

impl Messages {
    fn add(&mut self, message: Map<String, Value>) {
        let place = self.list.len();
        let known = given_id(&message, "id").map(|id| *self.places.or_insert(id, place));
        match known.and_then(|known| self.list.get_mut(known)) {
            Some(earlier) => {
                // A message only gets more calls.
                let calls = |message: &Map<String, Value>| list(message, "toolCalls").len();
                self.outdated = self.outdated.saturating_add(usize::from(calls(earlier) > calls(&message)));
                *earlier = message;
            }
            None => self.list.push(message),
        }
    }

    fn replace_all(&mut self, messages: &[Value], notes: &mut ConversionReport) {
        *self = Self { outdated: self.outdated, ..Self::default() };
        objects(messages, "a message that is not an object", notes)
            .into_iter()
            .for_each(|message| self.add(message.clone()));
    }

    /// Takes the messages of a header or a `$set` line, if present.
    fn replace_from(&mut self, fields: &Map<String, Value>, notes: &mut ConversionReport) {
        if list(fields, "messages").is_empty() {
            return;
        }
        let time = |fields, key| text(fields, key).and_then(Timestamp::parse);
        let updated = time(fields, "lastUpdated");
        let newer =
            self.list.iter().filter(|message| updated.is_some() && time(message, "timestamp") > updated).count();
        self.outdated = self.outdated.saturating_add(newer);
        self.replace_all(list(fields, "messages"), notes);
    }

    /// Removes a message and all after it; all messages if it is missing, as Gemini CLI does.
    fn rewind(&mut self, id: &str, notes: &mut ConversionReport) {
        let from = self.places.get(id).copied().unwrap_or_else(|| {
            if !self.list.is_empty() {
                let message = "`$rewindTo` names a missing message; all messages before it were removed";
                notes.find(DiagnosticCode::BrokenChain, Severity::Warning, message);
            }
            0
        });
        for message in self.list.drain(from.min(self.list.len())..) {
            if let Some(id) = text(&message, "id") {
                self.places.remove(id);
            }
        }
    }
}

pub(super) fn read(bytes: &[u8], notes: &mut ConversionReport) -> Transcript {
    let mut messages = Messages::default();
    if file_kind(bytes) == FileKind::Lines || bytes.trim_ascii().is_empty() {
        let mut reader = Reader::recovering(bytes, is_record);
        for record in reader.by_ref() {
            let map = record.value;
            if let Some(id) = text(&map, "$rewindTo") {
                messages.rewind(id, notes);
            } else if is_message(&map) {
                messages.add(map);
            } else if let Some(set) = object(&map, "$set") {
                messages.replace_from(set, notes);
            } else if map.contains_key("sessionId") {
                messages.replace_from(&map, notes);
            } else {
                notes.unknown("a line that is not a message");
            }
        }
        notes.extend(reader.finish());
    } else {
        let json = String::from_utf8_lossy(bytes);
        if matches!(json, Cow::Owned(_)) {
            notes.push(not_utf8());
        }
        let session = Document::read(json.as_bytes(), &[]).and_then(|document| {
            notes.extend(document.diagnostics());
            document.root().to_json()
        });
        match session {
            Ok(Value::Object(session)) => messages.replace_all(list(&session, "messages"), notes),
            Ok(_) => notes.find(DiagnosticCode::MalformedLine, Severity::Error, "the session is not an object"),
            Err(error) => {
                let message = format!("the session is neither lines of JSON nor one object: {}", error.message());
                notes.find(DiagnosticCode::MalformedLine, Severity::Error, message);
            }
        }
    }
    notes.out_of_order(messages.outdated, "messages were replaced by older ones");
    let mut turns = Vec::new();
    let mut seen = SeenCalls::default();
    for message in messages.list {
        add(&mut turns, &message, &mut seen, notes);
    }
    Transcript::from(turns)
}

/// Findings about the lines of a session, one by one.
#[derive(Debug)]
pub(crate) struct LineNotes {
    /// The messages so far, only their ids.
    messages: Messages,
    /// Whether nothing precedes the lines.
    is_whole: bool,
}

impl LineNotes {
    pub(crate) fn new(is_whole: bool) -> Self {
        Self { messages: Messages::default(), is_whole }
    }

    pub(crate) fn add(&mut self, map: &Map<String, Value>, notes: &mut ConversionReport) {
        if let Some(id) = text(map, "$rewindTo") {
            // The messages before a part are unknown.
            let mut unheard = ConversionReport::default();
            self.messages.rewind(id, if self.is_whole { notes } else { &mut unheard });
        } else if is_message(map) {
            self.message(map, notes);
        } else if let Some(fields) =
            object(map, "$set").or_else(|| Some(map).filter(|map| map.contains_key("sessionId")))
        {
            if !list(fields, "messages").is_empty() {
                self.messages = Messages::default();
                for message in objects(list(fields, "messages"), "a message that is not an object", notes) {
                    self.message(message, notes);
                }
            }
        } else {
            notes.unknown("a line that is not a message");
        }
    }

    fn message(&mut self, map: &Map<String, Value>, notes: &mut ConversionReport) {
        add(&mut Vec::new(), map, &mut SeenCalls::default(), notes);
        let id = map.get_key_value("id").map(|(key, id)| (key.clone(), id.clone()));
        self.messages.add(id.into_iter().collect());
    }
}

/// Whether a line, or a message of a session, is conversation.
pub(crate) fn is_conversation(map: &Map<String, Value>) -> bool {
    let has = |map: &Map<String, Value>, key: &str| match map.get(key) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        Some(value) => value.is_object(),
        None => false,
    };
    let is_said = |map: &Map<String, Value>| {
        let holds = ["content", "toolCalls", "thoughts"].iter().any(|key| has(map, key));
        holds && matches!(text(map, "type"), Some("user" | "gemini" | "model"))
    };
    let fields = object(map, "$set").unwrap_or(map);
    is_said(map) || list(fields, "messages").iter().filter_map(Value::as_object).any(is_said)
}

fn is_message(map: &Map<String, Value>) -> bool {
    ["id", "type"].iter().any(|&key| map.get(key).is_some_and(Value::is_string))
}

/// Calls and results read so far: a session may have them in `toolCalls` and in parts of messages.
#[derive(Debug, Default)]
struct SeenCalls {
    calls: SortedSet<String>,
    results: SortedSet<String>,
    /// The calls in lists: a second one with the same id is another call.
    listed: SortedSet<String>,
    /// The counter for calls without an id.
    unnamed: u32,
}

fn add(turns: &mut Vec<Turn>, message: &Map<String, Value>, seen: &mut SeenCalls, notes: &mut ConversionReport) {
    let role = match text(message, "type").unwrap_or_default() {
        "user" => Role::User,
        "gemini" | "model" => Role::Assistant,
        "info" | "warning" | "error" => return,
        "" => return notes.unknown("a message without a type"),
        other => return notes.left_out(LeftOut::Role(other)),
    };
    notes.unknown_fields(message, &[SESSION_FIELDS]);
    if ["content", "thoughts", "toolCalls"].iter().all(|&key| message.get(key).is_none_or(Value::is_null)) {
        notes.unknown("a message without content");
    }
    let new_turn = |role: Role| Turn {
        id: given_id(message, "id"),
        timestamp: owned(message, "timestamp"),
        model: owned(message, "model"),
        ..Turn::new(role)
    };
    let mut own = new_turn(role);
    let mut results = Turn { id: None, model: None, ..new_turn(Role::User) };
    for thought in objects(list(message, "thoughts"), "a thought that is not an object", notes) {
        let parts = [text(thought, "subject"), text(thought, "description")];
        if parts.iter().all(Option::is_none) {
            notes.unknown("a thought without a text");
            continue;
        }
        notes.unknown_fields(thought, &["subject description timestamp"]);
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        own.blocks.push(Block::Reasoning { text: parts.join("\n\n").into(), signature: None, redacted: false });
    }
    for block in parts(message.get("content"), seen, notes) {
        match block {
            Block::ToolResult { .. } if role == Role::Assistant => results.blocks.push(block),
            block => own.blocks.push(block),
        }
    }
    for call in objects(list(message, "toolCalls"), "a call that is not an object", notes) {
        notes.unknown_fields(call, &[SESSION_CALL_FIELDS]);
        let id = seen.id(given_id(call, "id"));
        let id = seen.listed_id(id);
        if seen.calls.insert(id.clone()) {
            own.blocks.push(gemini_call(id.clone(), call));
        }
        let Some(result) = call.get("result").filter(|result| !result.is_null()) else { continue };
        let content = result_content(result, notes);
        let failed = matches!(text(call, "status"), Some("error" | "cancelled"));
        if seen.results.insert(id.clone()) {
            results.blocks.push(tool_result(id, content, failed));
        }
    }
    for turn in [own, results] {
        if !turn.blocks.is_empty() {
            turns.push(turn);
        }
    }
}

impl SeenCalls {
    fn id(&mut self, id: Option<String>) -> String {
        id.unwrap_or_else(|| {
            self.unnamed = self.unnamed.saturating_add(1);
            format!("call_{}", self.unnamed)
        })
    }

    /// The id of a call in a list, which no other call in a list has.
    fn listed_id(&mut self, id: String) -> String {
        if self.listed.insert(id.clone()) {
            return id;
        }
        let mut number = 2_u32;
        loop {
            let other = format!("{id}-{number}");
            if !self.calls.contains(&other) && self.listed.insert(other.clone()) {
                return other;
            }
            number = number.saturating_add(1);
        }
    }
}

fn parts(content: Option<&Value>, seen: &mut SeenCalls, notes: &mut ConversionReport) -> Vec<Block<'static>> {
    let mut out = Vec::new();
    for part in content.map_or(&[][..], as_list) {
        let map = match part {
            Value::String(text) => {
                if !text.is_empty() {
                    out.push(Block::text(text.clone()));
                }
                continue;
            }
            Value::Object(map) => map,
            Value::Null => continue,
            _ => {
                notes.unknown("a part that is not an object");
                continue;
            }
        };
        if let Some(call) = call_of(map) {
            notes.unknown_fields(map, &classify(map).data.fields());
            notes.unknown_fields(call, &[CALL_FIELDS]);
            let id = seen.id(given_id(call, "id"));
            if seen.calls.insert(id.clone()) {
                push_signature(map, &mut out);
                out.push(gemini_call(id, call));
            }
        } else if let Some(response) = response_of(map) {
            let id = seen.id(given_id(response, "id"));
            if seen.results.insert(id.clone()) {
                out.push(tool_result(id, result_content(part, notes), failed(response)));
            }
        } else {
            push_part(map, &mut out, notes);
        }
    }
    out
}

pub(super) fn write(turns: &[Turn], continuation: &mut Continuation, notes: &mut ConversionReport) -> Vec<Value> {
    let mut lines = Vec::new();
    if continuation.begins {
        let timestamp = continuation.time(turns.first().and_then(|turn| turn.timestamp.as_deref()));
        let id = continuation.session();
        lines.push(json!({
            "sessionId": id, "projectHash": "", "startTime": timestamp, "lastUpdated": timestamp, "kind": "main",
        }));
    }
    // Results are written into the message that holds their calls, with the tool names.
    let mut results: SortedMap<&str, VecDeque<&Block>> = SortedMap::new();
    let mut calls: SortedSet<&str> = SortedSet::new();
    for block in turns.iter().flat_map(|turn| &turn.blocks) {
        match block {
            // Calls that share an id are answered in their order.
            Block::ToolResult { tool_call_id, .. } => results.or_default(&**tool_call_id).push_back(block),
            Block::ToolCall { id, .. } => drop(calls.insert(id)),
            _ => {}
        }
    }
    for turn in turns {
        let timestamp = continuation.time(turn.timestamp.as_deref());
        let (mut content, mut thoughts, mut tool_calls) = (Vec::new(), Vec::new(), Vec::new());
        // The signature for the next part.
        let mut carried = None;
        for block in &turn.blocks {
            match block {
                Block::Text(text) => content.push(signed_part(json!({ "text": text }), carried.take())),
                Block::Image(image) => content.push(signed_part(image_part(image), carried.take())),
                Block::Audio(_) => content.push(json!({ "text": notes.recording(block) })),
                Block::Vendor(block) if block.vendor == Vendor::Google => {
                    content.push(block.value.clone().into_owned())
                }
                Block::Vendor(block) => {
                    content.extend(notes.replacement(block).map(|text| json!({ "text": text })));
                }
                Block::Reasoning { text, signature, redacted } => {
                    if *redacted {
                        notes.inexpressible("sealed thoughts");
                        continue;
                    }
                    if let Some(signature) = carried_signature(text, signature.as_deref()) {
                        carried = Some(signature);
                        continue;
                    }
                    if signature.is_some() {
                        notes.inexpressible("the signature of a thought");
                    }
                    thoughts.push(json!({ "subject": "", "description": text, "timestamp": timestamp }));
                }
                Block::ToolCall { id, name, arguments, .. } => {
                    if carried.take().is_some() {
                        notes.inexpressible("the signature of a call");
                    }
                    let mut call = json!({ "id": id, "name": name, "args": arguments_object(*arguments.clone()) });
                    let result = results.get_mut(&**id).and_then(VecDeque::pop_front);
                    let failed = matches!(result, Some(Block::ToolResult { is_error: Some(true), .. }));
                    if let Some(Block::ToolResult { content, .. }) = result {
                        set(&mut call, "result", response(id, name, content, failed));
                    }
                    set(&mut call, "status", if failed { "error" } else { "success" });
                    set(&mut call, "timestamp", timestamp.as_str());
                    tool_calls.push(call);
                }
                Block::ToolResult { tool_call_id, content: output, is_error, .. } => {
                    if !calls.contains(&**tool_call_id) {
                        let failed = *is_error == Some(true);
                        content.extend(as_list(&response(tool_call_id, "", output, failed)).iter().cloned());
                    }
                }
            }
        }
        if carried.is_some() {
            notes.inexpressible("the signature of a thought");
        }
        if content.is_empty() && thoughts.is_empty() && tool_calls.is_empty() {
            continue;
        }
        if turn.role == Role::System {
            notes.inexpressible("a system message, written as one of the user");
        }
        if turn.summary {
            notes.inexpressible("the mark of a summary");
        }
        let kind = if turn.role == Role::Assistant { "gemini" } else { "user" };
        let mut line = json!({ "id": continuation.uuid(), "timestamp": timestamp, "type": kind });
        let text_only = match content.as_slice() {
            [] => Some(Value::from("")),
            [Value::Object(part)] if part.len() == 1 => part.get("text").cloned(),
            _ => None,
        };
        set(&mut line, "content", text_only.unwrap_or(Value::Array(content)));
        for (key, values) in [("thoughts", thoughts), ("toolCalls", tool_calls)] {
            if !values.is_empty() {
                set(&mut line, key, values);
            }
        }
        if let Some(model) = &turn.model {
            set(&mut line, "model", model.as_str());
        }
        lines.push(line);
    }
    lines
}
