#![doc = include_str!("../docs/crate.md")]
// What one area does not use or export of the code that they share, another does; where none does, the checks of all areas say so.
#![cfg_attr(
    not(all(feature = "import", feature = "package")),
    allow(dead_code, unreachable_pub, unused_imports, reason = "other areas use it")
)]

mod assembly;
pub mod call;
pub mod chat;
pub mod commits;
pub mod content;
pub mod error;
pub mod folders;
pub mod input;
mod json;
mod jsonl;
pub mod limits;
pub mod loom;
pub mod loom_files;
pub mod maps;
mod markdown;
mod nibbles;
pub mod operators;
mod order;
pub mod prompt;
mod sorting;
pub mod text;
pub mod time;
pub mod tokens;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
pub mod workspace;

pub use error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
pub use limits::Limits;

/// The calls of all areas that are compiled in: what JavaScript calls, over JSON.
pub const CALLS: &[&[call::Call]] = &[
    chat::CALLS,
    commits::CALLS,
    folders::CALLS,
    loom::CALLS,
    loom_files::CALLS,
    operators::CALLS,
    tokens::CALLS,
    tokens::CUT_CALLS,
    tokens::TEXT_CALLS,
    workspace::CALLS,
];
