//! Request bodies, replies, and hashes of messages.

pub mod bodies;
mod cache;
pub mod replies;

pub use crate::vendors::format::Format;
pub use crate::vendors::message::{Message, MessageSpan};
pub use crate::vendors::price::{AUDIO_SECOND, ImageRule, Overhead, Prices, UNKNOWN_IMAGE};
pub(crate) use cache::{message_hash, system_hash};
