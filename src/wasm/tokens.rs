//! Counting tokens.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, JsString, Reflect, Uint32Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use super::read::said;
use crate::error::{Code, Error};
use crate::tokens::chat::{self, ChatMessage, ChatOverhead};
use crate::tokens::{Counter, Tokenizers, models};

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

/// What is known of a model by its name; nothing for a name that is not known.
///
/// # Errors
/// `{ code, message, details }`, should the answer not be writable.
#[wasm_bindgen(js_name = modelInfo)]
pub fn model_info(name: &str) -> Result<JsValue, JsValue> {
    models::model(name).map_or(Ok(JsValue::UNDEFINED), |model| encode(&model))
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a chat message, an object with `role` and `content`")]
struct ChatMessageIn {
    role: String,
    content: String,
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
struct ChatOptionsIn {
    per_message: Option<u32>,
    per_name: Option<u32>,
    per_request: Option<u32>,
}

/// How many tokens a chat is, as OpenAI's cookbook counts it.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countChatTokens)]
pub fn count_chat_tokens(messages: JsValue, options: JsValue) -> Result<f64, JsValue> {
    let counter = counter(options.clone())?;
    let messages: Vec<ChatMessageIn> = decode(messages).map_err(|error| throw(&error))?;
    let options: Option<ChatOptionsIn> = decode(options).map_err(|error| throw(&error))?;
    let (options, defaults) = (options.unwrap_or_default(), ChatOverhead::default());
    let overhead = ChatOverhead {
        per_message: options.per_message.unwrap_or(defaults.per_message),
        per_name: options.per_name.unwrap_or(defaults.per_name),
        per_request: options.per_request.unwrap_or(defaults.per_request),
    };
    let messages = messages.iter().map(|message| ChatMessage {
        role: &message.role,
        content: &message.content,
        name: message.name.as_deref(),
    });
    Ok(chat::count_chat(messages, overhead, counter.as_ref()) as f64)
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
        // Asked of anything but an object, `Reflect` throws, and what is thrown across the boundary is never given back.
        if !request.is_object() {
            return None;
        }
        let object = Reflect::get(request, &"tokenizer".into()).ok().filter(JsValue::is_object)?;
        let count = Reflect::get(&object, &"count".into()).ok()?.dyn_into().ok()?;
        let name = Reflect::get(&object, &"name".into()).ok().and_then(|name| name.as_string());
        let name = name.unwrap_or_else(|| "own".to_owned());
        Some(Rc::new(Self { name, object, count, failure: RefCell::default() }))
    }

    /// Whether it is the same function of the same object.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.object == other.object && self.count == other.count
    }

    /// Fails when counting did.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn call(&self, text: &str) -> Result<u32, String> {
        let answer = self.count.call1(&self.object, &text.into());
        let answer = answer.map_err(|thrown| format!("threw: {}", said(&thrown)))?;
        let number =
            answer.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        number
            .map(|number| number as u32)
            .ok_or_else(|| "gave something else than a whole number, 0 or more".to_owned())
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
