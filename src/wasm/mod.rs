//! The JavaScript boundary: decode, call, encode. The only place that names wasm-bindgen; there is no logic here.
//!
//! What crosses is plain data. Errors are thrown as `{ code, message, details }`; the npm package makes real
//! `CtxweaveError`s of them.

pub mod bodies;
pub mod commits;
mod data;
pub mod folders;
pub mod loom;
pub mod operators;
mod read;
pub mod resident;
pub mod tokens;
pub mod transcripts;
pub mod workspace;

use wasm_bindgen::prelude::*;

/// The version of the crate.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
