//! Numbers and hashes in the state of a fit, as JSON.

use serde_json::Value as Json;

use crate::json::Value;

/// Hexadecimal digits of a hash, and of a short one.
const DIGITS: usize = 16;
const SHORT_DIGITS: usize = 5;

/// The first bits of a hash.
pub(crate) fn short(hash: u64) -> u32 {
    (hash >> 44) as u32
}

/// A hash as text.
pub(crate) fn hex(hash: u64) -> Json {
    let mut text = String::with_capacity(DIGITS);
    push_hex(hash, DIGITS, &mut text);
    text.into()
}

/// Short hashes as one text.
pub(crate) fn short_hashes(hashes: &[u32]) -> Json {
    let mut text = String::with_capacity(SHORT_DIGITS * hashes.len());
    hashes.iter().for_each(|hash| push_hex(u64::from(*hash), SHORT_DIGITS, &mut text));
    text.into()
}

fn push_hex(hash: u64, digits: usize, text: &mut String) {
    for at in (0..digits).rev() {
        let digit = (hash >> (4 * at)) & 0xF;
        text.push(char::from_digit(digit as u32, 16).unwrap_or_default());
    }
}

fn from_hex(text: &str) -> Option<u64> {
    let digit = |hash: u64, digit: char| Some(hash << 4 | u64::from(digit.to_digit(16)?));
    if text.len() > DIGITS { None } else { text.chars().try_fold(0, digit) }
}

/// The number at a place of a list.
pub(crate) fn number_at(list: &[Value<'_>], at: usize) -> Option<usize> {
    list.get(at)?.whole(u32::MAX).ok().map(|number| number as usize)
}

/// The hash at a place of a list.
pub(crate) fn hash_at(list: &[Value<'_>], at: usize) -> Option<u64> {
    from_hex(&list.get(at)?.as_text()?)
}

/// The short hashes at a place of a list.
pub(crate) fn short_hashes_at(list: &[Value<'_>], at: usize) -> Option<Vec<u32>> {
    let text = list.get(at)?.as_text()?;
    let (groups, rest) = text.as_bytes().as_chunks::<SHORT_DIGITS>();
    let hash = |group: &[u8; SHORT_DIGITS]| from_hex(std::str::from_utf8(group).ok()?).map(|hash| hash as u32);
    if rest.is_empty() { groups.iter().map(hash).collect() } else { None }
}
