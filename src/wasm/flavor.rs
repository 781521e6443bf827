//! The calls of this flavor of the module.
//!
//! A flavor is a set of exports. xtask names them with `--cfg flavor --cfg exports="…"`, as wasm-pack.toml lists them,
//! and the linker drops code that no export reaches. Without `--cfg flavor`, as in tests and lints, everything is
//! exported.

use crate::call::Call;

/// The tables of calls, by area.
pub(super) const CALLS: &[&[&[Call]]] = &[
    #[cfg(any(not(flavor), exports = "chat"))]
    &[crate::chat::CALLS],
    #[cfg(any(not(flavor), exports = "commits"))]
    &[crate::commits::CALLS],
    #[cfg(any(not(flavor), exports = "counting"))]
    &[crate::tokens::CALLS],
    #[cfg(any(not(flavor), exports = "folders"))]
    &[crate::agent_files::CALLS, crate::folders::CALLS],
    #[cfg(any(not(flavor), exports = "identify"))]
    &[crate::identify::CALLS],
    #[cfg(any(not(flavor), exports = "import"))]
    &[crate::loom_import::CALLS],
    #[cfg(any(not(flavor), exports = "loom"))]
    &[crate::loom::CALLS],
    #[cfg(debug_assertions)]
    &[crate::loom::UNPACKED_CALLS],
    #[cfg(any(not(flavor), all(exports = "chat", exports = "loom")))]
    &[crate::loom::CHAT_CALLS],
    #[cfg(any(not(flavor), exports = "operators"))]
    &[crate::operators::CALLS],
    #[cfg(any(not(flavor), exports = "tokenizer"))]
    &[crate::tokens::TOKENIZER_CALLS],
    #[cfg(any(not(flavor), exports = "workspace"))]
    &[crate::workspace::CALLS],
];
