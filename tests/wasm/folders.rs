//! Folders with AGENTS.md files.

use ctxweave::wasm::folders::*;
use js_sys::Array;
use wasm_bindgen::JsValue;

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    let (first, second, third) = (args.get(0), args.get(1), args.get(2));
    let path = || first.as_string().unwrap();
    Some(match name {
        "parseContextFile" => parse_context_file_js(&path(), second),
        "discoverContextFolders" => discover_context_folders_js(first),
        "buildContextChain" => build_context_chain_js(first),
        "renderContextPrompt" => render_context_prompt_js(first, second).map(JsValue::from),
        "watchersOf" => watchers_of_js(&path(), second, third),
        "bubble" => bubble_js(first, second, third),
        "editContextFile" => edit_context_file_js(first, second),
        "migrateLegacyContexts" => migrate_legacy_contexts_js(first),
        "contextWatchRecords" => context_watch_records_js(first),
        "sessionContextRecords" => session_context_records_js(first),
        "diffRecords" => diff_records_js(first, second),
        "foldersResponse" => folders_response_js(first),
        "chainResponse" => chain_response_js(first),
        _ => return None,
    })
}
