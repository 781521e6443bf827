//! Texts of nodes that grow, as a reply does while it streams (SPEC §1 "What a front end asks a resident tree").
//!
//! Counts are remembered by the hash of a text, and to hash a text again with each word that comes takes as long as to count it.
//! So a text that grows is not interned: what is known of it is how far each counter has come.

use std::cell::RefCell;

use crate::content::Block;
use crate::loom::tree::{Node, NodeIx};
use crate::sorting::sort_by_key;
use crate::text::trim;
use crate::tokens::memory::{CachingCounter, CounterId};
use crate::tokens::{Counter, IncrementalCount};

/// How many texts may grow at the same time. Of more, the one that began first is taken for finished.
const MAX_INCREMENTAL_TEXTS: usize = 32;

/// The texts that grow: the last block of each of these nodes.
#[derive(Debug, Default)]
pub(crate) struct IncrementalTexts(Vec<IncrementalText>);

/// One of them.
#[derive(Debug)]
pub(crate) struct IncrementalText {
    node: NodeIx,
    /// The first half of a surrogate pair; U+FFFD stands for it at the end of the text.
    half: Option<u16>,
    counts: RefCell<Vec<GrownCount>>,
}

/// What a counter knows of the text without the white space around it.
#[derive(Debug)]
struct GrownCount {
    counter: CounterId,
    incremental: IncrementalCount,
    /// Bytes that were counted.
    len: usize,
    tokens: u32,
    /// Whether half a character was counted, which may become a whole one.
    with_half: bool,
}

impl IncrementalTexts {
    /// Takes note that the text of a node grows, if it was not known. Gives the node whose text is finished instead.
    pub(crate) fn begin(&mut self, node: NodeIx) -> Option<NodeIx> {
        if self.get(node).is_some() {
            return None;
        }
        let finished = (self.0.len() >= MAX_INCREMENTAL_TEXTS).then(|| {
            // One that waits for half a character continues.
            let at = self.0.iter().position(|incremental_texts| incremental_texts.half.is_none()).unwrap_or_default();
            self.0.remove(at).node
        });
        self.0.push(IncrementalText { node, half: None, counts: RefCell::default() });
        finished
    }

    /// Forgets a node: its text is finished, or another one.
    pub(crate) fn invalidate(&mut self, node: NodeIx) {
        self.0.retain(|incremental_texts| incremental_texts.node != node);
    }

    /// Takes out what is known of a node, to be put back.
    pub(crate) fn take(&mut self, node: NodeIx) -> Option<IncrementalText> {
        let at = self.0.iter().position(|incremental_texts| incremental_texts.node == node)?;
        Some(self.0.remove(at))
    }

    /// Puts back what was taken out, when the text is again what it was.
    pub(crate) fn put(&mut self, text: IncrementalText) {
        self.invalidate(text.node);
        self.0.push(text);
    }

    /// The nodes, the one that began first first.
    pub(crate) fn nodes(&self) -> Vec<NodeIx> {
        self.0.iter().map(|incremental_texts| incremental_texts.node).collect()
    }

    /// Puts the texts into the order of a list that [`Self::nodes`] gave.
    pub(crate) fn arrange(&mut self, order: &[NodeIx]) {
        sort_by_key(&mut self.0, |incremental_texts| {
            order.iter().position(|&node| node == incremental_texts.node).unwrap_or(usize::MAX)
        });
    }

    pub(crate) fn contains(&self, node: NodeIx) -> bool {
        self.get(node).is_some()
    }

    /// The half of a character that the text ends with.
    pub(crate) fn half(&self, node: NodeIx) -> Option<u16> {
        self.get(node)?.half
    }

    /// Sets with what half of a character the text ends from now on. Where `joined`, the one before became a character.
    pub(crate) fn set_half(&mut self, node: NodeIx, half: Option<u16>, joined: bool) {
        if let Some(incremental_texts) = self.0.iter_mut().find(|incremental_texts| incremental_texts.node == node) {
            incremental_texts.half = half;
            if joined {
                incremental_texts.counts.get_mut().retain(|count| !count.with_half);
            }
        }
    }

    /// Tokens of a text of this node, trimmed; nothing where it is not the one that grows.
    pub(crate) fn tokens(&self, at: NodeIx, node: &Node<'_>, text: &str, counter: &CachingCounter<'_>) -> Option<u32> {
        let incremental_texts = self.get(at)?;
        let Some(Block::Text(last)) = node.content.last() else { return None };
        if !std::ptr::eq(trim(last), text) {
            return None;
        }
        let mut counts = incremental_texts.counts.borrow_mut();
        let known = counts.iter().position(|count| count.counter == counter.id());
        let known = known.unwrap_or_else(|| {
            // Of callers' own counters only the last is remembered, as of other texts.
            counts.retain(|count| !count.counter.is_own() || !counter.id().is_own());
            let (incremental, with_half) = (IncrementalCount::default(), false);
            counts.push(GrownCount { counter: counter.id(), incremental, len: 0, tokens: 0, with_half });
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
