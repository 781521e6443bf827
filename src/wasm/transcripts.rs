//! Session files of agents: import, translation, messages, Loom trees.

use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::data::{decode, encode_with_bytes, throw};
use super::own::OwnCounter;
use super::tokens::tokenizers;
use crate::commits::transcript_wire::{ImportIn, ReadIn, TranslateIn};
use crate::error::Error;
use crate::tokens::Counter;

fn options<T: DeserializeOwned + Default>(value: JsValue) -> Result<T, Error> {
    Ok(decode::<Option<T>>(value)?.unwrap_or_default())
}

fn answer<T: Serialize>(
    own: Option<Rc<OwnCounter>>,
    run: impl FnOnce(Option<Rc<dyn Counter>>) -> Result<T, Error>,
) -> Result<JsValue, JsValue> {
    let result = run(own.clone().map(|own| own as Rc<dyn Counter>));
    own.as_ref()
        .map_or(Ok(()), |own| own.check())
        .and(result)
        .map_or_else(|error| Err(throw(&error)), |result| encode_with_bytes(&result))
}

/// Makes commits of a whole session file; see `ImportOptions` and `ImportedTranscript` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = importTranscript)]
pub fn import_transcript_js(format: &str, bytes: &[u8], import: JsValue) -> Result<JsValue, JsValue> {
    answer(OwnCounter::of(&import), |own| options::<ImportIn>(import)?.answer(format, bytes, &tokenizers(), own))
}

/// Translates deltas into one conversation; see `TranslateRequest` and `TranslatedTranscript` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = translateTranscript)]
pub fn translate_transcript_js(request: JsValue) -> Result<JsValue, JsValue> {
    answer(OwnCounter::of(&request), |own| decode::<TranslateIn>(request)?.answer(&tokenizers(), own))
}

/// Reads a conversation as messages; see `TranscriptMessages` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = transcriptToMessages)]
pub fn transcript_to_messages_js(format: &str, bytes: &[u8], read: JsValue) -> Result<JsValue, JsValue> {
    answer(None, |_| options::<ReadIn>(read)?.messages(format, bytes))
}

/// Reads a conversation as a Loom tree; see `TranscriptTree` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = transcriptToLoomTree)]
pub fn transcript_to_loom_tree_js(format: &str, bytes: &[u8], read: JsValue) -> Result<JsValue, JsValue> {
    answer(None, |_| options::<ReadIn>(read)?.loom_tree(format, bytes))
}
