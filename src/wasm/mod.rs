//! The JavaScript boundary. The only place that names wasm-bindgen; there is no logic here.
//!
//! What crosses is plain data. Errors are thrown as `{ code, message, details }`; the npm package makes real
//! `CtxweaveError`s of them.

pub mod call;
pub mod chat;
pub mod commits;
mod custom_counter;
mod error;
mod plain;
pub mod resident;
pub mod token_counter;
mod tokenizers;
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
