//! An agent's first turn: tastes, brief, notes, recent log and recent gaps, in this order (SPEC §2).
//!
//! Loading is two steps, since the brief picks the genre files: [`plan_loading`] says which files are wanted,
//! [`read_context`] makes the response of their contents. What is missing, empty or damaged gives empty structures, so
//! that the first turn in a new workspace works as any other.

mod brief;
mod calls;
mod context;
mod notes;
mod plan;
mod records;
mod sizes;
mod tastes;

pub use brief::{Brief, ParsedBrief, parse_brief};
pub use calls::CALLS;
pub use context::{Context, ContextTokens, ReadContext, Workspace, read_context, read_full_notes};
pub use notes::WorkspaceNotes;
pub(crate) use plan::is_workspace_file;
pub use plan::{FileRole, LoadingPlan, Names, PlannedFile, plan_loading};
pub use records::{Gap, LogEntry};
pub use sizes::Sizes;
pub use tastes::{Conflict, Genres, Tastes};
