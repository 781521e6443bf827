//! Copies unchanged parts of the last body.
//!
//! A front end that requests a body at every keystroke gets nearly the same bytes each time. If user and assistant
//! alternate and every message is a text, a message is written the same regardless of its neighbors, so its bytes can
//! be copied from the previous body.

use std::fmt;
use std::ops::Range;

use crate::content::Role;
use crate::json::{JsonWriter, TextWriter};
use crate::maps::SortedSet;

/// Messages whose texts can be written one by one.
pub(crate) trait MessageSource {
    /// The number of messages.
    fn count(&self) -> usize;
    /// The role of a message.
    fn role(&self, at: usize) -> Role;
    /// Writes the text of a message that holds nothing else.
    fn write_text(&self, at: usize, out: &mut TextWriter<'_>);
    /// Approximate bytes of the content of a message.
    fn size_hint(&self, at: usize) -> usize;
    /// The node of a message with exactly one.
    fn node(&self, at: usize) -> Option<&str>;
    /// The messages of the last body that equal those from this one on, consecutively; empty if this one is new.
    fn unchanged(&self, _: usize) -> Range<usize> {
        0..0
    }
}

impl fmt::Debug for dyn MessageSource + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages", self.count())
    }
}

/// A body with the place of each of its text messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenBody {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    pub(crate) spans: Vec<Span>,
}

impl WrittenBody {
    /// A body from which nothing can be copied.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, spans: Vec::new() }
    }

    /// The places of these messages.
    fn spans(&self, messages: Range<usize>) -> &[Span] {
        self.spans.get(messages).unwrap_or_default()
    }
}

/// The bytes of a message, from bracket to bracket. Empty for a message that must not be copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

/// Appends the messages: unchanged ones are copied from the last body, the others are written. Those in `apart` are
/// always written, in another form. Returns the places of all.
pub(crate) fn write_messages(
    json: &mut JsonWriter,
    messages: &dyn MessageSource,
    last: &WrittenBody,
    apart: &SortedSet<usize>,
    write: &mut dyn FnMut(&mut JsonWriter, usize),
) -> Vec<Span> {
    let count = messages.count();
    let mut spans = Vec::with_capacity(count);
    while spans.len() < count {
        let at = spans.len();
        let until_apart = apart.at_least(&at).next().map_or(count, |&next| next) - at;
        let known = last.spans(messages.unchanged(at));
        // Consecutive messages have a comma between them; one that must not be copied ends the run.
        let run = known.iter().take(until_apart).take_while(|span| span.start < span.end).count();
        let run = known.get(..run).unwrap_or_default();
        if let (Some(first), Some(end)) = (run.first(), run.last())
            && let Some(bytes) = last.bytes.get(first.start..end.end)
        {
            let start = json.copy(bytes);
            let moved = |place: usize| place - first.start + start;
            spans.extend(run.iter().map(|span| Span { start: moved(span.start), end: moved(span.end) }));
            continue;
        }
        let start = json.next_at();
        write(json, at);
        let span = Span { start, end: json.len() };
        spans.push(if until_apart == 0 { Span::default() } else { span });
    }
    spans
}

/// Approximate bytes of the messages in a body.
pub(crate) fn size_hint(messages: &dyn MessageSource, last: &WrittenBody) -> usize {
    let mut size = 0;
    let mut at = 0;
    while at < messages.count() {
        let known = last.spans(messages.unchanged(at));
        match (known.first(), known.last()) {
            (Some(first), Some(last)) if first.start < last.end => {
                size += last.end - first.start + 1;
                at += known.len();
            }
            _ => {
                let content = messages.size_hint(at);
                size += content + content / 16 + 64;
                at += 1;
            }
        }
    }
    size
}
