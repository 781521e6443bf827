//! The tree that stays, step by step.

use ctxweave::Error;
use ctxweave::loom::resident::wire::Handle;
use ctxweave::tokens::Tokenizers;
use ctxweave::tokens::memory::Memory;
use serde_json::{Map, Value, json};

use super::{bytes, thrown};

/// What the tree keeps itself; all other settings are defaults of what is asked, which the package keeps.
const OWN: [&str; 7] = ["title", "mode", "systemContext", "bufferModeSystemContext", "preferences", "limits", "media"];

pub(super) fn call(name: &str, args: &[Value], steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    if name != "LoomTree" {
        return None;
    }
    let tree = &args[0];
    let text = if tree["nodes"].is_array() || tree.get("$text").is_none() {
        serde_json::to_vec(tree).unwrap()
    } else {
        bytes(tree)
    };
    let (mut handle, _) = match Handle::from_json(&text, &Memory::default()) {
        Ok(made) => made,
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
    let place = match method {
        "upsert" | "remove" | "configure" => None,
        "path" | "tokensOf" => Some(1),
        _ => Some(0),
    };
    if let Some(place) = place {
        let mut all = defaults.clone();
        if let Some(Value::Object(given)) = args.get(place) {
            all.extend(given.clone());
        }
        args.resize(args.len().max(place + 1), Value::Null);
        args[place] = json!(all);
    }
    let result = handle.call(method, &args, &Tokenizers::default())?;
    if let ("configure", Some(Value::Object(settings))) = (method, args.first()) {
        let rest = settings.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
        for (key, value) in rest {
            if value.is_null() {
                defaults.shift_remove(key);
            } else {
                defaults.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(result)
}
