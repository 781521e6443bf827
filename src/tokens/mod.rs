//! Counting tokens (SPEC §6).

pub mod bpe;
#[cfg(feature = "tokenize")]
mod calibrate;
mod calls;
pub(crate) mod chat;
#[cfg(feature = "tokenize")]
pub mod codec;
mod counter;
#[cfg(feature = "cut")]
pub mod cut;
mod families;
pub mod heuristic;
mod heuristic_ranges;
mod heuristic_words;
pub mod images;
#[cfg(feature = "loom")]
pub mod memory;
pub mod models;
#[cfg(any(feature = "chat", feature = "cut", feature = "loom"))]
pub(crate) mod search;
#[cfg(feature = "tokenize")]
mod stream;
#[cfg(feature = "tokenize")]
mod text_calls;
#[cfg(feature = "tiktoken")]
pub mod tiktoken;
mod tokenizers;
mod utf8;

pub use calls::CALLS;
pub use counter::Counter;
#[cfg(feature = "growing")]
pub use counter::Grown;
#[cfg(feature = "cut")]
pub use cut::CUT_CALLS;
#[cfg(feature = "tokenize")]
pub use stream::TokenStream;
#[cfg(feature = "tokenize")]
pub use text_calls::TEXT_CALLS;
pub use tokenizers::{Heuristic, Tokenizers};
