//! Cuts and splits texts by their tokens (docs/tokens.md).

mod blocks;
mod calls;
mod places;
mod prefixes;
mod split;
mod token_ends;
mod truncate;

pub(super) use calls::{split_text, truncate_text};
pub use places::Boundary;
pub use split::{Piece, Split, split};
pub use truncate::{Side, Truncate, Truncated, truncate};
