//! The JavaScript boundary: the only module that names wasm-bindgen, without logic.
//!
//! Plain data crosses. Errors are thrown as `{ code, message, details }`; the npm package converts them to
//! `CtxweaveError`s.

pub mod call;
#[cfg(any(not(flavor), exports = "chat"))]
pub mod chat;
#[cfg(any(not(flavor), exports = "commits"))]
pub mod commits;
mod custom_counter;
mod error;
mod flavor;
mod plain;
#[cfg(any(not(flavor), exports = "loom"))]
pub mod resident;
#[cfg(any(not(flavor), exports = "tokenizer"))]
pub mod tokenizer;
mod tokenizers;
#[cfg(any(not(flavor), exports = "counting"))]
pub mod tokens;

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};
use wasm_bindgen::prelude::*;

#[global_allocator]
static ALLOCATOR: WasmDynamicTalc = new_wasm_dynamic_allocator();

/// The version of the crate.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
