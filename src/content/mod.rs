//! The content of nodes, messages and turns: texts, media, calls of tools with their results, and reasoning (SPEC §1 "Model").
//!
//! A tree borrows texts from the JSON that it is read from, and a message from its tree. A resident tree and a transcript hold
//! [`Block<'static>`](Block). Spans call the blocks of a message its parts.

mod block;
#[cfg(feature = "loom")]
mod read;
#[cfg(any(feature = "chat", feature = "commits"))]
pub(crate) mod tree;
#[cfg(any(feature = "chat", feature = "commits"))]
mod turn;
#[cfg(any(feature = "chat", feature = "loom"))]
mod unanswered;
mod write;

#[cfg(feature = "commits")]
pub(crate) use block::arguments_text;
pub(crate) use block::data_url;
pub use block::{Audio, Block, Image, Media};
#[cfg(feature = "loom")]
pub(crate) use read::{ContentReader, Keep, own};
#[cfg(feature = "commits")]
pub(crate) use turn::arguments_object;
#[cfg(any(feature = "chat", feature = "commits"))]
pub(crate) use turn::parse_arguments;
#[cfg(any(feature = "chat", feature = "commits"))]
pub use turn::{Role, Turn};
#[cfg(any(feature = "chat", feature = "loom"))]
pub(crate) use unanswered::Unanswered;
pub(crate) use write::serialize;
#[cfg(feature = "loom")]
pub(crate) use write::serialize_mixed;
#[cfg(any(feature = "chat", feature = "commits", feature = "loom"))]
pub(crate) use write::serialize_node;
