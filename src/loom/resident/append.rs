//! Appending text to a node, for streaming replies (docs/resident.md).

use super::LoomTree;
use super::change::{ChangeSet, OrderPosition, TailEdit};
use super::change_log::Changed;
use crate::content::Block;
use crate::error::Result;
use crate::json::Value;
use crate::limits::{self, Limits};
use crate::loom::tree::NodeIx;
use crate::text::utf16_len;

/// Text to append. In JavaScript a character may be split across two deltas: each has half of a surrogate pair then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta<'d> {
    /// The second half of a pair, before the text.
    pub low: Option<u16>,
    /// The text.
    pub text: &'d str,
    /// The first half of a pair, after the text.
    pub high: Option<u16>,
}

impl<'d> From<&'d str> for Delta<'d> {
    fn from(text: &'d str) -> Self {
        Self { text, ..Self::default() }
    }
}

/// The result of appending a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appended {
    /// Whether a block was added for it, since the last one was not a text.
    pub new_block: bool,
    /// Whether U+FFFD was removed from the end of the text first: it represented the half of a character that is now
    /// complete.
    pub joined: bool,
    /// The number of bytes appended.
    pub bytes: usize,
    /// Whether half a character became U+FFFD. At the end it may still be completed.
    pub repaired: bool,
    /// The change that undoes it.
    pub inverse: ChangeSet,
}

/// Represents half a character.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

impl LoomTree {
    /// Appends to the text of a node, at the cost of the appended text: to its last block if that is a text, else as a
    /// new block. Counted text is not counted again.
    ///
    /// # Errors
    /// [`Code::NodeNotFound`](crate::Code::NodeNotFound) and [`Code::LimitExceeded`](crate::Code::LimitExceeded). The
    /// tree is then unchanged.
    pub fn append<'d>(&mut self, id: &str, delta: impl Into<Delta<'d>>, limits: &Limits) -> Result<Appended> {
        let Delta { low, text, high } = delta.into();
        let place = self.tree.find(id)?;
        let before = self.incremental_texts.half(place).filter(|_| low.is_some());
        let joined = before.and_then(|high| char::decode_utf16([high, low?]).next()?.ok());
        let first = joined.or(low.map(|_| REPLACEMENT));
        let last = high.map(|_| REPLACEMENT);
        let ends = [first, last].into_iter().flatten().map(char::len_utf8).sum::<usize>();
        let mut appended = Appended {
            new_block: false,
            joined: joined.is_some(),
            bytes: text.len().saturating_add(ends),
            repaired: high.is_some() || (low.is_some() && joined.is_none()),
            inverse: ChangeSet::default(),
        };
        if appended.bytes == 0 {
            return Ok(appended);
        }
        let content = &self.tree.at(place).content;
        appended.new_block = !matches!(content.last(), Some(Block::Text(_)));
        if appended.new_block {
            // Next to another block it makes the content a mixed one.
            let blocks = count(content).saturating_add(1 + usize::from(content.len() == 1));
            limits::check("contentBlocks", blocks, limits.content_blocks)?;
        }
        let replaced = if joined.is_some() { REPLACEMENT.len_utf8() } else { 0 };
        let bytes = self.text_bytes.saturating_sub(replaced).saturating_add(appended.bytes);
        limits::check("inputBytes", bytes, limits.input_bytes)?;
        if appended.new_block {
            appended.inverse.nodes.push(self.put_back(place, OrderPosition::Kept));
        } else {
            let units = |c: Option<char>| c.map_or(0, char::len_utf16);
            let cut = utf16_len(text).saturating_add(units(first)).saturating_add(units(last));
            let text = if joined.is_some() { String::from(REPLACEMENT) } else { String::new() };
            appended.inverse.endings.push(TailEdit { node_id: id.to_owned(), cut, text });
        }
        // From here on nothing can fail.
        self.begin_streaming(place);
        self.tree.edit_last_text(place, |incremental| {
            incremental.truncate(incremental.len().saturating_sub(replaced));
            incremental.extend(first);
            incremental.push_str(text);
            incremental.extend(last);
        });
        self.incremental_texts.set_half(place, high, joined.is_some());
        self.note_change(place, appended.bytes, replaced);
        self.log.note([Changed::Node(place)], self.tree.len());
        self.touch();
        Ok(appended)
    }
}

impl LoomTree {
    /// Changes the ending of a node's text, if possible: removes `cut` bytes and appends `text`.
    pub(super) fn change_ending(&mut self, place: NodeIx, cut: usize, text: &str) {
        if cut > 0 {
            self.incremental_texts.invalidate(place);
        }
        if !self.on_trial {
            self.begin_streaming(place);
        }
        self.tree.edit_last_text(place, |incremental| {
            incremental.truncate(incremental.len().saturating_sub(cut));
            incremental.push_str(text);
        });
        if self.on_trial {
            self.intern(place);
            return;
        }
        self.incremental_texts.set_half(place, None, false);
        self.note_change(place, text.len(), cut);
    }

    /// The text at the end of a node, which is its last block.
    pub(super) fn last_text(&self, place: NodeIx) -> Option<&str> {
        self.tree.at(place).content.last().and_then(Block::as_text)
    }

    /// Records that the text of a node ends with the first half of a surrogate pair, represented by U+FFFD.
    pub(super) fn note_half(&mut self, id: &str, half: u16) {
        if let Ok(place) = self.tree.find(id) {
            self.begin_streaming(place);
            self.incremental_texts.set_half(place, Some(half), false);
        }
    }
}

/// The nodes of a list whose text ends with the first half of a surrogate pair, and that half: the other half may be
/// appended.
pub(super) fn halves(nodes: Value<'_>) -> Vec<(String, u16)> {
    let half = |node: Value<'_>| {
        let [id, mut content] = node.plain_object()?.fields(["id", "content"]).ok()?;
        // In a block, or in the last block of several.
        while let Some(block) = content?.plain_object() {
            let [text, blocks] = block.fields(["text", "blocks"]).ok()?;
            content = text.or(blocks.and_then(|blocks| blocks.as_list()?.last()));
        }
        Some((id?.string().ok()?, content?.half_at_end()?))
    };
    nodes.list("").map(|nodes| nodes.filter_map(half).collect()).unwrap_or_default()
}

/// The number of blocks of a content in JSON: several blocks are in a mixed block, which counts as well.
fn count(blocks: &[Block<'_>]) -> usize {
    let inner = |block: &Block<'_>| if let Block::ToolResult { content, .. } = block { count(content) } else { 0 };
    usize::from(blocks.len() > 1) + blocks.iter().map(|block| 1 + inner(block)).sum::<usize>()
}
