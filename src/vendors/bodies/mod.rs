//! Shared by the writers of all formats: messages normalized to an order that every provider accepts, and the body that
//! they are written into.

pub(crate) mod arguments;
pub(crate) mod body;
pub(crate) mod breakpoints;
pub(crate) mod completion;
pub(crate) mod conversation;
pub(crate) mod ids;
pub(crate) mod media;
pub(crate) mod message;
pub(crate) mod normalize;
pub(crate) mod reuse;
pub(crate) mod sink;
pub(crate) mod target;
pub(crate) mod tool;
