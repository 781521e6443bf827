//! The content of nodes, messages and turns: texts, media, tool calls with their results, and reasoning (docs/loom.md).
//!
//! A tree borrows texts from the JSON it is read from, and a message from its tree. A resident tree and a transcript
//! hold [`Block<'static>`](Block). Spans call the blocks of a message its parts.

mod block;
mod counted;
pub(crate) mod node_data;
mod read;
pub(crate) mod tree;
mod turn;
mod vendor_block;
mod write;

pub(crate) use block::arguments_text;
pub(crate) use block::data_url;
pub use block::{Audio, Block, Image, Media};
pub(crate) use counted::{Counted, times};
pub(crate) use read::{ContentReader, TextOwnership, own};
pub(crate) use turn::arguments_object;
pub(crate) use turn::parse_arguments;
pub use turn::{Role, Turn};
pub use vendor_block::{Vendor, VendorBlock};
pub(crate) use write::serialize;
pub(crate) use write::serialize_mixed;
pub(crate) use write::serialize_node;
