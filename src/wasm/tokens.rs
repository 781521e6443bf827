//! Counting tokens.

use js_sys::{JsString, Uint32Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::data::{decode, throw};
use crate::error::Error;
use crate::tokens::{self, Counter};

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "options, an object")]
struct OptionsIn {
    tokenizer: Option<String>,
}

fn counter(options: JsValue) -> Result<Box<dyn Counter>, JsValue> {
    let read = |options| -> Result<Box<dyn Counter>, Error> {
        let options: Option<OptionsIn> = decode(options)?;
        tokens::by_name(options.unwrap_or_default().tokenizer.as_deref().unwrap_or("heuristic"))
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
