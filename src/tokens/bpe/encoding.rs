//! The encodings, by name.

/// An encoding that this module counts exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and everything since.
    O200kBase,
    /// `cl100k_base`: GPT-4, GPT-3.5 Turbo, the embedding models.
    Cl100kBase,
}

impl Encoding {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::O200kBase, Self::Cl100kBase];

    /// The name that OpenAI gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// The encoding of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|encoding| encoding.name() == name)
    }

    /// The file name of its vocabulary asset.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base.bin",
            Self::Cl100kBase => "cl100k_base.bin",
        }
    }

    /// Its special tokens: text that stands for one token where somebody says so, and for ordinary ones otherwise.
    pub const fn specials(self) -> &'static [(&'static str, u32)] {
        match self {
            Self::O200kBase => &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
            Self::Cl100kBase => &[
                ("<|endoftext|>", 100_257),
                ("<|fim_prefix|>", 100_258),
                ("<|fim_middle|>", 100_259),
                ("<|fim_suffix|>", 100_260),
                ("<|endofprompt|>", 100_276),
            ],
        }
    }

    /// The checksum of the one asset that holds its vocabulary: vocabularies do not change.
    pub(super) const fn checksum(self) -> u64 {
        match self {
            Self::O200kBase => 0x6b36549d092fa831,
            Self::Cl100kBase => 0x6b0e8ec10cd267e0,
        }
    }

    /// Whether counts add up at a paragraph break before `next`: see [`Counter`](crate::tokens::Counter::adds_up_before).
    ///
    /// Behind a line break a piece begins with whatever is not white space, but that in `o200k_base` punctuation takes
    /// along the line breaks *and slashes* that follow it.
    pub fn adds_up_before(self, next: &str) -> bool {
        match self {
            Self::O200kBase => !next.starts_with('/'),
            Self::Cl100kBase => true,
        }
    }
}
