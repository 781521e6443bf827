//! A file's bytes as JSON values: one value, or one per line.

use std::borrow::Cow;

use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Document, Value};
use crate::jsonl;
use crate::limits;

use super::format::FileFormat;

/// The content of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'v, 't> {
    /// One JSON value.
    One(Value<'t>),
    /// One object per line.
    Lines(&'v [Value<'t>]),
}

/// The error for a file in an unknown format.
pub(super) fn unsupported(message: String) -> Error {
    let expected: Vec<&str> = FileFormat::NAMES.iter().map(|(name, _)| *name).collect();
    Error::new(Code::UnsupportedFormat, message).with("expected", expected)
}

/// Binary files, by their first bytes.
pub(crate) const BINARY: &[(&[u8], &str)] = &[
    (b"VersionedTapestryWeave__", "a weave of Tapestry Loom, which only its program can read; export it from there"),
    (b"PK\x03\x04", "a ZIP archive; pass the JSON file in it, such as `conversations.json`"),
    (b"SQLite format 3\0", "a database; export the tree from its program as JSON"),
    (b"\x1f\x8b", "compressed by gzip; decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; decompress it first"),
    (b"\x89PNG", "an image; export the chat from its program as JSONL"),
];

/// Parses a file's bytes and passes the content to `read`.
pub(super) fn read_bytes<T>(
    bytes: &[u8],
    depth: u32,
    diagnostics: &mut Vec<Diagnostic>,
    read: impl FnOnce(Shape<'_, '_>) -> Result<T>,
) -> Result<T> {
    if let Some((_, what)) = BINARY.iter().find(|(first, _)| bytes.starts_with(first)) {
        return Err(unsupported(format!("the file is {what}")));
    }
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(_) = text {
        diagnostics.push(jsonl::not_utf8());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    read_text(text, depth, diagnostics, read)
}

/// Like [`read_bytes`], for text.
pub(crate) fn read_text<T>(
    text: &str,
    depth: u32,
    diagnostics: &mut Vec<Diagnostic>,
    read: impl FnOnce(Shape<'_, '_>) -> Result<T>,
) -> Result<T> {
    let stopped = match Document::read_first_within(text, depth as usize) {
        Ok((document, end)) => {
            let rest = text.get(end..).unwrap_or_default();
            if rest.trim_start().is_empty() {
                let document: &Document<'_> = &document;
                extend(diagnostics, document.diagnostics());
                return read(Shape::One(document.root()));
            }
            // The next value is on another line.
            if rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                return read_lines(text, diagnostics, read);
            }
            let message = format!("trailing data after the JSON document at byte {end}; save the file again");
            return Err(Error::new(Code::InvalidInput, message).with("path", "file"));
        }
        Err(stopped) => stopped,
    };
    // Only the first line may be damaged.
    let second = text.split_once('\n').map(|(_, rest)| rest);
    if second.is_some_and(|rest| {
        Document::read_first_within(rest, limits::JSON_DEPTH_MAX as usize)
            .is_ok_and(|(document, end)| is_object(&document) && !continues(rest, end))
    }) {
        return read_lines(text, diagnostics, read);
    }
    if stopped.is_too_deep {
        return Err(limits::exceeded("fileDepth", depth as usize + 1, depth));
    }
    Err(stopped.error(text, "the file").with("path", "file"))
}

fn is_object(document: &Document<'_>) -> bool {
    document.root().as_object().is_some()
}

/// Whether anything other than a line end follows at a place.
fn continues(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
    !rest.is_empty() && !rest.starts_with('\n')
}

fn read_lines<T>(
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
    read: impl FnOnce(Shape<'_, '_>) -> Result<T>,
) -> Result<T> {
    let mut reader = jsonl::Reader::new(text.as_bytes());
    let mut documents = Vec::new();
    for record in reader.by_ref() {
        if let Ok((document, _)) = std::str::from_utf8(record.bytes)
            .map_or_else(|_| Err(()), |line| Document::read_first(line).map_err(|_| ()))
        {
            documents.push(document);
        }
    }
    extend(diagnostics, reader.finish());
    let documents: &[Document<'_>] = &documents;
    let values: Vec<Value<'_>> = documents.iter().map(Document::root).collect();
    read(Shape::Lines(&values))
}

/// Adds findings; after a limit they are only counted.
fn extend(diagnostics: &mut Vec<Diagnostic>, more: Vec<Diagnostic>) {
    let left_out = more.len().saturating_sub(jsonl::MAX_FINDINGS);
    let last = more.last().filter(|_| left_out > 0).map(|last| (last.code, last.severity));
    diagnostics.extend(more.into_iter().take(jsonl::MAX_FINDINGS));
    if let Some((code, severity)) = last {
        diagnostics.push(Diagnostic::new(code, severity, format!("{left_out} more of these are not listed")));
    }
}
