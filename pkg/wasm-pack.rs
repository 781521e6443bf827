//! Nothing but the exports of ctxweave.

#[cfg(target_arch = "wasm32")]
pub use ctxweave::wasm::*;
