//! Escaping for JSON strings.
//!
//! The output is that of `JSON.stringify`, byte for byte: the same short escapes, lower-case hexadecimal digits, and
//! nothing escaped that need not be.

use crate::json::plain_bytes;

/// Appends `text` as it stands between the quotes of a JSON string.
///
/// Escaping has no memory, so that the escaped form of two texts put together is their escaped forms put together.
pub fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + rest.len() / 16);
    loop {
        let (plain, special) = rest.split_at_checked(plain_bytes(rest)).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else { return };
        let (escape, len) = escape(byte);
        out.extend_from_slice(escape.get(..len).unwrap_or_default());
        rest = after;
    }
}

const LONGEST: usize = 6;

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
