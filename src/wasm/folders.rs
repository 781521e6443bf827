//! Folders with AGENTS.md files.

use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use super::own::OwnCounter;
use super::surrogates::lone_surrogates;
use super::tokens::tokenizers;
use crate::error::{Diagnostic, Error};
use crate::folders::diff;
use crate::folders::wire::{
    self, ChainIn, ChainResponseIn, DiscoveryIn, EditIn, FileIn, MigrationIn, RenderIn, Rows, SessionIn,
};
use crate::input::Content;
use crate::tokens::Counter;

fn read<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    decode(value).map_err(|error| throw(&error))
}

fn write<T: Serialize>(result: Result<T, Error>) -> Result<JsValue, JsValue> {
    encode(&result.map_err(|error| throw(&error))?)
}

fn lone(value: &JsValue, any: bool) -> Vec<Diagnostic> {
    if any { lone_surrogates(value) } else { Vec::new() }
}

/// Reads a context file; see `ParsedContextFile` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = parseContextFile)]
pub fn parse_context_file_js(path: &str, text: JsValue) -> Result<JsValue, JsValue> {
    let content: Content = read(text.clone())?;
    write(wire::parse(path, &content, lone(&text, content.holds_replacement())))
}

/// The folders that have a context file; see `Discovery` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = discoverContextFolders)]
pub fn discover_context_folders_js(paths: JsValue) -> Result<JsValue, JsValue> {
    let all: Vec<String> = read(paths.clone())?;
    let any = all.iter().any(|path| path.contains(char::REPLACEMENT_CHARACTER));
    write(wire::discover(&all, lone(&paths, any)))
}

/// Loads the files of selected folders; see `ChainRequest` and `ContextChain` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = buildContextChain)]
pub fn build_context_chain_js(request: JsValue) -> Result<JsValue, JsValue> {
    let own = OwnCounter::of(&request);
    let chain: ChainIn = read(request.clone())?;
    let lone = lone(&request, chain.holds_replacement());
    let result = chain.answer(&tokenizers(), own.clone().map(|own| own as Rc<dyn Counter>), lone);
    // What a caller's own tokenizer threw comes before what followed from it.
    write(own.map_or(Ok(()), |own| own.check()).and(result))
}

/// Writes the prompt section of a chain.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = renderContextPrompt)]
pub fn render_context_prompt_js(chain: JsValue, options: JsValue) -> Result<String, JsValue> {
    Ok(read::<RenderIn>(chain)?.render(read(options)?))
}

/// Who watches a path; see `Watcher` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = watchersOf)]
pub fn watchers_of_js(path: &str, files: JsValue, options: JsValue) -> Result<JsValue, JsValue> {
    let options: Option<_> = read(options)?;
    write(wire::watchers_of(path, read(files)?, &options.unwrap_or_default()))
}

/// Who is told of changes; see `Told` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = bubble)]
pub fn bubble_js(paths: JsValue, files: JsValue, options: JsValue) -> Result<JsValue, JsValue> {
    let (paths, options): (Vec<String>, Option<_>) = (read(paths)?, read(options)?);
    write(wire::bubble(&paths, read(files)?, &options.unwrap_or_default()))
}

/// Edits a context file; see `ContextEdit` and `EditedFile` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = editContextFile)]
pub fn edit_context_file_js(text: JsValue, edit: JsValue) -> Result<JsValue, JsValue> {
    let content: Content = read(text.clone())?;
    let given: EditIn = read(edit.clone())?;
    let mut found = lone(&text, content.holds_replacement());
    found.extend(lone(&edit, given.holds_replacement()));
    write(given.answer(&content, &found))
}

/// Plans the migration of legacy context files; see `MigrationInput` and `Migration` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = migrateLegacyContexts)]
pub fn migrate_legacy_contexts_js(input: JsValue) -> Result<JsValue, JsValue> {
    let migration: MigrationIn = read(input.clone())?;
    let lone = lone(&input, migration.holds_replacement());
    write(migration.answer(lone))
}

/// The rows of `context_watches` for all files; see `ContextWatchRecords` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = contextWatchRecords)]
pub fn context_watch_records_js(files: JsValue) -> Result<JsValue, JsValue> {
    let given: Vec<FileIn> = read(files.clone())?;
    let lone = lone(&files, wire::hold_replacement(&given));
    write(wire::watch_records(given, lone))
}

/// The rows of `session_contexts` for selected folders; see `SessionContextRecord` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = sessionContextRecords)]
pub fn session_context_records_js(session: JsValue) -> Result<JsValue, JsValue> {
    write(read::<SessionIn>(session)?.answer())
}

/// What has to change in one of the two tables; see `RecordDiff` in the package's types.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = diffRecords)]
pub fn diff_records_js(before: JsValue, after: JsValue) -> Result<JsValue, JsValue> {
    match wire::rows(read(before)?, read(after)?).map_err(|error| throw(&error))? {
        Rows::Session(before, after) => write(diff(&before, &after)),
        Rows::Watch(before, after) => write(diff(&before, &after)),
    }
}

/// The response to `GET /api/contexts/folders`.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = foldersResponse)]
pub fn folders_response_js(discovery: JsValue) -> Result<JsValue, JsValue> {
    encode(&read::<DiscoveryIn>(discovery)?.response())
}

/// The response to `GET /api/contexts/chain`.
///
/// # Errors
/// `{ code, message, details }`.
#[wasm_bindgen(js_name = chainResponse)]
pub fn chain_response_js(chain: JsValue) -> Result<JsValue, JsValue> {
    encode(&read::<ChainResponseIn>(chain)?.response())
}
