//! The items of a conversation: what costs, strategies and rendering know of a node or a message.

use std::borrow::Cow;
use std::ops::Range;

use crate::assembly::message_index::MessageIndex;
use crate::content::Block;
use crate::prompt::{Prices, Role};

/// Something that is kept or removed as a whole, ready to be rendered; or a block that stands before or behind all others
/// and is never removed.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    pub role: Role,
    /// None for a block.
    pub id: Option<&'a str>,
    pub parts: Vec<Block<'a>>,
    /// Tokens of the parts, as a message of their own.
    pub alone: u64,
    /// What of the parts is a header.
    pub header: Option<Header>,
}

/// A header at the beginning of a text. It is not part of what the item says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Which part it stands in.
    pub part: usize,
    /// Its length in bytes, with the break behind it where a text follows.
    pub len: usize,
}

/// Items `0..head` and `tail..`; what is between is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub head: usize,
    pub tail: usize,
}

/// What parts an item has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One text.
    Text,
    /// Something else.
    Parts {
        /// Whether it is one part only.
        single: bool,
        begins_with_text: bool,
        ends_with_text: bool,
    },
}

impl Shape {
    pub(crate) fn of(parts: &[Block<'_>]) -> Self {
        let is_text = |part: Option<&Block<'_>>| matches!(part, Some(Block::Text(_)));
        let (begins_with_text, ends_with_text) = (is_text(parts.first()), is_text(parts.last()));
        match parts {
            [Block::Text(_)] => Self::Text,
            _ => Self::Parts { single: parts.len() == 1, begins_with_text, ends_with_text },
        }
    }

    pub(crate) fn is_single(self) -> bool {
        matches!(self, Self::Text | Self::Parts { single: true, .. })
    }

    pub(crate) fn begins_with_text(self) -> bool {
        matches!(self, Self::Text | Self::Parts { begins_with_text: true, .. })
    }

    pub(crate) fn ends_with_text(self) -> bool {
        matches!(self, Self::Text | Self::Parts { ends_with_text: true, .. })
    }
}

/// What has to be known of an item to say what it costs among others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    pub role: Role,
    /// Tokens of the parts, as a message of their own.
    pub alone: u64,
    pub shape: Shape,
}

impl std::fmt::Debug for dyn Items<'_> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} items", self.len())
    }
}

/// The items of a conversation, oldest first. Their parts are made when they are asked for.
pub(crate) trait Items<'a> {
    /// How many there are.
    fn len(&self) -> usize;
    fn outline(&self, at: usize) -> Option<Outline>;
    fn role(&self, at: usize) -> Option<Role>;
    fn is_block(&self, at: usize) -> bool;
    /// The id of what it is made of; none for a block.
    fn id(&self, at: usize) -> Option<&'a str>;
    /// The header with the break behind it, and the text, of an item that is one text.
    fn text(&self, at: usize) -> Option<(&str, &str)>;
    /// About how many bytes its header and its text have.
    fn size_hint(&self, at: usize) -> usize;
    /// The text of an item that is one text without a header, for as long as its source lives.
    fn borrowed_text(&self, at: usize) -> Option<&'a str>;
    /// Length of that text in UTF-16 code units; 0 where there is none.
    fn utf16_len(&self, at: usize) -> usize;
    /// The text that the item begins with.
    fn first_text(&self, at: usize) -> Option<Cow<'_, str>>;
    /// The text that the item ends with.
    fn last_text(&self, at: usize) -> Option<Cow<'_, str>>;
    /// What a paragraph break behind that text costs; see [`break_after`](super::costs::break_after).
    fn break_after(&self, at: usize, prices: &Prices<'_>) -> i64;
    /// The item, ready to be rendered.
    fn item(&self, at: usize) -> Option<Item<'a>>;
    /// Adds items to an index of messages.
    fn add_to(&self, index: &mut MessageIndex, range: Range<usize>);
}
