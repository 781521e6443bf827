//! Requests of a wrong shape: the error names the field, wherever it stands in the text.

use crate::calls::loom::{assemble_dialogue_json, request_body_json};
use serde_json::{Value, json};

fn error(request: &str) -> ctxweave::Error {
    assemble_dialogue_json(request.as_bytes()).unwrap_err()
}

/// The text with what a request must have before its own fields.
fn completed(text: &str) -> String {
    let needed = [("tree", "{\"nodes\":[],\"edges\":[]}"), ("tip", "\"a\""), ("contextWindow", "9000")];
    let has = |name: &str| text.contains(&format!("\"{name}\"")) || name == "tip" && text.contains("\"path\"");
    let missing = needed.iter().filter(|(name, _)| !has(name));
    let fields: String = missing.map(|(name, value)| format!("\"{name}\":{value},")).collect();
    text.replacen('{', &format!("{{{fields}"), 1)
}

const TREE: &str = "must be a Loom tree, an object with `nodes` and `edges`; use `chatToLoomTree` for chat messages";

/// The message is for the person who wrote the request, the path for a program.
#[test]
fn errors_name_the_field() {
    let cases = [
        (r#"7"#, "", "must be an object"),
        (r#"{"tree":7}"#, "tree", TREE),
        (r#"{"tree":[]}"#, "tree", TREE),
        (r#"{"tree":null,"messages":[]}"#, "messages", "is not a Loom tree; use `chatToLoomTree` for chat messages"),
        (
            r#"{"tree":{"nodes":[{"id":"a","authorType":"human","content":[{"type":"text","text":"b"}]}],"edges":[]}}"#,
            "tree.nodes[0].content",
            "must be a string or a block with a `type`; several parts are `{ type: \"mixed\", blocks }`",
        ),
        (r#"{"tree": {"nodes": 7}}"#, "tree.nodes", "must be a list of nodes"),
        (r#"{"tree":{"nodes":[],"edges":{}}}"#, "tree.edges", "must be a list of edges"),
        (r#"{"tree":{"nodes":[]}}"#, "tree", "lacks `edges`"),
        (r#"{"tree":{"nodes":[{}],"edges":[]}}"#, "tree.nodes[0]", "lacks `id`"),
        (
            r#"{"tree":{"nodes":[{"id":"a","content":"x","authorType":"human"},{"id":[],"x":1}],"edges":[]}}"#,
            "tree.nodes[1].id",
            "must be a string",
        ),
        (
            r#"{"tree":{"nodes":[{"id":"a","content":"x","authorType":"human"}, {"x":1} ],"edges":[]}}"#,
            "tree.nodes[1]",
            "lacks `id`",
        ),
        (
            r#"{"tree":{"edges":[],"nodes":[{"id":"a\"]}","content":"x","authorType":"human","metadata":{"excluded":1}}]}}"#,
            "tree.nodes[0].metadata.excluded",
            "must be true or false",
        ),
        (
            r#"{"tree":{"edges":[],"nodes":[{"id":"a","content":[{"id":"z"}, 5],"authorType":"human"}]}}"#,
            "tree.nodes[0].content",
            "must be a string or a block with a `type`; several parts are `{ type: \"mixed\", blocks }`",
        ),
        (
            r#"{"tree":{"edges":[],"nodes":[{"id":"a","content":{"type":"mixed","blocks":["x",{"type":"text"}]},"authorType":"human"}]}}"#,
            "tree.nodes[0].content.blocks[1]",
            "lacks `text`",
        ),
        (
            "{\n  \"tree\": {\n    \"nodes\": [\n      { \"id\": 1 }\n], \"edges\":[]}}",
            "tree.nodes[0].id",
            "must be a string",
        ),
        (
            r#"{"tree":{"nodes":[],"edges":[{"id":"e","sources":[{"nodeId":"a"},{}],"targetNodeId":"b"}]}}"#,
            "tree.edges[0].sources[1]",
            "lacks `nodeId`",
        ),
        (r#"{"path":["a",null]}"#, "path[1]", "must be a string"),
        (r#"{"path":[ {"a":1}]}"#, "path[0]", "must be a string"),
        (r#"{"choices":[]}"#, "choices", "must be an object of edge ids by node id"),
        (r#"{"choices":{"a b":"c","d\u0065":7}}"#, "choices.de", "must be a string"),
        (r#"{"choices":{"a":"c","\u0061":"d"}}"#, "choices.a", "occurs twice; remove one"),
        (r#"{"media":{"x.y":{"data":"a","url":{}}}}"#, "media.x.y.url", "must be a string"),
        (r#"{"media":{"x":{"data":"a","url":"b"}}}"#, "media.x", "must have either `data` or `url`"),
        (r#"{"contextWindow":"1"}"#, "contextWindow", "must be a number"),
        (r#"{"contextWindow":{}}"#, "contextWindow", "must be a number"),
        (r#"{"tokenizer":[ 1]}"#, "tokenizer", "must be a tokenizer's name or an object with a function `count`"),
        ("\u{FEFF}{\"limits\":{\"nodes\":\"x\"}}", "limits.nodes", "must be a whole number from 0 to 4294967295"),
        (
            r#"{"agent":{"configuration":{"systemPrompt":{"\u0000":"a function"}}}}"#,
            "agent.configuration.systemPrompt",
            "is a function, which JSON cannot carry; it must be a string",
        ),
        (
            r#"{"loomAware":{"now":true}}"#,
            "loomAware.now",
            "must be an RFC 3339 date and time, such as `2026-03-01T09:30:00Z`, or milliseconds since 1970",
        ),
        (r#"{"previous":"?"}"#, "previous", "must be the `state` that the last fit returned, or `null`"),
    ];
    for (text, path, wrong) in cases {
        let place = if path.is_empty() { "the request".to_owned() } else { format!("`{path}`") };
        let error = error(&completed(text));
        assert_eq!(error.to_string(), format!("invalid_input: {place} {wrong}"), "{text}");
        assert_eq!(
            error.details().get("path").cloned().unwrap_or_default(),
            if path.is_empty() { json!(null) } else { json!(path) }
        );
    }
}

#[test]
fn what_a_request_lacks_is_named() {
    for (text, option) in [("{}", "tree"), (r#"{"tree":{"nodes":[],"edges":[]},"tip":"a"}"#, "contextWindow")] {
        let error = error(text);
        assert_eq!(error.message(), format!("the request lacks `{option}`"));
        assert_eq!(error.details()["path"], option);
    }
}

/// One validator: the path, the value and the names that there are, and the id of the node or the edge.
#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
    let node = r#""tree":{"edges":[],"nodes":[{"id":"a","content":"x","authorType":"robot"}]}"#;
    let edge =
        r#""tree":{"nodes":[],"edges":[{"id":"e","sources":[{"nodeId":"a","role":"rôle"}],"targetNodeId":"b"}]}"#;
    for (field, path, value, count, id) in [
        (node, "tree.nodes[0].authorType", "robot", 2, Some(("nodeId", "a"))),
        (edge, "tree.edges[0].sources[0].role", "rôle", 3, Some(("edgeId", "e"))),
        (r#""provider":"clippy""#, "provider", "clippy", 6, None),
        (r#""systemRole":"user""#, "systemRole", "user", 2, None),
        (r#""instructionScope":"x""#, "instructionScope", "x", 2, None),
        (r#""preferences":{"startOn":"x"}"#, "preferences.startOn", "x", 2, None),
        (r#""preferences":{"fill":"x"}"#, "preferences.fill", "x", 3, None),
        (r#""preferences":{"protect":["lastUser","x"]}"#, "preferences.protect[1]", "x", 2, None),
        (r#""appPreferences":{"truncationStrategy":"x"}"#, "appPreferences.truncationStrategy", "x", 3, None),
        (r#""target":{"provider":"anthropic","model":"m","cache":{"ttl":"2h"}}"#, "target.cache.ttl", "2h", 2, None),
    ] {
        let error = error(&completed(&format!("{{{field}}}")));
        assert_eq!(error.code(), ctxweave::Code::UnknownValue, "{field}");
        assert_eq!(error.details()["path"], path);
        assert_eq!(error.details()["value"], value);
        assert_eq!(error.details()["expected"].as_array().unwrap().len(), count, "{path}");
        if let Some((key, id)) = id {
            assert_eq!(error.details()[key], id);
        }
    }
}

#[test]
fn invalid_json_is_reported_by_line_and_column() {
    let cases = [
        ("", 1, "the request is not JSON: expected a value at line 1 column 1, found the end"),
        (r#"{"tip":"x"} 7"#, 1, "the request is not JSON: expected the end at line 1 column 13, found `7`"),
        (r#"{"tip":tru}"#, 1, "the request is not JSON: expected a value at line 1 column 8, found `t`"),
        (
            "{\"tip\":\n\"\n\"}",
            2,
            "the request is not JSON: expected no control character in a string at line 2 column 2, found `\\n`",
        ),
        (r#"{7:7}"#, 1, "the request is not JSON: expected a key in quotes at line 1 column 2, found `7`"),
    ];
    for (text, line, message) in cases {
        let error = error(text);
        assert_eq!(error.message(), message, "{text}");
        assert_eq!(error.details()["line"], line, "{text}");
    }
}

/// An unknown option is a diagnostic, or an error if there are none.
#[test]
fn unknown_options_are_never_ignored() {
    let request = json!({
        "tree": {
            "nodes": [{ "id": "a", "content": "Hi.", "authorType": "human", "colour": "red" }], "edges": [],
            "preferences": { "colour": "red" }, "rootNodeId": "a",
        },
        "tip": "a", "contextWindow": 9000, "contextwindow": 1, "preferences": { "tokenBufer": 1 },
        "appPreferences": { "x": 1 }, "overhead": { "perMesage": 1 }, "mediaCosts": { "video": 1 },
        "loomAware": { "header": true }, "provider": { "nativeSystemPrompt": true, "native": 1 }, "limits": { "node": 1 },
        "agent": { "name": "Ada", "configuration": { "model": "m" } }, "media": { "x": { "url": "u", "size": 1 } },
        "target": { "provider": "anthropic", "model": "m", "top_k": 1, "cache": { "place": 1 } },
    });
    let result = assemble_dialogue_json(request.to_string().as_bytes()).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    let diagnostics = result["report"]["diagnostics"].as_array().unwrap();
    let unknown = diagnostics.iter().filter(|found| found["code"] == "unknown_option");
    let mut paths: Vec<_> = unknown.map(|found| found["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    let expected = [
        "appPreferences.x",
        "contextwindow",
        "limits.node",
        "loomAware.header",
        "mediaCosts.video",
        "overhead.perMesage",
        "preferences.tokenBufer",
        "provider.native",
        "target.cache.place",
    ];
    assert_eq!(paths, expected);
    let error = request_body_json(request.to_string().as_bytes()).unwrap_err();
    assert_eq!(error.code(), ctxweave::Code::InvalidInput);
    assert_eq!(error.message(), "unknown option `contextwindow`; did you mean `contextWindow`?");
}

/// Bytes in the place of something else are called that, and no message has a NUL character in it.
#[test]
fn what_stands_for_something_else_is_described() {
    use ctxweave::call::CallContext;
    let call = |name: &str, request: &Value, bytes: &[Vec<u8>]| {
        let call = ctxweave::chat::CALLS.iter().find(|call| call.name == name).unwrap();
        call.answer(&mut (), request.to_string().as_bytes(), bytes, &CallContext::default()).map(drop)
    };
    let chat = json!([{ "role": "user", "content": "Hi." }]);
    let shapes = [
        (json!({ "\u{0}size": 3 }), "bytes"),
        (json!({ "\u{0}size": 3, "\u{0}head": "iVBORw0KGgo=" }), "bytes"),
        (json!({ "\u{0}bytes": 0 }), "bytes"),
        (json!({ "\u{0}": "a Map" }), "a Map, which JSON cannot carry"),
    ];
    for (value, what) in shapes {
        for (name, options, path) in [
            ("fitMessages", json!({ "maxTokens": 99, "tools": value }), "options.tools"),
            ("fitMessages", json!({ "maxTokens": 99, "tools": [value] }), "options.tools[0]"),
            ("fitMessages", json!({ "maxTokens": 99, "tools": { "look": value } }), "options.tools.look"),
            ("fitMessages", json!({ "maxTokens": value }), "options.maxTokens"),
            ("fitMessages", json!({ "maxTokens": 99, "truncationStrategy": value }), "options.truncationStrategy"),
            ("fitMessages", json!({ "maxTokens": 99, "edits": value }), "options.edits"),
            ("fitMessages", value.clone(), "options"),
            ("measureMessages", json!({ "tools": value }), "options.tools"),
        ] {
            let error = call(name, &json!({ "messages": chat, "options": options }), &[vec![1, 2, 3]]).unwrap_err();
            assert_eq!(error.code(), ctxweave::Code::InvalidInput, "{error}");
            assert_eq!(error.details()["path"], path, "{error}");
            assert!(error.message().starts_with(&format!("`{path}` is {what}; it must be ")), "{error}");
            assert!(!error.message().contains('\0'), "{error:?}");
        }
    }
    // A time is a text here: it is not called one.
    let times =
        [(json!("1970-01-01T00:00:00.000Z"), "must be a list of tools"), (json!("[{}]"), "is JSON text; parse it")];
    for (tools, what) in times {
        let options = json!({ "maxTokens": 99, "tools": tools });
        let error = call("fitMessages", &json!({ "messages": chat, "options": options }), &[]).unwrap_err();
        assert!(error.message().starts_with(&format!("`options.tools` {what}")), "{error}");
    }
}

/// What JSON cannot carry arrives marked; settings of tokens keep their own error for it.
#[test]
fn numbers_that_are_none_are_invalid_budgets() {
    for (field, setting) in [
        (r#""contextWindow":{"\u0000":"NaN"}"#, "contextWindow"),
        (r#""preferences":{"tokenBuffer":{"\u0000":"-Infinity"}}"#, "tokenBuffer"),
    ] {
        let tree = r#""tree":{"nodes":[{"id":"a","content":"Hi.","authorType":"human"}],"edges":[]}"#;
        let error = error(&completed(&format!("{{{tree},{field}}}")));
        assert_eq!(error.code(), ctxweave::Code::InvalidBudget, "{field}: {error}");
        assert_eq!(error.details()["setting"], setting);
        assert_eq!(error.details()["value"], "not a finite number");
    }
    // Of every setting the value is a text.
    for (field, value) in [(r#""contextWindow":5"#, "5"), (r#""contextWindow":-1.5"#, "-1.5")] {
        let tree = r#""tree":{"nodes":[{"id":"a","content":"Hi.","authorType":"human"}],"edges":[]}"#;
        let error = error(&completed(&format!("{{{tree},{field}}}")));
        assert_eq!((error.code(), &error.details()["value"]), (ctxweave::Code::InvalidBudget, &json!(value)));
        assert!(error.details()["tokenBuffer"].is_number() || value == "-1.5", "{error:?}");
    }
}

#[test]
fn times_may_be_milliseconds() {
    let node = |time: Value| {
        let node = json!({ "id": "a", "content": "Hi.", "authorType": "human", "createdAt": time });
        let request = json!({
            "tree": { "nodes": [node], "edges": [] }, "tip": "a", "contextWindow": 9000,
            "loomAware": { "now": 1_772_357_400_000_u64 },
        });
        String::from_utf8(assemble_dialogue_json(request.to_string().as_bytes()).unwrap()).unwrap()
    };
    assert_eq!(node(json!(1_772_357_100_000_u64)), node(json!("2026-03-01T09:25:00Z")));
    assert_ne!(node(json!(1_772_357_100_000_u64)), node(json!("2026-03-01T08:25:00Z")));
}

/// A list that is too long is rejected before its items are read.
#[test]
fn limits_on_counts_come_first() {
    for (text, limit) in [
        (r#"{"tree":{"nodes":[1,2],"edges":[]},"limits":{"nodes":1}}"#, "nodes"),
        (r#"{"tree":{"nodes":[1,2],"edges":[1,2]},"limits":{"edges":1}}"#, "edges"),
        (r#"{"path":[1,2],"limits":{"pathNodes":1}}"#, "pathNodes"),
        (
            r#"{"tree":{"nodes":[],"edges":[{"id":"e","sources":[1,2],"targetNodeId":"a"}]},"limits":{"edgeSources":1}}"#,
            "edgeSources",
        ),
    ] {
        let error = error(&completed(text));
        assert_eq!(error.code(), ctxweave::Code::LimitExceeded, "{error}");
        assert_eq!(error.details()["limit"], limit);
    }
}
