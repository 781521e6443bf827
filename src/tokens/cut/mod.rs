//! Texts cut and split by their tokens (SPEC §6).

mod blocks;
mod calls;
mod places;
mod prefixes;
mod split;
mod token_ends;
mod truncate;

pub use calls::CUT_CALLS;
pub use places::Boundary;
pub use split::{Piece, Split, split};
pub use truncate::{Side, Truncate, Truncated, truncate};
