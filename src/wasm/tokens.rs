//! Counting tokens.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, JsString, Reflect, Uint32Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::data::{decode, throw};
use crate::error::{Code, Error};
use crate::tokens::{Counter, Tokenizers};

thread_local! {
    /// What `loadVocabulary` has loaded, for as long as the instance lives. The only state of the module; the core is
    /// handed it as an argument.
    static TOKENIZERS: RefCell<Tokenizers> = RefCell::default();
}

/// The tokenizers as they are now.
pub(super) fn tokenizers() -> Tokenizers {
    TOKENIZERS.with_borrow(Clone::clone)
}

/// Loads the vocabulary of an exact tokenizer from the bytes of its asset.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = loadVocabulary)]
pub fn load_vocabulary(name: &str, asset: &[u8]) -> Result<(), JsValue> {
    TOKENIZERS.with_borrow_mut(|tokenizers| tokenizers.load(name, asset)).map_err(|error| throw(&error))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "options, an object")]
struct OptionsIn {
    tokenizer: Option<String>,
}

fn counter(options: JsValue) -> Result<Rc<dyn Counter>, JsValue> {
    let read = |options| -> Result<Rc<dyn Counter>, Error> {
        let options: Option<OptionsIn> = decode(options)?;
        tokenizers().get(options.unwrap_or_default().tokenizer.as_deref().unwrap_or("heuristic"))
    };
    read(options).map_err(|error| throw(&error))
}

/// How many tokens a text is.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countTokens)]
pub fn count_tokens(text: &str, options: JsValue) -> Result<u32, JsValue> {
    Ok(counter(options)?.count(text))
}

/// How many tokens each text is.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countTokensBatch)]
pub fn count_tokens_batch(texts: Vec<JsString>, options: JsValue) -> Result<Uint32Array, JsValue> {
    let counter = counter(options)?;
    let counts: Vec<u32> = texts.iter().map(|text| counter.count(&String::from(text))).collect();
    Ok(Uint32Array::from(counts.as_slice()))
}

/// How many tokens a text is; nothing when that is more than `limit`.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countTokensUpTo)]
pub fn count_tokens_up_to(text: &str, limit: u32, options: JsValue) -> Result<Option<u32>, JsValue> {
    Ok(counter(options)?.count_up_to(text, limit))
}

/// A caller's own tokenizer. What it throws is kept until the call is over.
#[derive(Debug)]
pub(super) struct OwnCounter {
    name: String,
    object: JsValue,
    count: Function,
    failure: RefCell<Option<Error>>,
}

impl OwnCounter {
    /// The counter in a request's `tokenizer`, where that is an object with a function `count`.
    pub(super) fn of(request: &JsValue) -> Option<Rc<Self>> {
        let object = Reflect::get(request, &"tokenizer".into()).ok()?;
        let count = Reflect::get(&object, &"count".into()).ok()?.dyn_into().ok()?;
        let name = Reflect::get(&object, &"name".into()).ok().and_then(|name| name.as_string());
        let name = name.unwrap_or_else(|| "own".to_owned());
        Some(Rc::new(Self { name, object, count, failure: RefCell::default() }))
    }

    /// Fails when counting did.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn call(&self, text: &str) -> Result<u32, String> {
        let answer = self.count.call1(&self.object, &text.into()).map_err(|thrown| {
            let said = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
            format!("threw: {}", said.or_else(|| thrown.as_string()).unwrap_or_default())
        })?;
        let number = answer.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        number.map(|number| number as u32).ok_or_else(|| "gave something else than a whole number, 0 or more".to_owned())
    }
}

impl Counter for OwnCounter {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> u32 {
        // After the first failure the result is thrown away, so nothing more needs to be asked.
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
