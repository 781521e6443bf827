//! Custom tokenizers.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::tokens::Counter;

/// A custom tokenizer. An exception it throws is stored until the call ends.
#[derive(Debug)]
pub(super) struct CustomCounter {
    name: String,
    object: JsValue,
    count: Function,
    failure: RefCell<Option<Error>>,
}

impl CustomCounter {
    /// The counter for an object with a function `count`.
    pub(super) fn new(tokenizer: &JsValue) -> Option<Rc<Self>> {
        let object = Some(tokenizer.clone()).filter(JsValue::is_object)?;
        let count = Reflect::get(&object, &"count".into()).ok()?.dyn_into().ok()?;
        let name = Reflect::get(&object, &"name".into()).ok().and_then(|name| name.as_string());
        let name = name.unwrap_or_else(|| "own".to_owned());
        Some(Rc::new(Self { name, object, count, failure: RefCell::default() }))
    }

    /// Fails if counting has failed.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn call(&self, text: &str) -> Result<u32, String> {
        let answer = self.count.call1(&self.object, &text.into());
        let answer = answer.map_err(|thrown| format!("threw: {}", message_of(&thrown)))?;
        let number =
            answer.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        number
            .map(|number| number as u32)
            .ok_or_else(|| "returned something other than a whole number of 0 or more".to_owned())
    }
}

/// Counters are equal if they are the same function of the same object.
impl PartialEq for CustomCounter {
    fn eq(&self, other: &Self) -> bool {
        self.object == other.object && self.count == other.count
    }
}

impl Counter for CustomCounter {
    fn name(&self) -> &str {
        &self.name
    }

    fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    fn count(&self, text: &str) -> u32 {
        // After the first failure the result is discarded, so the function is not called again.
        if self.failure.borrow().is_some() {
            return 0;
        }
        self.call(text).unwrap_or_else(|what| {
            let message = format!("the function `count` of `tokenizer` {what}");
            *self.failure.borrow_mut() = Some(Error::new(Code::TokenizerFailed, message));
            0
        })
    }
}

fn message_of(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    let message = message.or_else(|| thrown.as_string());
    message.filter(|text| !text.is_empty()).unwrap_or_else(|| "an error without a message".to_owned())
}
