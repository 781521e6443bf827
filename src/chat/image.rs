//! The size of an image, read from the beginning of its bytes: what it costs follows from that.

use crate::text::split_once;

/// How many bytes are looked at: a JPEG has its size behind its metadata.
const MOST: usize = 1 << 17;

/// Width and height of a PNG, GIF, WebP or JPEG, given as base64 or a `data:` address; nothing for what is none, or only an
/// address.
pub(super) fn size(source: &str) -> Option<(u32, u32)> {
    let base64 = match source.strip_prefix("data:") {
        Some(rest) => split_once(rest, ";base64,")?.1,
        None => source,
    };
    let bytes = decoded(base64);
    let at = |from: usize, order: [usize; 2]| -> Option<u32> {
        let byte = |at: usize| bytes.get(from.saturating_add(at)).copied().map(u32::from);
        Some(byte(order[0])? << 8 | byte(order[1])?)
    };
    const BIG: [usize; 2] = [0, 1];
    const LITTLE: [usize; 2] = [1, 0];
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let number = |from: usize| Some(at(from, BIG)? << 16 | at(from.saturating_add(2), BIG)?);
        return Some((number(16)?, number(20)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((at(6, LITTLE)?, at(8, LITTLE)?));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return match bytes.get(12..16)? {
            b"VP8X" => {
                let number =
                    |from: usize| Some((at(from, LITTLE)? | u32::from(*bytes.get(from.saturating_add(2))?) << 16) + 1);
                Some((number(24)?, number(27)?))
            }
            b"VP8L" => {
                let bits = at(21, LITTLE)? | at(23, LITTLE)? << 16;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => Some((at(26, LITTLE)? & 0x3fff, at(28, LITTLE)? & 0x3fff)),
        };
    }
    if !bytes.starts_with(b"\xff\xd8") {
        return None;
    }
    let mut segment = 2;
    loop {
        let marker = at(segment, BIG)?;
        let is_frame = matches!(marker, 0xffc0..=0xffcf) && !matches!(marker, 0xffc4 | 0xffc8 | 0xffcc);
        if is_frame {
            return Some((at(segment + 7, BIG)?, at(segment + 5, BIG)?));
        }
        // Bytes that fill up come before a marker.
        let step = if marker == 0xffff { 1 } else { 2 + at(segment + 2, BIG)? as usize };
        segment = segment.checked_add(step).filter(|_| marker >= 0xff00)?;
    }
}

/// The beginning of what base64 stands for, in either alphabet.
fn decoded(base64: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in base64.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
            if bytes.len() >= MOST {
                break;
            }
        }
    }
    bytes
}
