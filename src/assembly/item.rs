//! The items of a conversation: the view of nodes or messages that costs, strategies and rendering share.

use std::borrow::Cow;
use std::ops::Range;

use crate::assembly::message_index::MessageIndex;
use crate::content::{Block, Role};
use crate::prompt::Prices;

/// A message or node that is kept or removed as a whole, ready to be rendered; or a block before or after all others
/// that is never removed.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    pub role: Role,
    /// The id; `None` for a block.
    pub id: Option<&'a str>,
    pub parts: Vec<Block<'a>>,
    /// Tokens as a separate message.
    pub alone: u64,
    pub header: Option<Header>,
}

/// A header at the beginning of a text, which is not part of the item's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The index of its part.
    pub part: usize,
    /// The length in bytes, with the break after it if a text follows.
    pub len: usize,
}

/// The kept items: `0..head` and `tail..`.
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

/// The properties of an item that determine costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// Tokens as a separate message.
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

/// The items of a conversation as a cut sees them, oldest first. Texts are those of mergeable items.
pub(crate) trait CutItems {
    fn len(&self) -> usize;
    fn outline(&self, at: usize) -> Option<Outline>;
    /// Whether a window that has to begin with the user may begin at this item.
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

/// The items of a conversation for rendering. Their parts are made on demand.
pub(crate) trait Items<'a>: CutItems {
    fn role(&self, at: usize) -> Option<Role>;
    /// The id; `None` for a block.
    fn id(&self, at: usize) -> Option<&'a str>;
    /// The header with the break after it, and the text, of an item that is one text. If the caller accepts it, the
    /// text may be escaped, as in the string of a body; then the last field is true.
    fn text(&self, at: usize, takes_escaped: bool) -> Option<(&str, &str, bool)>;
    /// The text of an item that is one text without a header, with the lifetime of its source.
    fn borrowed_text(&self, at: usize) -> Option<&'a str>;
    /// Length of the item's text in UTF-16 code units; 0 if it has none.
    fn utf16_len(&self, at: usize) -> usize;
    fn item(&self, at: usize) -> Option<Item<'a>>;
    /// Whether it is a user's and has content other than tool results.
    fn is_user_text(&self, at: usize) -> bool;
    /// Adds items to an index of messages.
    fn add_to(&self, index: &mut MessageIndex, range: Range<usize>);
}
