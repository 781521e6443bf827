//! Escaping for JSON strings.
//!
//! The output is that of `JSON.stringify`, byte for byte: the same short escapes, lower-case hexadecimal digits, and
//! nothing escaped that need not be.

use crate::json::{CHUNK, first_special, is_special};

/// Appends `text` as it stands between the quotes of a JSON string.
///
/// Escaping has no memory, so that the escaped form of two texts put together is their escaped forms put together.
pub fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    let mut end = out.len();
    // Copied as it is looked at, a chunk at a time: a call to copy memory for each run of plain bytes would take longer.
    while let Some((chunk, after)) = rest.split_first_chunk::<CHUNK>() {
        if out.len() < end + CHUNK + LONGEST {
            out.resize(end + rest.len() + rest.len() / 16 + CHUNK + LONGEST, 0);
        }
        put(out, end, chunk);
        let Some(plain) = first_special(chunk) else {
            (end, rest) = (end + CHUNK, after);
            continue;
        };
        let (escape, len) = chunk.get(plain).map_or(([0; LONGEST], 0), |&byte| escape(byte));
        put(out, end + plain, &escape);
        end += plain + len;
        rest = rest.get(plain + 1..).unwrap_or_default();
    }
    out.truncate(end);
    for &byte in rest {
        if is_special(byte) {
            let (escape, len) = escape(byte);
            out.extend_from_slice(escape.get(..len).unwrap_or_default());
        } else {
            out.push(byte);
        }
    }
}

#[inline(always)]
fn put<const N: usize>(out: &mut [u8], at: usize, bytes: &[u8; N]) {
    if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = *bytes;
    }
}

/// No escape is longer, in a size that is copied at once.
const LONGEST: usize = 8;

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
            return ([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF), 0, 0], 6);
        }
    };
    ([b'\\', short, 0, 0, 0, 0, 0, 0], 2)
}
