//! Items of the OpenAI Agents SDK, which are read like those of Responses.

pub(crate) mod body;
pub(crate) mod fields;
