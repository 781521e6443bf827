//! Assembly of Loom trees.

use ctxweave::Error;
use ctxweave::loom::wire::{assemble_buffer_json, assemble_dialogue_json};
use serde_json::Value;

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let assemble = match name {
        "assembleDialogue" => assemble_dialogue_json,
        "assembleBuffer" => assemble_buffer_json,
        _ => return None,
    };
    let result = assemble(&serde_json::to_vec(&args[0]).unwrap(), &Default::default());
    Some(result.map(|result| serde_json::from_slice(&result).unwrap()))
}
