//! The length of a value as `JSON.stringify` writes it.

use super::special::plain_bytes;
use super::tape::Kind;
use super::value::{BYTES_SIZE, Value};

/// Bytes of `null`.
const NULL: u64 = 4;
/// Bytes of the escape of a lone surrogate, and of U+FFFD, which replaces it here.
const LONE_SURROGATE: u64 = 6;
const REPLACEMENT: u64 = 3;

impl Value<'_> {
    /// Bytes of the value as JSON in UTF-8, without white space. Bytes outside the JSON count as a base64 string.
    pub(crate) fn written_bytes(self) -> u64 {
        match self.kind() {
            Kind::String => {
                let lone = u64::from(self.lone_surrogates()) * (LONE_SURROGATE - REPLACEMENT);
                self.as_text().map_or(0, |text| string_bytes(&text)) + lone
            }
            Kind::List => {
                let items = self.as_list().into_iter().flatten();
                joined(items.map(Self::written_bytes))
            }
            Kind::Object => {
                let Some(object) = self.as_object() else { return 0 };
                if let Some(bytes) = self.attached_bytes() {
                    return base64_bytes(bytes.len() as u64);
                }
                if let Some(size) = object.last(BYTES_SIZE) {
                    return base64_bytes(size.safe_integer().unwrap_or(0));
                }
                if self.is_not_json() {
                    return NULL;
                }
                joined(object.entries().map(|(key, value)| key.written_bytes() + 1 + value.written_bytes()))
            }
            Kind::Null | Kind::Bool | Kind::Number => self.raw().len() as u64,
        }
    }
}

/// Bytes of items with brackets and commas.
fn joined(items: impl Iterator<Item = u64>) -> u64 {
    let (count, bytes) = items.fold((0_u64, 0_u64), |(count, sum), item| (count + 1, sum.saturating_add(item)));
    bytes.saturating_add(2 + count.saturating_sub(1))
}

/// The length of `bytes` bytes as a base64 string.
fn base64_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(3).saturating_mul(4).saturating_add(2)
}

/// The length of a text as a JSON string.
fn string_bytes(text: &str) -> u64 {
    let (mut rest, mut escapes) = (text.as_bytes(), 0);
    while let Some((&byte, after)) = rest.get(plain_bytes(rest)..).and_then(<[u8]>::split_first) {
        // A short escape, such as `\n`, or one like `\u001f`.
        escapes += if matches!(byte, b'"' | b'\\' | 0x08..=0x0A | 0x0C | 0x0D) { 1 } else { 5 };
        rest = after;
    }
    text.len() as u64 + escapes + 2
}
