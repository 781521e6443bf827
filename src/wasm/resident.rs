//! The resident tree.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::{bytes_of, with_host, written};
use super::custom_counter::CustomCounter;
use super::error::Thrown;
use crate::call::CallContext;
use crate::error::{Code, Error, Result};
use crate::loom::resident::{Handle, METHODS};
use crate::tokens::Counter as _;
use crate::tokens::memory::Memory;

thread_local! {
    /// The counts that all trees of this instance cache.
    static MEMORY: Memory = Memory::default();
}

/// A resident tree; see `LoomTree` in the package's types.
///
/// An error leaves it unchanged. A re-entrant call, from the custom tokenizer, is an error.
#[wasm_bindgen]
#[derive(Debug)]
pub struct LoomTree {
    handle: RefCell<Handle>,
    /// The custom counter of the last call, to recognize it.
    counter: RefCell<Option<Rc<CustomCounter>>>,
}

#[wasm_bindgen]
impl LoomTree {
    /// Creates a tree from bytes of its JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(tree: &[u8]) -> Thrown<LoomTree> {
        let handle = MEMORY.with(|memory| Handle::from_json(tree, memory))?;
        Ok(Self { handle: RefCell::new(handle), counter: RefCell::default() })
    }

    /// Calls a method by name: see [`call`](super::call::call).
    pub fn call(&self, name: &str, request: &[u8], bytes: &JsValue, tokenizer: &JsValue) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            // The tests read all results as JSON; the package takes some of them packed.
            let method = METHODS.iter().find_map(|table| table.iter().find(|method| method.name == name));
            #[cfg(debug_assertions)]
            let method = method.or_else(|| crate::loom::resident::UNPACKED.iter().find(|method| method.name == name));
            let method = method.ok_or_else(|| Error::new(Code::InternalError, format!("unknown method `{name}`")))?;
            method.answer(handle, request, bytes, host).and_then(written)
        })
    }

    /// A dialogue with a report, packed, for a caller that already has the messages of the result numbered `have`.
    #[wasm_bindgen(js_name = packDialogue)]
    pub fn pack_dialogue(
        &self,
        request: &[u8],
        bytes: &JsValue,
        tokenizer: &JsValue,
        have: u32,
        with_rows: bool,
    ) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            handle.pack_dialogue(request, bytes, host, have, with_rows).and_then(written)
        })
    }

    /// The body for the options' target: the bytes, or `[bytes, report]` with the report packed.
    #[wasm_bindgen(js_name = requestBody)]
    pub fn request_body(
        &self,
        request: &[u8],
        bytes: &JsValue,
        tokenizer: &JsValue,
        with_report: bool,
    ) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            handle.pack_body(request, bytes, host, with_report, |bytes, report| {
                let bytes: JsValue = Uint8Array::from(bytes).into();
                Ok(match report {
                    Some(report) => Array::of2(&bytes, &written(report)?).into(),
                    None => bytes,
                })
            })?
        })
    }

    fn answer(
        &self,
        bytes: &JsValue,
        tokenizer: &JsValue,
        answer: impl FnOnce(&mut Handle, &[Vec<u8>], &CallContext) -> Result<JsValue>,
    ) -> Thrown<JsValue> {
        let counter = CustomCounter::new(tokenizer).map(|counter| self.same_counter(counter));
        with_host(counter.as_ref(), |host| {
            let mut handle = self.handle.try_borrow_mut().map_err(|_| {
                let message =
                    "re-entrant call of the tree; a custom tokenizer must not use the tree that it counts for";
                Error::new(Code::HandleBusy, message)
            })?;
            let answered = answer(&mut handle, &bytes_of(bytes), host);
            if counter.as_ref().is_some_and(|counter| counter.has_failed()) {
                // Counts of a failed counter are not reused: the next call counts again.
                self.counter.replace(None);
            }
            answered
        })
    }

    /// The counter of the last call if it is equal, so that its counts are reused.
    fn same_counter(&self, counter: Rc<CustomCounter>) -> Rc<CustomCounter> {
        let mut last = self.counter.borrow_mut();
        match &*last {
            Some(known) if *known == counter => Rc::clone(known),
            _ => Rc::clone(last.insert(counter)),
        }
    }
}
