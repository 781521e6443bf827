//! The tree that stays, step by step.

use ctxweave::wasm::resident::LoomTree;
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::goldens::thrown;

/// What the tree keeps itself; all other settings are defaults of what is asked, which the package keeps.
const OWN: [&str; 7] = ["title", "mode", "systemContext", "bufferModeSystemContext", "preferences", "limits", "media"];

pub(crate) fn call(name: &str, args: &Array, steps: &Array) -> Option<Result<JsValue, JsValue>> {
    if name != "LoomTree" {
        return None;
    }
    Some(LoomTree::new(args.get(0)).map(|tree| {
        let defaults = Object::new();
        let given = steps.iter().map(|given| given.unchecked_into::<Array>());
        let results = given.map(|given| {
            let method = given.get(0).as_string().expect("a method");
            let result = step(&tree, &defaults, &method, &given.slice(1, given.length()));
            let result = result.unwrap_or_else(|error| thrown(&error));
            // As JSON writes what is not there in a list.
            if result.is_undefined() { JsValue::NULL } else { result }
        });
        results.collect::<Array>().into()
    }))
}

fn step(tree: &LoomTree, defaults: &Object, method: &str, args: &Array) -> Result<JsValue, JsValue> {
    let first = args.get(0);
    let with = |options: JsValue| -> JsValue {
        let all = Object::assign(&Object::new(), defaults);
        options.dyn_ref::<Object>().map_or(all.clone(), |options| Object::assign(&all, options)).into()
    };
    match method {
        "upsert" => tree.upsert(first),
        "remove" => tree.remove(first),
        "configure" => {
            let all = Object::assign(&Object::new(), defaults);
            for entry in Object::entries(first.unchecked_ref()).iter() {
                let entry: Array = entry.unchecked_into();
                let key = entry.get(0);
                if OWN.contains(&key.as_string().unwrap_or_default().as_str()) {
                    continue;
                }
                if entry.get(1).is_null() {
                    Reflect::delete_property(&all, &key)?;
                } else {
                    Reflect::set(&all, &key, &entry.get(1))?;
                }
            }
            tree.configure(first, all.clone().into())?;
            Object::keys(defaults).iter().for_each(|key| drop(Reflect::delete_property(defaults, &key)));
            Object::assign(defaults, &all);
            Ok(JsValue::UNDEFINED)
        }
        "path" => tree.path(first.as_string().unwrap_or_default(), with(args.get(1))),
        "tokensOf" => tree.tokens_of(first, with(args.get(1))),
        "measurePath" => tree.measure_path(with(first)),
        "wouldCut" => tree.would_cut(with(first)),
        "assembleDialogue" => tree.assemble_dialogue(with(first)),
        "summarizeDialogue" => tree.summarize_dialogue(with(first)),
        "assembleBuffer" => tree.assemble_buffer(with(first)),
        "requestBody" => tree.request_body(with(first), false),
        other => panic!("no method {other}"),
    }
}
