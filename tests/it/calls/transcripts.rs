//! Session files of agents.

use ctxweave::Error;
use ctxweave::commits::transcript_wire::{ImportIn, ReadIn, options_from_json, translate_from_json};
use serde_json::{Value, json};

use super::{bytes, revived, written};

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let options = || serde_json::to_vec(&args.get(2)).unwrap();
    let read = || options_from_json::<ReadIn>(&options());
    let file = || (args[0].as_str().unwrap(), bytes(&args[1]));
    Some(
        match name {
            "importTranscript" => options_from_json::<ImportIn>(&options())
                .and_then(|import| import.answer(file().0, &file().1, &Default::default(), None))
                .map(|imported| json!(imported)),
            "transcriptToMessages" => {
                read().and_then(|read| read.messages(file().0, &file().1)).map(|read| json!(read))
            }
            "transcriptToLoomTree" => {
                read().and_then(|read| read.loom_tree(file().0, &file().1)).map(|read| json!(read))
            }
            "translateTranscript" => {
                let request = serde_json::to_vec(&revived(&args[0])).unwrap();
                translate_from_json(&request)
                    .and_then(|request| request.answer(&Default::default(), None))
                    .map(|translated| json!(translated))
            }
            _ => return None,
        }
        .map(|result| with_bytes(&result)),
    )
}

/// The result with its bytes as a golden writes them.
fn with_bytes(value: &Value) -> Value {
    match value {
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| match value.as_array() {
                Some(list) if key == "bytes" => {
                    let bytes: Vec<u8> = list.iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
                    (key.clone(), written(&bytes))
                }
                _ => (key.clone(), with_bytes(value)),
            })
            .collect(),
        Value::Array(values) => values.iter().map(with_bytes).collect(),
        other => other.clone(),
    }
}
