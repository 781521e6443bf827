//! Decodes characters of UTF-8.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

/// The character beyond ASCII at `at`, whose first byte is `first`, and its length in bytes. The bytes must be UTF-8
/// and `at` a character boundary; anything else returns a wrong number, never a panic.
#[inline(always)]
pub(super) fn code_point(bytes: &[u8], at: usize, first: u8) -> (u32, usize) {
    let rest = |i: usize| u32::from(bytes.get(at + i).copied().unwrap_or(0) & 0x3f);
    let first = u32::from(first);
    if first < 0xe0 {
        ((first & 0x1f) << 6 | rest(1), 2)
    } else if first < 0xf0 {
        ((first & 0x0f) << 12 | rest(1) << 6 | rest(2), 3)
    } else {
        ((first & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4)
    }
}
