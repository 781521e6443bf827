//! The calls that cut and split texts by their tokens (docs/tokens.md).

use super::{Boundary, Side, Split, Truncate, split, truncate};
use crate::call::{CallContext, Response, SmallResult};
use crate::error::Result;
use crate::json::Value;
use crate::text::{Utf16Offsets, utf16_len};
use crate::tokens::text_calls::{arguments, counter, number, numbers};

const BOUNDARIES: &[(&str, Boundary)] = &[
    ("token", Boundary::Token),
    ("grapheme", Boundary::Grapheme),
    ("word", Boundary::Word),
    ("line", Boundary::Line),
    ("sentence", Boundary::Sentence),
];

const SIDES: &[(&str, Side)] = &[("end", Side::End), ("start", Side::Start), ("middle", Side::Middle)];

/// The kept text: the number of its first and its last UTF-16 code units, and whether the marker is between them.
pub(crate) fn truncate_text(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let (arguments, options) = arguments(request, &["boundary", "marker", "side", "tokenizer"])?;
    let text = arguments.text("text")?;
    let max_tokens = arguments.need("maxTokens")?.whole(u32::MAX)?;
    let side = options.map(|options| options.one_of("side", SIDES)).transpose()?.flatten();
    let boundary = options.map(|options| options.one_of("boundary", BOUNDARIES)).transpose()?.flatten();
    let marker = options.map(|options| options.read("marker", Value::text)).transpose()?.flatten();
    let marker = marker.unwrap_or_default();
    let options_of =
        Truncate { side: side.unwrap_or_default(), boundary: boundary.unwrap_or_default(), marker: &marker };
    let counter = counter(options, host)?;
    let left = truncate(&text, max_tokens, options_of, counter.as_ref());
    let length = |text: &str| Some(SmallResult::Number(utf16_len(text) as u64));
    Ok(Response::small(SmallResult::Object(vec![
        ("head", length(left.head)),
        ("tail", length(left.tail)),
        ("marked", Some(SmallResult::Bool(!left.marker.is_empty()))),
        ("tokens", Some(SmallResult::Number(left.tokens.into()))),
        ("truncated", Some(SmallResult::Bool(left.truncated))),
    ])))
}

/// The begin and the end of each piece, and its tokens.
pub(crate) fn split_text(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let (arguments, options) = arguments(request, &["boundary", "markdown", "maxTokens", "overlap", "tokenizer"])?;
    let text = arguments.text("text")?;
    let Some(options) = options else { return Err(arguments.value().lacks("options")) };
    let limit = options.need("maxTokens")?;
    let max_tokens = limit.whole(u32::MAX)?;
    if max_tokens == 0 {
        return Err(limit.invalid(|place| format!("{place} is 0; it must be at least 1")));
    }
    let given = options.get("overlap")?;
    let overlap = given.map(|overlap| overlap.whole(u32::MAX)).transpose()?.unwrap_or(0);
    if let Some(given) = given.filter(|_| overlap > max_tokens / 2) {
        let message =
            |place: &str| format!("{place} is {overlap}, more than half of `maxTokens` ({max_tokens}); lower it");
        return Err(given.invalid(message));
    }
    let markdown = options.bool("markdown")?.unwrap_or(false);
    let boundary = options.one_of("boundary", BOUNDARIES)?;
    let boundary = boundary.unwrap_or(if markdown { Boundary::Line } else { Boundary::Token });
    let counter = counter(Some(options), host)?;
    let pieces = split(&text, Split { max_tokens, overlap, boundary, markdown }, counter.as_ref())?;
    let (mut ends, mut rows) = (Utf16Offsets::new(&text), Vec::with_capacity(pieces.len().saturating_mul(3)));
    let mut last = 0;
    for piece in &pieces {
        // A piece begins at the end of the previous one, or before it by the overlap.
        let again = text.get(piece.start..last).map_or(0, utf16_len);
        let start = ends.at(last).saturating_sub(again);
        last = piece.end;
        rows.extend([number(start), number(ends.at(last)), piece.tokens]);
    }
    Ok(numbers(&[&rows]))
}
