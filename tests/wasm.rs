//! The tests that run in WebAssembly.
#![cfg(target_arch = "wasm32")]
