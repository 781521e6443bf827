//! Texts as tokens and back: what has to be quick, next to the calls of the table.

use js_sys::{Uint8Array, Uint16Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::tokens::counter;

/// The tokens of a text; nothing where the tokenizer has none, which the call of this name has an error for.
#[wasm_bindgen(js_name = encodeTokens)]
pub fn encode_tokens(text: &str, tokenizer: &str) -> Option<Uint32Array> {
    let counter = counter(Some(tokenizer.to_owned())).ok()?;
    let mut tokens = Vec::new();
    counter.codec()?.encode_ordinary(text, usize::MAX, &mut tokens);
    Some(Uint32Array::from(tokens.as_slice()))
}

/// The text that tokens stand for: its bytes where all of them are ASCII, else its UTF-16 code units. Nothing where the tokenizer has
/// no tokens or one is no token, which `decodeTokenBytes` has an error for.
#[wasm_bindgen(js_name = decodeTokens)]
pub fn decode_tokens(ids: &[u32], tokenizer: &str) -> JsValue {
    let decoded = || {
        let counter = counter(Some(tokenizer.to_owned())).ok()?;
        crate::tokens::codec::decode(counter.codec()?, ids).ok()
    };
    match decoded() {
        None => JsValue::UNDEFINED,
        Some(bytes) if bytes.is_ascii() => Uint8Array::from(bytes.as_slice()).into(),
        Some(bytes) => {
            let lossy = || crate::text::utf16_of(String::from_utf8_lossy(&bytes).as_bytes());
            let units = crate::text::utf16_of(&bytes).or_else(lossy).unwrap_or_default();
            Uint16Array::from(units.as_slice()).into()
        }
    }
}
