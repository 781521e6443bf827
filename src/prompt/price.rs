//! The cost of messages in tokens.

use crate::content::Block;
use crate::prompt::message::Message;
use crate::text::split_once;
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
    /// A flat number of tokens for each image.
    Flat(u64),
    /// Older models of OpenAI at high detail: `base`, and `tile` for each tile of 512 pixels after scaling to 2048 and then 768.
    Tiles {
        /// For each image.
        base: u64,
        /// For each tile.
        tile: u64,
    },
    /// So many hundredths of a token for each patch of `size` pixels, after scaling to at most `side` pixels and `most` patches.
    Patches {
        /// Pixels a side of a patch.
        size: u64,
        /// Pixels a side of the image.
        side: u64,
        /// Patches of the image.
        most: u64,
        /// Hundredths of a token.
        percent: u64,
    },
    /// Gemini 1 and 2: 258 for each tile, and a single one up to 384 pixels a side.
    Gemini,
    /// The dearest of some, for a model that is not known.
    Dearest(&'static [Self]),
    /// No provider is known: [`UNKNOWN_IMAGE`].
    #[default]
    Unknown,
}

/// Tokens of an image whose provider or size is not known: the most that one costs at Anthropic, and more than OpenAI's
/// and Gemini's usual cost.
pub const UNKNOWN_IMAGE: u64 = 4784;

/// Gemini 3 at the resolution that it has where none is asked for.
const GEMINI_3: ImageRule = ImageRule::Flat(1120);

/// The smallest models of OpenAI's, and 5.6, which takes images in their size.
const OPENAI: ImageRule = ImageRule::Dearest(&[openai_patches(2048, 1536, 246), openai_patches(u64::MAX, 25_000, 120)]);

const fn openai_patches(side: u64, most: u64, percent: u64) -> ImageRule {
    ImageRule::Patches { size: 32, side, most, percent }
}

impl ImageRule {
    /// Anthropic's, by the name of the model: from 4.7 on images are scaled down less. The same for one that is not known.
    pub fn anthropic(model: &str) -> Self {
        let older = ["claude-2", "claude-3", "-4-0", "-4-1", "-4-2025", "-4-5", "-4-6", "-4.1", "-4.5", "-4.6"];
        let (side, most) = if has(model, &older) { (1568, 1568) } else { (2576, 4784) };
        Self::Patches { size: 28, side, most, percent: 100 }
    }

    /// OpenAI's, by the name of the model, at the highest detail that it has.
    pub fn openai(model: &str) -> Self {
        let rules: &[(&[&str], Self)] = &[
            (&["4o-mini"], Self::Tiles { base: 2833, tile: 5667 }),
            (&["o4-mini"], openai_patches(2048, 1536, 172)),
            (&["4.1-nano", "5-nano"], openai_patches(2048, 1536, 246)),
            (&["4.1-mini", "5-mini", "5.4-mini"], openai_patches(2048, 1536, 162)),
            (&["gpt-5.4", "gpt-5.5"], openai_patches(6000, 10_000, 120)),
            (&["gpt-5.6", "gpt-6"], OPENAI),
            (&["gpt-5"], Self::Tiles { base: 70, tile: 140 }),
            (&["computer-use"], Self::Tiles { base: 65, tile: 129 }),
            (&["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4-"], Self::Tiles { base: 85, tile: 170 }),
            (&["o1", "o3"], Self::Tiles { base: 75, tile: 150 }),
        ];
        rules.iter().find(|(names, _)| has(model, names)).map_or(OPENAI, |(_, rule)| *rule)
    }

    /// Gemini's, by the name of the model.
    pub fn gemini(model: &str) -> Self {
        let known = [("gemini-1", Self::Gemini), ("gemini-2", Self::Gemini), ("gemini-3", GEMINI_3)];
        let known = known.into_iter().find(|(name, _)| split_once(model, name).is_some());
        known.map_or(Self::Dearest(&[Self::Gemini, GEMINI_3]), |(_, rule)| rule)
    }

    /// Tokens of an image of so many pixels.
    pub fn tokens(self, size: Option<(u32, u32)>) -> u64 {
        if let Self::Flat(tokens) = self {
            return tokens;
        }
        let Some((width, height)) = size.filter(|size| size.0 > 0 && size.1 > 0) else { return UNKNOWN_IMAGE };
        let size = (u64::from(width), u64::from(height));
        match self {
            Self::Flat(_) | Self::Unknown => UNKNOWN_IMAGE,
            Self::Patches { size: patch, side, most, percent } => {
                let (w, h) = scale_down(size, side, u64::max);
                ((w.div_ceil(patch) * h.div_ceil(patch)).min(most) * percent).div_ceil(100)
            }
            Self::Tiles { base, tile } => {
                let (w, h) = scale_down(scale_down(size, 2048, u64::max), 768, u64::min);
                base + tile * w.div_ceil(512) * h.div_ceil(512)
            }
            Self::Dearest(rules) => rules.iter().map(|rule| rule.tokens(Some((width, height)))).max().unwrap_or(0),
            Self::Gemini if width <= 384 && height <= 384 => 258,
            Self::Gemini => {
                let tile = (size.0.min(size.1) * 2 / 3).clamp(256, 768);
                258 * size.0.div_ceil(tile) * size.1.div_ceil(tile)
            }
        }
    }
}

fn has(model: &str, names: &[&str]) -> bool {
    names.iter().any(|name| split_once(model, name).is_some())
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
