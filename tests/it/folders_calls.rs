//! The calls of folders with requests of a wrong shape: what cannot be read is named by its path, and nothing is ignored.

use std::rc::Rc;

use ctxweave::call::CallContext;
use ctxweave::folders::CALLS;
use ctxweave::tokens::Counter;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

fn call_with(name: &str, request: &str, bytes: &[Vec<u8>], host: &CallContext) -> Result<Value, Error> {
    let call = CALLS.iter().find(|call| call.name == name).unwrap_or_else(|| panic!("no call {name}"));
    call.answer(&mut (), request.as_bytes(), bytes, host)
        .map(|answer| serde_json::from_slice(&answer.to_json()).unwrap())
}

fn call(name: &str, request: &Value) -> Result<Value, Error> {
    call_with(name, &request.to_string(), &[], &CallContext::default())
}

/// A request that each call answers, with as many fields as it has.
fn requests() -> Vec<(&'static str, Value)> {
    let file = json!({ "path": "a/AGENTS.md", "content": "---\nwatch: '*'\n---\n# A\n## Facts\n- x" });
    let row = json!({ "watcherPath": "a/AGENTS.md", "watchPattern": "b", "resolvedPaths": ["b/AGENTS.md"] });
    let session = json!({ "sessionId": "s", "folderPath": "a", "addedAt": "then" });
    let chain = json!({ "path": "a/AGENTS.md", "level": "direct", "content": "x", "tokens": 1 });
    let shown =
        json!({ "path": "a/AGENTS.md", "level": "direct", "reason": "selected", "tokens": 1, "truncated": false });
    let omitted = json!({ "path": "b/AGENTS.md", "level": "direct", "reason": "selected", "tokens": 1 });
    let history = json!({ "type": "addHistory", "path": "a/AGENTS.md", "section": "Facts", "content": "y",
        "time": "2025-01-06T12:00:00Z", "author": "ann", "createSection": true });
    vec![
        ("parseContextFile", json!({ "path": "a/AGENTS.md", "text": "x" })),
        ("discoverContextFolders", json!({ "paths": ["a/AGENTS.md"], "options": { "skip": ["out"] } })),
        (
            "buildContextChain",
            json!({ "files": [file], "selected": ["a"], "includeWatched": "all", "parentChain": true, "overrides": "none", "maxTokens": 50,
                "truncationMarker": "…", "tokenizer": "heuristic", "limits": { "contextFiles": 3 } }),
        ),
        ("renderContextPrompt", json!({ "chain": { "files": [chain] }, "options": { "workingDirectory": file } })),
        ("watchersOf", json!({ "changedPath": "b", "files": [file], "options": { "limits": { "folderDepth": 9 } } })),
        ("watchersOf", json!({ "changedPath": "b", "files": [row] })),
        (
            "bubble",
            json!({ "changedPaths": ["b"], "files": [file], "options": { "maxDepth": 2, "limits": { "nodes": 1 } } }),
        ),
        ("editContextFile", json!({ "text": "## Facts\n- x\n", "edit": history })),
        (
            "editContextFile",
            json!({ "text": "a", "edit": { "type": "undo", "change": { "at": 0, "removed": "b", "inserted": "a" } } }),
        ),
        (
            "migrateLegacyContexts",
            json!({ "files": [{ "path": "Chat/contexts/x.md", "content": "x" }], "folders": ["a/x"],
                "map": { "Chat/contexts/x.md": "a" }, "contexts": ["Chat/contexts/x.md"] }),
        ),
        ("contextWatchRecords", json!({ "files": [file] })),
        ("sessionContextRecords", json!({ "sessionId": "s", "folders": ["a"], "addedAt": "then" })),
        ("diffRecords", json!({ "before": [session], "after": [session] })),
        ("diffRecords", json!({ "before": [row], "after": [] })),
        (
            "foldersResponse",
            json!({ "discovery": { "folders": [{ "path": "a", "hasAgentsMd": true, "hasClaudeMd": false }] },
                "chain": { "files": [{ "path": "a/AGENTS.md", "reason": "selected", "truncated": false }], "omitted": [] } }),
        ),
        ("chainResponse", json!({ "files": [shown], "omitted": [omitted], "totalTokens": 1 })),
    ]
}

/// The paths of all values in a request that are no lists and no objects, as errors write them.
fn leaves(value: &Value, path: &str, pointer: &str, found: &mut Vec<(String, String)>) {
    let under = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            leaves(value, &under(key), &format!("{pointer}/{}", key.replace('/', "~1")), found);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| {
            leaves(value, &format!("{path}[{at}]"), &format!("{pointer}/{at}"), found);
        }),
        _ => found.push((path.to_owned(), pointer.to_owned())),
    }
}

fn leaves_of(request: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    leaves(request, "", "", &mut found);
    found
}

fn with(request: &Value, pointer: &str, value: Value) -> Value {
    let mut request = request.clone();
    *request.pointer_mut(pointer).unwrap() = value;
    request
}

#[test]
fn every_call_is_answered() {
    let requests = requests();
    for call in CALLS {
        assert!(requests.iter().any(|(name, _)| *name == call.name), "{}", call.name);
    }
    for (name, request) in &requests {
        call(name, request).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// NaN, Infinity, BigInt, functions and cycles in data throw `invalid_input` with the field (docs/errors.md).
#[test]
fn what_json_cannot_carry_is_named_wherever_it_stands() {
    for (name, request) in requests() {
        for (path, pointer) in leaves_of(&request) {
            // Of a row that is watched for, or of a chain that is shown, not everything is looked at.
            let unread = name == "renderContextPrompt" && path == "chain.files[0].tokens";
            let result = call(name, &with(&request, &pointer, json!({ "\0": "NaN" })));
            if unread {
                assert!(result.is_ok(), "{name} {path}");
                continue;
            }
            let error = result.expect_err(&format!("{name} {path}"));
            assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!(path)), "{name}");
            assert!(error.message().contains("NaN"), "{name}: {error}");
        }
    }
}

/// Bytes are a file's content and nothing else.
#[test]
fn bytes_where_text_is_expected_are_named() {
    for (name, request) in requests() {
        for (path, pointer) in leaves_of(&request) {
            let is_content = path == "text" || (path.ends_with("content") && !path.starts_with("edit"));
            let is_text = request.pointer(&pointer).unwrap().is_string();
            if !is_text || (is_content && !path.starts_with("chain.")) {
                continue;
            }
            let request = with(&request, &pointer, json!({ "\0bytes": 0 })).to_string();
            let error = call_with(name, &request, &[b"a".to_vec()], &CallContext::default()).expect_err(name);
            assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!(path)), "{name} {error}");
        }
    }
}

/// Lone surrogates in any field become U+FFFD, with a diagnostic at the path if the call has diagnostics.
#[test]
fn lone_surrogates_are_repaired_in_every_field() {
    for (name, request) in requests() {
        for (path, pointer) in leaves_of(&request) {
            let Some(text) = request.pointer(&pointer).unwrap().as_str() else { continue };
            // A known name or a time with trailing characters is invalid.
            if ["includeWatched", "overrides", "tokenizer", "level", "reason", "type", "time"]
                .iter()
                .any(|field| path.ends_with(field))
            {
                continue;
            }
            let marked = with(&request, &pointer, json!(format!("{text}HALF"))).to_string();
            let request = marked.replace("HALF", "\\ud800");
            let result = call_with(name, &request, &[], &CallContext::default());
            if name == "editContextFile" {
                let error = result.expect_err("an edit keeps every byte");
                assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidEdit, &json!(path)));
                continue;
            }
            let result = result.unwrap_or_else(|error| panic!("{name} {path}: {error}"));
            if let Some(found) = result["diagnostics"].as_array() {
                assert_eq!(found[0]["code"], "lone_surrogate_replaced", "{name} {path}");
                assert_eq!(found[0]["path"], json!(path), "{name}");
            }
        }
    }
    let bubbled = call_with(
        "bubble",
        r#"{"changedPaths":["\udc00"],"files":[{"path":"AGENTS.md","content":"---\nwatch: '*'\n---\n"}]}"#,
        &[],
        &CallContext::default(),
    );
    assert_eq!(bubbled.unwrap()[0]["because"][0]["path"], "\u{FFFD}");
}

/// An unknown option is a diagnostic, or an error if the call has none.
#[test]
fn unknown_options_are_never_ignored() {
    let reported = [("buildContextChain", ""), ("buildContextChain", "/limits"), ("migrateLegacyContexts", "")];
    let refused = [
        ("renderContextPrompt", "/options"),
        ("watchersOf", "/options"),
        ("watchersOf", "/options/limits"),
        ("bubble", "/options"),
        ("bubble", "/options/limits"),
        ("editContextFile", "/edit"),
        ("sessionContextRecords", ""),
    ];
    let requests = requests();
    let misspelt = |name: &str, pointer: &str| {
        let (_, request) = requests.iter().find(|(known, _)| *known == name).unwrap();
        let mut request = request.clone();
        let object = request.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        let known = object.keys().next().unwrap().clone();
        let wrong = format!("{known}x");
        object.insert(wrong.clone(), json!(1));
        let path = format!("{pointer}/{wrong}").trim_start_matches('/').replace('/', ".");
        (call(name, &request), path, format!("did you mean `{known}`?"))
    };
    for (name, pointer) in reported {
        let (result, path, hint) = misspelt(name, pointer);
        let found = result.unwrap()["diagnostics"][0].clone();
        assert_eq!((&found["code"], &found["path"]), (&json!("unknown_option"), &json!(path)), "{name}");
        assert!(found["message"].as_str().unwrap().ends_with(&hint), "{found}");
    }
    for (name, pointer) in refused {
        let (result, path, hint) = misspelt(name, pointer);
        let error = result.expect_err(name);
        assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!(path)), "{name}");
        assert!(error.message().ends_with(&hint), "{error}");
    }
    // Files, rows, chains and discoveries may hold what they like.
    let file = json!({ "path": "a/AGENTS.md", "content": "x", "mtime": 1 });
    let chain = call("buildContextChain", &json!({ "files": [file], "selected": ["a"] })).unwrap();
    assert_eq!(chain["diagnostics"], json!([]));
    assert!(call("renderContextPrompt", &json!({ "chain": chain })).is_ok());
    assert!(call("chainResponse", &chain).is_ok());
}

/// Counts are checked before the counted items.
#[test]
fn too_many_files_are_not_read() {
    let files = json!([5, "no file", {}]);
    let limits = json!({ "contextFiles": 2 });
    let error = call("buildContextChain", &json!({ "files": files, "selected": [], "limits": limits })).unwrap_err();
    assert_eq!((error.code(), &error.details()["limit"]), (Code::LimitExceeded, &json!("contextFiles")));
    let files = json!(vec![json!({ "path": "AGENTS.md", "content": 5 }); 3]);
    let options = json!({ "limits": limits });
    for (name, changed, value) in [("watchersOf", "changedPath", json!("a")), ("bubble", "changedPaths", json!(["a"]))]
    {
        let error = call(name, &json!({ changed: value, "files": files, "options": options })).unwrap_err();
        assert_eq!((error.code(), &error.details()["limit"]), (Code::LimitExceeded, &json!("contextFiles")), "{name}");
    }
}

#[test]
fn values_that_are_not_among_the_allowed_ones_are_named_with_these() {
    let requests = requests();
    for (name, pointer, path, expected) in [
        ("buildContextChain", "/includeWatched", "includeWatched", json!(["ancestors", "all", "none"])),
        ("buildContextChain", "/tokenizer", "tokenizer", json!(["heuristic", "o200k_base", "cl100k_base"])),
        ("chainResponse", "/files/0/level", "files[0].level", json!(["root", "parent", "direct", "workingDirectory"])),
        ("editContextFile", "/edit/type", "edit.type", json!(["append", "replaceSection", "addHistory", "undo"])),
    ] {
        let (_, request) = requests.iter().find(|(known, _)| *known == name).unwrap();
        let error = call(name, &with(request, pointer, json!("odd"))).unwrap_err();
        let details = error.details();
        assert_eq!((error.code(), &details["path"]), (Code::UnknownValue, &json!(path)), "{name}");
        if path != "tokenizer" {
            assert_eq!(details["expected"], expected);
        }
        assert!(details["expected"].as_array().unwrap().contains(&expected[0]));
    }
    for (name, pointer, value, path, code) in [
        ("buildContextChain", "/maxTokens", json!(-1), "maxTokens", Code::InvalidBudget),
        ("buildContextChain", "/maxTokens", json!(0.5), "maxTokens", Code::InvalidBudget),
        ("buildContextChain", "/maxTokens", json!("9"), "maxTokens", Code::InvalidInput),
        ("buildContextChain", "/limits/contextFiles", json!(-1), "limits.contextFiles", Code::InvalidInput),
        ("buildContextChain", "/files/0", json!([]), "files[0]", Code::InvalidInput),
        ("buildContextChain", "/selected", json!("a"), "selected", Code::InvalidInput),
        ("bubble", "/options/maxDepth", json!(-0.5), "options.maxDepth", Code::InvalidInput),
        ("editContextFile", "/edit/time", json!("yesterday"), "edit.time", Code::InvalidInput),
        ("editContextFile", "/edit/time", json!(1e16), "edit.time", Code::InvalidInput),
        ("diffRecords", "/after/0", json!({ "watcherPath": "a", "watchPattern": "b" }), "after[0]", Code::InvalidInput),
        (
            "foldersResponse",
            "/discovery/folders/0/hasAgentsMd",
            json!(1),
            "discovery.folders[0].hasAgentsMd",
            Code::InvalidInput,
        ),
    ] {
        let (_, request) = requests.iter().find(|(known, _)| *known == name).unwrap();
        let error = call(name, &with(request, pointer, value)).unwrap_err();
        assert_eq!((error.code(), &error.details()["path"]), (code, &json!(path)), "{name} {error}");
        assert!(code != Code::InvalidBudget || error.details()["value"].is_string(), "{error:?}");
    }
}

/// A time is RFC 3339 text, a `Date`, or milliseconds.
#[test]
fn a_time_may_be_milliseconds() {
    let edit = |time: Value| {
        let edit = json!({ "type": "addHistory", "content": "- y", "time": time, "createSection": true });
        call("editContextFile", &json!({ "text": "", "edit": edit })).unwrap()["text"].clone()
    };
    assert_eq!(edit(json!(1_736_164_800_000_u64)), edit(json!("2025-01-06T14:00:00+02:00")));
    let rows = |added: Value| {
        call("sessionContextRecords", &json!({ "sessionId": "s", "folders": [""], "addedAt": added })).unwrap()
    };
    assert_eq!(rows(json!(1_736_164_800_250_u64))[0]["addedAt"], "2025-01-06T12:00:00.250Z");
    assert_eq!(rows(json!("2025-01-06 12:00"))[0]["addedAt"], "2025-01-06 12:00", "as the host writes it");
}

#[test]
fn a_custom_counter_counts_a_chain() {
    #[derive(Debug)]
    struct Bytes;
    impl Counter for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }
        fn count(&self, text: &str) -> u32 {
            u32::try_from(text.len()).unwrap()
        }
    }
    let request = json!({ "files": [{ "path": "AGENTS.md", "content": "four" }], "selected": [""], "tokenizer": {} });
    let host = CallContext { counter: Some(Rc::new(Bytes)), ..CallContext::default() };
    let chain = call_with("buildContextChain", &request.to_string(), &[], &host).unwrap();
    assert_eq!((&chain["totalTokens"], &chain["tokenizer"]), (&json!(4), &json!("bytes")));
    assert_eq!(call("buildContextChain", &request).unwrap_err().details()["path"], "tokenizer");
}
