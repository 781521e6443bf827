//! The calls that goldens make, an area a file: the same names as in JavaScript, over JSON.
//!
//! Bytes are `{ "$text": … }` where they are UTF-8, else `{ "$hex": … }`; a `Map` is `{ "$map": [[key, value], …] }`.

pub(crate) mod chat;
mod commits;
pub(crate) mod loom;
mod resident;
mod tokenizer;

use ctxweave::Error;
use ctxweave::call::{Call, CallContext, Response};
use serde_json::{Value, json};

/// Calls a function with its arguments. A class is called with those of its constructor, and gives a list of what each of
/// the `steps` gave, `["method", ...args]` each.
pub(crate) fn call(name: &str, args: &[Value], steps: Option<&[Value]>) -> Result<Value, Error> {
    let areas = [commits::call, resident::call];
    if let Some(result) = of_a_table(name, args) {
        return result;
    }
    areas.iter().find_map(|area| area(name, args, steps)).unwrap_or_else(|| panic!("no call {name}"))
}

/// Calls a function of the areas' tables.
fn of_a_table(name: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    let call = ctxweave::CALLS.iter().copied().flatten().find(|call| call.name == name)?;
    let (request, bytes) = match args {
        // The request is bytes of JSON.
        [arg] if name.starts_with("requestBody") && is_bytes(arg) => (bytes(arg), Vec::new()),
        _ => request(call, args),
    };
    let answer = call.answer(&mut (), &request, &bytes, &CallContext::default());
    let answer = answer.map(|answer| with_blobs(result(&answer), &bytes));
    Some(answer.map(|answer| match name {
        "fitMessages" => chat::fitted(&args[0], &answer),
        "convertMessages" => chat::converted(&args[0], answer),
        "truncateText" => tokenizer::truncated(args, &answer),
        "splitText" => tokenizer::pieces(args, &self::bytes(&answer)),
        _ => answer,
    }))
}

/// The request of a call with these arguments, and its separate bytes.
fn request<T>(call: &Call<T>, args: &[Value]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut bytes = Vec::new();
    let mut args = args.iter().map(|arg| with_separate_bytes(arg, &mut bytes));
    let request = match call.parameters {
        [] => args.next().unwrap_or_default(),
        names => names.iter().zip(args).map(|(name, arg)| ((*name).to_owned(), arg)).collect(),
    };
    (serde_json::to_vec(&request).unwrap(), bytes)
}

fn with_separate_bytes(value: &Value, separate: &mut Vec<Vec<u8>>) -> Value {
    match value {
        value if is_bytes(value) => {
            separate.push(bytes(value));
            json!({ "\0bytes": separate.len() - 1 })
        }
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.clone(), with_separate_bytes(value, separate))).collect()
        }
        Value::Array(values) => values.iter().map(|value| with_separate_bytes(value, separate)).collect(),
        other => other.clone(),
    }
}

/// The result of a call as a golden writes it.
fn result(answer: &Response) -> Value {
    match (&answer.to_json()[..], &answer.bytes[..]) {
        ([], [bytes]) => written(bytes),
        (json, bytes) => {
            let value: Value = serde_json::from_slice(json).unwrap();
            with_bytes_in_place(value, bytes)
        }
    }
}

fn with_bytes_in_place(value: Value, separate: &[Vec<u8>]) -> Value {
    match value {
        Value::Object(object) => match object.get("\0bytes").and_then(Value::as_u64) {
            Some(at) => written(&separate[at as usize]),
            None => object.into_iter().map(|(key, value)| (key, with_bytes_in_place(value, separate))).collect(),
        },
        Value::Array(values) => values.into_iter().map(|value| with_bytes_in_place(value, separate)).collect(),
        other => other,
    }
}

/// The result of an import, with the blobs that the npm package makes of their places in the bytes that were given.
fn with_blobs(mut result: Value, given: &[Vec<u8>]) -> Value {
    let (Some(records), Some(places)) = (result["records"].as_array(), result["blobs"].as_array()) else {
        return result;
    };
    let mut places = places.iter();
    let mut blobs = Vec::new();
    for record in records {
        let bytes = match places.next().unwrap() {
            Value::Null => continue,
            Value::Number(start) => {
                let [start, end] = [start, places.next().unwrap().as_number().unwrap()].map(|at| at.as_u64().unwrap());
                written(&given[0][start as usize..end as usize])
            }
            bytes => bytes.clone(),
        };
        blobs.push(json!({ "artifactRef": record["artifact_ref"], "bytes": bytes }));
    }
    assert_eq!(places.next(), None);
    result["blobs"] = Value::Array(blobs);
    result
}

/// Whether an argument is bytes.
pub(crate) fn is_bytes(value: &Value) -> bool {
    value.get("$text").is_some() || value.get("$hex").is_some()
}

/// What a thrown error looks like in a golden.
pub(crate) fn thrown(error: &Error) -> Value {
    json!({ "error": { "code": error.code(), "message": error.message(), "details": error.details() } })
}

/// An argument that is bytes.
pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    if let Some(text) = value["$text"].as_str() {
        return text.as_bytes().to_vec();
    }
    let hex = value["$hex"].as_str().unwrap_or_else(|| panic!("{value} is not bytes"));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Bytes as a golden writes them.
pub(crate) fn written(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "$text": text }),
        Err(_) => json!({ "$hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() }),
    }
}
