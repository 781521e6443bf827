//! Texts of nodes that are extended, such as streaming replies (docs/resident.md).
//!
//! Counts are cached by the hash of a text, and hashing a text again for each new word takes as long as counting it. So
//! an incremental text is not interned: each counter stores how far it has counted.

use std::cell::RefCell;

use crate::content::Block;
use crate::loom::tree::{Node, NodeIx};
use crate::sorting::sort_by_key;
use crate::text::trim;
use crate::tokens::memory::{CachingCounter, CounterId};
use crate::tokens::{Counter, IncrementalCount};

/// Texts that can be incremental at the same time. If there are more, the oldest counts as finished.
const MAX_INCREMENTAL_TEXTS: usize = 32;

/// The incremental texts: the last block of each of these nodes.
#[derive(Debug, Default)]
pub(crate) struct IncrementalTexts(Vec<IncrementalText>);

/// An incremental text.
#[derive(Debug)]
pub(crate) struct IncrementalText {
    node: NodeIx,
    /// The first half of a surrogate pair, represented by U+FFFD at the end of the text.
    half: Option<u16>,
    counts: RefCell<Vec<StoredCount>>,
}

/// The count of a text without surrounding white space.
#[derive(Debug)]
struct StoredCount {
    counter: CounterId,
    incremental: IncrementalCount,
    /// Bytes counted.
    len: usize,
    tokens: u32,
    /// Whether half a character was counted, which may become a whole one.
    with_half: bool,
}

impl IncrementalTexts {
    /// Starts an incremental text of a node, unless there is one. Returns the node whose text counts as finished
    /// instead.
    pub(crate) fn begin(&mut self, node: NodeIx) -> Option<NodeIx> {
        if self.get(node).is_some() {
            return None;
        }
        let finished = (self.0.len() >= MAX_INCREMENTAL_TEXTS).then(|| {
            // A text that waits for the second half of a character is kept.
            let at = self.0.iter().position(|incremental_texts| incremental_texts.half.is_none()).unwrap_or_default();
            self.0.remove(at).node
        });
        self.0.push(IncrementalText { node, half: None, counts: RefCell::default() });
        finished
    }

    /// Discards the text of a node: it is finished or was replaced.
    pub(crate) fn invalidate(&mut self, node: NodeIx) {
        self.0.retain(|incremental_texts| incremental_texts.node != node);
    }

    /// Removes the text of a node, to be restored later.
    pub(crate) fn take(&mut self, node: NodeIx) -> Option<IncrementalText> {
        let at = self.0.iter().position(|incremental_texts| incremental_texts.node == node)?;
        Some(self.0.remove(at))
    }

    /// Restores a removed text when the node's text is the same again.
    pub(crate) fn put(&mut self, text: IncrementalText) {
        self.invalidate(text.node);
        self.0.push(text);
    }

    /// The nodes, in the order in which their texts became incremental.
    pub(crate) fn nodes(&self) -> Vec<NodeIx> {
        self.0.iter().map(|incremental_texts| incremental_texts.node).collect()
    }

    /// Orders the texts like a list from [`Self::nodes`].
    pub(crate) fn arrange(&mut self, order: &[NodeIx]) {
        sort_by_key(&mut self.0, |incremental_texts| {
            order.iter().position(|&node| node == incremental_texts.node).unwrap_or(usize::MAX)
        });
    }

    pub(crate) fn contains(&self, node: NodeIx) -> bool {
        self.get(node).is_some()
    }

    /// The half of a character at the end of the text.
    pub(crate) fn half(&self, node: NodeIx) -> Option<u16> {
        self.get(node)?.half
    }

    /// Sets the half of a character at the end of the text; `joined` if the previous half became a character.
    pub(crate) fn set_half(&mut self, node: NodeIx, half: Option<u16>, joined: bool) {
        if let Some(incremental_texts) = self.0.iter_mut().find(|incremental_texts| incremental_texts.node == node) {
            incremental_texts.half = half;
            if joined {
                incremental_texts.counts.get_mut().retain(|count| !count.with_half);
            }
        }
    }

    /// Tokens of a text of this node, trimmed; `None` if it is not the incremental one.
    pub(crate) fn tokens(&self, at: NodeIx, node: &Node<'_>, text: &str, counter: &CachingCounter<'_>) -> Option<u32> {
        let incremental_texts = self.get(at)?;
        let Some(Block::Text(last)) = node.content.last() else { return None };
        if !std::ptr::eq(trim(last), text) {
            return None;
        }
        let mut counts = incremental_texts.counts.borrow_mut();
        let known = counts.iter().position(|count| count.counter == counter.id());
        let known = known.unwrap_or_else(|| {
            // Of custom counters only the last is cached, as for other texts.
            counts.retain(|count| !count.counter.is_own() || !counter.id().is_own());
            let (incremental, with_half) = (IncrementalCount::default(), false);
            counts.push(StoredCount { counter: counter.id(), incremental, len: 0, tokens: 0, with_half });
            counts.len() - 1
        });
        let count = counts.get_mut(known)?;
        if count.len != text.len() {
            count.tokens = counter.count_incremental(text, &mut count.incremental);
            count.len = text.len();
            count.with_half = incremental_texts.half.is_some();
        }
        Some(count.tokens)
    }

    fn get(&self, node: NodeIx) -> Option<&IncrementalText> {
        self.0.iter().find(|incremental_texts| incremental_texts.node == node)
    }
}
