//! What a body is written from: a system context and messages.

use std::borrow::Cow;
use std::ops::Range;

use super::json::{TextWriter, WriteText};
use super::reuse::{BodyReuse, TextMessages};
use crate::prompt::message::{Content, Message, Part, Role};

/// A system context and the messages after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversation<'m> {
    /// With a role where it is the first message, and so counts as one.
    pub system: Option<(Option<Role>, &'m str)>,
    pub messages: Messages<'m>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Messages<'m> {
    /// Messages of any kind, which have to be normalized.
    Any(&'m [Message<'m>]),
    /// Texts, which are sent as they are.
    Texts(BodyReuse<'m>),
}

impl Conversation<'_> {
    /// The place of the first message that is not the system context.
    pub(super) fn first(&self) -> usize {
        usize::from(matches!(self.system, Some((Some(_), _))))
    }

    /// How many messages there are.
    pub(super) fn count(&self) -> usize {
        let messages = match self.messages {
            Messages::Any(messages) => messages.len(),
            Messages::Texts(texts) => texts.messages.count(),
        };
        self.first() + messages
    }

    /// The role of the message at this place.
    pub(super) fn role(&self, at: usize) -> Option<Role> {
        let Some(at) = at.checked_sub(self.first()) else { return self.system.and_then(|(role, _)| role) };
        match self.messages {
            Messages::Any(messages) => messages.get(at).map(|message| message.role),
            Messages::Texts(texts) => (at < texts.messages.count()).then(|| texts.messages.role(at)),
        }
    }

    /// The node of a message that holds exactly one.
    pub(super) fn node(&self, at: usize) -> Option<&str> {
        let at = at.checked_sub(self.first())?;
        match self.messages {
            Messages::Any(messages) => only_node(messages.get(at)?),
            Messages::Texts(texts) => texts.messages.node(at),
        }
    }

    /// About how many bytes the system context and the messages take in a body.
    pub(super) fn size_hint(&self) -> usize {
        let escaped = |len: usize| len + len / 16;
        let system = self.system.map_or(0, |(_, text)| escaped(text.len()));
        let messages = match self.messages {
            Messages::Any(messages) => {
                escaped(messages.iter().map(|message| 48 + content_size(&message.content)).sum())
            }
            Messages::Texts(texts) => texts.size_hint(),
        };
        system + messages
    }
}

fn content_size(content: &Content<'_>) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().map(|part| 64 + part_size(part)).sum(),
    }
}

fn part_size(part: &Part<'_>) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Image(image) => image.data.or(image.url).map_or(0, str::len),
        Part::Audio(audio) => audio.data.or(audio.url).map_or(0, str::len),
        Part::ToolCall(call) => call.name.len() + 128,
        Part::ToolResult(result) => content_size(&result.content),
        Part::Reasoning { text, signature } => text.len() + signature.map_or(0, str::len),
    }
}

/// The text of an item.
#[derive(Clone, Debug)]
pub(super) enum Text<'m> {
    /// The text itself.
    Whole(Cow<'m, str>),
    /// That of a text message.
    Message(&'m dyn TextMessages, usize),
}

impl WriteText for Text<'_> {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        match self {
            Self::Whole(text) => out.plain(text),
            Self::Message(texts, at) => texts.write_content(*at, out),
        }
    }
}

/// Messages that need no normalizing.
#[derive(Debug)]
pub(super) struct PlainMessages<'m>(&'m [Message<'m>]);

impl<'m> PlainMessages<'m> {
    /// These messages, where user and assistant take turns and every message is a text that is not blank.
    pub(super) fn new(messages: &'m [Message<'m>]) -> Option<Self> {
        let mut before = None;
        let plain = messages.iter().all(|message| {
            let Message { role: Role::User | Role::Assistant, content: Content::Text(text), .. } = message else {
                return false;
            };
            before.replace(message.role) != Some(message.role) && !text.trim_start().is_empty()
        });
        (plain && !messages.is_empty()).then_some(Self(messages))
    }

    fn text(&self, at: usize) -> &str {
        match self.0.get(at) {
            Some(Message { content: Content::Text(text), .. }) => text,
            _ => "",
        }
    }
}

impl TextMessages for PlainMessages<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn role(&self, at: usize) -> Role {
        self.0.get(at).map_or(Role::User, |message| message.role)
    }

    fn write_content(&self, at: usize, out: &mut TextWriter<'_>) {
        out.plain(self.text(at));
    }

    fn content_len(&self, at: usize) -> usize {
        self.text(at).len()
    }

    fn node(&self, at: usize) -> Option<&str> {
        only_node(self.0.get(at)?)
    }

    fn unchanged(&self, _: usize) -> Range<usize> {
        0..0
    }
}

fn only_node<'m>(message: &Message<'m>) -> Option<&'m str> {
    match message.node_ids.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}
