//! Requests as JSON text, however it is written: what is borrowed from the text and what had to be copied out of it say
//! the same.

use std::fmt::Write;

use crate::calls::loom::{assemble_dialogue_json, request_body_json};
use ctxweave::{Code, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

fn body(request: &[u8]) -> Result<Vec<u8>, Error> {
    request_body_json(request)
}

fn assembly(request: &[u8]) -> Result<Vec<u8>, Error> {
    assemble_dialogue_json(request)
}

/// A request with texts of all kinds, in ids, too.
fn request(ids: [&str; 3], text: &str) -> Value {
    let [first, second, third] = ids;
    let node = |id: &str, author: &str, content: &str| {
        json!({
            "id": id, "content": content, "authorType": author, "localId": format!("local {id}"),
            "createdAt": "2026-03-01T09:00:00Z", "authorAgentId": "ada", "metadata": { "bookmarked": true }, "other": [text],
        })
    };
    let edge = |from: &str, to: &str| json!({ "id": format!("{from} to {to}"), "sources": [{ "nodeId": from, "role": "primary" }], "targetNodeId": to });
    json!({
        "tree": {
            "systemContext": text,
            "nodes": [node(first, "human", text), node(second, "model", "said"), node(third, "human", "and again")],
            "edges": [edge(first, second), edge(second, third)],
        },
        "tip": third, "contextWindow": 100_000, "target": { "provider": "anthropic", "model": "m" },
    })
}

/// The same JSON with some characters of its strings as escapes, keys included.
fn escaped(json: &str, every: usize) -> String {
    let mut out = String::new();
    let (mut inside, mut behind_backslash) = (false, false);
    for (at, ch) in json.chars().enumerate() {
        let plain = inside && !behind_backslash && ch != '"' && ch != '\\';
        if plain && at.is_multiple_of(every) {
            for unit in ch.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").unwrap();
            }
        } else {
            out.push(ch);
        }
        inside ^= ch == '"' && !behind_backslash;
        behind_backslash = inside && ch == '\\' && !behind_backslash;
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(64)))]

    #[test]
    fn escapes_change_nothing(
        ids in prop::collection::btree_set("[a-zé😀\\\\\"\n]{1,12}", 3), every in 1_usize..5,
        text in prop_oneof![any::<String>(), "[a \\\\\"\n\t/é\u{8}\u{feff}]{0,12}", "(a line\n){0,9}[\"n ]{0,3}"],
    ) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let json = request([ids[0], ids[1], ids[2]], &text).to_string();
        let escaped = escaped(&json, every);
        prop_assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), serde_json::from_str::<Value>(&json).unwrap());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        prop_assert_eq!(body(escaped.as_bytes()).map(text).unwrap(), body(json.as_bytes()).map(text).unwrap());
        prop_assert_eq!(assembly(escaped.as_bytes()).map(text).unwrap(), assembly(json.as_bytes()).map(text).unwrap());
    }
}

/// A text with escapes is copied into the body as it stands where it stands as it has to; merged with another one, too.
#[test]
fn a_body_escapes_as_stringify_does() {
    let lines = "a line, \"quoted\"\n".repeat(9);
    let ends =
        ["\na\nb", "a\nb\n", "a\\", "a\\n", "\\n", "\"", "a\tb\u{2003}", "\u{feff}a\nb", "a\n\u{85}", "é\né", "a/\nb"];
    for text in ends.into_iter().chain(["a\"b", "\u{8}a\u{c}", &lines]) {
        let json = request(["one", "two", "three"], text).to_string();
        let merged = json.replace(":\"model\"", ":\"human\"");
        let said =
            json!(text.trim_matches(|ch: char| ch != '\u{85}' && (ch.is_whitespace() || ch == '\u{feff}'))).to_string();
        let said = said.strip_suffix('"').unwrap();
        for json in [escaped(&json, 1), json.replace('/', "\\/"), json, merged] {
            let body = String::from_utf8(body(json.as_bytes()).unwrap()).unwrap();
            let next = &body[body.find(&format!("\"content\":{said}")).unwrap_or_else(|| panic!("{text:?}: {body}"))..];
            assert!(next[10 + said.len()..].starts_with(['"', '\\']), "{text:?}: {body}");
        }
    }
}

/// Where the text has to be repaired, the tree keeps nothing of the copy that was repaired.
#[test]
fn half_pairs_are_replaced_wherever_they_stand() {
    let json = request(["one", "two", "three"], "a text").to_string();
    for (from, to) in [("\"a text\"", "\"\\ud800 text\""), ("\"two\"", "\"\\udc00two\""), ("one", "\\ud800one")] {
        let broken = json.replace(from, to);
        let mended = broken.replace("\\ud800", "\u{FFFD}").replace("\\udc00", "\u{FFFD}");
        assert_ne!(broken, mended);
        assert_eq!(body(broken.as_bytes()).unwrap(), body(mended.as_bytes()).unwrap(), "{to}");
        let result = |text: &str| serde_json::from_slice::<Value>(&assembly(text.as_bytes()).unwrap()).unwrap();
        let (mut repaired, whole) = (result(&broken), result(&mended));
        let diagnostics = repaired["report"]["diagnostics"].take();
        assert_eq!(diagnostics[0]["code"], "lone_surrogate_replaced", "{to}");
        assert!(diagnostics[0]["path"].is_string(), "{to}");
        repaired["report"]["diagnostics"] = json!([]);
        assert_eq!(repaired, whole, "{to}");
    }
}

#[test]
fn a_byte_order_mark_is_ignored() {
    let json = request(["one", "two", "three"], "a text").to_string();
    assert_eq!(body(format!("\u{feff}{json}").as_bytes()).unwrap(), body(json.as_bytes()).unwrap());
}

/// Errors name their place, as for objects.
#[test]
fn an_invalid_request_is_rejected_with_its_place() {
    let json = request(["one", "two", "three"], "a text").to_string();
    let told = |text: &[u8]| {
        let error = body(text).unwrap_err();
        (error.code(), error.message().to_owned())
    };
    let replaced = |from: &str, to: &[u8]| {
        let at = json.find(from).unwrap();
        [&json.as_bytes()[..at], to, &json.as_bytes()[at + from.len()..]].concat()
    };
    let deep = format!("\"content\":{}{}", "[".repeat(300), "]".repeat(300));
    for (text, code, said) in [
        (replaced("\"id\":\"one\"", b"\"id\":5"), Code::InvalidInput, "`tree.nodes[0].id` must be a string"),
        (replaced("\"id\":\"one\"", b"\"id\":null"), Code::InvalidInput, "`tree.nodes[0]` lacks `id`"),
        (
            replaced("\"localId\":\"local one\"", b"\"localId\":[]"),
            Code::InvalidInput,
            "`tree.nodes[0].localId` must be a string",
        ),
        (replaced("\"nodeId\":\"one\",", b""), Code::InvalidInput, "`tree.edges[0].sources[0]` lacks `nodeId`"),
        (
            replaced("\"id\":\"one\"", b"\"id\":\"one\",\"id\":\"one\""),
            Code::InvalidInput,
            "`tree.nodes[0].id` occurs twice",
        ),
        (replaced("\"id\":\"one\"", b"\"id\":\"\xff\""), Code::InvalidInput, "is not UTF-8 at byte"),
        (replaced("\"id\":\"one\"", b"\"id\":\"o\nne\""), Code::InvalidInput, "control character"),
        (replaced("\"id\":\"two\"", b"\"id\":\"one\""), Code::DuplicateId, "two nodes have the id `one`"),
        (
            replaced("\"id\":\"two to three\"", b"\"id\":\"one to two\""),
            Code::DuplicateId,
            "two edges have the id `one to two`",
        ),
        (
            replaced("\"targetNodeId\":\"two\"", b"\"targetNodeId\":\"four\""),
            Code::EdgeNodeNotFound,
            "names node `four`",
        ),
        (replaced("100000", b"1e999"), Code::InvalidBudget, "`contextWindow` is not a finite number"),
        (replaced("\"content\":\"a text\"", deep.as_bytes()), Code::LimitExceeded, "jsonDepth"),
        (json.as_bytes()[..json.len() - 1].to_vec(), Code::InvalidInput, "found the end"),
    ] {
        let (found, message) = told(&text);
        assert_eq!(found, code, "{message}");
        assert!(message.contains(said), "{message} does not say {said}");
    }
    // The value of an unknown field may be any JSON.
    let ignored = replaced("\"other\":[\"a text\"]", b"\"other\":[{\"id\":5}]");
    assert_eq!(body(&ignored).unwrap(), body(json.as_bytes()).unwrap());
}

/// An error names the alternative, and nothing more.
#[test]
fn errors_say_what_to_write() {
    let good = json!({ "tree": { "nodes": [{ "id": "a", "content": "x", "authorType": "human" }], "edges": [] }, "tip": "a", "contextWindow": 9000 });
    let said = |change: &dyn Fn(&mut Value)| {
        let mut request = good.clone();
        change(&mut request);
        assembly(request.to_string().as_bytes()).unwrap_err().message().to_owned()
    };
    let misspelt = said(&|request| {
        let window = request.as_object_mut().unwrap().remove("contextWindow").unwrap();
        request["contextwindow"] = window;
    });
    assert_eq!(misspelt, "the request lacks `contextWindow`; is `contextwindow` a misspelling of it?");
    let absent = said(&|request| drop(request.as_object_mut().unwrap().remove("contextWindow")));
    assert_eq!(absent, "the request lacks `contextWindow`");
    let nothing = said(&|request| request["contextWindow"] = Value::Null);
    assert_eq!(nothing, "the request lacks `contextWindow`; `null` counts as missing");
    let negative = said(&|request| request["preferences"] = json!({ "tokenBuffer": -1 }));
    assert_eq!(negative, "`tokenBuffer` is -1; it must be a whole number of 0 or more");
    assert_eq!(said(&|request| *request = json!(5)), "the request must be an object");
    let no_name = said(&|request| request["instructionScope"] = json!(true));
    assert_eq!(no_name, "`instructionScope` must be one of `path`, `generation`");
    let long = said(&|request| request["tip"] = json!("é".repeat(1_000_000)));
    assert!(long.len() < 2100 && long.contains('…'), "{}", long.len());
    assert!(long.ends_with("` is not in the tree; check the id, or add the node"), "{long}");
}
