//! The count of a text that grows.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::call::with_host;
use super::custom_counter::CustomCounter;
use super::error::Thrown;
use crate::error::{Code, Error};
use crate::tokens::TokenStream;

/// A text that grows; see `TokenCounter` in the package's types.
///
/// An error leaves it as it was. A call from within another one, by the caller's tokenizer, is an error.
#[wasm_bindgen]
#[derive(Debug)]
pub struct TokenCounter {
    stream: RefCell<TokenStream>,
    /// The caller's own counter.
    counter: Option<Rc<CustomCounter>>,
}

#[wasm_bindgen]
impl TokenCounter {
    /// No text yet, from the JSON of `{ options }`.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &[u8], tokenizer: &JsValue) -> Thrown<TokenCounter> {
        let counter = CustomCounter::new(tokenizer);
        let mut stream = None;
        with_host(counter.as_ref(), |host| {
            stream = Some(TokenStream::from_json(request, host)?);
            Ok(JsValue::UNDEFINED)
        })?;
        let stream = stream.ok_or_else(|| Error::new(Code::InternalError, "there is no counter"))?;
        Ok(Self { stream: RefCell::new(stream), counter })
    }

    /// Adds to the text; `is_half` where half a character follows, whose other half is still to come. Gives the tokens so far.
    pub fn append(&self, delta: &str, is_half: bool) -> Thrown<u32> {
        let mut stream = self.stream.try_borrow_mut().map_err(|_| {
            let message = "the token counter is in the middle of another call; a tokenizer of one's own must not use the token counter that it counts for";
            Error::new(Code::HandleBusy, message)
        })?;
        let count = stream.append(delta, if is_half { "\u{fffd}" } else { "" });
        self.counter.as_ref().map_or(Ok(()), |counter| counter.check())?;
        Ok(count)
    }

    /// Adds one character, and gives the tokens so far; -1 where it cannot, which [`Self::append`] has an error for. A character
    /// crosses sooner as a number than as a text.
    #[wasm_bindgen(js_name = appendCharacter)]
    pub fn append_character(&self, code: u32) -> f64 {
        match (char::from_u32(code), self.stream.try_borrow_mut(), &self.counter) {
            (Some(character), Ok(mut stream), None) => f64::from(stream.append(character.encode_utf8(&mut [0; 4]), "")),
            _ => -1.0,
        }
    }

    /// Begins again, without a text.
    pub fn reset(&self) {
        if let Ok(mut stream) = self.stream.try_borrow_mut() {
            stream.reset();
        }
    }
}
