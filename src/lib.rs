#![doc = include_str!("../docs/crate.md")]

mod collect;
#[cfg(feature = "commits")]
pub mod commits;
pub mod error;
#[cfg(feature = "folders")]
pub mod folders;
#[cfg(any(feature = "commits", feature = "folders", feature = "workspace"))]
pub mod input;
mod json;
#[cfg(any(feature = "commits", feature = "workspace"))]
mod jsonl;
pub mod limits;
pub mod loom;
#[cfg(any(feature = "commits", feature = "folders", feature = "workspace"))]
mod markdown;
#[cfg(feature = "operators")]
pub mod operators;
pub mod prompt;
pub mod text;
pub mod time;
pub mod tokens;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
#[cfg(feature = "workspace")]
pub mod workspace;

pub use error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
pub use limits::Limits;
