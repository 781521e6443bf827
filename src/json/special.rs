//! The bytes that end or interrupt what stands in a JSON string as it is: quotes, backslashes and control characters.

/// How many bytes [`first_special`] looks at together.
pub(crate) const CHUNK: usize = 16;

pub(crate) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The first byte of a chunk that cannot stand in a string as it is.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
pub(crate) fn first_special(chunk: &[u8; CHUNK]) -> Option<usize> {
    use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};
    let (words, _) = chunk.as_chunks::<8>();
    let [low, high] = [words.first(), words.last()].map(|word| word.map_or(0, |word| u64::from_le_bytes(*word)));
    let bytes = u64x2(low, high);
    let control = u8x16_lt(bytes, u8x16_splat(0x20));
    let quote = u8x16_eq(bytes, u8x16_splat(b'"'));
    let backslash = u8x16_eq(bytes, u8x16_splat(b'\\'));
    let found = u8x16_bitmask(v128_or(control, v128_or(quote, backslash)));
    (found != 0).then_some(found.trailing_zeros() as usize)
}

/// The same without vectors.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) fn first_special(chunk: &[u8; CHUNK]) -> Option<usize> {
    let (words, _) = chunk.as_chunks::<8>();
    let found = |(index, word): (usize, &[u8; 8])| {
        let found = specials(u64::from_le_bytes(*word));
        (found != 0).then(|| index * 8 + (found.trailing_zeros() / 8) as usize)
    };
    words.iter().enumerate().find_map(found)
}

/// A word whose lowest set bit lies in the first byte that cannot stand in a string as it is; 0 when there is none.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A borrow can set bits above a byte that was found, never below it.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\')
}
