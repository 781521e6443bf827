//! Copying what the last body has.
//!
//! A front end that asks for a body at every keystroke asks for nearly the same bytes each time. Where the user and the
//! assistant take turns and every message is a text, a message is written the same whatever its neighbours are, so its
//! bytes can be copied from the body before.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use super::json::{Json, TextWriter};
use crate::prompt::message::Role;

/// A conversation in which the user and the assistant take turns and every message is a text that is not blank.
pub(crate) trait TextMessages: fmt::Debug {
    /// How many messages there are; at least one.
    fn count(&self) -> usize;
    /// The role of a message.
    fn role(&self, at: usize) -> Role;
    /// Writes the text of a message.
    fn write_content(&self, at: usize, out: &mut TextWriter<'_>);
    /// The length of that text in bytes.
    fn content_len(&self, at: usize) -> usize;
    /// The node of a message that holds exactly one.
    fn node(&self, at: usize) -> Option<&str>;
    /// Which messages of the last body equal those from this one on, as many as follow each other; empty where this one
    /// is new.
    fn unchanged(&self, at: usize) -> Range<usize>;
}

/// A body with the place of each of its text messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenBody {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    pub(super) spans: Vec<Span>,
}

impl WrittenBody {
    /// The places of these messages.
    fn spans(&self, messages: Range<usize>) -> &[Span] {
        self.spans.get(messages).unwrap_or_default()
    }
}

/// The bytes of a message, from bracket to bracket. Empty for a message that must not be copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
}

/// Text messages with the body that may have most of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyReuse<'m> {
    pub messages: &'m dyn TextMessages,
    pub last: &'m WrittenBody,
}

impl BodyReuse<'_> {
    /// Appends the messages: what is unchanged is copied, the others are written. Those at the places in `apart` are
    /// written each time, in another form than all others. Where the messages are then.
    pub(super) fn write_messages(
        &self,
        json: &mut Json,
        apart: &BTreeSet<usize>,
        write: &mut dyn FnMut(&mut Json, usize),
    ) -> Vec<Span> {
        let count = self.messages.count();
        let mut spans = Vec::with_capacity(count);
        while spans.len() < count {
            let at = spans.len();
            let until_apart = apart.range(at..).next().map_or(count, |&next| next) - at;
            let known = self.last.spans(self.messages.unchanged(at));
            // Messages that follow each other have a comma between them; one that must not be copied ends the run.
            let run = known.iter().take(until_apart).take_while(|span| span.start < span.end).count();
            let run = known.get(..run).unwrap_or_default();
            if let (Some(first), Some(last)) = (run.first(), run.last())
                && let Some(bytes) = self.last.bytes.get(first.start..last.end)
            {
                let start = json.copy(bytes);
                let moved = |place: usize| place - first.start + start;
                spans.extend(run.iter().map(|span| Span { start: moved(span.start), end: moved(span.end) }));
                continue;
            }
            let start = json.next_at();
            write(json, at);
            let span = Span { start, end: json.len() };
            spans.push(if apart.contains(&at) { Span::default() } else { span });
        }
        spans
    }

    /// About how many bytes the messages take.
    pub(super) fn size_hint(&self) -> usize {
        let mut size = 0;
        let mut at = 0;
        while at < self.messages.count() {
            let known = self.last.spans(self.messages.unchanged(at));
            match (known.first(), known.last()) {
                (Some(first), Some(last)) if first.start < last.end => {
                    size += last.end - first.start + 1;
                    at += known.len();
                }
                _ => {
                    let len = self.messages.content_len(at);
                    size += len + len / 16 + 64;
                    at += 1;
                }
            }
        }
        size
    }
}
