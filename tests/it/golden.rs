//! The goldens, natively. The same files run in wasm (tests/wasm) and through the npm package (tests/runtimes).
//!
//! A golden is `name.json`: `{ call, args }`, or `{ call, request, tree?, media? }`, where `tree` names a file of
//! examples/trees that becomes `request.tree`, and `media: true` brings examples/trees/media.json. `steps` are the method
//! calls on an instance of a class: see `calls`. `name.expected.json` is what `JSON.stringify(result ?? null, null, 2)`
//! gives, or `{ error: { code, message, details } }`. To rewrite the expected files, run
//! `CTXWEAVE_BLESS=1 cargo test golden` and read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use ctxweave::Error;
use ctxweave::prompt::bodies::Provider;
use serde_json::{Value, json};

use crate::bodies::rules::{UNDEFINED, broken, wants_reasoning};
use crate::calls::{call, thrown};

fn root(path: &str) -> PathBuf {
    Path::new(crate::ROOT).join(path)
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

fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    cases(&root("tests/golden"), &mut found);
    assert!(found.len() >= 20, "only {} goldens", found.len());
    found
}

fn run(golden: &Value) -> Result<Value, Error> {
    let mut args = golden["args"].as_array().cloned().unwrap_or_else(|| vec![golden["request"].clone()]);
    if let Some(tree) = golden["tree"].as_str() {
        args[0]["tree"] = read(&root(&format!("examples/trees/{tree}.json")));
    }
    if golden["media"] == json!(true) {
        args[0]["media"] = read(&root("examples/trees/media.json"));
    }
    call(golden["call"].as_str().unwrap(), &args, golden["steps"].as_array().map(Vec::as_slice))
}

#[test]
fn goldens_hold() {
    let bless = std::env::var_os("CTXWEAVE_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in all() {
        let result = run(&read(&path)).unwrap_or_else(|error| thrown(&error));
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

/// The bodies in a result: what [`requestBody`](crate::calls) gives is bytes, which stand as a text.
fn bodies(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => match fields.get("$text").and_then(Value::as_str) {
            Some(text) => found.extend(serde_json::from_str(text)),
            None => fields.values().for_each(|value| bodies(value, found)),
        },
        Value::Array(values) => values.iter().for_each(|value| bodies(value, found)),
        _ => {}
    }
}

/// The provider of a body, by the list that it alone has; Chat Completions has `messages` as Anthropic, which has to say
/// `max_tokens`, as only models do there that want their reasoning back.
fn provider(body: &Value) -> Option<Provider> {
    let has = |field: &str| !body[field].is_null();
    let providers = [
        (has("contents"), Provider::Gemini),
        (has("input") && body["input"][0]["type"] == "user_input", Provider::GeminiInteractions),
        (has("input"), Provider::OpenAiResponses),
        (has("messages") && has("max_tokens") && !wants_reasoning(body), Provider::Anthropic),
        (has("messages"), Provider::OpenAi),
        (has("prompt"), Provider::Completion),
    ];
    providers.into_iter().find_map(|(is, provider)| is.then_some(provider))
}

/// Every golden body is one that its provider takes.
#[test]
fn golden_bodies_keep_the_rules() {
    let mut checked = [0; 6];
    for path in all() {
        let target = read(&path)["request"]["target"]["provider"].as_str().map(str::to_owned);
        let mut found = Vec::new();
        bodies(&read(&path.with_extension("expected.json")), &mut found);
        for body in found {
            let Some(provider) = provider(&body) else { continue };
            assert!(target.as_deref().is_none_or(|target| target == provider.name()), "{}", path.display());
            let verdict = broken(provider, &body);
            assert!(verdict.as_ref().err().is_none_or(|what| what == UNDEFINED), "{verdict:?}: {}", path.display());
            let place = Provider::NAMES.iter().position(|(_, known)| *known == provider).unwrap();
            checked[place] += 1;
        }
    }
    assert!(checked[..5].iter().all(|count| *count >= 8) && checked[5] >= 2, "{checked:?}");
}

/// Adds the fields of a result to the request of a golden, and to its options; returns whether it has any.
fn spread_result_into(golden: &mut Value) -> bool {
    const METHODS: &[&str] = &["assembleDialogue", "assembleBuffer", "requestBody", "fit", "search", "preview"];
    let spread = |request: &mut Value| {
        let Some(request) = request.as_object_mut() else { return false };
        request.insert("report".to_owned(), json!({ "limit": 1, "truncated": true }));
        request.insert("diagnostics".to_owned(), json!([{ "code": "unknown_option" }]));
        true
    };
    let name = golden["call"].as_str().unwrap().to_owned();
    let mut found = false;
    for step in golden["steps"].as_array_mut().into_iter().flatten() {
        let Some([method, .., options]) = step.as_array_mut().map(Vec::as_mut_slice) else { continue };
        found |= method.as_str().is_some_and(|method| METHODS.contains(&method)) && spread(options);
    }
    let Some(call) = ctxweave::CALLS.iter().copied().flatten().find(|call| call.name == name) else { return found };
    // A node, an edge or a task may hold any fields.
    match call.parameters.iter().position(|parameter| *parameter == "options") {
        Some(at) => found |= golden["args"].get_mut(at).is_some_and(spread),
        None if call.parameters.is_empty() && golden["args"].is_array() => {
            found |= golden["args"].get_mut(0).is_some_and(spread);
        }
        None if call.parameters.is_empty() => found |= spread(&mut golden["request"]),
        None => {}
    }
    found
}

/// A result can be spread into a request: its `report` and `diagnostics` change nothing.
#[test]
fn results_can_be_spread_into_requests() {
    let mut calls = std::collections::BTreeSet::new();
    for path in all() {
        let mut golden = read(&path);
        let expected = run(&golden).ok();
        if expected.is_some() && !golden["$text"].is_string() && spread_result_into(&mut golden) {
            let found = run(&golden).unwrap_or_else(|error| panic!("{error}: {}", path.display()));
            assert_eq!(Some(found), expected, "{}", path.display());
            calls.insert(golden["call"].as_str().unwrap().to_owned());
        }
    }
    assert!(calls.len() > 30, "{calls:?}");
}
