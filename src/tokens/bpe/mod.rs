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
mod encode;
mod encoding;
#[cfg(feature = "tiktoken")]
mod foreign;
mod joins;
mod merge;
mod merge_cache;
mod pack;
mod split;
mod vocabulary;
mod words;

pub use caching::CachingCounter;
#[cfg(feature = "tokenize")]
pub(crate) use class::{is_letter_or_number, is_lower_case};
pub use encoding::Encoding;
#[cfg(feature = "tiktoken")]
pub(crate) use foreign::ForeignMerges;
pub use pack::pack;
pub use split::Pieces;
pub use vocabulary::Vocabulary;
pub use words::{PIECE, Rank};
