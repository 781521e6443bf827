//! Exact counts: byte pair encoding as tiktoken does it, for `o200k_base` and `cl100k_base`.
//!
//! A text is cut into pieces by the pattern of the encoding (`split`, `class`). Most pieces are one token (`words`).
//! The others fall apart where no token reaches across (`joins`), and what is left merges (`merge`); what was merged once
//! is remembered (`merge_cache`, `caching`). The tables are built (`build`) out of a compact asset (`asset`), which is made
//! with every condition checked that this rests on (`pack`). docs/counting.md has the arguments and the measurements.

#![expect(
    clippy::indexing_slicing,
    reason = "hash slots are masked to the length of their table, which is a power of two; in lists and trees every \
              index was put there by the code beside it"
)]

mod asset;
mod build;
mod caching;
mod class;
#[cfg(feature = "tiktoken")]
mod foreign;
mod joins;
mod merge;
mod merge_cache;
mod pack;
mod split;
mod unicode_table;
mod vocabulary;
mod words;

pub use caching::CachingCounter;
#[cfg(feature = "tiktoken")]
pub(crate) use foreign::ForeignMerges;
pub use pack::pack;
pub use split::Pieces;
pub use vocabulary::Vocabulary;
pub use words::Rank;

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

    /// The checksum of the one asset that holds its vocabulary: vocabularies do not change.
    const fn checksum(self) -> u64 {
        match self {
            Self::O200kBase => 0x6b36549d092fa831,
            Self::Cl100kBase => 0x6b0e8ec10cd267e0,
        }
    }

    /// Whether counts add up at a paragraph break before `next`: see [`Counter`](super::Counter::adds_up_before).
    ///
    /// Behind a line break a piece begins with whatever is not white space, but that in `o200k_base` punctuation takes
    /// along the line breaks *and slashes* that follow it.
    pub fn adds_up_before(self, next: &str) -> bool {
        match self {
            Self::O200kBase => !next.starts_with('/'),
            Self::Cl100kBase => true,
        }
    }

    /// The pieces that tokens never reach across, in order; together they are the text. Needs no vocabulary.
    pub fn split(self, text: &str) -> Pieces<'_> {
        Pieces::new(self, text)
    }
}
