//! The caller's answer: an object, a list of events, or either as text, possibly truncated.

use serde_json::{Map, Value as Json};

use super::read::{Events, whole};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::{Document, Kind, Value};
use crate::limits::{self, Limits};
use crate::vendors::bodies::target::Provider;
use crate::vendors::replies::reply::Replies;
use crate::vendors::replies::unread_fields::UnreadFields;

const EXPECTED: &str =
    "a provider's answer: the object, the list of the events of its stream, or the text or bytes of either";

/// Reads an answer. `name` assigns a node to each reply.
///
/// # Errors
/// [`Code::ProviderError`](crate::Code::ProviderError) if it is an error, [`Code::InvalidInput`](crate::Code::InvalidInput)
/// if it is not an answer of this provider.
pub(crate) fn read(provider: Provider, given: Value<'_>, name: &dyn Fn(usize) -> Option<String>) -> Result<Replies> {
    let mut notes = UnreadFields::default();
    let mut replies = match given.attached_bytes() {
        Some(bytes) => text(provider, given, of_bytes(given, bytes)?, &mut notes),
        None => match given.as_text() {
            Some(text) => self::text(provider, given, &text, &mut notes),
            None => value(provider, given, &mut notes),
        },
    }?;
    replies.diagnostics = notes.finish(name);
    Ok(replies)
}

/// The text in bytes whose last character may be truncated.
fn of_bytes<'b>(given: Value<'_>, bytes: &'b [u8]) -> Result<&'b str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.error_len().is_none() => {
            let whole = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Ok(std::str::from_utf8(whole).unwrap_or_default())
        }
        Err(error) => {
            let at = error.valid_up_to();
            Err(given.invalid(|place| format!("{place} is not UTF-8 at byte {at}; pass the bytes as received")))
        }
    }
}

fn value(provider: Provider, given: Value<'_>, notes: &mut UnreadFields) -> Result<Replies> {
    match given.kind() {
        Kind::Object => whole(provider, &fields(given)?, notes),
        Kind::List => {
            let mut stream = Events::new(provider);
            for event in given.list(EXPECTED)? {
                event.object("an event, an object")?;
                stream.add(fields(event)?, notes)?;
            }
            stream.finish(notes)
        }
        _ => Err(given.mismatch(EXPECTED)),
    }
}

fn fields(value: Value<'_>) -> Result<Map<String, Json>> {
    Ok(match value.to_json()? {
        Json::Object(fields) => fields,
        _ => Map::new(),
    })
}

fn text(provider: Provider, given: Value<'_>, text: &str, notes: &mut UnreadFields) -> Result<Replies> {
    limits::check("inputBytes", text.len(), Limits::default().input_bytes)?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut stream = Events::new(provider);
    if text.starts_with('{') || text.starts_with('[') {
        let error = match Document::read(text.as_bytes(), &[]) {
            Ok(document) => {
                let document: &Document<'_> = &document;
                note_repairs(document, notes);
                return value(provider, document.root(), notes);
            }
            Err(error) => error,
        };
        // A truncated list of events, as Gemini streams without server-sent events, or one event per line.
        let mut rest = text;
        let mut any = false;
        while let Some((event, after)) = first_object(rest) {
            any |= add(&mut stream, event, notes)?;
            rest = after;
        }
        return if any { stream.finish(notes) } else { Err(error) };
    }
    // In server-sent events the data are JSON, and an empty line ends each event.
    let mut data = String::new();
    let (mut number, mut began, mut is_stream) = (0_u32, 0_u32, text.is_empty());
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        number = number.saturating_add(1);
        if let Some(part) = line.strip_prefix("data:") {
            if data.is_empty() {
                began = number;
            }
            data.push_str(part);
            data.push('\n');
        }
        let is_last = lines.peek().is_none();
        // The first line may be truncated within the name of its field.
        let is_field = |field: &str| line.starts_with(field) || is_last && number == 1 && field.starts_with(line);
        is_stream |= ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| is_field(field));
        if data.is_empty() || !(line.is_empty() || is_last) {
            continue;
        }
        let event = std::mem::take(&mut data);
        if event.trim() == "[DONE]" {
            break;
        }
        // The last event may be truncated; the stream reports that.
        if !add(&mut stream, &event, notes)? && !is_last {
            let message = "the data of an event is not a JSON object; the event was skipped";
            let found = Diagnostic::new(DiagnosticCode::ReplyEventUnreadable, Severity::Error, message);
            notes.find(None, Diagnostic { line: Some(began), ..found.at_path("response") });
        }
    }
    if is_stream { stream.finish(notes) } else { Err(given.mismatch(EXPECTED)) }
}

/// Adds the event in a text; false if the text is not a JSON object.
fn add(stream: &mut Events, event: &str, notes: &mut UnreadFields) -> Result<bool> {
    let Ok(document) = Document::read(event.as_bytes(), &[]) else { return Ok(false) };
    let document: &Document<'_> = &document;
    if document.root().kind() != Kind::Object {
        return Ok(false);
    }
    note_repairs(document, notes);
    stream.add(fields(document.root())?, notes)?;
    Ok(true)
}

/// Reports halves of surrogate pairs that were replaced.
fn note_repairs<'t>(document: &'t Document<'t>, notes: &mut UnreadFields) {
    for found in document.diagnostics() {
        notes.find(None, found);
    }
}

/// The first whole object in a text, and the rest; `None` if no object is whole.
fn first_object(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut in_text, mut start) = (0_usize, false, 0_usize);
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => drop(bytes.next()),
            b'{' if !in_text => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' if !in_text && depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some((text.get(start..=at)?, text.get(at + 1..)?));
                }
            }
            _ => {}
        }
    }
    None
}
