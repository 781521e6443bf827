//! What files and values are (DESIGN.md "Public identification").

use std::fs;
use std::path::{Path, PathBuf};

use ctxweave::{Code, Error};
use serde_json::{Value, json};

use crate::calls::call;
use crate::transcripts::{SESSIONS, session};

fn identify(input: &Value) -> Value {
    named(input, None).unwrap()
}

fn named(input: &Value, path: Option<&str>) -> Result<Value, Error> {
    let mut args = vec![input.clone()];
    args.extend(path.map(|path| json!({ "path": path })));
    call("identify", &args, None)
}

fn bytes(bytes: &[u8]) -> Value {
    json!({ "$hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
}

fn kind_and_format(found: &Value) -> (&str, Option<&str>) {
    assert!(found["evidence"].as_array().is_some_and(|evidence| !evidence.is_empty()), "{found}");
    (found["kind"].as_str().unwrap(), found["format"].as_str())
}

fn goldens(area: &str) -> Vec<(PathBuf, Value)> {
    let folder = Path::new(crate::ROOT).join("tests/golden").join(area);
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| !path.to_string_lossy().ends_with(".expected.json"));
    found.sort();
    let read = |path: PathBuf| {
        let golden = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        (path, golden)
    };
    found.into_iter().map(read).collect()
}

fn expected(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path.with_extension("expected.json")).unwrap()).unwrap()
}

#[test]
fn session_files_are_sessions_of_their_format() {
    for (name, format) in SESSIONS {
        let found = identify(&bytes(&session(name)));
        assert_eq!(kind_and_format(&found), ("session", Some(format.name())), "{name}");
    }
}

#[test]
fn files_of_other_looms_are_of_the_format_that_import_finds() {
    let mut seen = 0;
    for (path, golden) in goldens("import") {
        let expected = expected(&path);
        let (Some(format), Some("importLoom")) = (expected["format"].as_str(), golden["call"].as_str()) else {
            continue;
        };
        if golden["args"][1]["format"].is_string() {
            continue;
        }
        let found = identify(&golden["args"][0]);
        let (kind, of) = kind_and_format(&found);
        // Messages are a chat first, and a message a line is a session.
        let is_right = if format == "ctxweave" {
            kind == "tree"
        } else if format == "messages" {
            matches!(kind, "chat" | "session")
        } else {
            (kind, of) == ("loomFile", Some(format))
        };
        assert!(is_right, "{}: {found}", path.display());
        seen += 1;
    }
    assert!(seen > 20, "{seen} files");
}

#[test]
fn chats_are_of_the_format_that_a_fit_finds() {
    let mut seen = 0;
    for (path, golden) in goldens("chat") {
        let expected = expected(&path);
        let Some(format) = expected["report"]["format"].as_str().filter(|_| golden["call"] == "fitMessages") else {
            continue;
        };
        let Some([messages, options]) = golden["args"].as_array().map(Vec::as_slice) else { continue };
        if options["format"].is_string() {
            continue;
        }
        let found = identify(messages);
        assert_eq!(kind_and_format(&found), ("chat", Some(format)), "{}", path.display());
        assert!(found["formats"].as_array().unwrap().iter().any(|it| it == format), "{found}");
        seen += 1;
    }
    assert!(seen > 8, "{seen} chats");
}

#[test]
fn request_bodies_name_their_provider() {
    let messages = json!([{ "role": "user", "content": "Hi." }]);
    for (body, provider, field) in [
        (json!({ "model": "claude-opus-4-5", "messages": messages }), Some("anthropic"), "messages"),
        (json!({ "system": "Be brief.", "messages": messages }), Some("anthropic"), "messages"),
        (json!({ "model": "gpt-5", "messages": messages }), Some("openai"), "messages"),
        (json!({ "model": "gpt-5", "input": messages }), Some("openai-responses"), "input"),
        (json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hi." }] }] }), Some("gemini"), "contents"),
        (
            json!({ "model": "gemini-3-flash", "input": [{ "type": "user_input", "content": [{ "type": "text", "text": "Hi." }] }] }),
            Some("gemini-interactions"),
            "input",
        ),
        (json!({ "messages": messages }), None, "messages"),
        (messages.clone(), None, ""),
    ] {
        let found = identify(&body);
        assert_eq!(
            (found["kind"].as_str(), found["body"].as_str(), found["field"].as_str()),
            (Some("chat"), provider, Some(field)),
            "{found}"
        );
    }
}

#[test]
fn everything_else_has_its_kind() {
    let tree = json!({ "nodes": [], "edges": [] });
    for (input, path, kind) in [
        (tree.clone(), None, "tree"),
        (json!(tree.to_string()), None, "tree"),
        (json!({ "tree": tree }), None, "tree"),
        (json!("<?xml version=\"1.0\"?>\n<!-- one -->\n<task type=\"atomic\"></task>"), None, "template"),
        (json!("<task>\n<unfinished"), None, "template"),
        (json!("<html><body></body></html>"), None, "text"),
        (json!("# Rules\n\n- One.\n"), Some("src/AGENTS.md"), "contextFile"),
        (json!("# Rules\n\n- One.\n"), Some("src/rules.md"), "text"),
        (json!(["src/a.ts", "src/CLAUDE.md"]), None, "contextFile"),
        (json!(["w/brief.md", "w/notes.md"]), None, "workspace"),
        (json!("Short."), Some("tastes/noir.md"), "workspace"),
        (json!({ "tastes": { "default": "Short.", "genres": {} } }), None, "workspace"),
        (json!({ "model": { "type": "BPE", "vocab": {} } }), None, "tokenizer"),
        (json!({ "$hex": "43545856" }), None, "tokenizer"),
        (json!("[note] said the weaver"), None, "text"),
        (json!("{curly} said the weaver"), None, "text"),
        (json!("{ \"nodes\": [ "), None, "unknown"),
        (json!({ "a": 1 }), None, "unknown"),
        (json!(5), None, "unknown"),
        (json!(null), None, "unknown"),
        (json!([]), None, "unknown"),
        (json!(""), None, "unknown"),
        (json!(" \n"), None, "unknown"),
        (json!({ "$hex": "" }), None, "unknown"),
        (json!({ "$hex": "000000" }), None, "unknown"),
        (json!({ "$hex": "89504e470d0a1a0a" }), None, "unknown"),
        (json!({ "$hex": "fffe680069" }), None, "unknown"),
    ] {
        let found = named(&input, path).unwrap();
        assert_eq!(kind_and_format(&found).0, kind, "{input} {path:?}: {found}");
    }
}

#[test]
fn depth_is_an_answer() {
    for depth in [200, 5_000, 200_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = [open.repeat(depth), "1".to_owned(), close.repeat(depth)].concat();
            assert_eq!(identify(&json!(text))["kind"], "unknown", "{depth} {open}");
            assert_eq!(identify(&json!(open.repeat(depth)))["kind"], "unknown", "{depth} {open}");
        }
    }
}

#[test]
fn an_unknown_option_is_rejected() {
    let error = call("identify", &[json!("text"), json!({ "name": "a" })], None).unwrap_err();
    assert_eq!(error.code(), Code::InvalidInput, "{error}");
}
