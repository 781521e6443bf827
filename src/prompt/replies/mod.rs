//! A provider's answer, whole or as the events of a stream, as blocks (docs/resident.md).
//!
//! Events are folded into the answer that the provider would have sent at once (`stream`), so that each provider has
//! one reader; its file has both the fold and the reader. Content that a block cannot hold is reported (`notes`).

mod read;
mod reply_input;

pub use crate::vendors::replies::reply::{Replies, Reply, StopReason, Usage};
pub(crate) use reply_input::read;
