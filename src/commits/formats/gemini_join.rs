//! Joining `gemini-v1` (SPEC §5): Gemini CLI's session files as they are.
//!
//! A delta is JSONL (a header line, message lines, `$set` lines), or one JSON object with `messages`, as of older versions.
//!
//! - JSONL deltas are appended. A message with the id of an earlier one replaces it when they are read.
//! - One object alone stays byte for byte.
//! - Several objects become one: their messages byte for byte, one with the id of an earlier one in its place; other fields
//!   are those of the last object that has them.
//! - Where both meet, an object becomes lines: a header line (after a header a `$set` line), then a line for each message
//!   without white space between its tokens.

use std::borrow::Cow;
use std::ops::Range;

use super::append;
use super::format::{BlobSource, Format};
use crate::commits::json_object::write_compact;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Document, Kind};
use crate::jsonl::{Reader, not_utf8};
use crate::maps::SortedMap;

const NEITHER: &str = "it is neither an object with `messages` nor lines of JSON";

/// What has been joined so far.
#[derive(Debug, Default)]
pub(super) enum JoinState {
    #[default]
    Nothing,
    /// One object, whose bytes stand in the output.
    Object,
    /// Several objects; the output holds the bytes of their messages.
    Objects(Objects),
    /// Lines, which stand in the output.
    Lines,
}

#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Every field but `messages`, as JSON, in the order of first mention.
    fields: Vec<(String, String)>,
    /// Where in the output each message is.
    messages: Vec<Range<usize>>,
    /// The place among `messages` of each id.
    places: SortedMap<String, usize>,
}

/// A session file of the older kind, taken apart.
struct Session<'a> {
    fields: Vec<(String, &'a str)>,
    messages: Vec<SessionMessage<'a>>,
}

struct SessionMessage<'a> {
    json: &'a str,
    id: Option<String>,
}

pub(super) fn push(
    joined: &mut JoinState,
    out: &mut Vec<u8>,
    blob: &[u8],
    source: BlobSource<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    if blob.trim_ascii().is_empty() {
        return Ok(());
    }
    let mut find = |finding| diagnostics.push(source.place(finding));
    let kind = file_kind(blob);
    if kind == FileKind::Neither {
        return Err(source.invalid(Format::GeminiV1, NEITHER));
    }
    if kind == FileKind::Lines {
        match std::mem::take(joined) {
            JoinState::Nothing | JoinState::Lines => {}
            JoinState::Object => {
                let object = std::mem::take(out);
                write_lines(out, &take_apart(&String::from_utf8_lossy(&object), source)?, false)?;
            }
            JoinState::Objects(objects) => *out = objects.into_lines(out)?,
        }
        *joined = JoinState::Lines;
        append::push(out, blob, &mut find);
        return Ok(());
    }
    let text = String::from_utf8_lossy(blob);
    if matches!(text, Cow::Owned(_)) {
        find(not_utf8());
    }
    let session = take_apart(&text, source)?;
    match joined {
        JoinState::Nothing => {
            out.extend_from_slice(blob);
            *joined = JoinState::Object;
        }
        JoinState::Object => {
            let first = std::mem::take(out);
            let mut objects = Objects::default();
            objects.add(out, &take_apart(&String::from_utf8_lossy(&first), source)?);
            objects.add(out, &session);
            *joined = JoinState::Objects(objects);
        }
        JoinState::Objects(objects) => objects.add(out, &session),
        JoinState::Lines => write_lines(out, &session, true)?,
    }
    Ok(())
}

/// A session file as lines, whichever kind it is.
pub(crate) fn to_lines(blob: &[u8]) -> Result<Cow<'_, [u8]>> {
    let source = BlobSource::default();
    match file_kind(blob) {
        FileKind::Lines => Ok(Cow::Borrowed(blob)),
        FileKind::Neither if blob.trim_ascii().is_empty() => Ok(Cow::Borrowed(b"")),
        FileKind::Neither => Err(source.invalid(Format::GeminiV1, NEITHER)),
        FileKind::Object => {
            let mut out = Vec::with_capacity(blob.len());
            write_lines(&mut out, &take_apart(&String::from_utf8_lossy(blob), source)?, false)?;
            Ok(Cow::Owned(out))
        }
    }
}

/// The joined file.
pub(super) fn finish(joined: JoinState, out: Vec<u8>) -> Result<Vec<u8>> {
    match joined {
        JoinState::Objects(objects) => objects.into_object(&out),
        JoinState::Nothing | JoinState::Object | JoinState::Lines => Ok(out),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// One object with `messages`.
    Object,
    /// JSONL.
    Lines,
    /// Neither: its first line is no record, and the whole is no object.
    Neither,
}

/// Tells an object with `messages` from lines, mostly by the first line alone.
pub(super) fn file_kind(blob: &[u8]) -> FileKind {
    let blob = blob.strip_prefix(b"\xef\xbb\xbf").unwrap_or(blob).trim_ascii();
    let first = blob.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match has_messages(first) {
        Some(true) if first.len() == blob.len() => FileKind::Object,
        Some(_) => FileKind::Lines,
        None => match has_messages(blob) {
            Some(true) => FileKind::Object,
            // An object over several lines that is no session, or two records glued on the first line.
            Some(false) => FileKind::Neither,
            None if Reader::new(first).next().is_some() => FileKind::Lines,
            None => FileKind::Neither,
        },
    }
}

/// Whether an object has `messages`; `None` if it is no object.
fn has_messages(json: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(json);
    let document = Document::read(text.as_bytes(), &[]).ok()?;
    let object = document.root().object("an object").ok()?;
    Some(object.entries().any(|(key, _)| key.is_string("messages")))
}

/// Takes an object apart without changing a byte of its messages.
fn take_apart<'a>(blob: &'a str, source: BlobSource<'_>) -> Result<Session<'a>> {
    let invalid = |_| source.invalid(Format::GeminiV1, "not a session with a list of `messages`");
    let document = Document::read(blob.as_bytes(), &[]).map_err(invalid)?;
    let mut session = Session { fields: Vec::new(), messages: Vec::new() };
    for (key, value) in document.root().object("a session").map_err(invalid)?.entries() {
        let key = key.string()?;
        if key == "messages" {
            session.messages.clear();
            for message in value.list("a list of messages").map_err(invalid)? {
                let id = match message.kind() {
                    Kind::Object => message.object("a message")?.last("id").and_then(|id| id.as_text()),
                    _ => None,
                };
                session.messages.push(SessionMessage { json: document.json(message), id: id.map(Cow::into_owned) });
            }
        } else {
            let json = document.json(value);
            match session.fields.iter_mut().find(|(known, _)| *known == key) {
                Some(field) => field.1 = json,
                None => session.fields.push((key, json)),
            }
        }
    }
    Ok(session)
}

impl Objects {
    fn add(&mut self, out: &mut Vec<u8>, session: &Session<'_>) {
        for (key, value) in &session.fields {
            match self.fields.iter_mut().find(|(known, _)| known == key) {
                Some(field) => (*value).clone_into(&mut field.1),
                None => self.fields.push((key.clone(), (*value).to_owned())),
            }
        }
        for message in &session.messages {
            let start = out.len();
            out.extend_from_slice(message.json.as_bytes());
            let span = start..out.len();
            let place = self.messages.len();
            let known = message.id.clone().map(|id| *self.places.or_insert(id, place));
            match known.and_then(|known| self.messages.get_mut(known)) {
                Some(earlier) => *earlier = span,
                None => self.messages.push(span),
            }
        }
    }

    fn into_object(self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        out.push(b'{');
        for (key, value) in &self.fields {
            write_string(&mut out, key)?;
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
            out.push(b',');
        }
        out.extend_from_slice(b"\"messages\":[");
        for (at, span) in self.messages.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(bytes.get(span.clone()).unwrap_or_default());
        }
        out.extend_from_slice(b"]}");
        Ok(out)
    }

    fn into_lines(self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        let fields = self.fields.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        write_fields(&mut out, fields)?;
        out.push(b'\n');
        for span in &self.messages {
            write_compact(&mut out, bytes.get(span.clone()).unwrap_or_default());
            out.push(b'\n');
        }
        Ok(out)
    }
}

/// Writes an object as lines; `after_header` where a header line has been written already.
fn write_lines(out: &mut Vec<u8>, session: &Session<'_>, after_header: bool) -> Result<()> {
    if out.last().is_some_and(|&last| last != b'\n') {
        out.push(b'\n');
    }
    let fields = session.fields.iter().map(|(key, value)| (key.as_str(), *value));
    if !after_header {
        write_fields(out, fields)?;
        out.push(b'\n');
    } else if !session.fields.is_empty() {
        out.extend_from_slice(b"{\"$set\":");
        write_fields(out, fields)?;
        out.extend_from_slice(b"}\n");
    }
    for message in &session.messages {
        write_compact(out, message.json.as_bytes());
        out.push(b'\n');
    }
    Ok(())
}

fn write_fields<'a>(out: &mut Vec<u8>, fields: impl Iterator<Item = (&'a str, &'a str)>) -> Result<()> {
    out.push(b'{');
    for (at, (key, value)) in fields.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(out, key)?;
        out.push(b':');
        write_compact(out, value.as_bytes());
    }
    out.push(b'}');
    Ok(())
}

fn write_string(out: &mut Vec<u8>, text: &str) -> Result<()> {
    serde_json::to_writer(out, text).map_err(|error| Error::new(Code::InternalError, error.to_string()))
}
