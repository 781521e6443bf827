//! The cost of messages in tokens.

use crate::content::Block;
use crate::tokens::Counter;
pub use crate::tokens::images::{ImageRule, UNKNOWN_IMAGE};
use crate::vendors::message::Message;

/// Tokens that a provider adds to those of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// For each message.
    pub per_message: u64,
    /// For the request as a whole.
    pub per_request: u64,
}

impl Default for Overhead {
    fn default() -> Self {
        Self { per_message: 4, per_request: 3 }
    }
}

/// The price list: a counter for text, rules for the rest.
///
/// The cost of a message's content is the sum over its blocks: of a text its count; of a tool call its name and its
/// arguments as compact JSON; of a tool result its content; of reasoning its text; of a vendor's block its cost in that
/// vendor's chats. An independent recount by this rule gives the numbers of reports.
#[derive(Clone, Copy, Debug)]
pub struct Prices<'a> {
    /// Counts text.
    pub counter: &'a dyn Counter,
    /// The overhead of messages.
    pub overhead: Overhead,
    /// The rule for images.
    pub image: ImageRule,
    /// Tokens of a second of audio.
    pub audio_second: u64,
}

/// The default for a second of audio: Gemini's rule, three times OpenAI's.
pub const AUDIO_SECOND: u64 = 32;

impl<'a> Prices<'a> {
    /// Default prices with this counter.
    pub fn new(counter: &'a dyn Counter) -> Self {
        Self { counter, overhead: Overhead::default(), image: ImageRule::default(), audio_second: AUDIO_SECOND }
    }

    /// Tokens of a text.
    pub fn text(&self, text: &str) -> u64 {
        self.counter.count(text).into()
    }

    /// Tokens of a message's content, without overhead.
    pub fn message(&self, message: &Message<'_>) -> u64 {
        self.content(&message.content)
    }

    /// Tokens of blocks.
    pub fn content(&self, blocks: &[Block<'_>]) -> u64 {
        blocks.iter().map(|block| self.block(block)).sum()
    }

    /// Tokens of one block.
    pub fn block(&self, block: &Block<'_>) -> u64 {
        match block {
            Block::Vendor(block) => return self.vendor_block(block),
            Block::ToolResult { content, .. } => return self.content(content),
            _ => {}
        }
        let mut tokens = self.media(block);
        block.counted_texts(&mut |text| tokens += self.text(text));
        tokens
    }

    fn media(&self, block: &Block<'_>) -> u64 {
        match block {
            Block::Image(image) => self.image.tokens(image.width.zip(image.height)),
            Block::Audio(audio) => self.audio(audio.duration_ms),
            _ => 0,
        }
    }

    /// Tokens of a recording with this duration; one of unknown duration counts as a minute.
    pub fn audio(&self, duration_ms: Option<u32>) -> u64 {
        (u64::from(duration_ms.unwrap_or(60_000)).saturating_mul(self.audio_second)).div_ceil(1000)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/vendors/price.rs"]
mod tests;
