//! Exact counts: byte pair encoding as tiktoken does it, for OpenAI's encodings and for vocabularies of the same kind.
//!
//! A text is brought to the normal form that the vocabulary wants (`normalize`), and cut into pieces by its pattern (`splitter`,
//! `split`, `class`). Most pieces are one token (`words`).
//! The others fall apart where no token reaches across (`joins`), and what is left merges (`merge`); what was merged once
//! is remembered (`merge_cache`, `caching`), with the lists that merging takes (`scratch`). The tables are built (`build`) out of a compact asset (`asset`, `more`), which is made
//! with every condition checked that this rests on (`pack`), also of a `tokenizer.json` (`convert`). docs/decisions/exact-counting.md has the arguments.

#![expect(
    clippy::indexing_slicing,
    reason = "hash slots are masked to the length of their table, which is a power of two; in lists and trees every \
              index was put there by the code beside it"
)]

mod added_tokens;
pub(crate) mod asset;
mod build;
mod caching;
mod class;
mod convert;
mod counted;
mod encode;
mod encoding;
#[cfg(feature = "tiktoken")]
mod foreign;
mod incremental;
mod joins;
mod merge;
mod merge_cache;
mod normalize;
mod pack;
mod patterns;
mod runs;
mod scratch;
mod split;
mod splitter;
mod token_table;
mod vocabulary;

pub use caching::CachingCounter;
pub(crate) use class::{is_letter_or_number, is_lower_case};
pub use convert::vocabulary_of;
pub(crate) use counted::Counted;
pub use encoding::Encoding;
#[cfg(feature = "tiktoken")]
pub(crate) use foreign::ForeignMerges;
pub(crate) use merge::meet;
pub use normalize::Form;
pub(crate) use normalize::Origins;
pub use pack::pack;
pub use split::Pieces;
pub use splitter::Splitter;
pub use token_table::{PIECE, Rank};
pub use vocabulary::Vocabulary;
