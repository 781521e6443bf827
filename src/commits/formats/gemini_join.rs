//! Joins `gemini-v1`: Gemini CLI's session files, unchanged (docs/session-formats.md).
//!
//! A delta is JSONL (a header line, message lines, `$set` lines), or one JSON object with `messages`, as written by
//! older versions.
//!
//! - JSONL deltas are appended. A message with the id of an earlier one replaces it when they are read.
//! - A single object is preserved byte for byte.
//! - Several objects become one: their messages byte for byte, a message with the id of an earlier one replaces it;
//!   other fields are those of the last object that has them.
//! - If both kinds meet, an object becomes lines: a header line (after a header a `$set` line), then a line for each
//!   message without white space between its tokens.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::append;
use super::format::{BlobSource, Format};
use crate::commits::transcript::text;
use crate::error::{Diagnostic, Result};
use crate::json::{Document, JsonWriter, Kind};
use crate::jsonl::{Reader, not_utf8};
use crate::maps::SortedMap;

const NEITHER: &str = "it is neither an object with `messages` nor lines of JSON";

/// The state of joining so far.
#[derive(Debug, Default)]
pub(super) enum JoinState {
    #[default]
    Nothing,
    /// Objects, unchanged.
    Objects(Vec<Vec<u8>>),
    /// Lines, already in the output.
    Lines,
}

/// A session file of the older kind, split into parts.
#[derive(Default)]
struct Session<'a> {
    /// Every field except `messages`, as JSON, in the order of first mention.
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
        return Err(source.invalid(Format::GeminiV1.name(), NEITHER));
    }
    if kind == FileKind::Lines {
        if let JoinState::Objects(blobs) = std::mem::replace(joined, JoinState::Lines) {
            write_lines(out, &merged(&texts(&blobs), source)?, false);
        }
        append::push(out, blob, &mut find);
        return Ok(());
    }
    let text = String::from_utf8_lossy(blob);
    if matches!(text, Cow::Owned(_)) {
        find(not_utf8());
    }
    let session = take_apart(&text, source)?;
    match joined {
        JoinState::Nothing => *joined = JoinState::Objects(vec![blob.to_vec()]),
        JoinState::Objects(blobs) => blobs.push(blob.to_vec()),
        JoinState::Lines => write_lines(out, &session, true),
    }
    Ok(())
}

/// Whether a session file consists of lines.
pub(crate) fn is_lines(blob: &[u8]) -> bool {
    file_kind(blob) == FileKind::Lines
}

/// A session file of either kind as lines.
pub(crate) fn to_lines(blob: &[u8]) -> Result<Cow<'_, [u8]>> {
    let source = BlobSource::default();
    match file_kind(blob) {
        FileKind::Lines => Ok(Cow::Borrowed(blob)),
        FileKind::Neither if blob.trim_ascii().is_empty() => Ok(Cow::Borrowed(b"")),
        FileKind::Neither => Err(source.invalid(Format::GeminiV1.name(), NEITHER)),
        FileKind::Object => {
            let mut out = Vec::with_capacity(blob.len());
            write_lines(&mut out, &take_apart(&String::from_utf8_lossy(blob), source)?, false);
            Ok(Cow::Owned(out))
        }
    }
}

/// Fields of a session that are constant while it is extended.
const FIXED_FIELDS: [&str; 4] = ["sessionId", "projectHash", "startTime", "kind"];

/// Converts a session in one object to lines that stay valid when the session is extended: other fields of the object
/// follow the messages. `lastUpdated`, which changes with each write, is that of the start of the session.
pub(crate) fn to_incremental_lines(blob: &[u8]) -> Result<Vec<u8>> {
    let text = String::from_utf8_lossy(blob);
    let session = take_apart(&text, BlobSource::default())?;
    let (mut fixed, mut others) = (Vec::new(), Vec::new());
    let start = session.fields.iter().find(|(name, _)| name == "startTime").map(|&(_, start)| start);
    for (name, value) in session.fields {
        match start.filter(|_| name == "lastUpdated") {
            Some(start) => fixed.push((name, start)),
            None if FIXED_FIELDS.contains(&name.as_str()) => fixed.push((name, value)),
            None => others.push((name, value)),
        }
    }
    let mut out = Vec::with_capacity(blob.len());
    write_lines(&mut out, &Session { fields: fixed, messages: session.messages }, false);
    write_lines(&mut out, &Session { fields: others, messages: Vec::new() }, true);
    Ok(out)
}

/// The joined file.
pub(super) fn finish(joined: JoinState, out: Vec<u8>) -> Result<Vec<u8>> {
    let JoinState::Objects(mut blobs) = joined else { return Ok(out) };
    if blobs.len() == 1 {
        return Ok(blobs.pop().unwrap_or_default());
    }
    let texts = texts(&blobs);
    let session = merged(&texts, BlobSource::default())?;
    let mut json = JsonWriter::after_lines(out);
    json.object(|json| {
        session.fields.iter().for_each(|(key, value)| json.raw_field(key, value));
        json.list_field("messages", |json| session.messages.iter().for_each(|message| json.raw(message.json)));
    });
    Ok(json.finish())
}

pub(super) fn knows_type(kind: &str) -> bool {
    matches!(kind, "user" | "gemini" | "model" | "info" | "warning" | "error")
}

/// Recognizes a record of a line-based session.
pub(super) fn is_record(map: &Map<String, Value>) -> bool {
    let is_known = text(map, "type").is_some_and(knows_type);
    is_known || ["sessionId", "$set", "$rewindTo"].iter().any(|&key| map.contains_key(key))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// One object with `messages`.
    Object,
    /// JSONL.
    Lines,
    /// Neither: no line is a record, and the whole is not an object.
    Neither,
}

/// Distinguishes an object with `messages` from lines, usually by the first line alone.
pub(super) fn file_kind(blob: &[u8]) -> FileKind {
    let blob = blob.strip_prefix(b"\xef\xbb\xbf").unwrap_or(blob).trim_ascii();
    let first = blob.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match has_messages(first) {
        Some(true) if first.len() == blob.len() => FileKind::Object,
        Some(_) => FileKind::Lines,
        None => match has_messages(blob) {
            Some(true) => FileKind::Object,
            // A multi-line object that is not a session.
            Some(false) => FileKind::Neither,
            // Records glued on the first line, or a damaged one before others. A separate line in a damaged multi-line
            // session is at most an empty object.
            None if Reader::recovering(blob, is_record).any(|record| !record.value.is_empty()) => FileKind::Lines,
            None => FileKind::Neither,
        },
    }
}

/// Whether an object has `messages`; `None` if it is not an object.
fn has_messages(json: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(json);
    let document = Document::read(text.as_bytes(), &[]).ok()?;
    let object = document.root().plain_object()?;
    Some(object.entries().any(|(key, _)| key.is_string("messages")))
}

/// Splits an object without changing a byte of its messages.
fn take_apart<'a>(blob: &'a str, source: BlobSource<'_>) -> Result<Session<'a>> {
    let invalid = |_| source.invalid(Format::GeminiV1.name(), "not a session with a list of `messages`");
    let document = Document::read(blob.as_bytes(), &[]).map_err(invalid)?;
    let mut session = Session::default();
    for (key, value) in document.root().object("a session").map_err(invalid)?.entries() {
        let key = key.string()?;
        if key == "messages" {
            session.messages.clear();
            for message in value.list("a list of messages").map_err(invalid)? {
                let id = match message.kind() {
                    Kind::Object => {
                        message.object("a message")?.last("id").and_then(|id| id.as_text()).filter(|id| !id.is_empty())
                    }
                    _ => None,
                };
                session.messages.push(SessionMessage { json: document.json(message), id: id.map(Cow::into_owned) });
            }
        } else {
            set_field(&mut session.fields, key, document.json(value));
        }
    }
    Ok(session)
}

fn texts(blobs: &[Vec<u8>]) -> Vec<Cow<'_, str>> {
    blobs.iter().map(|blob| String::from_utf8_lossy(blob)).collect()
}

/// Merges several objects into one; a single object is unchanged.
fn merged<'a>(blobs: &'a [Cow<'_, str>], source: BlobSource<'_>) -> Result<Session<'a>> {
    if let [blob] = blobs {
        return take_apart(blob, source);
    }
    let mut all = Session::default();
    // The index of each id among the messages.
    let mut places: SortedMap<String, usize> = SortedMap::new();
    for blob in blobs {
        let session = take_apart(blob, source)?;
        session.fields.into_iter().for_each(|(key, value)| set_field(&mut all.fields, key, value));
        for message in session.messages {
            let place = all.messages.len();
            let known = message.id.clone().map(|id| *places.or_insert(id, place));
            match known.and_then(|known| all.messages.get_mut(known)) {
                Some(earlier) => *earlier = message,
                None => all.messages.push(message),
            }
        }
    }
    Ok(all)
}

fn set_field<'a>(fields: &mut Vec<(String, &'a str)>, key: String, value: &'a str) {
    match fields.iter_mut().find(|(known, _)| *known == key) {
        Some(field) => field.1 = value,
        None => fields.push((key, value)),
    }
}

/// Writes an object as lines; `after_header` if a header line was already written.
fn write_lines(out: &mut Vec<u8>, session: &Session<'_>, after_header: bool) {
    if out.last().is_some_and(|&last| last != b'\n') {
        out.push(b'\n');
    }
    let mut json = JsonWriter::after_lines(std::mem::take(out));
    if !after_header {
        write_fields(&mut json, &session.fields);
        json.end_line();
    } else if !session.fields.is_empty() {
        json.object(|json| {
            json.key("$set");
            write_fields(json, &session.fields);
        });
        json.end_line();
    }
    for message in &session.messages {
        json.compact(message.json);
        json.end_line();
    }
    *out = json.finish();
}

fn write_fields(json: &mut JsonWriter, fields: &[(String, &str)]) {
    json.object(|json| {
        for (key, value) in fields {
            json.key(key);
            json.compact(value);
        }
    });
}
