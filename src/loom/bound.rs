//! Whether a conversation fits for certain, told by the lengths of its texts alone.
//!
//! Counting is most of the work of a request that is well below its limit. No counter gives more than so many tokens a
//! byte; where even that fits, nothing would be cut, and whoever wants nothing but the messages need not know the cost.

use crate::loom::assemble::Draft;
use crate::loom::parts::JOIN;
use crate::loom::tools::Conversation;
use crate::loom::tree::Block;
use crate::tokens::Counter;

/// Stands in for a counter whose counts nobody asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncounted;

impl Counter for Uncounted {
    fn name(&self) -> &str {
        "uncounted"
    }

    fn count(&self, _: &str) -> u32 {
        0
    }

    fn adds_up_before(&self, _: &str) -> bool {
        true
    }
}

/// Whether the conversation is below the limit whatever its texts say.
pub(crate) fn fits(draft: &Draft<'_>, conversation: &Conversation<'_>) -> bool {
    // What a loom-aware agent is told is not text of the tree.
    if draft.options.loom_aware.is_some() {
        return false;
    }
    let mut size = Size { bytes: draft.system.len(), tokens: 0 };
    for block in conversation.blocks.iter().flat_map(|blocks| blocks.iter()) {
        size.add(block, draft);
    }
    let messages = conversation.entries.len() as u64 + 1;
    let overhead = draft.prices.overhead;
    let fixed = overhead.per_request.saturating_add(overhead.per_message.saturating_mul(messages));
    let Some(texts) = draft.prices.counter.most(size.bytes) else { return false };
    texts.saturating_add(size.tokens).saturating_add(fixed) <= draft.limit
}

struct Size {
    /// Of texts, and of all that may stand between them or in the place of media.
    bytes: usize,
    /// Of what has a price of its own.
    tokens: u64,
}

impl Size {
    fn add(&mut self, block: &Block, draft: &Draft<'_>) {
        let (bytes, tokens) = match block {
            Block::Text(text) => (text.len(), 0),
            Block::Reasoning { text, .. } => (text.len(), 0),
            Block::ToolCall { name, arguments, .. } => (name.len().saturating_add(arguments.to_string().len()), 0),
            Block::ToolResult { content, .. } => {
                content.iter().for_each(|block| self.add(block, draft));
                (0, 0)
            }
            Block::Image { alt_text, width, height, .. } => {
                (alt_text.as_ref().map_or(0, String::len), draft.prices.image.tokens(width.zip(*height)))
            }
            Block::Audio { duration_ms, .. } => (0, draft.prices.audio(*duration_ms)),
        };
        // `[image: ]` is longer than a join.
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(JOIN.len() + 10);
        self.tokens = self.tokens.saturating_add(tokens);
    }
}
