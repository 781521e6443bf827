//! Gemini Interactions.

pub(crate) mod blocks;
pub(crate) mod body;
pub(crate) mod fields;
pub(crate) mod part;
pub(crate) mod pieces;
pub(crate) mod reply;
