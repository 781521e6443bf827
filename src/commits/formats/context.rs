//! What the model saw before one of its answers, as Claude Code and Codex recorded it (docs/sessions.md).

use serde_json::{Map, Value};

use super::claude::Session;
use super::codex::{self, LineKind};
use super::format::Format;
use crate::commits::transcript::{ConversionReport, Role, Turn, flag, list, object, objects, owned, text};
use crate::content::{Block, Vendor};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::jsonl::Reader;
use crate::maps::{SortedMap, SortedSet};
use crate::vendors::blocks::read_said;

/// The context of an answer.
#[derive(Debug)]
pub(crate) struct Context {
    /// The turns, with the instructions first.
    pub turns: Vec<Turn>,
    /// The number of the answer, from 0; that of all answers for the next one.
    pub turn: usize,
    /// The number of answers in the conversation.
    pub answers: usize,
    /// Whether the file holds the request itself; otherwise the context is put together from its records.
    pub is_request: bool,
    /// Findings about the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// The context of the answer with a number, or of the next answer.
///
/// # Errors
/// [`Code::UnknownValue`] for another format, [`Code::InvalidInput`] for a number beyond the answers.
pub(crate) fn context_at(format: Format, bytes: &[u8], turn: Option<usize>) -> Result<Context> {
    let mut notes = ConversionReport::default();
    let context = match format {
        Format::ClaudeCodeV1 => of_claude(bytes, turn, &mut notes),
        Format::CodexV0 | Format::CodexV1 => of_codex(bytes, format == Format::CodexV1, turn, &mut notes),
        _ => {
            let expected = [Format::ClaudeCodeV1.name(), Format::CodexV0.name(), Format::CodexV1.name()];
            let message = format!(
                "`{format}` does not record the context of answers; use one of {}",
                crate::json::quoted(&expected)
            );
            return Err(Error::new(Code::UnknownValue, message).with("path", "format").with("value", format.name()));
        }
    };
    if turn.is_some_and(|turn| turn > context.answers) {
        let message = format!("`turn` is past the {} answers of the session", context.answers);
        return Err(Error::new(Code::InvalidInput, message).with("path", "turn").with("answers", context.answers));
    }
    Ok(Context { diagnostics: notes.finish(), ..context })
}

fn of_codex(bytes: &[u8], enveloped: bool, turn: Option<usize>, notes: &mut ConversionReport) -> Context {
    let (mut turns, mut instructions, mut found) = (Vec::new(), None, None);
    let (mut answers, mut answering) = (0_usize, false);
    let mut reader = Reader::recovering(bytes, codex::is_record(enveloped));
    for record in reader.by_ref() {
        let line = codex::line(record, notes);
        match &line.kind {
            LineKind::Session(session) => {
                let text = object(session, "base_instructions").and_then(|it| owned(it, "text"));
                let text: Option<String> = text.or_else(|| owned(session, "instructions"));
                instructions = text.filter(|text| !text.is_empty()).or(instructions);
            }
            LineKind::Item(item) => {
                let is_prompt = codex::is_prompt(item);
                if !is_prompt && !answering && codex::item_kind(item) != "ghost_snapshot" {
                    if turn == Some(answers) {
                        found = Some(turns.clone());
                    }
                    answers = answers.saturating_add(1);
                    answering = true;
                }
                answering &= !is_prompt;
            }
            LineKind::Compacted(_) => answering = false,
            LineKind::RolledBack(_) | LineKind::Aside => {}
        }
        codex::apply(&mut turns, &line, false, notes);
    }
    notes.extend(reader.finish());
    let mut turns = found.unwrap_or(turns);
    turns.splice(0..0, instructions.map(|text| Turn::text(Role::System, text)));
    Context { turns, turn: turn.unwrap_or(answers), answers, is_request: false, diagnostics: Vec::new() }
}

fn of_claude(bytes: &[u8], turn: Option<usize>, notes: &mut ConversionReport) -> Context {
    let mut requests = Requests::default();
    for record in Reader::recovering(bytes, super::claude::is_record) {
        requests.add(record.value);
    }
    let session = Session::read(bytes, notes);
    let mut unheard = ConversionReport::default();
    let path = session.tip().map(|tip| session.path(tip, true, &mut unheard)).unwrap_or_default();
    // The place on the path at which each answer begins.
    let mut begins: Vec<usize> = Vec::new();
    let mut answer: Option<&str> = None;
    for (place, entry) in path.iter().enumerate().filter_map(|(place, &at)| Some((place, session.entries.get(at)?))) {
        match entry.answer_id() {
            Some(id) if answer != Some(id) => {
                begins.push(place);
                answer = Some(id);
            }
            _ => {}
        }
    }
    let answers = begins.len();
    let place = turn.and_then(|turn| begins.get(turn)).copied();
    let first = place.and_then(|place| session.entries.get(*path.get(place)?));
    let recorded = first.and_then(|entry| requests.turns(text(&entry.map, "requestRef")?, notes));
    let is_request = recorded.is_some();
    let turns = recorded.unwrap_or_else(|| {
        let newest = session.entries.iter().rposition(|entry| entry.is_approval() && !entry.side);
        let before = match place {
            Some(place) => place.checked_sub(1).and_then(|before| path.get(before)).copied(),
            None => newest.max(session.tip()),
        };
        let path = before.map(|tip| session.path(tip, false, notes)).unwrap_or_default();
        let end = before.map_or(0, |before| before.saturating_add(1));
        let mut turns = shown(&session, &path, notes);
        turns.splice(0..0, prompt(&session, end).map(|text| Turn::text(Role::System, text)));
        turns
    });
    Context { turns, turn: turn.unwrap_or(answers), answers, is_request, diagnostics: Vec::new() }
}

/// The turns of a path, with what Claude Code added for the model.
fn shown(session: &Session<'_>, path: &[usize], notes: &mut ConversionReport) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    for &at in path {
        let Some(entry) = session.entries.get(at) else { continue };
        let rendered = list(&entry.map, "rendered");
        if entry.kind() != "attachment" || rendered.is_empty() {
            run.push(at);
            continue;
        }
        turns.extend(session.turns(&std::mem::take(&mut run), false, notes));
        let role = if text(&entry.map, "renderedRole") == Some("system") { Role::System } else { Role::User };
        let parts = objects(rendered, "a part that is not an object", notes);
        let blocks = parts.into_iter().flat_map(|part| read_said(part.get("content"), Some(Vendor::Anthropic), notes));
        let turn = Turn { blocks: blocks.collect(), id: owned(&entry.map, "uuid"), ..Turn::new(role) };
        turns.push(Turn { timestamp: owned(&entry.map, "timestamp"), ..turn });
    }
    turns.extend(session.turns(&run, false, notes));
    turns
}

/// The newest system prompt before an entry.
fn prompt(session: &Session<'_>, end: usize) -> Option<String> {
    let before = session.entries.get(..end).unwrap_or_default();
    let snapshots = before.iter().rev().filter_map(|entry| object(&entry.map, "attachment"));
    let mut prompts = snapshots.filter(|attachment| text(attachment, "type") == Some("prompt_snapshot"));
    let parts = list(prompts.next()?, "systemPrompt").iter().filter_map(Value::as_str);
    Some(parts.collect::<Vec<_>>().join("\n\n")).filter(|text| !text.is_empty())
}

/// The requests that Claude Code recorded: a request names an earlier one, how many of its messages it keeps, and the
/// hashes of the others.
#[derive(Default)]
struct Requests {
    by_id: SortedMap<String, Map<String, Value>>,
    messages: SortedMap<String, Value>,
    shapes: SortedMap<String, Map<String, Value>>,
    /// The contents of the answer to each request.
    answers: SortedMap<String, Vec<Value>>,
}

impl Requests {
    fn add(&mut self, record: Map<String, Value>) {
        let key = |name: &str| owned::<String>(&record, name);
        match text(&record, "type").unwrap_or_default() {
            "api-request" => drop(key("id").map(|id| self.by_id.insert(id, record.clone()))),
            "api-request-blob" => {
                drop(key("hash").and_then(|hash| self.messages.insert(hash, record.get("message")?.clone())));
            }
            "api-request-shape" => {
                drop(key("shapeHash").and_then(|hash| self.shapes.insert(hash, object(&record, "shape")?.clone())));
            }
            "assistant" if !flag(&record, "isSidechain") => {
                let content = object(&record, "message").map(|message| list(message, "content")).unwrap_or_default();
                if let Some(id) = key("requestRef") {
                    self.answers.or_default(id).extend(content.iter().cloned());
                }
            }
            _ => {}
        }
    }

    /// The messages of a request; `None` if a part of it is missing.
    fn messages(&self, id: &str) -> Option<Vec<Value>> {
        // The requests, newest first.
        let mut chain = Vec::new();
        let mut seen: SortedSet<&str> = SortedSet::new();
        let mut at = Some(id);
        while let Some(id) = at.filter(|id| seen.insert(id)) {
            let request = self.by_id.get(id)?;
            chain.push(request);
            at = text(request, "base");
        }
        let mut messages: Vec<Value> = Vec::new();
        for request in chain.into_iter().rev() {
            let keep = usize::try_from(request.get("keep")?.as_u64()?).ok()?;
            if keep > messages.len() {
                return None;
            }
            messages.truncate(keep);
            // The answer to the base is in the records of the answer.
            let mut answer = text(request, "base").and_then(|base| self.answers.get(base));
            for hash in list(request, "tail") {
                let known = self.messages.get(hash.as_str()?).cloned();
                messages.push(match known {
                    Some(message) => message,
                    None => serde_json::json!({ "role": "assistant", "content": answer.take()? }),
                });
            }
        }
        Some(messages)
    }

    /// A request as turns.
    fn turns(&self, id: &str, notes: &mut ConversionReport) -> Option<Vec<Turn>> {
        let shape = self.by_id.get(id).and_then(|request| self.shapes.get(text(request, "shapeHash")?))?;
        let mut turns: Vec<Turn> = Vec::new();
        let system = read_said(shape.get("system"), Some(Vendor::Anthropic), notes);
        if system.iter().any(|block| matches!(block, Block::Text(_))) {
            turns.push(Turn { blocks: system, ..Turn::new(Role::System) });
        }
        for message in self.messages(id)? {
            let role = match message.get("role").and_then(Value::as_str) {
                Some("assistant") => Role::Assistant,
                Some("system") => Role::System,
                _ => Role::User,
            };
            turns.push(Turn {
                blocks: read_said(message.get("content"), Some(Vendor::Anthropic), notes),
                ..Turn::new(role)
            });
        }
        Some(turns)
    }
}
