//! Counting tokens.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{JsString, Uint32Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use crate::error::Error;
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

/// The counter that the options ask for. `name` is what they call it, where the package has seen that; they are not read
/// then.
fn counter(name: Option<String>, options: JsValue) -> Result<Rc<dyn Counter>, JsValue> {
    let asked = || match name {
        Some(name) => Ok(Some(name)),
        None => decode(options).map(|options: Option<OptionsIn>| options.unwrap_or_default().tokenizer),
    };
    let get = |name: Option<String>| -> Result<Rc<dyn Counter>, Error> {
        TOKENIZERS.with_borrow(|tokenizers| tokenizers.get(name.as_deref().unwrap_or("heuristic")))
    };
    asked().and_then(get).map_err(|error| throw(&error))
}

/// How many tokens a text is.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countTokens)]
pub fn count_tokens(text: &str, name: Option<String>, options: JsValue) -> Result<u32, JsValue> {
    Ok(counter(name, options)?.count(text))
}

/// How many tokens each text is.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countTokensBatch)]
pub fn count_tokens_batch(
    texts: Vec<JsString>,
    name: Option<String>,
    options: JsValue,
) -> Result<Uint32Array, JsValue> {
    let counter = counter(name, options)?;
    let counts: Vec<u32> = texts.iter().map(|text| counter.count(&String::from(text))).collect();
    Ok(Uint32Array::from(counts.as_slice()))
}

/// How many tokens a text is; nothing when that is more than `limit`.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = countTokensUpTo)]
pub fn count_tokens_up_to(
    text: &str,
    limit: u32,
    name: Option<String>,
    options: JsValue,
) -> Result<Option<u32>, JsValue> {
    Ok(counter(name, options)?.count_up_to(text, limit))
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
    let counter = counter(None, options.clone())?;
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
