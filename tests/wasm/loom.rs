//! Assembly of Loom trees.

use ctxweave::wasm::loom::{assemble_buffer_js, assemble_dialogue_js};
use js_sys::Array;
use wasm_bindgen::JsValue;

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    match name {
        "assembleDialogue" => Some(assemble_dialogue_js(args.get(0))),
        "assembleBuffer" => Some(assemble_buffer_js(args.get(0))),
        _ => None,
    }
}
