//! Counting tokens (SPEC §6).

pub mod bpe;
mod calls;
mod chat;
mod counter;
pub mod heuristic;
mod heuristic_ranges;
mod heuristic_words;
#[cfg(feature = "loom")]
pub mod memory;
pub mod models;
#[cfg(feature = "tiktoken")]
pub mod tiktoken;
mod tokenizers;
mod utf8;

pub use calls::CALLS;
pub use counter::Counter;
#[cfg(feature = "chat")]
pub use counter::Grown;
pub use tokenizers::{Heuristic, Tokenizers};
