//! An agent's first turn.

use ctxweave::Error;
use ctxweave::workspace::wire::{parse_brief_json, plan_context_loading_json, read_context_json, read_full_notes_json};
use serde_json::Value;

use super::revived;

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let input = serde_json::to_vec(&args.first().map_or(Value::Null, revived)).unwrap();
    let result = match name {
        "parseBrief" => parse_brief_json(&input),
        "planContextLoading" => plan_context_loading_json(&input),
        "readContext" => read_context_json(&input, &Default::default()),
        "readFullNotes" => read_full_notes_json(&input),
        _ => return None,
    };
    Some(result.map(|result| serde_json::from_slice(&result).unwrap()))
}
