//! Counting tokens: the fast exports, in addition to the calls of the table.

use std::rc::Rc;

use js_sys::{JsString, Uint32Array};
use wasm_bindgen::prelude::*;

use super::error::Thrown;
use super::tokenizers::TOKENIZERS;
use crate::tokens::Counter;

/// Loads the vocabulary of an exact tokenizer from the bytes of its asset.
#[wasm_bindgen(js_name = loadVocabulary)]
pub fn load_vocabulary(name: &str, asset: &[u8]) -> Thrown<()> {
    Ok(TOKENIZERS.with_borrow_mut(|tokenizers| tokenizers.load(name, asset))?)
}

/// The counter of this name; defaults to the estimator.
pub(super) fn counter(name: Option<String>) -> Thrown<Rc<dyn Counter>> {
    let counter = TOKENIZERS.with_borrow(|tokenizers| tokenizers.get(name.as_deref().unwrap_or("heuristic")));
    Ok(counter.map_err(|error| error.with("path", "options.tokenizer"))?)
}

/// Counts the tokens of a text.
#[wasm_bindgen(js_name = countTokens)]
pub fn count_tokens(text: &str, tokenizer: Option<String>) -> Thrown<u32> {
    Ok(counter(tokenizer)?.count(text))
}

/// Counts the tokens of each text.
#[wasm_bindgen(js_name = countTokensBatch)]
pub fn count_tokens_batch(texts: Vec<JsString>, tokenizer: Option<String>) -> Thrown<Uint32Array> {
    let counter = counter(tokenizer)?;
    let counts: Vec<u32> = texts.iter().map(|text| counter.count(&String::from(text))).collect();
    Ok(Uint32Array::from(counts.as_slice()))
}

/// Counts the tokens of a text; `None` if there are more than `limit`.
#[wasm_bindgen(js_name = countTokensUpTo)]
pub fn count_tokens_up_to(text: &str, limit: u32, tokenizer: Option<String>) -> Thrown<Option<u32>> {
    Ok(counter(tokenizer)?.count_up_to(text, limit))
}
