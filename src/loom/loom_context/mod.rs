//! What a loom-aware agent gets next to the conversation (SPEC §1 "Loom-aware"): an addendum to the system prompt, an
//! operational memory block before the conversation, a header on each message, and a loom block at the end.
//!
//! Headers become part of their nodes' texts, and the blocks items that are never truncated, before anything is measured. So
//! costs, strategies and rendering see the same text, and a recount of the result is the report.

mod blocks;
mod context_parts;
mod header;
mod lines;
mod local_id;
mod loom_aware;
pub(crate) mod read;

pub(crate) use context_parts::{Added, addendum, context_parts};
pub use loom_aware::{Addendum, LoomAware, Pinned, Stash};
