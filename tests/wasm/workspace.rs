//! An agent's first turn.

use ctxweave::wasm::workspace::{parse_brief_js, plan_context_loading_js, read_context_js, read_full_notes_js};
use js_sys::Array;
use wasm_bindgen::JsValue;

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    let input = args.get(0);
    Some(match name {
        "parseBrief" => parse_brief_js(input),
        "planContextLoading" => plan_context_loading_js(input),
        "readContext" => read_context_js(input),
        "readFullNotes" => read_full_notes_js(input).map(JsValue::from),
        _ => return None,
    })
}
