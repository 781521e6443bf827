//! Joining `gemini-v1` (SPEC §5): Gemini CLI's session files as they are.
//!
//! A delta is JSONL (a header line, message lines, `$set` lines), or one JSON object with `messages`, as older versions
//! wrote it.
//!
//! - JSONL deltas are appended like any JSONL. A message whose id repeats replaces the earlier one when it is read.
//! - One object alone stays as it is, byte for byte.
//! - Several objects become one: the messages in order, each byte for byte, a repeated id replacing the earlier one in its
//!   place; every other field as the last object that has it says.
//! - Where both meet, the objects become lines: a header line (a `$set` line where a header came before), then a line for
//!   each message, with the white space between its tokens taken out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::append;
use super::format::{BlobSource, Format};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::AnyJson;
use crate::jsonl::Reader;

const NEITHER: &str = "it is neither an object with `messages` nor lines of JSON";

/// What has been joined so far.
#[derive(Debug, Default)]
pub(super) enum JoinState {
    /// Nothing yet.
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
    places: BTreeMap<String, usize>,
}

/// A session file of the older kind, taken apart.
struct Session<'a> {
    fields: Vec<(String, &'a RawValue)>,
    messages: Vec<&'a RawValue>,
}

/// Takes the next delta.
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
                write_lines(out, &take_apart(&object, source)?, false)?;
            }
            JoinState::Objects(objects) => *out = objects.into_lines(out)?,
        }
        *joined = JoinState::Lines;
        append::push(out, blob, &mut find);
        return Ok(());
    }
    let session = take_apart(blob, source)?;
    match joined {
        JoinState::Nothing => {
            out.extend_from_slice(blob);
            *joined = JoinState::Object;
        }
        JoinState::Object => {
            let first = std::mem::take(out);
            let mut objects = Objects::default();
            objects.add(out, &take_apart(&first, source)?);
            objects.add(out, &session);
            *joined = JoinState::Objects(objects);
        }
        JoinState::Objects(objects) => objects.add(out, &session),
        JoinState::Lines => write_lines(out, &session, true)?,
    }
    Ok(())
}

/// A session file as lines, whichever kind it is.
pub(super) fn to_lines(blob: &[u8]) -> Result<Cow<'_, [u8]>> {
    let source = BlobSource::default();
    match file_kind(blob) {
        FileKind::Lines => Ok(Cow::Borrowed(blob)),
        FileKind::Neither if blob.trim_ascii().is_empty() => Ok(Cow::Borrowed(b"")),
        FileKind::Neither => Err(source.invalid(Format::GeminiV1, NEITHER)),
        FileKind::Object => {
            let mut out = Vec::with_capacity(blob.len());
            write_lines(&mut out, &take_apart(blob, source)?, false)?;
            Ok(Cow::Owned(out))
        }
    }
}

/// What has been joined, as one file.
pub(super) fn finish(joined: JoinState, out: Vec<u8>) -> Result<Vec<u8>> {
    match joined {
        JoinState::Objects(objects) => objects.into_object(&out),
        JoinState::Nothing | JoinState::Object | JoinState::Lines => Ok(out),
    }
}

/// What kind of delta it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// One object with `messages`.
    Object,
    /// JSONL.
    Lines,
    /// Neither: its first line is no record, and the whole is no object.
    Neither,
}

/// Tells an object with `messages` from lines. The first line nearly always says which it is, and reading it is all that
/// telling costs.
pub(super) fn file_kind(blob: &[u8]) -> FileKind {
    let blob = blob.strip_prefix(b"\xef\xbb\xbf").unwrap_or(blob).trim_ascii();
    let first = blob.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<HasMessages>(first) {
        Ok(HasMessages(true)) if first.len() == blob.len() => FileKind::Object,
        Ok(_) => FileKind::Lines,
        Err(_) => match serde_json::from_slice::<HasMessages>(blob) {
            Ok(HasMessages(true)) => FileKind::Object,
            // An object over several lines that is no session, or two records glued on the first line.
            Ok(_) => FileKind::Neither,
            Err(_) if Reader::new(first).next().is_some() => FileKind::Lines,
            Err(_) => FileKind::Neither,
        },
    }
}

/// Whether an object has `messages` of its own; nothing is kept of it.
struct HasMessages(bool);

impl<'de> serde::Deserialize<'de> for HasMessages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = HasMessages;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<HasMessages, A::Error> {
                let mut found = false;
                while let Some(key) = map.next_key::<String>()? {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    found |= key == "messages";
                }
                Ok(HasMessages(found))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Takes an object apart without changing a byte of its messages.
fn take_apart<'a>(blob: &'a [u8], source: BlobSource<'_>) -> Result<Session<'a>> {
    struct Fields;

    impl<'de> Visitor<'de> for Fields {
        type Value = Session<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a session, an object with `messages`")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Session<'de>, A::Error> {
            let mut session = Session { fields: Vec::new(), messages: Vec::new() };
            while let Some(key) = map.next_key::<String>()? {
                if key == "messages" {
                    session.messages = map.next_value()?;
                } else {
                    let value = map.next_value()?;
                    match session.fields.iter_mut().find(|(known, _)| *known == key) {
                        Some(field) => field.1 = value,
                        None => session.fields.push((key, value)),
                    }
                }
            }
            Ok(session)
        }
    }

    let text = blob.strip_prefix(b"\xef\xbb\xbf").unwrap_or(blob);
    let invalid = |error: serde_json::Error| {
        source.invalid(Format::GeminiV1, &format!("line {}: not a session with a list of `messages`", error.line()))
    };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let session = reader.deserialize_map(Fields).map_err(invalid)?;
    reader.end().map_err(invalid)?;
    Ok(session)
}

/// The id of a message, where it has one.
fn id_of(message: &RawValue) -> Option<String> {
    match serde_json::from_str::<AnyJson>(message.get()).ok()?.0.get("id")? {
        serde_json::Value::String(id) => Some(id.clone()),
        _ => None,
    }
}

impl Objects {
    fn add(&mut self, out: &mut Vec<u8>, session: &Session<'_>) {
        for (key, value) in &session.fields {
            match self.fields.iter_mut().find(|(known, _)| known == key) {
                Some(field) => value.get().clone_into(&mut field.1),
                None => self.fields.push((key.clone(), value.get().to_owned())),
            }
        }
        for message in &session.messages {
            let start = out.len();
            out.extend_from_slice(message.get().as_bytes());
            let span = start..out.len();
            let place = self.messages.len();
            let known = id_of(message).map(|id| *self.places.entry(id).or_insert(place));
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
    let fields = session.fields.iter().map(|(key, value)| (key.as_str(), value.get()));
    if !after_header {
        write_fields(out, fields)?;
        out.push(b'\n');
    } else if !session.fields.is_empty() {
        out.extend_from_slice(b"{\"$set\":");
        write_fields(out, fields)?;
        out.extend_from_slice(b"}\n");
    }
    for message in &session.messages {
        write_compact(out, message.get().as_bytes());
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

/// Writes JSON without the white space between its tokens.
fn write_compact(out: &mut Vec<u8>, json: &[u8]) {
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\r' | b'\n' if !in_string => continue,
            _ => {}
        }
        out.push(byte);
    }
}
