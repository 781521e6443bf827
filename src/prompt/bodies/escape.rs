//! Escaping for JSON strings, sixteen bytes at a time.
//!
//! The output is that of `JSON.stringify`, byte for byte: the same short escapes, lower-case hexadecimal digits, and
//! nothing escaped that need not be.

use crate::json::{CHUNK, first_special, is_special};

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
