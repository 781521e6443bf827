//! The generic format.

pub(crate) mod body;
pub(crate) mod pieces;
