//! What a loom-aware agent is told beside the conversation (SPEC §1 "Loom-aware"): an addendum to the system prompt, an
//! operational memory block before the conversation, a header on each message, and a loom block at the end.
//!
//! Headers become part of their nodes' texts before anything is measured. The two blocks become items of the
//! conversation that no truncation takes. So costs, strategies and rendering see one and the same text, and a recount of
//! the result is the report.

mod blocks;
mod frame;
mod header;
mod lines;
mod local_id;
mod loom_aware;
pub(crate) mod read;

pub(crate) use frame::{Added, addendum, frame};
pub use loom_aware::{Addendum, LoomAware, Pinned, Stash};
