//! Folders with AGENTS.md files: loading, watches and the prompt section (docs/folders.md).
//!
//! A folder's context file is its `AGENTS.md`, else its `CLAUDE.md`. Selecting a folder loads that file, and ancestors
//! on request. [`build_chain`] selects the files and fits a budget, [`render_prompt`] writes the prompt,
//! [`WatchIndex`] finds the files to notify of a change, [`edit_file`] applies a curator's edits.

mod calls;
mod chain;
mod curate;
mod discover;
mod file;
mod front_matter;
mod glob;
mod items;
mod migrate;
pub(crate) mod paths;
mod records;
mod render;
mod vault;
mod watch;

pub use calls::CALLS;
pub use chain::{
    Chain, ChainFile, IncludeWatched, Level, OmittedFile, Overridden, Overrides, Reason, Selection, build_chain,
};
pub use curate::{Change, Edit, Edited, SectionEdit, edit_file};
pub use discover::{Discovery, Folder, SKIPPED_FOLDERS, discover};
pub use file::{Bullet, ParsedFile, Section, parse_file};
pub use migrate::{Action, Migration, MigrationInput, Move, Unresolved, migrate_legacy};
pub use paths::{CONTEXT_FILE_NAMES, normalize};
pub use records::{Diff, SessionContext, WatchRecord, diff, session_records};
pub use render::render_prompt;
pub use vault::VaultFile;
pub use watch::{Notified, WatchIndex, Watcher, watch_records};
