//! The JavaScript boundary: decode, call, encode. The only place that names wasm-bindgen; there is no logic here.
//!
//! What crosses is plain data. Errors are thrown as `{ code, message, details }`; the npm package makes real
//! `CtxweaveError`s of them.

pub mod call;
#[cfg(feature = "commits")]
pub mod commits;
mod data;
#[cfg(feature = "folders")]
pub mod folders;
#[cfg(feature = "operators")]
pub mod operators;
mod own;
mod read;
#[cfg(feature = "loom")]
pub mod resident;
#[cfg(any(feature = "folders", feature = "operators"))]
mod surrogates;
pub mod tokens;
#[cfg(feature = "commits")]
pub mod transcripts;

use wasm_bindgen::prelude::*;

/// The version of the crate.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
