//! Exact counts: byte pair encoding as in tiktoken, for OpenAI's encodings and for vocabularies of the same kind.
//!
//! Added tokens that every text may contain are found first (`text_tokens`). The text between them is normalized as the
//! vocabulary requires (`normalize`) and split into pieces by its pattern (`splitter`, `split`, `class`). Most pieces are one token (`token_table`). The others fall apart at boundaries that no token
//! crosses (`joins`), and the rest merges (`merge`). Merged texts are cached (`merge_cache`, `caching`), and the
//! buffers of merging are reused (`scratch`). The tables are built (`build`) from a compact asset (`asset`,
//! `added_tokens`). Assets are made with every condition checked that the engine relies on (`pack`), also from a
//! `tokenizer.json` (`convert`). docs/decisions/exact-counting.md has the arguments and the measurements.

#![expect(
    clippy::indexing_slicing,
    reason = "hash slots are masked to the length of their table, which is a power of two; in lists and trees every \
              index was put there by the code around it"
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
mod text_tokens;
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
pub(crate) use normalize::{Origins, normalized};
pub use pack::pack;
pub use split::Pieces;
pub use splitter::Splitter;
pub use text_tokens::TextToken;
pub use token_table::{PIECE, Rank};
pub use vocabulary::Vocabulary;
