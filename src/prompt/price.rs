//! What messages cost in tokens.

use crate::content::Block;
use crate::prompt::message::Message;
use crate::tokens::Counter;

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

/// How a provider charges for images. Each rule is what the vendor's documentation says; its own examples are this file's tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageRule {
    /// So many tokens for each image, whatever its size.
    Flat(u64),
    /// Anthropic: a token for each patch of 28 pixels, after scaling to at most 2576 pixels a side and 4784 tokens; older models
    /// scale further down.
    Anthropic,
    /// OpenAI at high detail: 85, and 170 for each tile of 512 pixels after scaling to 2048 and then 768.
    OpenAi,
    /// Gemini: 258 for each tile, and a single one up to 384 pixels a side.
    Gemini,
    /// No provider is known: [`UNKNOWN_IMAGE`].
    #[default]
    Unknown,
}

/// Tokens of an image whose provider or size is not known: the most that one costs at Anthropic, and more than OpenAI's
/// and Gemini's usual cost.
pub const UNKNOWN_IMAGE: u64 = 4784;

impl ImageRule {
    /// Tokens of an image of so many pixels.
    pub fn tokens(self, size: Option<(u32, u32)>) -> u64 {
        match (self, size) {
            (Self::Flat(tokens), _) => tokens,
            (Self::Unknown, _) | (_, None | Some((0, _) | (_, 0))) => UNKNOWN_IMAGE,
            (Self::Anthropic, Some((width, height))) => {
                let (w, h) = scale_down((width.into(), height.into()), 2576, u64::max);
                (w.div_ceil(28) * h.div_ceil(28)).min(4784)
            }
            (Self::OpenAi, Some((width, height))) => {
                let fitted = scale_down((width.into(), height.into()), 2048, u64::max);
                let (w, h) = scale_down(fitted, 768, u64::min);
                85 + 170 * w.div_ceil(512) * h.div_ceil(512)
            }
            (Self::Gemini, Some((width, height))) if width <= 384 && height <= 384 => 258,
            (Self::Gemini, Some((width, height))) => {
                let tile = (u64::from(width.min(height)) * 2 / 3).clamp(256, 768);
                258 * u64::from(width).div_ceil(tile) * u64::from(height).div_ceil(tile)
            }
        }
    }
}

/// Scales a size down so that the side that `pick` gives is at most `max`.
fn scale_down((w, h): (u64, u64), max: u64, pick: fn(u64, u64) -> u64) -> (u64, u64) {
    let side = pick(w, h);
    if side <= max { (w, h) } else { ((w * max).div_ceil(side), (h * max).div_ceil(side)) }
}

/// The price list: a counter for text, rules for the rest.
///
/// The cost of a message's content is the sum over its blocks: of a text its count; of a tool call its name and its arguments
/// as compact JSON; of a tool result its content; of reasoning its text. An independent recount by this rule gives the
/// numbers of reports.
#[derive(Clone, Copy, Debug)]
pub struct Prices<'a> {
    /// Counts text.
    pub counter: &'a dyn Counter,
    /// Added around messages.
    pub overhead: Overhead,
    /// For images.
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
        let mut tokens = self.media(block);
        block.counted_texts(&mut |text| tokens += self.text(text));
        tokens
    }

    fn media(&self, block: &Block<'_>) -> u64 {
        match block {
            Block::Image(image) => self.image.tokens(image.width.zip(image.height)),
            Block::Audio(audio) => self.audio(audio.duration_ms),
            Block::ToolResult { content, .. } => content.iter().map(|block| self.media(block)).sum(),
            Block::Text(_) | Block::ToolCall { .. } | Block::Reasoning { .. } => 0,
        }
    }

    /// Tokens of a recording of so many milliseconds; one of unknown length counts as a minute.
    pub fn audio(&self, duration_ms: Option<u32>) -> u64 {
        (u64::from(duration_ms.unwrap_or(60_000)).saturating_mul(self.audio_second)).div_ceil(1000)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/prompt/price.rs"]
mod tests;
