//! An agent's first turn: tastes, brief, notes, recent log and recent gaps, in this order (docs/workspace.md).
//!
//! Loading has two steps, since the brief selects the genre files: [`plan_loading`] returns the files to load,
//! [`read_context`] builds the response from their contents. Missing, empty or damaged files yield empty structures, so
//! that the first turn works in a new workspace.

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
