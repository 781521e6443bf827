//! Texts as tokens and back, and incremental counts: the fast exports, in addition to the calls of the table.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Uint8Array, Uint16Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::call::with_host;
use super::custom_counter::CustomCounter;
use super::error::Thrown;
use super::tokens::counter;
use crate::error::{Code, Error};
use crate::tokens::TokenStream;

/// The tokens of a text; `None` if the tokenizer has no tokens, for which the call of this name has an error.
#[wasm_bindgen(js_name = encodeTokens)]
pub fn encode_tokens(text: &str, tokenizer: &str) -> Option<Uint32Array> {
    let counter = counter(Some(tokenizer.to_owned())).ok()?;
    let mut tokens = Vec::new();
    counter.codec()?.encode_ordinary(text, usize::MAX, &mut tokens);
    Some(Uint32Array::from(tokens.as_slice()))
}

/// The text of tokens: its bytes if all of them are ASCII, else its UTF-16 code units. Undefined if the tokenizer has
/// no tokens or an id is invalid, for which `decodeTokenBytes` has an error.
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

/// An incremental count; see `TokenCounter` in the package's types.
///
/// An error leaves it unchanged. A re-entrant call, from the custom tokenizer, is an error.
#[wasm_bindgen]
#[derive(Debug)]
pub struct TokenCounter {
    stream: RefCell<TokenStream>,
    /// The custom counter.
    counter: Option<Rc<CustomCounter>>,
}

#[wasm_bindgen]
impl TokenCounter {
    /// A counter without text, from the JSON of `{ options }`.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &[u8], tokenizer: &JsValue) -> Thrown<TokenCounter> {
        let counter = CustomCounter::new(tokenizer);
        let stream = with_host(counter.as_ref(), |host| TokenStream::from_json(request, host))?;
        Ok(Self { stream: RefCell::new(stream), counter })
    }

    /// Appends text; `is_half` if the second half of a surrogate pair follows. Returns the tokens so far.
    pub fn append(&self, delta: &str, is_half: bool) -> Thrown<u32> {
        let mut stream = self.stream.try_borrow_mut().map_err(|_| {
            let message = "re-entrant call of the token counter; a custom tokenizer must not use the token counter that it counts for";
            Error::new(Code::HandleBusy, message)
        })?;
        let count = stream.append(delta, if is_half { "\u{fffd}" } else { "" });
        self.counter.as_ref().map_or(Ok(()), |counter| counter.check())?;
        Ok(count)
    }

    /// Appends one character and returns the tokens so far; -1 on failure, for which [`Self::append`] has an error. A
    /// character crosses faster as a number than as a text.
    #[wasm_bindgen(js_name = appendCharacter)]
    pub fn append_character(&self, code: u32) -> f64 {
        match (char::from_u32(code), self.stream.try_borrow_mut(), &self.counter) {
            (Some(character), Ok(mut stream), None) => f64::from(stream.append(character.encode_utf8(&mut [0; 4]), "")),
            _ => -1.0,
        }
    }

    /// Starts over without text.
    pub fn reset(&self) {
        if let Ok(mut stream) = self.stream.try_borrow_mut() {
            stream.reset();
        }
    }
}
