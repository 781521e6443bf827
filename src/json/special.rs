//! The bytes that have to be escaped in a JSON string: quotes, backslashes and control characters.
//!
//! `inline(always)` is 5 % of the time that a fit of a chat takes: docs/decisions/inlining.md.

/// Bytes scanned at a time.
pub(crate) const CHUNK: usize = 16;

/// The number of bytes before the first one that has to be escaped; sixteen are scanned at a time.
#[inline(always)]
pub(crate) fn plain_bytes(bytes: &[u8]) -> usize {
    let (chunks, tail) = bytes.as_chunks();
    let mut at = 0;
    for chunk in chunks {
        if let Some(special) = first_special(chunk) {
            return at + special;
        }
        at += CHUNK;
    }
    at + tail.iter().take_while(|&&byte| !is_special(byte)).count()
}

/// Whether a byte has to be escaped in a string.
#[inline(always)]
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The first byte of a chunk that has to be escaped.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
pub(crate) fn first_special(chunk: &[u8; CHUNK]) -> Option<usize> {
    use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};
    let bytes = u128::from_le_bytes(*chunk);
    let bytes = u64x2(bytes as u64, (bytes >> 64) as u64);
    let control = u8x16_lt(bytes, u8x16_splat(0x20));
    let quote = u8x16_eq(bytes, u8x16_splat(b'"'));
    let backslash = u8x16_eq(bytes, u8x16_splat(b'\\'));
    let found = u8x16_bitmask(v128_or(control, v128_or(quote, backslash)));
    (found != 0).then_some(found.trailing_zeros() as usize)
}

/// The same without vector instructions.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
pub(crate) fn first_special(chunk: &[u8; CHUNK]) -> Option<usize> {
    const ONES: u128 = u128::MAX / 0xFF;
    const HIGHS: u128 = ONES << 7;
    let bytes = u128::from_le_bytes(*chunk);
    // A borrow can set bits above a byte that was found, never below it.
    let below = |bytes: u128, bound: u128| bytes.wrapping_sub(ONES * bound) & !bytes & HIGHS;
    let equal = |byte: u8| below(bytes ^ (ONES * u128::from(byte)), 1);
    let found = below(bytes, 0x20) | equal(b'"') | equal(b'\\');
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}
