//! A message as fitting sees it, and the shared code of the readers of all formats.

pub(crate) mod message;
pub(crate) mod parts;
