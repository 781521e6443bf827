//! OpenAI's encodings, by name.

use super::splitter::Splitter;

/// An encoding of OpenAI's. Its vocabulary is part of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and later.
    O200kBase,
    /// `cl100k_base`: GPT-4, GPT-3.5 Turbo, the embedding models.
    Cl100kBase,
    /// `o200k_harmony`: gpt-oss. It is `o200k_base` with more special tokens.
    O200kHarmony,
    /// `p50k_base`: Codex, and GPT-3's `text-davinci-002` and `-003`.
    P50kBase,
    /// `p50k_edit`: GPT-3's edit models. It is `p50k_base` with more special tokens.
    P50kEdit,
    /// `r50k_base`: GPT-3.
    R50kBase,
    /// `gpt2`, another name of `r50k_base`.
    Gpt2,
}

impl Encoding {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::O200kBase,
        Self::Cl100kBase,
        Self::O200kHarmony,
        Self::P50kBase,
        Self::P50kEdit,
        Self::R50kBase,
        Self::Gpt2,
    ];

    /// OpenAI's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kHarmony => "o200k_harmony",
            Self::P50kBase => "p50k_base",
            Self::P50kEdit => "p50k_edit",
            Self::R50kBase => "r50k_base",
            Self::Gpt2 => "gpt2",
        }
    }

    /// The encoding with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|encoding| encoding.name() == name)
    }

    /// The encoding whose asset it uses: encodings that differ only in special tokens share one.
    pub const fn base(self) -> Self {
        match self {
            Self::O200kHarmony => Self::O200kBase,
            Self::P50kEdit => Self::P50kBase,
            Self::Gpt2 => Self::R50kBase,
            other => other,
        }
    }

    /// The file name of its vocabulary asset.
    pub const fn file_name(self) -> &'static str {
        match self.base() {
            Self::P50kBase => "p50k_base.bin",
            Self::R50kBase => "r50k_base.bin",
            Self::Cl100kBase => "cl100k_base.bin",
            _ => "o200k_base.bin",
        }
    }

    /// How it splits texts into pieces.
    pub const fn splitter(self) -> Splitter {
        match self.base() {
            Self::P50kBase | Self::R50kBase => Splitter::GPT2,
            Self::Cl100kBase => Splitter::CL100K,
            _ => Splitter::O200K,
        }
    }

    /// Its special tokens: texts that are one token if the caller allows it, and plain text otherwise.
    pub fn specials(self) -> Vec<(String, u32)> {
        if self == Self::O200kHarmony {
            return harmony();
        }
        let known: &[(&str, u32)] = match self {
            Self::Cl100kBase => &[
                ("<|endoftext|>", 100_257),
                ("<|fim_prefix|>", 100_258),
                ("<|fim_middle|>", 100_259),
                ("<|fim_suffix|>", 100_260),
                ("<|endofprompt|>", 100_276),
            ],
            Self::P50kEdit => &[
                ("<|endoftext|>", 50_256),
                ("<|fim_prefix|>", 50_281),
                ("<|fim_middle|>", 50_282),
                ("<|fim_suffix|>", 50_283),
            ],
            Self::P50kBase | Self::R50kBase | Self::Gpt2 => &[("<|endoftext|>", 50_256)],
            _ => &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
        };
        known.iter().map(|&(text, number)| (text.to_owned(), number)).collect()
    }

    /// The special token whose id lies between those of ordinary tokens, if any.
    pub(super) const fn gap(self) -> Option<u32> {
        match self.base() {
            Self::P50kBase => Some(50_256),
            _ => None,
        }
    }

    /// Whether counts add up at a paragraph break before `next`: see [`Splitter::is_additive_before`].
    pub fn is_additive_before(self, next: &str) -> bool {
        self.splitter().is_additive_before(next)
    }
}

impl AsRef<str> for Encoding {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

/// The special tokens of `o200k_harmony`: the named ones, and reserved ones up to 201,087.
fn harmony() -> Vec<(String, u32)> {
    (199_998..=201_087)
        .map(|number| {
            let name = match number {
                199_998 => "startoftext",
                199_999 => "endoftext",
                200_002 => "return",
                200_003 => "constrain",
                200_005 => "channel",
                200_006 => "start",
                200_007 => "end",
                200_008 => "message",
                200_012 => "call",
                _ => return (format!("<|reserved_{number}|>"), number),
            };
            (format!("<|{name}|>"), number)
        })
        .collect()
}
