//! Our own messages.

pub(crate) mod body;
pub(crate) mod pieces;
