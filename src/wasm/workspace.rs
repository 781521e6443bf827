//! An agent's first turn.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use super::own::OwnCounter;
use super::surrogates::lone_surrogates;
use super::tokens::tokenizers;
use crate::error::Error;
use crate::input::Content;
use crate::tokens::Counter;
use crate::workspace::wire::{NotesIn, PlanIn, WorkspaceIn, brief};
use crate::workspace::{ReadContext, read_full_notes};

/// Reads a brief; see `ParsedBrief` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = parseBrief)]
pub fn parse_brief_js(text: JsValue) -> Result<JsValue, JsValue> {
    let content: Option<Content> = decode(text.clone()).map_err(|error| throw(&error))?;
    let lone = content.as_ref().filter(|content| content.holds_replacement()).map(|_| lone_surrogates(&text));
    encode(&brief(content, lone.unwrap_or_default()))
}

/// Which files a workspace's first turn needs; see `LoadingPlan` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = planContextLoading)]
pub fn plan_context_loading_js(input: JsValue) -> Result<JsValue, JsValue> {
    encode(&decode::<PlanIn>(input).map_err(|error| throw(&error))?.answer())
}

/// Makes the response to `read_context`; see `WorkspaceInput` and `ReadContext` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = readContext)]
pub fn read_context_js(input: JsValue) -> Result<JsValue, JsValue> {
    let run = || -> Result<ReadContext, Error> {
        let own = OwnCounter::of(&input);
        let workspace: WorkspaceIn = decode(input.clone())?;
        let lone = if workspace.holds_replacement() { lone_surrogates(&input) } else { Vec::new() };
        let result = workspace.answer(&tokenizers(), own.clone().map(|own| own as Rc<dyn Counter>), lone);
        // What a caller's own tokenizer threw comes before what followed from it.
        own.map_or(Ok(()), |own| own.check())?;
        result
    };
    encode(&run().map_err(|error| throw(&error))?)
}

/// The whole text of the notes.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = readFullNotes)]
pub fn read_full_notes_js(input: JsValue) -> Result<String, JsValue> {
    let input: NotesIn = decode(input).map_err(|error| throw(&error))?;
    Ok(read_full_notes(input.notes.as_ref()).to_owned())
}
