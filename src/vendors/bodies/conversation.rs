//! The source of a body: a system context and messages.

use std::borrow::Cow;

use super::reuse::{MessageSource, WrittenBody};
use crate::content::{Block, Media, Role};
use crate::json::{self, TextWriter, WriteText};
use crate::text::is_blank;
use crate::vendors::message::Message;

/// A system context and the messages after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversation<'m> {
    /// The system context; with a role if it is the first message.
    pub system: Option<(Option<Role>, &'m str)>,
    pub messages: &'m dyn MessageSource,
    /// The same messages if they have to be normalized: if one of them is more than a text, is blank, or has the role
    /// of the previous one.
    pub irregular: Option<&'m [Message<'m>]>,
    /// The last body, which may have most of the messages.
    pub last: &'m WrittenBody,
}

impl<'m> Conversation<'m> {
    pub(crate) fn first(&self) -> usize {
        usize::from(matches!(self.system, Some((Some(_), _))))
    }

    pub(crate) fn count(&self) -> usize {
        self.first() + self.messages.count()
    }

    pub(crate) fn role(&self, at: usize) -> Option<Role> {
        match at.checked_sub(self.first()) {
            Some(at) => (at < self.messages.count()).then(|| self.messages.role(at)),
            None => self.system.and_then(|(role, _)| role),
        }
    }

    /// The node of a message with exactly one.
    pub(crate) fn node(&self, at: usize) -> Option<&'m str> {
        self.messages.node(at.checked_sub(self.first())?)
    }
}

/// Whether user and assistant alternate and every message is a text that is not blank.
pub(crate) fn is_regular(messages: &[Message<'_>]) -> bool {
    let mut before = None;
    let regular = messages.iter().all(|message| match (message.role, message.content.as_slice()) {
        (role @ (Role::User | Role::Assistant), [Block::Text(text)]) => {
            before.replace(role) != Some(role) && !is_blank(text)
        }
        _ => false,
    });
    regular && !messages.is_empty()
}

impl MessageSource for &[Message<'_>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn role(&self, at: usize) -> Role {
        self.get(at).map_or(Role::User, |message| message.role)
    }

    fn write_text(&self, at: usize, out: &mut TextWriter<'_>) {
        if let Some([Block::Text(text)]) = self.get(at).map(|message| message.content.as_slice()) {
            out.plain(text);
        }
    }

    fn size_hint(&self, at: usize) -> usize {
        self.get(at).map_or(0, |message| content_size(&message.content))
    }

    fn node(&self, at: usize) -> Option<&str> {
        match self.get(at)?.node_ids.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

fn content_size(blocks: &[Block<'_>]) -> usize {
    match blocks {
        [Block::Text(text)] => text.len(),
        blocks => blocks.iter().map(|block| 64 + block_size(block)).sum(),
    }
}

fn block_size(block: &Block<'_>) -> usize {
    let media = |media: &Option<Media<'_>>| media.as_ref().map_or(0, |media| media.field().1.len());
    match block {
        Block::Text(text) => text.len(),
        Block::Image(image) => media(&image.media),
        Block::Audio(audio) => media(&audio.media),
        Block::ToolCall { name, .. } => name.len() + 128,
        Block::ToolResult { content, .. } => content_size(content),
        Block::Vendor(block) => json::text(&*block.value).len(),
        Block::Reasoning { text, signature, .. } => {
            text.len() + signature.as_ref().map_or(0, |signature| signature.len())
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Text<'m> {
    Whole(Cow<'m, str>),
    /// The text of a message.
    Message(&'m dyn MessageSource, usize),
}

impl WriteText for Text<'_> {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        match self {
            Self::Whole(text) => out.plain(text),
            Self::Message(messages, at) => messages.write_text(*at, out),
        }
    }
}
