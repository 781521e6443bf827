//! The resident tree, step by step.

use ctxweave::loom::resident::{METHODS, UNPACKED};
use ctxweave::wasm::resident::LoomTree;
use js_sys::{Array, Float64Array, Object, Reflect, Uint8Array, Uint32Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::calls::{request, result};
use crate::goldens::thrown;

/// What the tree keeps itself; all other settings are defaults of the options, which the package keeps.
const OWN: [&str; 8] =
    ["title", "mode", "systemContext", "bufferModeSystemContext", "bufferPrefix", "preferences", "limits", "media"];

/// Methods whose one argument is no options.
const WITHOUT_OPTIONS: [&str; 6] = ["upsert", "remove", "apply", "snapshot", "toJSON", "revision"];

pub(crate) fn call(name: &str, args: &Array, steps: &Array) -> Option<Result<JsValue, JsValue>> {
    if name != "LoomTree" {
        return None;
    }
    let tree = args.get(0);
    let json = match tree.dyn_ref::<Uint8Array>() {
        Some(json) => json.to_vec(),
        None => js_sys::JSON::stringify(&tree).ok()?.as_string()?.into_bytes(),
    };
    Some(LoomTree::new(&json).map(|tree| {
        let defaults = Object::new();
        let given = steps.iter().map(|given| given.unchecked_into::<Array>());
        let results = given.map(|given| {
            let method = given.get(0).as_string().expect("a method");
            let result = step(&tree, &defaults, &method, &given.slice(1, given.length()));
            result.unwrap_or_else(|error| thrown(&error))
        });
        results.collect::<Array>().into()
    }))
}

fn step(tree: &LoomTree, defaults: &Object, name: &str, args: &Array) -> Result<JsValue, JsValue> {
    let args: Array = args.iter().collect();
    let all = Object::assign(&Object::new(), defaults);
    let mut methods = METHODS.iter().copied().flatten().chain(UNPACKED);
    let method = methods.find(|method| method.name == name).unwrap_or_else(|| panic!("no method {name}"));
    let place = match method.parameters {
        [] => (!WITHOUT_OPTIONS.contains(&name)).then_some(0),
        names => names.iter().position(|name| *name == "options").and_then(|place| u32::try_from(place).ok()),
    };
    if let Some(place) = place {
        if let Some(given) = args.get(place).dyn_ref::<Object>() {
            Object::assign(&all, given);
        }
        args.set(place, all.clone().into());
    }
    // Preview and comparison are given the options of the second prompt whole.
    let then = Object::new();
    match name {
        "preview" => {
            let options = JsValue::from("options");
            let change = Object::assign(&Object::new(), args.get(0).unchecked_ref());
            let own = Reflect::get(&change, &options)?;
            Reflect::delete_property(&change, &options)?;
            args.set(0, change.into());
            Object::assign(&then, &all);
            if let Some(own) = own.dyn_ref::<Object>() {
                Object::assign(&then, own);
            }
            args.set(2, then.into());
        }
        "compare" => {
            Object::assign(&then, defaults);
            Object::assign(&then, args.get(1).unchecked_ref());
            args.set(1, then.into());
        }
        _ => {}
    }
    let (json, bytes) = request(method, &args);
    let answer = tree.call(name, json.as_bytes(), &bytes, &JsValue::UNDEFINED)?;
    if name == "configure" {
        for key in Object::keys(&all).iter() {
            let value = Reflect::get(&all, &key)?;
            if value.is_null() {
                Reflect::delete_property(defaults, &key)?;
            } else if !OWN.contains(&key.as_string().unwrap_or_default().as_str()) {
                Reflect::set(defaults, &key, &value)?;
            }
        }
    }
    let answer = result(&answer);
    Ok(match (name, answer.dyn_ref::<Uint8Array>()) {
        ("tokensOf", Some(bytes)) => Array::from(&Uint32Array::new(&bytes.buffer())).into(),
        ("pathTokens" | "subtreeTokens", Some(bytes)) => Array::from(&Float64Array::new(&bytes.buffer())).into(),
        _ => answer,
    })
}
