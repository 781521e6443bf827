//! Importing session files as commits (SPEC §5, §7 `importTranscript`), whole or as they grow.
//!
//! The lines become deltas, byte for byte, so that materialising the tip from its root gives the conversation again. A delta
//! ends where the assistant has finished an answer. Compactions of the format become compaction commits; branches that the
//! user left, and side chains of other agents, become branches. Every readable line is in exactly one blob, but for the
//! header, which the blob of a compaction repeats.
//!
//! What is committed never changes by what comes after: a commit is made once the next question, or answer, begins. So a file
//! that is read in parts gives the commits of one import at its end, and [`Resume`] says where the next part continues.

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
