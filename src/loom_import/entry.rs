//! The common model of all formats: a list of entries, each of which becomes a node.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use crate::content::Block;
use crate::maps::SortedMap;

/// A reference to another entry of the same tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum EntryRef {
    /// No reference.
    #[default]
    None,
    /// By the id in the file.
    Id(String),
    /// By index in the list.
    At(usize),
}

impl EntryRef {
    /// A reference to this id, if set.
    pub(super) fn id(id: Option<String>) -> Self {
        id.map_or(Self::None, Self::Id)
    }

    /// A reference to this index, if set.
    pub(super) fn at(at: Option<usize>) -> Self {
        at.map_or(Self::None, Self::At)
    }
}

/// The author of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Author {
    #[default]
    Human,
    Model,
    /// The instructions of a chat: see `build`.
    System,
}

/// A node as in a file.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Empty if the file has none.
    pub id: String,
    /// The parent.
    pub parent: EntryRef,
    /// The children in order, if the file lists them. A parent that an entry names takes precedence.
    pub children: Vec<String>,
    /// Other predecessors, as reference material.
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
    /// Data of the file for which a tree has no field.
    pub imported: Map<String, Json>,
    /// Data recorded by an export of ctxweave that the format cannot hold.
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

/// A tree as in a file.
#[derive(Debug, Default)]
pub(super) struct EntryTree {
    pub id: Option<String>,
    pub title: Option<String>,
    /// Whether it is one continuous text instead of a conversation.
    pub is_document: bool,
    /// The beginning of the document, unjoined and untrimmed.
    pub buffer_prefix: Option<String>,
    pub entries: Vec<Entry>,
    /// The current entry.
    pub tip: EntryRef,
    /// Ids that refer to other entries.
    pub aliases: SortedMap<String, usize>,
    /// Data of the file for which a tree has no field.
    pub imported: Map<String, Json>,
    /// Data recorded by an export of ctxweave that the format cannot hold; `None` for other files.
    pub exported: Option<Map<String, Json>>,
}
