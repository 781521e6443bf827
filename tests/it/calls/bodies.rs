//! Request bodies.

use ctxweave::Error;
use ctxweave::loom::wire::{request_body_json, request_body_with_report_json};
use serde_json::{Value, json};

use super::{bytes, written};

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let given = args.first()?;
    let is_bytes = given.get("$text").is_some() || given.get("$hex").is_some();
    let request = if is_bytes { bytes(given) } else { serde_json::to_vec(given).unwrap() };
    match name {
        "requestBody" => Some(request_body_json(&request, &Default::default()).map(|body| written(&body))),
        "requestBodyWithReport" => {
            let result = request_body_with_report_json(&request, &Default::default());
            Some(result.map(|(body, report)| {
                json!({ "body": written(&body), "report": serde_json::from_slice::<Value>(&report).unwrap() })
            }))
        }
        _ => None,
    }
}
