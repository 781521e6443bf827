//! Calls by name: JSON text in, JSON text out.

use std::hint::black_box;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::custom_counter::CustomCounter;
use super::error::Thrown;
use super::flavor::CALLS;
use super::plain::plain;
use super::tokenizers::tokenizers;
use crate::call::{Call, CallContext, Response, SmallResult};
use crate::error::{Code, Error, Result};
use crate::json;
use crate::tokens::Counter;

/// Makes a call: see `answer`.
#[wasm_bindgen]
pub fn call(name: &str, request: &[u8], bytes: &JsValue, tokenizer: &JsValue) -> Thrown<JsValue> {
    let has_call = |area: &&&[&[Call]]| area.iter().copied().flatten().any(|call| call.name == name);
    let tables = CALLS.iter().find(has_call).copied().unwrap_or_default();
    answer(tables, &mut (), name, request, bytes, tokenizer)
}

/// Makes a call of these tables. `request` is JSON in UTF-8, `bytes` the list of bytes it refers to, `tokenizer` the
/// custom counter; both may be undefined. Returns JSON text, a small result as a value, bytes if these are the result,
/// or `[text, ...bytes]`.
pub(super) fn answer<T>(
    tables: &[&[Call<T>]],
    this: &mut T,
    name: &str,
    request: &[u8],
    bytes: &JsValue,
    tokenizer: &JsValue,
) -> Thrown<JsValue> {
    extend_memory(request);
    // First: a getter of the custom tokenizer may transfer their buffers.
    let bytes = bytes_of(bytes);
    let counter = CustomCounter::new(tokenizer);
    with_host(counter.as_ref(), |host| find(tables, name)?.answer(this, request, &bytes, host).and_then(written))
}

/// Requests up to this many bytes need no preparation.
const SMALL_REQUEST: usize = 1 << 18;
/// The bytes that a message or a node takes while a call runs, by experience.
const BYTES_PER_OBJECT: usize = 1280;
/// Maximum memory that is requested in advance.
const MAX_EXTENSION: usize = 1 << 29;

/// Extends the memory in one step before a large request is read. The allocator extends it page by page, and each step
/// makes engines account for the whole memory again.
pub(super) fn extend_memory(request: &[u8]) {
    if request.len() < SMALL_REQUEST {
        return;
    }
    let objects = request.iter().filter(|&&byte| byte == b'{').count();
    let bytes = objects.saturating_mul(BYTES_PER_OBJECT).min(request.len().saturating_mul(16)).min(MAX_EXTENSION);
    let mut block = Vec::<u8>::new();
    // Without so much memory the call may still succeed. The block must not be optimized away.
    if block.try_reserve_exact(bytes).is_ok() {
        black_box(&block);
    }
}

fn find<'c, T>(tables: &'c [&'c [Call<T>]], name: &str) -> Result<&'c Call<T>> {
    let call = tables.iter().copied().flatten().find(|call| call.name == name);
    call.ok_or_else(|| Error::new(Code::InternalError, format!("unknown call `{name}`")))
}

/// Makes a call with the host's tokenizers. An exception of the custom counter is the error.
pub(super) fn with_host<T>(
    counter: Option<&Rc<CustomCounter>>,
    answer: impl FnOnce(&CallContext) -> Result<T>,
) -> Thrown<T> {
    let own = counter.map(|counter| Rc::clone(counter) as Rc<dyn Counter>);
    let host = CallContext { tokenizers: tokenizers(), counter: own };
    let answer = answer(&host);
    let failed = counter.map_or(Ok(()), |counter| counter.check());
    Ok(failed.and(answer)?)
}

/// The bytes passed with a request. They are `Uint8Array`s; `Uint8Array::new` would also copy each of them outside the
/// module.
pub(super) fn bytes_of(list: &JsValue) -> Vec<Vec<u8>> {
    let list = list.dyn_ref::<Array>();
    list.into_iter().flat_map(|list| list.iter()).map(|bytes| bytes.unchecked_into::<Uint8Array>().to_vec()).collect()
}

pub(super) fn written(answer: Response) -> Result<JsValue> {
    match answer.bytes.as_slice() {
        [] => alone(answer),
        [bytes] if answer.json.is_empty() => Ok(Uint8Array::from(bytes.as_slice()).into()),
        all => {
            let parts = Array::of1(&text(answer.json)?);
            for bytes in all {
                parts.push(&Uint8Array::from(bytes.as_slice()));
            }
            Ok(parts.into())
        }
    }
}

/// A result that is not bytes.
fn alone(answer: Response) -> Result<JsValue> {
    match &answer.small {
        // A bare text would be taken for JSON text.
        Some(SmallResult::Text(small)) => text(json::write(small)?),
        Some(small) => plain(small),
        None => text(answer.json),
    }
}

fn text(json: Vec<u8>) -> Result<JsValue> {
    let json = String::from_utf8(json).map_err(|_| Error::new(Code::InternalError, "the result is not UTF-8"))?;
    Ok(JsValue::from(json))
}
