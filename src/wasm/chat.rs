//! The stateful chat.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::call::{with_host, written};
use super::custom_counter::CustomCounter;
use super::error::Thrown;
use crate::chat::resident::{METHODS, ResidentChat};
use crate::error::{Code, Error};

/// A stateful chat; see `Chat` in the package's types.
///
/// An error leaves it unchanged. A re-entrant call, from the custom tokenizer, is an error.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Chat {
    kept: RefCell<ResidentChat>,
    /// The custom counter.
    counter: Option<Rc<CustomCounter>>,
}

#[wasm_bindgen]
impl Chat {
    /// A chat without messages, from the JSON of `{ options }`.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &[u8], tokenizer: &JsValue) -> Thrown<Chat> {
        let counter = CustomCounter::new(tokenizer);
        let kept = with_host(counter.as_ref(), |host| ResidentChat::from_json(request, host))?;
        Ok(Self { kept: RefCell::new(kept), counter })
    }

    /// Calls a method by name: JSON in, JSON text out.
    pub fn call(&self, name: &str, request: &[u8]) -> Thrown<JsValue> {
        with_host(self.counter.as_ref(), |host| {
            let mut kept = self.kept.try_borrow_mut().map_err(|_| {
                let message =
                    "re-entrant call of the chat; a custom tokenizer must not use the chat that it counts for";
                Error::new(Code::HandleBusy, message)
            })?;
            let method = METHODS.iter().find(|method| method.name == name);
            let method = method.ok_or_else(|| Error::new(Code::InternalError, format!("unknown method `{name}`")))?;
            method.answer(&mut kept, request, &[], host).and_then(written)
        })
    }
}
