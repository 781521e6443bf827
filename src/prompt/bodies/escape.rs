//! Escaping for JSON strings, sixteen bytes at a time.
//!
//! The output is that of `JSON.stringify`, byte for byte: the same short escapes, lower-case hexadecimal digits, and
//! nothing escaped that need not be.

/// Appends `text` as it stands between the quotes of a JSON string.
///
/// One pass, sixteen bytes at a time: all of them are copied, and where there is one to escape it goes on behind that.
/// Escaping has no memory, so that the escaped form of two texts put together is their escaped forms put together.
pub fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while rest.len() >= CHUNK {
        // Room for what is left and some escapes. Where there are more of them, it goes on with more room.
        let start = out.len();
        let room = rest.len() + rest.len() / 16 + 2 * CHUNK;
        out.resize(start + room, 0);
        let mut to = out.get_mut(start..).unwrap_or_default();
        while let (Some(chunk), Some(here)) = (rest.first_chunk(), to.first_chunk_mut()) {
            let (read, written) = escape_chunk(chunk, here);
            rest = rest.get(read..).unwrap_or_default();
            to = to.get_mut(written..).unwrap_or_default();
        }
        let left = to.len();
        out.truncate(start + room - left);
    }
    for &byte in rest {
        if is_special(byte) {
            let (escape, len) = escape(byte);
            out.extend(escape.iter().take(len));
        } else {
            out.push(byte);
        }
    }
}

const CHUNK: usize = 16;
const LONGEST: usize = 6;

/// Copies a chunk, up to and including the first byte that has to be escaped; how many bytes were read and written.
fn escape_chunk(chunk: &[u8; CHUNK], to: &mut [u8; CHUNK + LONGEST]) -> (usize, usize) {
    if let Some(to) = to.first_chunk_mut() {
        *to = *chunk;
    }
    let Some(at) = first_special(chunk) else { return (CHUNK, CHUNK) };
    let (escape, len) = escape(chunk.get(at).copied().unwrap_or_default());
    if let Some(to) = to.get_mut(at..).and_then(|to| to.first_chunk_mut()) {
        *to = escape;
    }
    (at + 1, at + len)
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The first byte of a chunk that has to be escaped.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn first_special(chunk: &[u8; CHUNK]) -> Option<usize> {
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
fn first_special(chunk: &[u8; CHUNK]) -> Option<usize> {
    let (words, _) = chunk.as_chunks::<8>();
    let found = |(index, word): (usize, &[u8; 8])| {
        let found = specials(u64::from_le_bytes(*word));
        (found != 0).then(|| index * 8 + (found.trailing_zeros() / 8) as usize)
    };
    words.iter().enumerate().find_map(found)
}

/// A word whose lowest set bit lies in the first byte that has to be escaped; 0 when there is none.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A borrow can set bits above a byte that was found, never below it.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\')
}

/// What stands for a byte that has to be escaped, and how many bytes of it.
fn escape(byte: u8) -> ([u8; LONGEST], usize) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + (value - 10) };
            return ([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF)], LONGEST);
        }
    };
    ([b'\\', short, 0, 0, 0, 0], 2)
}
