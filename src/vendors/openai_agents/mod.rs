//! Items of the OpenAI Agents SDK, which are read as those of Responses.

pub(crate) mod body;
