//! Joins JSON arrays: the items of each are spliced verbatim into one array (docs/session-formats.md).

use crate::commits::formats::{BlobSource, read_json};
use crate::error::{Code, Result};
use crate::json::append_compact;

/// Appends the items of a delta. White space around the array is dropped; null and nothing count as an empty array.
pub(super) fn splice(out: &mut Vec<u8>, blob: &[u8], format: &str, source: BlobSource<'_>) -> Result<()> {
    let text = text(blob, format, source)?;
    let items = items(text, format, source)?;
    if !items.is_empty() {
        out.push(if out.is_empty() { b'[' } else { b',' });
        out.extend_from_slice(items.as_bytes());
    }
    Ok(())
}

/// Closes the array.
pub(super) fn close(out: &mut Vec<u8>) {
    if out.is_empty() {
        out.push(b'[');
    }
    out.push(b']');
}

/// The items of an array, each on a line.
pub(super) fn to_lines(blob: &[u8], format: &str, source: BlobSource<'_>) -> Result<Vec<u8>> {
    let text = text(blob, format, source)?;
    let mut lines = Vec::with_capacity(text.len());
    if items(text, format, source)?.is_empty() {
        return Ok(lines);
    }
    let document = read_json(text, "it")?;
    for item in document.root().as_list().into_iter().flatten() {
        append_compact(&mut lines, document.json(item));
        lines.push(b'\n');
    }
    Ok(lines)
}

fn text<'b>(blob: &'b [u8], format: &str, source: BlobSource<'_>) -> Result<&'b str> {
    let text = std::str::from_utf8(blob).map_err(|_| source.invalid(format, "it is not UTF-8"))?;
    Ok(text.trim_start_matches('\u{feff}').trim_ascii())
}

/// The text between the brackets of an array.
fn items<'b>(text: &'b str, format: &str, source: BlobSource<'_>) -> Result<&'b str> {
    if matches!(text, "" | "null") {
        return Ok("");
    }
    let document = read_json(text, "it").map_err(|error| match error.code() {
        Code::LimitExceeded => source.about(error),
        _ => source.invalid(format, error.message()),
    })?;
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner.filter(|_| document.root().as_list().is_some()) {
        Some(inner) => Ok(inner.trim_ascii()),
        None => Err(source.invalid(format, "it is not an array")),
    }
}
