//! Requests of a wrong shape: the error names the field, wherever it stands in the text.

use ctxweave::loom::wire::assemble_dialogue_json;
use serde_json::json;

fn error(request: &str) -> ctxweave::Error {
    assemble_dialogue_json(request.as_bytes(), &Default::default()).unwrap_err()
}

/// SPEC §0.5: the message is for the person who wrote the request, the path for a program.
#[test]
fn errors_name_the_field() {
    let cases = [
        (r#"7"#, "", "must be a request, an object"),
        (r#"{"tree":7}"#, "tree", "must be a Loom tree, an object with `nodes` and `edges`"),
        (r#"{"tree":[]}"#, "tree", "must be a Loom tree, an object with `nodes` and `edges`"),
        (r#"{"tree": {"nodes": 7}}"#, "tree.nodes", "must be a sequence"),
        (r#"{"tree":{"nodes":[],"edges":{}}}"#, "tree.edges", "must be a sequence"),
        (r#"{"tree":{"nodes":[]}}"#, "tree", "lacks `edges`"),
        (r#"{"tree":{"nodes":[{}],"edges":[]}}"#, "tree.nodes[0]", "lacks `id`"),
        (
            r#"{"tree":{"nodes":[{"id":"a","content":"x","authorType":"human"},{"id":[],"x":1}]}}"#,
            "tree.nodes[1].id",
            "must be a string",
        ),
        (
            r#"{"tree":{"nodes":[{"id":"a","content":"x","authorType":"human"}, {"x":1} ]}}"#,
            "tree.nodes[1]",
            "lacks `id`",
        ),
        (
            r#"{"tree":{"nodes":[{"id":"a\"]}","content":[{"id":"z"}, 5],"metadata":{"excluded":1}}]}}"#,
            "tree.nodes[0].metadata.excluded",
            "must be a boolean",
        ),
        ("{\n  \"tree\": {\n    \"nodes\": [\n      { \"id\": 1 }\n]}}", "tree.nodes[0].id", "must be a string"),
        (r#"{"path":["a",null]}"#, "path[1]", "must be a string"),
        (r#"{"path":[ {"a":1}]}"#, "path[0]", "must be a string"),
        (r#"{"choices":[]}"#, "choices", "must be a map"),
        (r#"{"choices":{"a b":"c","d\u0065":7}}"#, "choices.de", "must be a string"),
        (r#"{"media":{"x.y":{"data":"a","url":{}}}}"#, "media.x.y.url", "must be a string"),
        (r#"{"contextWindow":"1"}"#, "contextWindow", "must be a number"),
        (r#"{"contextWindow":{}}"#, "contextWindow", "must be a number"),
        (r#"{"tokenizer":[ 1]}"#, "tokenizer", "must be a tokenizer's name or an object with a function `count`"),
        ("\u{FEFF}{\"limits\":{\"nodes\":\"x\"}}", "limits.nodes", "must be a number"),
    ];
    for (text, path, wrong) in cases {
        let place = if path.is_empty() { "the request".to_owned() } else { format!("`{path}`") };
        let error = error(text);
        assert_eq!(error.to_string(), format!("invalid_input: {place} {wrong}"), "{text}");
        assert_eq!(
            error.details().get("path").cloned().unwrap_or_default(),
            if path.is_empty() { json!(null) } else { json!(path) }
        );
    }
}

#[test]
fn what_is_no_json_is_named_by_line_and_column() {
    let cases = [
        ("", "the request cannot be read: EOF while parsing a value at line 1 column 0"),
        (r#"{"tip":"x"} 7"#, "the request cannot be read: trailing characters at line 1 column 13"),
        (r#"{"tip":tru}"#, "`tip` cannot be read: expected ident at line 1 column 11"),
        (
            "{\"tip\":\"\n\"}",
            "`tip` cannot be read: control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0",
        ),
        (r#"{"provider":{"a":[1,2,}}"#, "`provider.a[2]` cannot be read: expected value at line 1 column 23"),
        (
            r#"{"tree":{"nodes":[{"id":"a","id":"b"}]}}"#,
            "`tree.nodes[0].id` cannot be read: duplicate field `id` at line 1 column 32",
        ),
        (r#"{"tree":{"nodes":[{"id":"a",}]}}"#, "`tree.nodes[0]` cannot be read: trailing comma at line 1 column 29"),
        (r#"{7:7}"#, "the request cannot be read: key must be a string at line 1 column 2"),
    ];
    for (text, message) in cases {
        assert_eq!(error(text).message(), message, "{text}");
    }
}
