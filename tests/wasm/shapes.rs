//! Requests of a wrong shape, as only JavaScript can make them: the error names the field, and nothing traps.

use ctxweave::wasm::loom::assemble_dialogue_js;
use js_sys::{Function, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

fn evaluated(source: &str) -> JsValue {
    let source = format!("const boom = () => {{ throw new Error('boom'); }}; return {source};");
    Function::new_no_args(&source).call0(&JsValue::UNDEFINED).unwrap()
}

/// The path and the message of the error.
fn error(request: &str) -> (String, String) {
    let error = assemble_dialogue_js(evaluated(request)).expect_err(request);
    let get = |of: &JsValue, key: &str| Reflect::get(of, &key.into()).unwrap();
    assert_eq!(get(&error, "code"), "invalid_input", "{request}");
    let path = get(&get(&error, "details"), "path").as_string().unwrap_or_default();
    (path, get(&error, "message").as_string().unwrap())
}

#[wasm_bindgen_test]
fn errors_name_the_field() {
    let cases = [
        ("7", "", "must be a request, an object"),
        ("undefined", "", "must be a request, an object"),
        ("[]", "", "must be a request, an object"),
        ("() => {}", "", "must be a request, an object"),
        ("{ tree: [] }", "tree", "must be a Loom tree, an object with `nodes` and `edges`"),
        ("{ tree: { nodes: {}, edges: [] } }", "tree.nodes", "must be a sequence"),
        ("{ tree: { nodes: [{ id: undefined }] } }", "tree.nodes[0]", "lacks `id`"),
        ("{ tree: { nodes: [{ id: null }] } }", "tree.nodes[0].id", "must be a string"),
        (
            "{ tree: { nodes: [{ id: 'a', content: [1, { x: () => 1 }] }] } }",
            "tree.nodes[0].content[1].x",
            "must be a JSON value",
        ),
        ("{ tree: { nodes: [{ id: 'a', content: { n: 1n } }] } }", "tree.nodes[0].content.n", "must be a JSON value"),
        ("{ choices: new Map([['a.b', 'x'], ['c', 7]]) }", "choices.c", "must be a string"),
        ("{ choices: { a: 'x', b: undefined, c: 7 } }", "choices.c", "must be a string"),
        ("{ path: ['a', , 'c'] }", "path[1]", "must be a string"),
        ("{ contextWindow: '1' }", "contextWindow", "must be a number"),
        ("{ tokenizer: 7 }", "tokenizer", "must be a tokenizer's name or an object with a function `count`"),
    ];
    for (request, path, wrong) in cases {
        let place = if path.is_empty() { "the request".to_owned() } else { format!("`{path}`") };
        assert_eq!(error(request), (path.to_owned(), format!("{place} {wrong}")), "{request}");
    }
}

/// What the caller's own code throws while it is read is the caller's mistake, not a defect of the module.
#[wasm_bindgen_test]
fn what_is_thrown_while_reading_is_an_error_that_names_the_field() {
    let cases = [
        ("{ get tree() { boom(); } }", "tree"),
        ("{ tree: { nodes: [{ id: 'a', content: { get text() { boom(); } } }] } }", "tree.nodes[0].content.text"),
        ("{ path: new Proxy(['a'], { get: (list, key) => (key === '0' ? boom() : list[key]) }) }", "path[0]"),
        ("{ path: new Proxy(['a'], { get: boom }) }", "path"),
        ("{ choices: new Proxy({}, { ownKeys: boom }) }", "choices"),
    ];
    for (request, path) in cases {
        let message = format!("`{path}` cannot be read: asking for it threw: boom");
        assert_eq!(error(request), (path.to_owned(), message), "{request}");
    }
    let revoked = "(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { tree: proxy }; })()";
    let (path, message) = error(revoked);
    assert!(path == "tree" && message.starts_with("`tree` cannot be read: asking for it threw"), "{message}");
    // The module goes on.
    assert_eq!(error("{}").1, "the request lacks `tree`");
}
