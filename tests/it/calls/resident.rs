//! The resident tree, step by step.

use ctxweave::Error;
use ctxweave::call::CallContext;
use ctxweave::loom::resident::{Handle, METHODS, UNPACKED};
use ctxweave::tokens::memory::Memory;
use serde_json::{Map, Value, json};

use super::{bytes, is_bytes, request, result, thrown};

/// What the tree keeps itself; all other settings are defaults of the options, which the package keeps.
const OWN: [&str; 8] =
    ["title", "mode", "systemContext", "bufferModeSystemContext", "bufferPrefix", "preferences", "limits", "media"];

/// Methods whose one argument is no options.
const WITHOUT_OPTIONS: [&str; 6] = ["upsert", "remove", "apply", "snapshot", "toJSON", "revision"];

pub(super) fn call(name: &str, args: &[Value], steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    if name != "LoomTree" {
        return None;
    }
    let tree = &args[0];
    let text = if is_bytes(tree) { bytes(tree) } else { serde_json::to_vec(tree).unwrap() };
    let mut handle = match Handle::from_json(&text, &Memory::default()) {
        Ok(handle) => handle,
        Err(error) => return Some(Err(error)),
    };
    let mut defaults = Map::new();
    let results = steps.unwrap_or_default().iter().map(|given| {
        let given = given.as_array().unwrap();
        let method = given[0].as_str().unwrap();
        let result = step(&mut handle, &mut defaults, method, &given[1..]);
        result.unwrap_or_else(|error| thrown(&error))
    });
    Some(Ok(results.collect()))
}

fn step(handle: &mut Handle, defaults: &mut Map<String, Value>, method: &str, args: &[Value]) -> Result<Value, Error> {
    let mut args = args.to_vec();
    let mut all = defaults.clone();
    let call = METHODS.iter().copied().flatten().chain(UNPACKED).find(|call| call.name == method).unwrap();
    let place = match call.parameters {
        [] => (!WITHOUT_OPTIONS.contains(&method)).then_some(0),
        names => names.iter().position(|name| *name == "options"),
    };
    if let Some(place) = place {
        if let Some(Value::Object(given)) = args.get(place) {
            all.extend(given.clone());
        }
        args.resize(args.len().max(place + 1), Value::Null);
        args[place] = json!(all);
    }
    // Preview and comparison are given the options of the second prompt whole.
    match method {
        "preview" => {
            let own = args[0].as_object_mut().and_then(|change| change.shift_remove("options"));
            let then = args[1].as_object().cloned().into_iter().chain(own.and_then(|own| own.as_object().cloned()));
            args.push(then.flatten().collect());
        }
        "compare" => {
            let others = args[1].as_object().cloned().unwrap_or_default();
            args[1] = defaults.clone().into_iter().chain(others).collect();
        }
        _ => {}
    }
    let (request, bytes) = request(call, &args);
    let answer = call.answer(handle, &request, &bytes, &CallContext::default())?;
    if method == "configure" {
        all.retain(|key, value| !OWN.contains(&key.as_str()) && !value.is_null());
        *defaults = all;
    }
    Ok(match (method, &answer.bytes[..]) {
        ("tokensOf", [bytes]) => bytes.as_chunks().0.iter().map(|number| json!(u32::from_le_bytes(*number))).collect(),
        ("pathTokens" | "subtreeTokens", [bytes]) => {
            // Whole numbers are written without a point, as in JavaScript.
            let number = |number: &[u8; 8]| match f64::from_le_bytes(*number) {
                number if number.is_nan() => Value::Null,
                number => json!(number as u64),
            };
            bytes.as_chunks().0.iter().map(number).collect()
        }
        _ => result(&answer),
    })
}
