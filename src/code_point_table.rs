//! Tables of a small number for each code point.
//!
//! `inline(always)` is 16 % of the time that estimating takes: docs/decisions/inlining.md.

/// Code points in a block.
const BLOCK: u32 = 128;

/// The number of a code point below `indexed` in a table as `cargo xtask vocab --unicode` writes it: the block number
/// of each 128 code points, then the distinct blocks, two numbers in a byte, low half first.
#[inline(always)]
pub(crate) fn get(table: &[u8], indexed: u32, code_point: u32) -> u8 {
    let byte = |at: u32| table.get(at as usize).copied().unwrap_or(0);
    let block = u32::from(byte(code_point / BLOCK));
    let pair = byte(indexed / BLOCK + block * (BLOCK / 2) + code_point % BLOCK / 2);
    pair >> (code_point % 2 * 4) & 15
}
