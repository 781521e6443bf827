//! The generic format.

pub(crate) mod body;
pub(crate) mod part;
pub(crate) mod pieces;
