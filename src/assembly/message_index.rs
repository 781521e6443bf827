//! The items of each message and their versions, by which messages are recognized without reading their texts.

use std::ops::Range;
use std::rc::Rc;

use crate::content::Role;

/// An item and its version: items with equal keys are rendered the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemKey {
    pub node: u32,
    pub content: u32,
    /// The version of the header; 0 without one.
    pub header: u32,
}

impl ItemKey {
    /// The key of every block; blocks are never compared.
    pub(crate) const BLOCK: Self = Self { node: u32::MAX, content: 0, header: 0 };
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedMessage {
    pub role: Role,
    /// The end of its items in the list of all items.
    pub end: usize,
    pub kind: MessageKind,
    /// Approximate bytes of its texts.
    pub bytes: u32,
    /// The hash of its role and content; 0 if not computed.
    pub hash: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageKind {
    /// Texts; messages whose items have the same keys are equal.
    ItemTexts,
    /// Texts with a marker or a block, which have no keys.
    Volatile,
    /// Any content.
    Parts,
}

#[derive(Debug, Default)]
pub(crate) struct MessageIndex {
    pub messages: Vec<IndexedMessage>,
    items: Vec<ItemKey>,
}

impl MessageIndex {
    pub(crate) fn with_capacity(items: usize) -> Self {
        Self { messages: Vec::with_capacity(items + 2), items: Vec::with_capacity(items) }
    }

    /// Adds an item, or a block without a key, to the last message if that has the same role, else to a new one.
    /// `bytes` is the approximate size of its texts.
    pub(crate) fn add(&mut self, role: Role, kind: MessageKind, key: Option<ItemKey>, bytes: usize) {
        self.items.extend(key);
        let end = self.items.len();
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        match self.messages.last_mut().filter(|message| message.role == role) {
            Some(message) => {
                (message.end, message.kind) = (end, message.kind.max(kind));
                message.bytes = message.bytes.saturating_add(bytes);
            }
            None => self.messages.push(IndexedMessage { role, end, kind, bytes, hash: 0 }),
        }
    }

    /// Raises the kind of the message that holds an item, by its place in the list of all items.
    pub(crate) fn set_kind(&mut self, place: usize, kind: MessageKind) {
        let at = self.messages.partition_point(|message| message.end <= place);
        self.messages.get_mut(at).into_iter().for_each(|message| message.kind = message.kind.max(kind));
    }

    pub(crate) fn role(&self, at: usize) -> Role {
        self.messages.get(at).map_or(Role::User, |message| message.role)
    }

    pub(crate) fn kind(&self, at: usize) -> MessageKind {
        self.messages.get(at).map_or(MessageKind::Parts, |message| message.kind)
    }

    /// The place of a message's items in the list of all.
    pub(crate) fn range(&self, at: usize) -> Range<usize> {
        let end = |at: usize| self.messages.get(at).map_or(self.items.len(), |message| message.end);
        at.checked_sub(1).map_or(0, end)..end(at)
    }

    fn first_slot(&self, at: usize) -> Option<usize> {
        let first = self.items.get(self.range(at))?.first()?;
        (*first != ItemKey::BLOCK).then_some(first.node as usize)
    }

    /// The number of messages, from one of these and one of another dialogue on, that are known to be equal.
    fn equal_from(&self, at: usize, other: &Self, there: usize) -> usize {
        let (messages, others) = (self.messages.iter().skip(at), other.messages.iter().skip(there));
        let (mut from, mut other_from) = (self.range(at).start, other.range(there).start);
        let pairs = messages.zip(others).take_while(|(message, known)| {
            let items = self.items.get(from..message.end);
            let same = message.kind == MessageKind::ItemTexts
                && known.kind == MessageKind::ItemTexts
                && message.role == known.role
                && items == other.items.get(other_from..known.end);
            (from, other_from) = (message.end, known.end);
            same
        });
        pairs.count()
    }
}

/// The messages of the last dialogue, found by their items.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreviousMessages {
    pub index: Rc<MessageIndex>,
    /// For each slot, the message that began with its item, plus `offset`. Stale entries do not match.
    at: Vec<u32>,
    /// Avoids renumbering if earlier messages are removed.
    offset: u32,
}

impl PreviousMessages {
    /// The messages of a dialogue as runs of known and of new ones.
    pub(crate) fn runs(&self, index: &MessageIndex) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut at = 0;
        if self.index.messages.is_empty() && !index.messages.is_empty() {
            at = index.messages.len();
            runs.push(Run { from: 0, count: at, known: None });
        }
        while at < index.messages.len() {
            let noted = index.first_slot(at).and_then(|slot| self.at.get(slot));
            let there = noted.map_or(usize::MAX, |noted| noted.wrapping_sub(self.offset) as usize);
            let count = index.equal_from(at, &self.index, there);
            if count > 0 {
                runs.push(Run { from: at, count, known: Some(there) });
            } else if let Some(run) = runs.last_mut().filter(|run| run.known.is_none()) {
                run.count += 1;
            } else {
                runs.push(Run { from: at, count: 1, known: None });
            }
            at += count.max(1);
        }
        runs
    }

    pub(crate) fn replace(&mut self, index: Rc<MessageIndex>, runs: &[Run]) {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        // Entries of the longest run need no change.
        let longest = runs.iter().filter(|run| run.known.is_some()).max_by_key(|run| run.count);
        if let Some(Run { from, known: Some(known), .. }) = longest {
            self.offset = self.offset.wrapping_add(number(*known)).wrapping_sub(number(*from));
        }
        for run in runs.iter().filter(|run| Some(*run) != longest) {
            for at in run.from..run.from + run.count {
                let Some(slot) = index.first_slot(at) else { continue };
                if slot >= self.at.len() {
                    self.at.resize(slot + 1, u32::MAX);
                }
                if let Some(noted) = self.at.get_mut(slot) {
                    *noted = number(at).wrapping_add(self.offset);
                }
            }
        }
        self.index = index;
    }
}

/// Consecutive messages that are all new or all known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub from: usize,
    pub count: usize,
    /// The index of the first one in the last dialogue.
    pub known: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct PreviousDialogue {
    system: u64,
    pub known: PreviousMessages,
}

impl PreviousDialogue {
    /// The number of equal leading messages; `None` if the system context differs.
    pub(crate) fn shared(&self, system: u64, index: &MessageIndex) -> Option<usize> {
        let pairs = index.messages.iter().zip(&self.known.index.messages);
        let same = pairs.take_while(|(now, before)| now.hash == before.hash);
        (self.system == system).then(|| same.count())
    }

    pub(crate) fn replace(&mut self, system: u64, index: Rc<MessageIndex>, runs: &[Run]) {
        self.system = system;
        self.known.replace(index, runs);
    }
}
