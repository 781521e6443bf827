//! Counting tokens.

use ctxweave::wasm::tokens::{count_chat_tokens, count_tokens, count_tokens_up_to, model_info};
use js_sys::Array;
use wasm_bindgen::JsValue;

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    let text = args.get(0).as_string().unwrap_or_default();
    Some(match name {
        "countTokens" => count_tokens(&text, None, args.get(1)).map(JsValue::from),
        "countTokensUpTo" => {
            let limit = args.get(1).as_f64().expect("`limit` is a number");
            count_tokens_up_to(&text, limit as u32, None, args.get(2)).map(JsValue::from)
        }
        "countChatTokens" => count_chat_tokens(args.get(0), args.get(1)).map(JsValue::from),
        "modelInfo" => model_info(&text),
        _ => return None,
    })
}
