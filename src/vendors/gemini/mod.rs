//! Gemini generateContent.

pub(crate) mod blocks;
pub(crate) mod body;
pub(crate) mod part;
pub(crate) mod pieces;
pub(crate) mod reply;
