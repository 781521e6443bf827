//! Token costs of images: the rules of vendors, and the size of an image, read from its header.

use crate::text::split_once;

/// How a provider charges for images. Each rule follows the vendor's documentation, whose examples are this file's
/// tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageRule {
    /// A fixed number of tokens per image.
    Flat(u64),
    /// Older models of OpenAI at high detail: `base`, and `tile` per tile of 512 pixels after scaling to 2048 and then
    /// 768.
    Tiles {
        /// Tokens per image.
        base: u64,
        /// Tokens per tile.
        tile: u64,
    },
    /// This many hundredths of a token per patch of `size` pixels, after scaling to at most `side` pixels and
    /// `max_patches` patches.
    Patches {
        /// Side of a patch, in pixels.
        size: u64,
        /// Maximum side of the image, in pixels.
        side: u64,
        /// Maximum patches of the image.
        max_patches: u64,
        /// Hundredths of a token per patch.
        percent: u64,
    },
    /// Gemini 1 and 2: 258 per tile, and a single tile up to 384 pixels a side.
    Gemini,
    /// The most expensive of several, for an unknown model.
    Dearest(&'static [Self]),
    /// An unknown provider: [`UNKNOWN_IMAGE`].
    #[default]
    Unknown,
}

/// Tokens of an image of unknown provider or size: the maximum at Anthropic, and more than the usual cost at OpenAI
/// and Gemini.
pub const UNKNOWN_IMAGE: u64 = 4784;

/// Gemini 3 at its default resolution.
const GEMINI_3: ImageRule = ImageRule::Flat(1120);

/// The smallest models of OpenAI's, and 5.6, which accepts images in their original size.
const OPENAI: ImageRule = ImageRule::Dearest(&[openai_patches(2048, 1536, 246), openai_patches(u64::MAX, 25_000, 120)]);

const fn openai_patches(side: u64, max_patches: u64, percent: u64) -> ImageRule {
    ImageRule::Patches { size: 32, side, max_patches, percent }
}

impl ImageRule {
    /// Anthropic's rule for a model: from 4.7 on images are scaled down less. Unknown models count as new.
    pub fn anthropic(model: &str) -> Self {
        let older = ["claude-2", "claude-3", "-4-0", "-4-1", "-4-2025", "-4-5", "-4-6", "-4.1", "-4.5", "-4.6"];
        let (side, max_patches) = if has(model, &older) { (1568, 1568) } else { (2576, 4784) };
        Self::Patches { size: 28, side, max_patches, percent: 100 }
    }

    /// OpenAI's rule for a model, at its highest detail.
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

    /// Gemini's rule for a model.
    pub fn gemini(model: &str) -> Self {
        let known = [("gemini-1", Self::Gemini), ("gemini-2", Self::Gemini), ("gemini-3", GEMINI_3)];
        let known = known.into_iter().find(|(name, _)| split_once(model, name).is_some());
        known.map_or(Self::Dearest(&[Self::Gemini, GEMINI_3]), |(_, rule)| rule)
    }

    /// Tokens of an image of this size in pixels.
    pub fn tokens(self, size: Option<(u32, u32)>) -> u64 {
        if let Self::Flat(tokens) = self {
            return tokens;
        }
        let Some((width, height)) = size.filter(|size| size.0 > 0 && size.1 > 0) else { return UNKNOWN_IMAGE };
        let size = (u64::from(width), u64::from(height));
        match self {
            Self::Flat(_) | Self::Unknown => UNKNOWN_IMAGE,
            Self::Patches { size: patch, side, max_patches, percent } => {
                let (w, h) = scale_down(size, side, u64::max);
                ((w.div_ceil(patch) * h.div_ceil(patch)).min(max_patches) * percent).div_ceil(100)
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

/// Scales a size down so that the side that `pick` returns is at most `max`.
fn scale_down((w, h): (u64, u64), max: u64, pick: fn(u64, u64) -> u64) -> (u64, u64) {
    let side = pick(w, h);
    if side <= max { (w, h) } else { ((w * max).div_ceil(side), (h * max).div_ceil(side)) }
}

/// Maximum number of bytes that are read: the size of a JPEG comes after its metadata.
const MAX_HEADER_BYTES: usize = 1 << 17;

/// Width and height of a PNG, GIF, WebP or JPEG, passed as base64 or a `data:` URL; `None` for anything else, including
/// other URLs.
pub(crate) fn size(source: &str) -> Option<(u32, u32)> {
    let base64 = match source.strip_prefix("data:") {
        Some(rest) => split_once(rest, ";base64,")?.1,
        None => source,
    };
    let bytes = decoded(base64);
    let at = |from: usize, order: [usize; 2]| -> Option<u32> {
        let byte = |at: usize| bytes.get(from.saturating_add(at)).copied().map(u32::from);
        Some(byte(order[0])? << 8 | byte(order[1])?)
    };
    const BIG: [usize; 2] = [0, 1];
    const LITTLE: [usize; 2] = [1, 0];
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let number = |from: usize| Some(at(from, BIG)? << 16 | at(from.saturating_add(2), BIG)?);
        return Some((number(16)?, number(20)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((at(6, LITTLE)?, at(8, LITTLE)?));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return match bytes.get(12..16)? {
            b"VP8X" => {
                let number =
                    |from: usize| Some((at(from, LITTLE)? | u32::from(*bytes.get(from.saturating_add(2))?) << 16) + 1);
                Some((number(24)?, number(27)?))
            }
            b"VP8L" => {
                let bits = at(21, LITTLE)? | at(23, LITTLE)? << 16;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => Some((at(26, LITTLE)? & 0x3fff, at(28, LITTLE)? & 0x3fff)),
        };
    }
    if !bytes.starts_with(b"\xff\xd8") {
        return None;
    }
    let mut segment = 2;
    loop {
        let marker = at(segment, BIG)?;
        let is_frame = matches!(marker, 0xffc0..=0xffcf) && !matches!(marker, 0xffc4 | 0xffc8 | 0xffcc);
        if is_frame {
            return Some((at(segment + 7, BIG)?, at(segment + 5, BIG)?));
        }
        // Fill bytes may precede a marker.
        let step = if marker == 0xffff { 1 } else { 2 + at(segment + 2, BIG)? as usize };
        segment = segment.checked_add(step).filter(|_| marker >= 0xff00)?;
    }
}

/// Decodes the beginning of a base64 text, in either alphabet.
fn decoded(base64: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in base64.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
            if bytes.len() >= MAX_HEADER_BYTES {
                break;
            }
        }
    }
    bytes
}
