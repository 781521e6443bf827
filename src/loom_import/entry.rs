//! What every format is read into: a list of entries, each what becomes a node.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use crate::content::Block;
use crate::maps::SortedMap;

/// Another entry of the same tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum EntryRef {
    /// None.
    #[default]
    None,
    /// By the id that the file gives it.
    Id(String),
    /// By its place in the list.
    At(usize),
}

impl EntryRef {
    /// A link to this id, where there is one.
    pub(super) fn id(id: Option<String>) -> Self {
        id.map_or(Self::None, Self::Id)
    }

    /// A link to the place, where there is one.
    pub(super) fn at(at: Option<usize>) -> Self {
        at.map_or(Self::None, Self::At)
    }
}

/// Who wrote an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Author {
    #[default]
    Human,
    Model,
    /// The instructions of a chat: see `build`.
    System,
}

/// A node as a file has it.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Empty where the file gives it none.
    pub id: String,
    /// What it follows.
    pub parent: EntryRef,
    /// What follows it, in order, where the file says that. A parent that an entry itself names outranks this.
    pub children: Vec<String>,
    /// What else it follows, as reference material.
    pub context: Vec<String>,
    pub author: Author,
    pub agent: Option<String>,
    pub blocks: Vec<Block<'static>>,
    pub created_at: Option<String>,
    /// The entry that it is an edit of.
    pub edited_from: EntryRef,
    pub summary: Option<String>,
    pub excluded: bool,
    pub bookmarked: bool,
    pub bookmark_label: Option<String>,
    /// What the file says of it that has no place here.
    pub imported: Map<String, Json>,
    /// What our own export said of it that the format has no place for.
    pub exported: Option<Map<String, Json>>,
}

impl Entry {
    /// An entry with one text.
    pub(super) fn text(
        id: impl Into<String>,
        parent: EntryRef,
        author: Author,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { id: id.into(), parent, author, blocks: vec![Block::text(text)], ..Self::default() }
    }
}

/// A tree as a file has it.
#[derive(Debug, Default)]
pub(super) struct EntryTree {
    pub id: Option<String>,
    pub title: Option<String>,
    /// Whether it is one text that continues, and no conversation.
    pub is_document: bool,
    /// Stands before the document, unjoined and untrimmed.
    pub buffer_prefix: Option<String>,
    pub entries: Vec<Entry>,
    /// The current entry.
    pub tip: EntryRef,
    /// Ids that stand for other entries.
    pub aliases: SortedMap<String, usize>,
    /// What the file says of the tree that has no place here.
    pub imported: Map<String, Json>,
    /// What our own export said of it that the format has no place for; nothing where the file is none of ours.
    pub exported: Option<Map<String, Json>>,
}
