//! Session files of agents.

use ctxweave::wasm::transcripts::{
    import_transcript_js, transcript_to_loom_tree_js, transcript_to_messages_js, translate_transcript_js,
};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

pub(crate) fn call(name: &str, args: &Array, _steps: &Array) -> Option<Result<JsValue, JsValue>> {
    let file = || (args.get(0).as_string().unwrap(), args.get(1).unchecked_into::<Uint8Array>().to_vec());
    let function: fn(&str, &[u8], JsValue) -> Result<JsValue, JsValue> = match name {
        "importTranscript" => import_transcript_js,
        "transcriptToMessages" => transcript_to_messages_js,
        "transcriptToLoomTree" => transcript_to_loom_tree_js,
        "translateTranscript" => return Some(translate_transcript_js(args.get(0))),
        _ => return None,
    };
    let (format, bytes) = file();
    Some(function(&format, &bytes, args.get(2)))
}
