//! The items of a conversation: what costs, strategies and rendering know of a node or a message.

use std::borrow::Cow;
use std::ops::Range;

use crate::assembly::message_index::MessageIndex;
use crate::content::{Block, Role};
use crate::prompt::Prices;

/// Something that is kept or removed as a whole, ready to be rendered; or a block that stands before or after all others
/// and is never removed.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    pub role: Role,
    /// `None` for a block.
    pub id: Option<&'a str>,
    pub parts: Vec<Block<'a>>,
    /// Tokens as a message of its own.
    pub alone: u64,
    pub header: Option<Header>,
}

/// A header at the beginning of a text, which is not part of what the item says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The index of its part.
    pub part: usize,
    /// In bytes, with the break after it if a text follows.
    pub len: usize,
}

/// Items `0..head` and `tail..` stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub head: usize,
    pub tail: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Parts { single: bool, begins_with_text: bool, ends_with_text: bool },
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

/// What costs depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// Tokens as a message of its own.
    pub alone: u64,
    /// The role and the shape by which neighbors are merged; `None` for an item that never is.
    pub merged_by: Option<(Role, Shape)>,
}

impl std::fmt::Debug for dyn CutItems + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} items", self.len())
    }
}

impl std::fmt::Debug for dyn Items<'_> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} items", self.len())
    }
}

/// The items of a conversation as a cut sees them, oldest first. Texts are those of items that are merged.
pub(crate) trait CutItems {
    fn len(&self) -> usize;
    fn outline(&self, at: usize) -> Option<Outline>;
    /// Whether a window may begin with it, if windows begin with the user.
    fn may_begin(&self, at: usize) -> bool;
    fn is_block(&self, _: usize) -> bool {
        false
    }
    fn first_text(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }
    fn last_text(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }
    /// The cost of a paragraph break after the last text; see [`break_after`](super::costs::break_after).
    fn break_after(&self, _: usize, _: &Prices<'_>) -> i64 {
        0
    }
}

/// The same as rendering sees them. Their parts are made on demand.
pub(crate) trait Items<'a>: CutItems {
    fn role(&self, at: usize) -> Option<Role>;
    /// Its id; `None` for a block.
    fn id(&self, at: usize) -> Option<&'a str>;
    /// The header with the break after it, and the text, of an item that is one text. Where the caller takes it so, the text may
    /// be escaped, as it stands in the string of a body; then the last is true.
    fn text(&self, at: usize, takes_escaped: bool) -> Option<(&str, &str, bool)>;
    /// The text of an item that is one text without a header, for as long as its source lives.
    fn borrowed_text(&self, at: usize) -> Option<&'a str>;
    /// Length of that text in UTF-16 code units; 0 if missing.
    fn utf16_len(&self, at: usize) -> usize;
    fn item(&self, at: usize) -> Option<Item<'a>>;
    /// Whether it is a user's and has content other than results of tools.
    fn is_user_text(&self, at: usize) -> bool;
    /// Adds items to an index of messages.
    fn add_to(&self, index: &mut MessageIndex, range: Range<usize>);
}
