//! The goldens, natively. The same files run in wasm (tests/wasm.rs) and through the npm package (tests/runtimes).
//!
//! A golden is `name.json`: `{ call, request, tree?, media? }`, where `tree` names a file of examples/trees that becomes
//! `request.tree`, and `media: true` brings examples/trees/media.json. `name.expected.json` is what
//! `JSON.stringify(result, null, 2)` gives, or `{ error: { code, message, details } }`. To write the expected files anew,
//! run `CTXWEAVE_BLESS=1 cargo test golden` and read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use ctxweave::Error;
use ctxweave::loom::wire::{assemble_buffer_json, assemble_dialogue_json};
use serde_json::{Value, json};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cases(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "json")
            && !path.to_string_lossy().ends_with(".expected.json")
        {
            found.push(path);
        }
    }
    found.sort();
}

fn run(golden: &Value) -> Result<Vec<u8>, Error> {
    let mut request = golden["request"].clone();
    if let Some(tree) = golden["tree"].as_str() {
        request["tree"] = read(&root(&format!("examples/trees/{tree}.json")));
    }
    if golden["media"] == json!(true) {
        request["media"] = read(&root("examples/trees/media.json"));
    }
    let request = serde_json::to_vec(&request).unwrap();
    match golden["call"].as_str().unwrap() {
        "assembleDialogue" => assemble_dialogue_json(&request, &Default::default()),
        "assembleBuffer" => assemble_buffer_json(&request, &Default::default()),
        other => panic!("no call {other}"),
    }
}

#[test]
fn goldens_hold() {
    let mut found = Vec::new();
    cases(&root("tests/golden"), &mut found);
    assert!(found.len() >= 20, "only {} goldens", found.len());
    let bless = std::env::var_os("CTXWEAVE_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in found {
        let result: Value = match run(&read(&path)) {
            Ok(result) => serde_json::from_slice(&result).unwrap(),
            Err(error) => {
                json!({ "error": { "code": error.code(), "message": error.message(), "details": error.details() } })
            }
        };
        let text = serde_json::to_string_pretty(&result).unwrap() + "\n";
        let expected = path.with_extension("expected.json");
        if bless {
            fs::write(&expected, &text).unwrap();
        } else if fs::read_to_string(&expected).ok().as_deref() != Some(text.as_str()) {
            wrong.push(path.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "these goldens differ: {wrong:#?}");
}
