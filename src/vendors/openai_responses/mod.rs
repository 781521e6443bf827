//! OpenAI Responses, and the items of the Agents SDK.

pub(crate) mod blocks;
pub(crate) mod body;
pub(crate) mod fields;
pub(crate) mod phase;
pub(crate) mod pieces;
pub(crate) mod reply;
