//! Request bodies.

use ctxweave::wasm::bodies::{request_body_js, request_body_with_report_js};
use js_sys::Array;
use wasm_bindgen::JsValue;

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    match name {
        "requestBody" => Some(request_body_js(args.get(0))),
        "requestBodyWithReport" => Some(request_body_with_report_js(args.get(0))),
        _ => None,
    }
}
