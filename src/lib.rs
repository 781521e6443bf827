#![doc = include_str!("../docs/crate.md")]

pub mod agent_files;
mod assembly;
pub mod call;
pub mod chat;
mod code_point_table;
pub mod commits;
pub mod content;
pub mod error;
pub mod folders;
mod glob;
mod hashing;
pub mod identify;
pub mod input;
mod json;
mod jsonl;
pub mod limits;
pub mod loom;
pub mod loom_import;
mod maps;
mod markdown;
pub mod operators;
pub mod prompt;
mod sorted_index;
mod sorting;
pub mod text;
pub mod time;
pub mod tokens;
mod tool_calls;
mod vendors;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
pub mod workspace;
mod yaml;

pub use error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
pub use limits::Limits;
pub use maps::{SortedMap, SortedSet};

/// The calls of all areas, as JavaScript calls them, over JSON.
pub const CALLS: &[&[call::Call]] = &[
    agent_files::CALLS,
    chat::CALLS,
    commits::CALLS,
    folders::CALLS,
    identify::CALLS,
    loom::CALLS,
    loom::CHAT_CALLS,
    loom::UNPACKED_CALLS,
    loom_import::CALLS,
    operators::CALLS,
    tokens::CALLS,
    tokens::TOKENIZER_CALLS,
    workspace::CALLS,
];
