//! Escaping for JSON strings.
//!
//! The output equals that of `JSON.stringify`, byte for byte: the same short escapes, lower-case hexadecimal digits,
//! and no unneeded escapes.

use super::special::{CHUNK, first_special};

/// Appends `text` as the inside of a JSON string.
///
/// Escaping is stateless: the escaped form of a concatenation is the concatenation of the escaped forms.
pub fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while rest.len() >= CHUNK {
        let start = out.len();
        out.resize(start + rest.len() + rest.len() / 16 + CHUNK_CAPACITY, 0);
        let written = escape_chunks(out.get_mut(start..).unwrap_or_default(), &mut rest);
        out.truncate(start + written);
    }
    // The rest is processed as one chunk, padded with spaces.
    while !rest.is_empty() {
        let mut chunk = [b' '; CHUNK];
        chunk.iter_mut().zip(rest).for_each(|(to, &byte)| *to = byte);
        let plain = first_special(&chunk).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        rest = rest.get(plain..).unwrap_or_default();
        if let Some((&byte, remainder)) = rest.split_first() {
            let escape = escape(byte);
            out.extend_from_slice(escape.get(..length(escape)).unwrap_or_default());
            rest = remainder;
        }
    }
}

/// The output capacity that a chunk with one escape needs.
const CHUNK_CAPACITY: usize = CHUNK + 8;

/// Escapes whole chunks of `rest` while the output has capacity, and returns the number of bytes written. A chunk is
/// copied while it is scanned: a call to copy memory for each run of plain bytes would take longer.
fn escape_chunks(out: &mut [u8], rest: &mut &[u8]) -> usize {
    let mut at = 0;
    while let Some((chunk, after)) = rest.split_first_chunk::<CHUNK>()
        && let Some(target) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<CHUNK_CAPACITY>)
    {
        if let Some(plain_target) = target.first_chunk_mut() {
            *plain_target = *chunk;
        }
        let Some(plain) = first_special(chunk) else {
            (at, *rest) = (at + CHUNK, after);
            continue;
        };
        let escape = chunk.get(plain).map_or([0; 8], |&byte| escape(byte));
        if let Some(escape_target) = target.get_mut(plain..).and_then(<[u8]>::first_chunk_mut) {
            *escape_target = escape;
        }
        at += plain + length(escape);
        *rest = rest.get(plain + 1..).unwrap_or_default();
    }
    at
}

/// The escape of a byte, with its length in the last byte.
fn escape(byte: u8) -> [u8; 8] {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + (value - 10) };
            return [b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF), 0, 6];
        }
    };
    [b'\\', short, 0, 0, 0, 0, 0, 2]
}

fn length(escape: [u8; 8]) -> usize {
    usize::from(escape[7])
}
