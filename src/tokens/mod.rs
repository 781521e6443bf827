//! Counts tokens (docs/tokens.md).

pub mod bpe;
mod calibrate;
mod calls;
mod cl100k;
pub mod codec;
mod counter;
pub mod cut;
pub(crate) mod families;
pub mod heuristic;
mod heuristic_cache;
mod heuristic_joins;
mod heuristic_ranges;
mod heuristic_words;
pub mod images;
pub mod memory;
pub mod models;
pub(crate) mod search;
mod stream;
mod text_calls;
#[cfg(feature = "tiktoken")]
pub mod tiktoken;
mod tokenizer_calls;
mod tokenizers;
mod utf8;

pub use calls::CALLS;
pub use counter::Counter;
pub use counter::IncrementalCount;
pub(crate) use counter::Uncounted;
pub use stream::TokenStream;
pub use tokenizer_calls::TOKENIZER_CALLS;
pub use tokenizers::{Heuristic, Tokenizers};
