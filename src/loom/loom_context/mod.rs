//! The additions for a loom-aware agent (docs/loom.md): an addendum to the system prompt, an operational memory block
//! before the conversation, a header on each message, and a loom block at the end.
//!
//! Before any measuring, headers become part of their nodes' texts, and the blocks become items that are never
//! truncated. So costs, strategies and rendering see the same text, and a recount of the result equals the report.

mod blocks;
mod context_parts;
mod header;
mod lines;
mod local_id;
mod loom_aware;
pub(crate) mod read;

pub(crate) use context_parts::{Added, addendum, context_parts};
pub use loom_aware::{Addendum, LoomAware, Pinned, Stash};
