//! OpenAI Chat Completions, and servers that are like it.

pub(crate) mod blocks;
pub(crate) mod body;
pub(crate) mod compatible;
pub(crate) mod count;
pub(crate) mod fields;
pub(crate) mod pieces;
pub(crate) mod reply;
