#![doc = include_str!("../docs/crate.md")]
// What one area does not use or export of the code that they share, another does; where none does, the checks of all areas say so.
#![cfg_attr(
    not(all(feature = "import", feature = "package")),
    allow(dead_code, unreachable_pub, unused_imports, reason = "other areas use it")
)]

#[cfg(any(feature = "chat", feature = "loom"))]
mod assembly;
pub mod call;
#[cfg(feature = "chat")]
pub mod chat;
#[cfg(feature = "commits")]
pub mod commits;
#[cfg(any(feature = "chat", feature = "commits", feature = "import", feature = "loom"))]
pub mod content;
pub mod error;
#[cfg(feature = "folders")]
pub mod folders;
#[cfg(any(feature = "commits", feature = "folders", feature = "workspace"))]
pub mod input;
mod json;
#[cfg(any(feature = "commits", feature = "import", feature = "workspace"))]
mod jsonl;
pub mod limits;
#[cfg(feature = "loom")]
pub mod loom;
#[cfg(feature = "import")]
pub mod loom_files;
pub mod maps;
#[cfg(any(
    feature = "commits",
    feature = "folders",
    feature = "operators",
    feature = "tokenize",
    feature = "workspace"
))]
mod markdown;
mod nibbles;
#[cfg(feature = "operators")]
pub mod operators;
mod order;
#[cfg(any(feature = "chat", feature = "loom"))]
pub mod prompt;
#[cfg(any(feature = "chat", feature = "commits", feature = "folders", feature = "import", feature = "loom"))]
mod sorting;
#[cfg(feature = "requests")]
pub mod text;
#[cfg(any(feature = "commits", feature = "folders", feature = "import", feature = "loom"))]
pub mod time;
pub mod tokens;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
#[cfg(feature = "workspace")]
pub mod workspace;

pub use error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
pub use limits::Limits;

/// The calls of all areas that are compiled in: what JavaScript calls, over JSON.
pub const CALLS: &[&[call::Call]] = &[
    #[cfg(feature = "chat")]
    chat::CALLS,
    #[cfg(feature = "commits")]
    commits::CALLS,
    #[cfg(feature = "folders")]
    folders::CALLS,
    #[cfg(feature = "loom")]
    loom::CALLS,
    #[cfg(feature = "import")]
    loom_files::CALLS,
    #[cfg(feature = "operators")]
    operators::CALLS,
    #[cfg(feature = "count")]
    tokens::CALLS,
    #[cfg(feature = "cut")]
    tokens::CUT_CALLS,
    #[cfg(feature = "tokenize")]
    tokens::TEXT_CALLS,
    #[cfg(feature = "workspace")]
    workspace::CALLS,
];
