//! Renders items as messages: merged by role, with the marker in the gap, and with the span of each item.

use std::borrow::Cow;

use crate::assembly::item::{Item, Kept};
use crate::content::{Block, Role};
use crate::prompt::{Message, MessageSpan};
use crate::text::Utf16Offsets;

/// The separator of joined texts.
pub(crate) const JOIN: &str = "\n\n";

/// Appends a text, joined to the last part if that is also a text.
pub(crate) fn push_text<'a>(parts: &mut Vec<Block<'a>>, text: Cow<'a, str>) {
    let Some(Block::Text(last)) = parts.last_mut() else { return parts.push(Block::Text(text)) };
    let last = last.to_mut();
    last.push_str(JOIN);
    last.push_str(&text);
}

/// The content of these parts, which is never empty.
pub(crate) fn content(parts: Vec<Block<'_>>) -> Vec<Block<'_>> {
    if parts.is_empty() { vec![Block::text("")] } else { parts }
}

/// The messages of these items, merged by role, with the marker in the gap; spans on request, since they require
/// reading all text.
pub(crate) fn render<'a>(items: &[Item<'a>], kept: Kept, marker: Option<&str>, with_spans: bool) -> Vec<Message<'a>> {
    let mut messages: Vec<OpenMessage<'a>> = Vec::new();
    let (head, tail) = (items.get(..kept.head).unwrap_or(items), items.get(kept.tail..).unwrap_or_default());
    head.iter().for_each(|item| message_of(&mut messages, item.role).push(item));
    if let Some(marker) = marker {
        push_text(&mut message_of(&mut messages, Role::User).parts, Cow::Owned(marker.to_owned()));
    }
    tail.iter().for_each(|item| message_of(&mut messages, item.role).push(item));
    messages.into_iter().map(|message| message.close(with_spans)).collect()
}

/// The last message if it has this role, else a new one.
fn message_of<'m, 'a>(messages: &'m mut Vec<OpenMessage<'a>>, role: Role) -> &'m mut OpenMessage<'a> {
    if messages.last().is_none_or(|last| last.role != role) {
        messages.push(OpenMessage { role, parts: Vec::new(), node_ids: Vec::new(), spans: Vec::new() });
    }
    let at = messages.len() - 1;
    #[expect(clippy::indexing_slicing, reason = "a message was pushed if none existed")]
    &mut messages[at]
}

struct OpenMessage<'a> {
    role: Role,
    parts: Vec<Block<'a>>,
    node_ids: Vec<&'a str>,
    spans: Vec<ByteSpan<'a>>,
}

impl<'a> OpenMessage<'a> {
    fn push(&mut self, item: &Item<'a>) {
        self.node_ids.extend(item.id);
        for (at, part) in item.parts.iter().enumerate() {
            let header = item.header.filter(|header| header.part == at).map_or(0, |header| header.len);
            let len = match part {
                // Only texts that touch across items are joined here; those of one item are joined already.
                Block::Text(text) => {
                    push_text(&mut self.parts, text.clone());
                    text.len()
                }
                other => {
                    self.parts.push(other.clone());
                    if let Block::Reasoning { text, .. } = other { text.len() } else { 0 }
                }
            };
            let is_header = header > 0 && header == len;
            if let Some(id) = item.id.filter(|_| !is_header) {
                let part = self.parts.len().saturating_sub(1);
                let end = match self.parts.last() {
                    Some(Block::Text(text)) => text.len(),
                    _ => len,
                };
                self.spans.push(ByteSpan { id, part, start: end - (len - header), end });
            }
        }
    }

    fn close(self, with_spans: bool) -> Message<'a> {
        let Self { role, parts, node_ids, spans } = self;
        let content = content(parts);
        let spans = if with_spans { utf16_spans(&content, &spans) } else { Vec::new() };
        Message { role, content, node_ids, spans }
    }
}

/// The place of an item in the content of a message, in bytes of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteSpan<'a> {
    pub id: &'a str,
    pub part: usize,
    pub start: usize,
    pub end: usize,
}

/// These spans in UTF-16 code units.
pub(crate) fn utf16_spans<'a>(content: &[Block<'_>], spans: &[ByteSpan<'a>]) -> Vec<MessageSpan<'a>> {
    let text = |part: usize| match content.get(part) {
        Some(Block::Text(text) | Block::Reasoning { text, .. }) => text.as_ref(),
        _ => "",
    };
    let in_parts = !matches!(content, [Block::Text(_)]);
    let mut offsets = Utf16Offsets::new(text(0));
    let mut current = 0;
    let convert = |span: &ByteSpan<'a>| {
        if span.part != current {
            (offsets, current) = (Utf16Offsets::new(text(span.part)), span.part);
        }
        let start = offsets.at(span.start);
        MessageSpan { node_id: span.id, part: in_parts.then_some(span.part), start, end: offsets.at(span.end) }
    };
    spans.iter().map(convert).collect()
}
