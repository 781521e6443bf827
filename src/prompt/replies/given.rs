//! What was given as an answer: an object, a list of events, or either as text, cut off or not.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::notes::Notes;
use super::read::{Events, whole};
use super::reply::Replies;
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::{Document, Kind, Value};
use crate::limits::{self, Limits};
use crate::prompt::bodies::Provider;

const EXPECTED: &str =
    "a provider's answer: the object, the list of the events of its stream, or the text or bytes of either";

/// Reads an answer.
///
/// # Errors
/// [`Code::ProviderError`](crate::Code::ProviderError) where it is an error,
/// [`Code::InvalidInput`](crate::Code::InvalidInput) for what is no answer of this provider.
pub(crate) fn read(provider: Provider, given: Value<'_>) -> Result<Replies> {
    let mut notes = Notes::default();
    let mut replies = match given.beside() {
        Some(bytes) => text(provider, given, &of_bytes(given, bytes)?, &mut notes),
        None => match given.as_text() {
            Some(text) => self::text(provider, given, &text, &mut notes),
            None => value(provider, given, &mut notes),
        },
    }?;
    replies.notes = notes;
    Ok(replies)
}

/// The text of bytes, whose last character may be cut off.
fn of_bytes<'b>(given: Value<'_>, bytes: &'b [u8]) -> Result<Cow<'b, str>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) if error.error_len().is_none() => {
            Ok(String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default()))
        }
        Err(error) => {
            let at = error.valid_up_to();
            Err(given.invalid(|place| format!("{place} is not UTF-8 at byte {at}; give the bytes as they came")))
        }
    }
}

fn value(provider: Provider, given: Value<'_>, notes: &mut Notes) -> Result<Replies> {
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

fn text(provider: Provider, given: Value<'_>, text: &str, notes: &mut Notes) -> Result<Replies> {
    limits::check("inputBytes", text.len(), Limits::default().input_bytes)?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return events(provider, given, text, notes);
    }
    match Document::read(text.as_bytes(), &[]) {
        Ok(document) => {
            let document: &Document<'_> = &document;
            document.diagnostics().into_iter().for_each(|found| notes.find(found));
            value(provider, document.root(), notes)
        }
        Err(error) => {
            // A list of events that is cut off, as Gemini streams where nobody asks for server-sent events, or an event a line.
            let mut stream = Events::new(provider);
            let mut rest = text;
            let mut count = 0_usize;
            loop {
                rest = rest.trim_start_matches(|ch: char| ch.is_ascii_whitespace() || matches!(ch, '[' | ','));
                let Ok((document, end)) = Document::read_first(rest) else { break };
                let document: &Document<'_> = &document;
                if document.root().kind() != Kind::Object {
                    break;
                }
                stream.add(fields(document.root())?, notes)?;
                count += 1;
                rest = rest.get(end..).unwrap_or_default();
            }
            if count == 0 { Err(error) } else { stream.finish(notes) }
        }
    }
}

/// Server-sent events: their data are JSON, an empty line ends each.
fn events(provider: Provider, given: Value<'_>, text: &str, notes: &mut Notes) -> Result<Replies> {
    let mut stream = Events::new(provider);
    let mut data = String::new();
    let (mut line, mut began, mut is_stream) = (0_u32, 0_u32, false);
    // A CR alone ends a line, too.
    let mut rest = text;
    loop {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (here, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        line = line.saturating_add(1);
        if let Some(part) = here.strip_prefix("data:") {
            if data.is_empty() {
                began = line;
            } else {
                data.push('\n');
            }
            data.push_str(part.strip_prefix(' ').unwrap_or(part));
        }
        is_stream |= ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| here.starts_with(field));
        let is_last = behind.is_empty();
        if (here.is_empty() || is_last) && !data.is_empty() {
            let event = std::mem::take(&mut data);
            if event.trim() == "[DONE]" {
                break;
            }
            match Document::read(event.as_bytes(), &[]) {
                Ok(document)
                    if {
                        let document: &Document<'_> = &document;
                        document.root().kind()
                    } == Kind::Object =>
                {
                    let document: &Document<'_> = &document;
                    stream.add(fields(document.root())?, notes)?;
                }
                // The last one is cut off; that the answer is says the stream.
                _ if is_last => {}
                _ => {
                    let message = "the data of an event are no JSON object; it was skipped";
                    let code = DiagnosticCode::ReplyEventUnreadable;
                    let found = Diagnostic { line: Some(began), ..Diagnostic::new(code, Severity::Error, message) };
                    notes.find(found.at_path("response"));
                }
            }
        }
        if is_last {
            break;
        }
        rest = behind.strip_prefix("\r\n").or_else(|| behind.get(1..)).unwrap_or_default();
    }
    if !is_stream && !text.is_empty() {
        return Err(given.mismatch(EXPECTED));
    }
    stream.finish(notes)
}
