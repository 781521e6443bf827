//! What the readers of all answers share: replies of blocks, the events of a stream merged, and fields without a place.

pub(crate) mod reply;
pub(crate) mod stream;
pub(crate) mod unread_fields;
