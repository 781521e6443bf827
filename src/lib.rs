#![doc = include_str!("../docs/crate.md")]

mod collect;
#[cfg(feature = "commits")]
pub mod commits;
pub mod error;
#[cfg(feature = "folders")]
pub mod folders;
pub mod input;
mod json;
mod jsonl;
pub mod limits;
pub mod loom;
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
