//! Imports session files as commits, complete or incrementally (docs/sessions.md).
//!
//! The lines become deltas, byte for byte, so that materializing the tip from its root restores the conversation. A
//! delta ends after an answer of the assistant. Compactions of the format become compaction commits; branches that the
//! user left, and side chains of other agents, become branches. Every readable line is in exactly one blob, except the
//! header, which the blob of a compaction repeats.
//!
//! Commits are never changed by later lines: a commit is made when the next question or answer begins. So reading a
//! file in parts yields the commits of one import at its end, and [`Resume`] records where the next part continues.

mod branches;
mod builder;
mod claude;
mod commit_index;
mod deltas;
mod options;
mod resume;
mod session;

pub use options::{Import, ImportOptions, ImportedBranch, Title};
pub use resume::Resume;
pub use session::import_transcript;
