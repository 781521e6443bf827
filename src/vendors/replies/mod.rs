//! Shared code of the readers of all answers: replies of blocks, merged events of a stream, and unread fields.

pub(crate) mod reply;
pub(crate) mod stream;
pub(crate) mod unread_fields;
