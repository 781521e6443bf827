#![doc = include_str!("../docs/crate.md")]

mod collect;
pub mod commits;
pub mod error;
pub mod folders;
pub mod input;
mod json;
mod jsonl;
pub mod limits;
pub mod loom;
mod markdown;
pub mod operators;
pub mod prompt;
pub mod text;
pub mod time;
pub mod tokens;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
pub mod workspace;

pub use error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
pub use limits::Limits;
