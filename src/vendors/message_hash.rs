//! The parts of a message that are compared with an earlier request: its role, its content and its ids
//! (docs/agents.md).

use smallvec::{SmallVec, smallvec};

use crate::hashing::Hasher;
use crate::json::{Kind, Object, Value};
use crate::vendors::pieces::message::{Message, Step, Text};

/// The hashes of a message: of everything except its parts, and with each further part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageHash {
    head: u64,
    /// Most messages have one.
    parts: SmallVec<[u64; 2]>,
}

impl MessageHash {
    /// The hashes of a message as it was read, whose text need not be decoded again.
    pub(crate) fn of_read(message: Value<'_>, read: &Message<'_>) -> Self {
        let is_content = |text: &&Text<'_>| matches!(text.path.as_slice(), [Step::Key("content")]);
        let content = read.pieces.iter().flat_map(|piece| &piece.texts).find(is_content);
        Self::new(message, content.map(|content| &*content.text))
    }

    pub(crate) fn of(message: Value<'_>) -> Self {
        Self::new(message, None)
    }

    /// `content` is the message's content, if that is a text and known.
    fn new(message: Value<'_>, content: Option<&str>) -> Self {
        let Some(object) = message.as_object() else {
            return Self { head: value_hash(message).unwrap_or_default(), parts: smallvec![] };
        };
        let mut head = Hasher::default();
        hash_fields(object, &mut head, &is_parts);
        let head = head.finish();
        let mut parts: SmallVec<[u64; 2]> = smallvec![];
        for (key, value) in object.entries().filter(|(key, _)| key.as_text().is_some_and(|name| is_parts(&name))) {
            let last = |parts: &[u64]| parts.last().copied().unwrap_or(head);
            match (value.as_list(), content.filter(|_| key.is_string("content"))) {
                (Some(list), _) => list.for_each(|part| parts.push(with_part(last(&parts), part))),
                (None, Some(text)) => parts.push(with_text(last(&parts), text)),
                (None, None) => parts.push(with_part(last(&parts), value)),
            }
        }
        Self { head, parts }
    }

    /// A message whose parts are not compared.
    pub(crate) fn of_hash(hash: u64) -> Self {
        Self { head: hash, parts: smallvec![] }
    }

    /// The hash of the whole message.
    pub(crate) fn whole(&self) -> u64 {
        self.up_to(self.parts.len()).unwrap_or(self.head)
    }

    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The hash of the message with its first `parts` parts.
    pub(crate) fn up_to(&self, parts: usize) -> Option<u64> {
        match parts.checked_sub(1) {
            Some(last) => self.parts.get(last).copied(),
            None => Some(self.head),
        }
    }
}

/// The hash of several hashes in order.
pub(crate) fn hash_of(hashes: impl IntoIterator<Item = u64>) -> u64 {
    let mut all = Hasher::default();
    hashes.into_iter().for_each(|hash| all.word(hash));
    all.finish()
}

/// The hash of a content: a text equals a list with this text.
pub(crate) fn content_hash(content: Value<'_>) -> u64 {
    match content.as_list() {
        Some(parts) => parts.fold(1, with_part),
        None => with_part(1, content),
    }
}

/// The hash of the first messages.
pub(crate) fn hash_to(messages: &[MessageHash], count: usize) -> u64 {
    hash_of(messages.iter().take(count).map(MessageHash::whole))
}

/// A text as content equals a list with this text.
fn with_part(before: u64, part: Value<'_>) -> u64 {
    let text = match part.as_object().filter(|object| object.last("type").is_some_and(|kind| kind.is_string("text"))) {
        Some(object) => object.last("text").and_then(Value::as_text),
        None => part.as_text(),
    };
    let is_plain = part.as_object().is_none_or(|object| object.entries().all(|(key, _)| is_plain_text_key(key)));
    match text.filter(|_| is_plain) {
        Some(text) => with_text(before, &text),
        None => hash_of([before, value_hash(part).unwrap_or_default()]),
    }
}

fn with_text(before: u64, text: &str) -> u64 {
    let mut hasher = Hasher::default();
    hasher.text(text);
    hash_of([before, hasher.finish()])
}

fn is_plain_text_key(key: Value<'_>) -> bool {
    key.as_text().is_some_and(|name| matches!(&*name, "type" | "text") || is_ignored(&name))
}

fn is_parts(name: &str) -> bool {
    matches!(name, "content" | "parts")
}

/// Marks for a provider's cache, and annotations of hosts.
fn is_ignored(name: &str) -> bool {
    matches!(
        name,
        "cache_control"
            | "cacheControl"
            | "cachePoint"
            | "prompt_cache_breakpoint"
            | "metadata"
            | "response_metadata"
            | "usage_metadata"
            | "createdAt"
    )
}

/// The hash of a value; `None` for an object with only ignored fields.
pub(crate) fn value_hash(value: Value<'_>) -> Option<u64> {
    let mut hasher = Hasher::default();
    match value.kind() {
        Kind::String => hasher.text(&value.as_text().unwrap_or_default()),
        Kind::List => {
            hasher.word(1);
            for item in value.as_list().into_iter().flatten() {
                hasher.word(value_hash(item).unwrap_or_default());
            }
        }
        Kind::Object => {
            hasher.word(2);
            let object = value.as_object()?;
            let fields = hash_fields(object, &mut hasher, &|_| false);
            if fields == 0 && object.len() > 0 {
                return None;
            }
        }
        Kind::Null | Kind::Bool | Kind::Number => {
            hasher.word(3);
            hasher.text(value.raw());
        }
    }
    Some(hasher.finish())
}

/// Adds the fields of an object except some; returns the number of exceptions.
fn hash_fields(object: Object<'_>, hasher: &mut Hasher, is_excepted: &dyn Fn(&str) -> bool) -> usize {
    let mut count = 0;
    for (key, value) in object.entries() {
        let name = key.as_text().unwrap_or_default();
        if is_ignored(&name) || is_excepted(&name) {
            continue;
        }
        if let Some(hash) = value_hash(value) {
            hasher.text(&name);
            hasher.word(hash);
            count += 1;
        }
    }
    count
}
