//! The content of nodes, messages and turns: texts, media, calls of tools with their results, and reasoning (SPEC §1 "Model").
//!
//! A tree borrows texts from the JSON that it is read from, and a message from its tree. A resident tree and a transcript hold
//! [`Block<'static>`](Block). Spans call the blocks of a message its parts.

mod block;
#[cfg(any(feature = "chat", feature = "loom"))]
mod counted;
pub(crate) mod node_data;
#[cfg(any(feature = "import", feature = "loom"))]
mod read;
pub(crate) mod signature;
#[cfg(any(feature = "chat", feature = "commits", feature = "import"))]
pub(crate) mod tree;
mod turn;
#[cfg(any(feature = "chat", feature = "loom"))]
mod unanswered;
#[cfg(any(feature = "commits", feature = "import", feature = "loom"))]
pub(crate) mod vendor;
mod write;

#[cfg(feature = "commits")]
pub(crate) use block::arguments_text;
pub(crate) use block::data_url;
pub use block::{Audio, Block, Image, Media};
#[cfg(any(feature = "chat", feature = "loom"))]
pub(crate) use counted::Counted;
#[cfg(any(feature = "import", feature = "loom"))]
pub(crate) use read::{ContentReader, Keep, own};
#[cfg(any(feature = "commits", feature = "import", feature = "loom"))]
pub(crate) use turn::arguments_object;
pub(crate) use turn::parse_arguments;
#[cfg(any(feature = "chat", feature = "commits", feature = "import"))]
pub use turn::{Role, Turn};
#[cfg(any(feature = "chat", feature = "loom"))]
pub(crate) use unanswered::Unanswered;
pub(crate) use write::serialize;
#[cfg(feature = "loom")]
pub(crate) use write::serialize_mixed;
#[cfg(any(feature = "chat", feature = "commits", feature = "import", feature = "loom"))]
pub(crate) use write::serialize_node;
