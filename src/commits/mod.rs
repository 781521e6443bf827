//! Commits of an agent's conversation (docs/commits.md).
//!
//! A commit's [`Record`] names the blob with the messages since its parent. A [`CommitGraph`] holds records and answers
//! queries about them. The blobs stay with the host, under the hash of their content.

mod artifact;
mod calls;
mod checkpoint;
pub mod conversation;
pub mod formats;
mod graph;
mod id;
pub mod import;
mod inspect;
mod jsonl;
mod materialize;
mod plan;
mod record;
mod render;
pub mod transcript;
pub mod translate;
mod walk;

pub use artifact::{artifact_ref, short_ref};
pub use calls::{
    CALLS, CHECKPOINTER_CALLS, GRAPH_CALLS, WALK_CALLS, begin, begin_walked, checkpointer, graph, materialized, walk,
};
pub use checkpoint::{CheckpointFields, Checkpointer, CheckpointerOptions, PendingCommit};
pub use graph::{CommitGraph, MetadataUpdate};
pub use id::{ID_CONTEXT, commit_id};
pub use jsonl::{ImportReport, MetadataChoice};
pub use materialize::{AppendAction, Materializer, Verification, materialize};
pub use plan::{DEFAULT_FORMAT, Plan, PlanRequest, PlanStep, Reason, Stop};
pub use record::{CommitType, Provenance, RECORD_VERSION, Record, Trigger};
pub use translate::{CrossFamily, Materialized, Tier};
pub use walk::ChainWalk;
