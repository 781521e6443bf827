//! Anthropic Messages.

pub(crate) mod blocks;
pub(crate) mod body;
pub(crate) mod images;
pub(crate) mod part;
pub(crate) mod pieces;
pub(crate) mod refused;
pub(crate) mod reply;
