//! A message as fitting sees it, and what the readers of all formats share.

pub(crate) mod message;
pub(crate) mod parts;
