//! Sessions that are one JSON value: an object with a list of messages, or the list alone (docs/session-formats.md).
//!
//! An agent writes such a file as a whole. A delta is a value of the same shape with some of the messages. Joined deltas
//! are one value again: a message with the id of an earlier one replaces it, and other fields are those of the last
//! delta that has them.

use std::borrow::Cow;

use serde_json::Map;

use super::entry_shape;
use super::format::{BlobSource, Format};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::{Document, JsonWriter, Kind, Value, append_compact};
use crate::jsonl::not_utf8;
use crate::maps::SortedMap;

/// The field of a line that holds fields of the session.
pub(crate) const FIELDS: &str = "$set";

/// The field with the messages, and the fields that are constant while a session is extended.
const fn layout(format: Format) -> (&'static str, &'static [&'static str]) {
    match format {
        Format::AtifV17 => ("steps", &["schema_version", "session_id", "trajectory_id", "agent"]),
        Format::ContinueV1 => ("history", &["sessionId", "workspaceDirectory"]),
        Format::OtelGenai => ("gen_ai.input.messages", &[]),
        Format::ClineV1 => ("messages", &["version", "agent", "sessionId", "origin"]),
        _ => ("messages", &[]),
    }
}

/// A session, split into its fields and messages.
#[derive(Debug, Default)]
pub(crate) struct SessionDocument {
    /// Every field except the messages, as JSON, in the order of first mention.
    fields: Vec<(String, String)>,
    /// Each message as JSON without white space between its tokens.
    messages: Vec<String>,
    /// Whether the session is the list alone.
    pub is_list: bool,
    /// Whether the value is not whole.
    pub is_damaged: bool,
    /// Findings about the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl SessionDocument {
    /// Reads a session. Of a damaged one, every whole message is read.
    pub(crate) fn read(format: Format, bytes: &[u8]) -> Self {
        let mut session = Self::default();
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            session.diagnostics.push(not_utf8());
        }
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return session;
        }
        match Document::read(text.as_bytes(), &[]) {
            Ok(document) => {
                session.diagnostics.extend(document.diagnostics());
                if !session.take(format, &document) {
                    session.is_damaged = true;
                    let message = format!("the session has no list of `{}`", layout(format).0);
                    session.find(message, None);
                }
            }
            Err(_) => session.recover(format, text),
        }
        session
    }

    fn find(&mut self, message: String, line: Option<u32>) {
        let finding = Diagnostic::new(DiagnosticCode::MalformedLine, Severity::Error, message);
        self.diagnostics.push(Diagnostic { line, ..finding });
    }

    /// Adds the fields and messages of a session; false for any other value.
    fn take(&mut self, format: Format, document: &Document<'_>) -> bool {
        let root = document.root();
        let (key, _) = layout(format);
        let list = match root.kind() {
            Kind::List => root.as_list(),
            _ => root.as_object().and_then(|object| object.last(key)).and_then(Value::as_list),
        };
        let Some(list) = list else { return false };
        for message in list {
            if message.kind() == Kind::Object {
                self.messages.push(compact(document.json(message)));
            } else {
                self.find("a message is not an object; it was skipped".to_owned(), None);
            }
        }
        match root.as_object() {
            None => self.is_list = true,
            Some(object) => {
                for (name, value) in object.entries().filter(|(name, _)| !name.is_string(key)) {
                    let name = name.as_text().map(Cow::into_owned).unwrap_or_default();
                    self.set(name, compact(document.json(value)));
                }
            }
        }
        true
    }

    fn set(&mut self, name: String, value: String) {
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some(field) => field.1 = value,
            None => self.fields.push((name, value)),
        }
    }

    /// Reads whole sessions and whole messages of a damaged file. The values that are tried begin at different places,
    /// but are nested at most as deep as JSON may be, so that this takes linear time.
    fn recover(&mut self, format: Format, text: &str) {
        self.is_damaged = true;
        self.is_list = text.trim_start_matches(['\0', ' ', '\t', '\r', '\n']).starts_with('[');
        let (mut at, mut end) = (0, 0);
        while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')).map(|found| at.saturating_add(found)) {
            at = open.saturating_add(1);
            let Ok((document, length)) = Document::read_first(text.get(open..).unwrap_or_default()) else { continue };
            let between = text.get(end..open).unwrap_or_default();
            let is_separate = between.trim_matches(|ch: char| ch == '\0' || ch.is_whitespace()).is_empty();
            let is_session = is_separate && self.take(format, &document);
            if is_session || is_message(format, document.root()) {
                if !is_session {
                    self.messages.push(compact(document.json(document.root())));
                }
                self.diagnostics.extend(document.diagnostics());
                at = open.saturating_add(length);
                end = at;
            }
        }
        let damage = match Document::read_first(text) {
            Ok((_, end)) => end,
            Err(stopped) => stopped.at,
        };
        let lines = text.bytes().take(damage).filter(|&byte| byte == b'\n').count();
        let message = format!("the session is damaged; {} whole messages were read", self.messages.len());
        self.find(message, Some(u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)));
    }

    /// The messages as objects.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Map<String, serde_json::Value>> {
        self.messages.iter().filter_map(|json| match Document::read(json.as_bytes(), &[]).ok()?.root().to_json() {
            Ok(serde_json::Value::Object(message)) => Some(message),
            _ => None,
        })
    }

    /// A field.
    pub(crate) fn value(&self, name: &str) -> Option<serde_json::Value> {
        let (_, json) = self.fields.iter().find(|(known, _)| known == name)?;
        Document::read(json.as_bytes(), &[]).ok()?.root().to_json().ok()
    }

    /// Sets a field.
    pub(super) fn set_value(&mut self, name: &str, value: &serde_json::Value) {
        self.set(name.to_owned(), crate::json::text(value));
    }

    /// Adds a message.
    pub(super) fn push_value(&mut self, message: &serde_json::Value) {
        self.messages.push(crate::json::text(message));
    }

    /// Numbers the steps of a joined trajectory.
    fn number_steps(&mut self) {
        let steps: Vec<_> = self.messages().collect();
        self.messages.clear();
        for (number, mut step) in (1_u32..).zip(steps) {
            step.insert("step_id".to_owned(), number.into());
            self.push_value(&step.into());
        }
    }

    /// The session as lines that stay valid when it is extended: its constant fields, a line for each message, and the
    /// other fields.
    pub(crate) fn lines(&self, format: Format) -> Vec<u8> {
        let (_, fixed) = layout(format);
        let is_fixed = |field: &&(String, String)| fixed.contains(&field.0.as_str());
        let mut json = JsonWriter::after_lines(Vec::new());
        let fields = |json: &mut JsonWriter, fields: Vec<&(String, String)>| {
            if !fields.is_empty() {
                json.object(|json| {
                    json.object_field(FIELDS, |json| fields.iter().for_each(|(key, value)| json.raw_field(key, value)));
                });
                json.end_line();
            }
        };
        fields(&mut json, self.fields.iter().filter(is_fixed).collect());
        for message in &self.messages {
            json.raw(message);
            json.end_line();
        }
        fields(&mut json, self.fields.iter().filter(|field| !is_fixed(field)).collect());
        json.finish()
    }

    /// The session as one value.
    pub(super) fn write(&self, format: Format) -> Vec<u8> {
        let mut json = JsonWriter::after_lines(Vec::new());
        let messages = |json: &mut JsonWriter| self.messages.iter().for_each(|message| json.raw(message));
        if self.is_list && self.fields.is_empty() {
            json.list(messages);
        } else {
            json.object(|json| {
                self.fields.iter().for_each(|(key, value)| json.raw_field(key, value));
                json.list_field(layout(format).0, messages);
            });
        }
        json.finish()
    }
}

/// Some lines of [`SessionDocument::lines`] as one value.
pub(crate) fn of_lines(format: Format, lines: &[u8], is_list: bool) -> Vec<u8> {
    let mut session = SessionDocument { is_list, ..SessionDocument::default() };
    for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let text = String::from_utf8_lossy(line);
        let document = Document::read(line, &[]).ok();
        let object =
            document.as_ref().and_then(|document| Some((document, document.root().as_object()?.last(FIELDS)?)));
        match object.and_then(|(document, fields)| Some((document, fields.as_object()?))) {
            Some((document, fields)) => {
                for (name, value) in fields.entries() {
                    let name = name.as_text().map(Cow::into_owned).unwrap_or_default();
                    session.set(name, document.json(value).to_owned());
                }
            }
            None => session.messages.push(text.into_owned()),
        }
    }
    session.write(format)
}

/// Joins deltas; a single one is unchanged.
#[derive(Debug, Default)]
pub(super) struct DocumentJoin(Vec<SessionDocument>);

impl DocumentJoin {
    /// Adds a delta. The first one is the result so far.
    pub(super) fn push(
        &mut self,
        format: Format,
        out: &mut Vec<u8>,
        blob: &[u8],
        source: BlobSource<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<()> {
        if blob.trim_ascii().is_empty() {
            return Ok(());
        }
        let mut session = SessionDocument::read(format, blob);
        if session.is_damaged {
            let reason = format!("it is neither an object with `{}` nor a list of messages", layout(format).0);
            return Err(source.invalid(format.name(), &reason));
        }
        diagnostics.extend(std::mem::take(&mut session.diagnostics).into_iter().map(|finding| source.place(finding)));
        if self.0.is_empty() {
            out.extend_from_slice(blob);
        }
        self.0.push(session);
        Ok(())
    }

    /// The joined session.
    pub(super) fn finish(self, format: Format, out: Vec<u8>) -> Vec<u8> {
        if self.0.len() < 2 {
            return out;
        }
        let mut all = SessionDocument { is_list: true, ..SessionDocument::default() };
        let mut places: SortedMap<String, usize> = SortedMap::new();
        for session in self.0 {
            all.is_list &= session.is_list;
            let ids: Vec<Option<String>> =
                session.messages().map(|message| entry_shape::entry_id(format, &message)).collect();
            for (message, id) in session.messages.into_iter().zip(ids) {
                let place = all.messages.len();
                let known = id.map(|id| *places.or_insert(id, place));
                match known.and_then(|known| all.messages.get_mut(known)) {
                    Some(earlier) => *earlier = message,
                    None => all.messages.push(message),
                }
            }
            session.fields.into_iter().for_each(|(name, value)| all.set(name, value));
        }
        if format == Format::AtifV17 {
            all.number_steps();
        }
        all.write(format)
    }
}

fn is_message(format: Format, value: Value<'_>) -> bool {
    matches!(value.to_json(), Ok(serde_json::Value::Object(message)) if entry_shape::is_message(format, &message))
}

fn compact(json: &str) -> String {
    let mut out = Vec::with_capacity(json.len());
    append_compact(&mut out, json);
    String::from_utf8(out).unwrap_or_default()
}
