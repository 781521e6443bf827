//! What a provider answers, whole or as the events of a stream, as blocks (SPEC §1, "What a front end asks a resident tree").
//!
//! Events are folded into the answer that the provider would have given at once (`stream`), so that there is one reader for each
//! provider; its file has both, the fold and the reader. What a block cannot say is told (`notes`).

mod read;
mod reply_input;

pub use crate::vendors::replies::reply::{Replies, Reply, StopReason, Usage};
pub(crate) use reply_input::read;
