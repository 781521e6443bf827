//! Calls by their names: JSON text in, JSON text out.

use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::custom_counter::CustomCounter;
use super::data::throw;
use super::tokens::tokenizers;
use crate::call::{Answer, Call, Host};
use crate::error::{Code, Error, Result};
use crate::tokens::Counter;

/// Makes a call: see [`answer`].
#[wasm_bindgen]
pub fn call(name: &str, request: &[u8], bytes: &JsValue, tokenizer: &JsValue) -> std::result::Result<JsValue, JsValue> {
    answer(crate::CALLS, &mut (), name, request, bytes, tokenizer)
}

/// Makes a call of these tables. `request` is JSON in UTF-8, `bytes` a list of what it refers to, `tokenizer` the caller's own
/// counter; each of the two may be undefined. Gives JSON text, or where bytes belong to the result `[text, ...bytes]`.
pub(super) fn answer<T>(
    tables: &[&[Call<T>]],
    this: &mut T,
    name: &str,
    request: &[u8],
    bytes: &JsValue,
    tokenizer: &JsValue,
) -> std::result::Result<JsValue, JsValue> {
    let counter = CustomCounter::new(tokenizer);
    with_host(bytes, counter.as_ref(), |bytes, host| {
        let call = tables.iter().copied().flatten().find(|call| call.name == name);
        let call = call.ok_or_else(|| Error::new(Code::InternalError, format!("there is no call `{name}`")))?;
        call.answer(this, request, bytes, host).and_then(written)
    })
}

/// Answers with what the host has. What the caller's own counter threw comes before what followed from it.
pub(super) fn with_host(
    bytes: &JsValue,
    counter: Option<&Rc<CustomCounter>>,
    answer: impl FnOnce(&[Vec<u8>], &Host) -> Result<JsValue>,
) -> std::result::Result<JsValue, JsValue> {
    let own = counter.map(|counter| Rc::clone(counter) as Rc<dyn Counter>);
    let host = Host { tokenizers: tokenizers(), counter: own };
    let answer = answer(&bytes_of(bytes), &host);
    let failed = counter.map_or(Ok(()), |counter| counter.check());
    failed.and(answer).map_err(|error| throw(&error))
}

fn bytes_of(list: &JsValue) -> Vec<Vec<u8>> {
    let list = list.dyn_ref::<Array>();
    list.into_iter().flat_map(|list| list.iter()).map(|bytes| Uint8Array::new(&bytes).to_vec()).collect()
}

pub(super) fn written(answer: Answer) -> Result<JsValue> {
    let json = String::from_utf8(answer.json).map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
    let json = JsValue::from(json);
    if answer.bytes.is_empty() {
        return Ok(json);
    }
    let parts = Array::of1(&json);
    for bytes in &answer.bytes {
        parts.push(&Uint8Array::from(bytes.as_slice()));
    }
    Ok(parts.into())
}
