//! The AI SDK: ModelMessage, the prompt of a language model, and UIMessage.

pub(crate) mod body;
pub(crate) mod fields;
pub(crate) mod part;
pub(crate) mod pieces;
