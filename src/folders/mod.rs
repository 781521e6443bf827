//! Folders with AGENTS.md files: what is loaded, who watches whom, what goes into the prompt (SPEC §3).
//!
//! A folder's context file is its `AGENTS.md`, else its `CLAUDE.md`. Selecting a folder loads that file, and ancestors on
//! demand. [`build_chain`] decides what is loaded and fits a budget, [`render_prompt`] writes the prompt, [`WatchIndex`] finds
//! who is notified of a change, [`edit_file`] makes a curator's edits.

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
mod yaml;

pub use calls::CALLS;
pub use chain::{
    Chain, ChainFile, IncludeWatched, Level, OmittedFile, Overridden, Overrides, Reason, Selection, build_chain,
};
pub use curate::{Change, Edit, Edited, SectionEdit, edit_file};
pub use discover::{Discovery, Folder, discover};
pub use file::{Bullet, ParsedFile, Section, parse_file};
pub use migrate::{Action, Migration, MigrationInput, Move, Unresolved, migrate_legacy};
pub use paths::{CONTEXT_FILE_NAMES, normalize};
pub use records::{Diff, SessionContext, WatchRecord, diff, session_records};
pub use render::render_prompt;
pub use vault::VaultFile;
pub use watch::{Notified, WatchIndex, Watcher, watch_records};
