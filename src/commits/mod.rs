//! Commits of an agent's understanding (SPEC §5, seeds/context-commits.md).
//!
//! A commit's [`Record`] says which blob holds what is new since its parent. The blobs stay with the host, under the hash of
//! their content.

mod artifact;
pub mod conversation;
pub mod formats;
mod id;
pub mod import;
mod record;
mod render;
pub mod transcript;
pub mod transcript_wire;
pub mod translate;

pub use artifact::{artifact_ref, short_ref};
pub use id::{ID_CONTEXT, commit_id};
pub use record::{CommitType, RECORD_VERSION, Record, Trigger};
