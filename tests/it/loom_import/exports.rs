//! An export is imported again unchanged.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{in_order, trees};
use crate::calls::call;

fn export(tree: &Value, format: &str, tip: Option<&Value>) -> String {
    let options = json!({ "tip": tip });
    let result = call("exportLoom", &[tree.clone(), json!(format), options], None).unwrap();
    result.as_str().unwrap().to_owned()
}

fn import(file: &str, format: &str) -> Value {
    let result = call("importLoom", &[json!(file)], None).unwrap();
    assert_eq!(result["format"], json!(format), "{file}");
    result
}

/// Whatever a file is of, its tree goes through the formats that are written, and comes back.
#[test]
fn imported_trees_go_through_every_format_that_is_written() {
    for (name, imported) in trees() {
        for format in ["pyloom", "loomsidian"] {
            let tree = &imported["tree"];
            let file = export(tree, format, imported.get("tip"));
            let again = import(&file, format);
            let found = again["trees"][0].clone();
            assert_eq!(in_order(&found["tree"]), in_order(tree), "{name} as {format}: {file}");
            assert_eq!(found.get("tip"), imported.get("tip"), "{name} as {format}");
            // What it is written as does not change any more.
            assert_eq!(export(&found["tree"], format, found.get("tip")), file, "{name} as {format}");
        }
    }
}

/// An export to the format of the file has all of its fields.
#[test]
fn a_file_comes_out_as_it_went_in() {
    let file: Value = json!({
        "root": { "id": "r", "text": "", "mutable": true, "meta": { "source": "prompt", "modified": false }, "children": [
            { "id": "a", "parent_id": "r", "text": "A", "visited": true, "open": 0.5, "tags": ["plot", "bookmark"], "notes": ["n"],
              "meta": { "source": "mixed", "creation_timestamp": "2023-01-31-09.15.02", "modified": true, "origin": "o" },
              "history": [{ "timestamp": "2023-01-31-09.14.00", "text": "Old" }, { "text": "Older" }], "children": [] },
            { "id": "b", "parent_id": "r", "text": "B", "frame": { "x": [1] }, "meta": { "source": "AI", "modified": false }, "children": [] }
        ] },
        "selected_node_id": "b", "chapters": { "c": { "id": "c", "root_id": "gone", "title": "t" } },
        "tags": { "plot": { "scope": "node" } }, "generation_settings": { "temperature": 0.5 }
    });
    let imported = call("importLoom", std::slice::from_ref(&file), None).unwrap();
    let out = export(&imported["trees"][0]["tree"], "pyloom", imported["trees"][0].get("tip"));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), file);
    let id = "0000000a-0000-4000-8000-000000000000";
    let note: Value = json!({ "current": id, "hoisted": [id], "searchTerm": "sea", "generating": null, "nodes": {
        id: { "text": "T", "parentId": null, "collapsed": true, "unread": true, "bookmarked": true, "lastVisited": 5, "searchResultState": null }
    } });
    let imported = call("importLoom", std::slice::from_ref(&note), None).unwrap();
    let out = export(&imported["trees"][0]["tree"], "loomsidian", imported["trees"][0].get("tip"));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), note);
}

/// The rules of the programs that read the files.
#[test]
fn exports_are_what_the_programs_take() {
    for (name, imported) in trees() {
        let tree = &imported["tree"];
        let pyloom: Value = serde_json::from_str(&export(tree, "pyloom", imported.get("tip"))).unwrap();
        let root = &pyloom["root"];
        assert!(root["mutable"].is_boolean() && !root["children"].as_array().unwrap().is_empty(), "{name}");
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            assert!(node["text"].is_string() && node["children"].is_array(), "{name}: {node}");
            open.extend(node["children"].as_array().unwrap());
        }
        let note: Value = serde_json::from_str(&export(tree, "loomsidian", imported.get("tip"))).unwrap();
        let nodes = note["nodes"].as_object().unwrap();
        assert!(nodes.contains_key(note["current"].as_str().unwrap()), "{name}");
        assert_eq!(nodes.values().filter(|node| node["parentId"].is_null()).count(), 1, "{name}");
        for (id, node) in nodes {
            let parts: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{name}: {id}");
            let parent = &node["parentId"];
            assert!(parent.is_null() || nodes.contains_key(parent.as_str().unwrap()), "{name}");
            for field in ["text", "collapsed", "unread", "bookmarked", "searchResultState"] {
                assert!(node.get(field).is_some(), "{name}: {field}");
            }
        }
    }
}

/// A change made in the other program is kept, and so is data that it does not have.
#[test]
fn what_was_edited_elsewhere_counts() {
    let tree = json!({ "title": "T", "nodes": [
        { "id": "a", "content": "one", "authorType": "model", "authorAgentId": "m" },
        { "id": "b", "content": { "type": "mixed", "blocks": ["x", { "type": "reasoning", "text": "r" }] }, "authorType": "model" },
    ], "edges": [{ "id": "own", "sources": [{ "nodeId": "a" }], "targetNodeId": "b" }] });
    let mut file: Value = serde_json::from_str(&export(&tree, "pyloom", None)).unwrap();
    file["root"]["text"] = json!("other");
    file["root"]["children"][0]["text"] = json!("changed");
    file["root"]["children"].as_array_mut().unwrap().push(json!({ "id": "c", "text": "new", "children": [] }));
    let tree = import(&file.to_string(), "pyloom")["trees"][0]["tree"].clone();
    assert_eq!(tree["title"], json!("T"));
    assert_eq!(tree["nodes"][0], json!({ "id": "a", "content": "other", "authorType": "model", "authorAgentId": "m" }));
    assert_eq!(tree["nodes"][1], json!({ "id": "b", "content": "changed", "authorType": "model" }));
    assert_eq!(tree["nodes"][2], json!({ "id": "c", "content": "new", "authorType": "human" }));
    assert_eq!(tree["edges"][0]["id"], json!("own"));
    assert_eq!(tree["edges"][1]["id"], json!("e:c"));
}

fn optional(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Option<Value>> {
    prop_oneof![2 => Just(None), 1 => value.prop_map(Some)].boxed()
}

fn object(fields: Vec<(&'static str, BoxedStrategy<Option<Value>>)>) -> impl Strategy<Value = Value> {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    values.prop_map(move |values| {
        let given = names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        Value::Object(given.collect())
    })
}

fn text() -> BoxedStrategy<Value> {
    prop_oneof![Just(""), Just("the sea"), Just(" \u{1F980}\n"), Just("\"quoted\" \\ {x}"), Just("\u{0}")]
        .prop_map(|text| json!(text))
        .boxed()
}

fn content() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => text(),
        1 => text().prop_map(|text| json!({ "type": "text", "text": text })),
        1 => text().prop_map(|text| json!({ "type": "mixed", "blocks": [text, { "type": "reasoning", "text": "r" }, { "type": "image", "ref": "i", "mimeType": "image/png" }] })),
        1 => Just(json!({ "type": "toolCall", "id": "c", "name": "n", "arguments": { "a": [1.5, null] } })),
    ]
    .boxed()
}

fn imported() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!({ "collapsed": true, "unread": true, "x": { "y": [1, "z"] } })),
        Just(json!({ "unread": false, "mutable": false, "meta": { "source": "mixed" }, "tags": ["plot"] })),
        Just(json!({ "text": "taken", "children": [], "nothing": null })),
        Just(json!({ "versionOf": "1", "chapter_id": "k", "history": [1] })),
    ]
    .boxed()
}

fn metadata() -> BoxedStrategy<Value> {
    let flag = || prop_oneof![Just(json!(true)), Just(json!(false))].boxed();
    object(vec![
        ("bookmarked", optional(flag())),
        ("bookmarkLabel", optional(text())),
        ("excluded", optional(flag())),
        ("pruned", optional(flag())),
        ("imported", optional(imported())),
        ("other", optional(Just(json!([1])))),
    ])
    .boxed()
}

fn node() -> BoxedStrategy<Value> {
    let times = ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.25Z", "2024-01-02T03:04:05+02:00", "then"];
    let time = prop_oneof![
        proptest::sample::select(times.to_vec()).prop_map(|time| json!(time)),
        Just(json!(1_700_000_000_123_u64))
    ];
    let must = |value: BoxedStrategy<Value>| value.prop_map(Some).boxed();
    object(vec![
        ("content", must(content())),
        ("authorType", must(prop_oneof![Just(json!("human")), Just(json!("model"))].boxed())),
        ("authorAgentId", optional(text())),
        ("createdAt", optional(time)),
        ("summary", optional(text())),
        ("localId", optional(Just(json!("l")))),
        ("unknown", optional(Just(json!({ "deep": [[null]] })))),
        ("metadata", optional(metadata())),
    ])
    .boxed()
}

/// How each node follows others: a number for the source, and what kind of edge it is.
fn tree() -> impl Strategy<Value = Value> {
    let ids = ["1", "2", "3.h1", "ä", "0000000a-0000-4000-8000-000000000000", "e:1", "root", "7 "];
    let fields = object(vec![
        ("id", optional(Just(json!("t")))),
        ("title", optional(text())),
        ("mode", optional(prop_oneof![Just(json!("buffer")), Just(json!("dialogue"))])),
        ("rootNodeId", optional(Just(json!("1")))),
        ("systemContext", optional(text())),
        ("bufferPrefix", optional(text())),
        ("preferences", optional(Just(json!({ "tokenBuffer": 5 })))),
        (
            "imported",
            optional(prop_oneof![
                Just(json!({ "format": "pyloom", "fields": { "frame": { "a": 1 } } })),
                Just(json!({ "format": "loomsidian", "fields": { "hoisted": ["1"] } })),
                Just(json!({ "format": "coloom", "fields": { "metadata": {} } })),
                Just(json!("anything")),
            ]),
        ),
    ]);
    let links = proptest::collection::vec((0..8_usize, 0..9_u8), 8);
    (proptest::collection::vec(node(), 1..8), links, fields).prop_map(move |(nodes, links, mut tree)| {
        let count = nodes.len();
        let mut edges = Vec::new();
        let mut all = Vec::new();
        for (at, mut node) in nodes.into_iter().enumerate() {
            let (id, (other, kind)) = (ids[at], links[at]);
            let source = ids[other % count];
            node["id"] = json!(id);
            let usual = |from: &str| json!({ "id": format!("e:{id}"), "sources": [{ "nodeId": from, "role": "primary" }], "targetNodeId": id });
            match kind {
                0 => {}
                1 => edges.push(json!({ "id": format!("x{at}"), "sources": [{ "nodeId": source }], "targetNodeId": id })),
                2 => edges.push(json!({ "id": format!("x{at}"), "sources": [{ "nodeId": source }], "targetNodeId": id, "edgeType": "annotation" })),
                3 if at > 0 => node["editedFrom"] = json!(ids[other % at]),
                4 => edges.push(json!({ "id": format!("x{at}"), "sources": [{ "nodeId": ids[0], "role": "context" }, { "nodeId": source, "role": "primary" }], "targetNodeId": id, "more": 1 })),
                // Circles too.
                5 => edges.push(usual(source)),
                _ if at > 0 => edges.push(usual(ids[other % at])),
                _ => {}
            }
            all.push(node);
        }
        tree["nodes"] = json!(all);
        tree["edges"] = json!(edges);
        tree
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(400)))]

    /// Any tree, with whatever fields and edges, is in its export.
    #[test]
    fn export_then_import_of_a_loom_is_lossless(tree in tree(), tip in 0..8_usize) {
        let nodes = tree["nodes"].as_array().unwrap();
        let tip = &nodes[tip % nodes.len()]["id"];
        for format in ["pyloom", "loomsidian"] {
            let file = export(&tree, format, Some(tip));
            let again = import(&file, format);
            let found = &again["trees"][0];
            let (mut found_tree, mut tree) = (in_order(&found["tree"]), in_order(&tree));
            // The position of a node among its siblings is stated for consecutive ones.
            found_tree["siblings"].take();
            tree["siblings"].take();
            prop_assert_eq!(&found_tree, &tree, "{}: {}", format, file);
            prop_assert_eq!(&found["tip"], tip);
        }
    }
}

/// The nodes keep the order of the file, whatever the order in which an export writes them.
#[test]
fn nodes_keep_the_order_of_the_file() {
    let said = |id: &str, parent: Option<&str>, children: &[&str], role: &str| {
        let content = json!({ "content_type": "text", "parts": [id] });
        let message = json!({ "id": id, "author": { "role": role }, "content": content });
        json!({ "id": id, "message": message, "parent": parent, "children": children })
    };
    let file = json!([{ "title": "T", "current_node": "d", "mapping": {
        "d": said("d", Some("b"), &[], "assistant"),
        "a": said("a", None, &["c", "b"], "user"),
        "b": said("b", Some("a"), &["d"], "user"),
        "c": said("c", Some("a"), &[], "assistant"),
    } }]);
    let tree = call("importLoom", &[file], None).unwrap()["trees"][0]["tree"].clone();
    let ids = |tree: &Value| -> Vec<String> {
        tree["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&tree), ["d", "a", "b", "c"]);
    for format in ["pyloom", "loomsidian"] {
        let again = import(&export(&tree, format, None), format)["trees"][0]["tree"].clone();
        assert_eq!(ids(&again), ids(&tree), "{format}");
        assert_eq!(in_order(&again), in_order(&tree), "{format}");
    }
}

/// A tree of ctxweave comes in as it is.
#[test]
fn loom_trees_are_returned_unchanged() {
    for (name, imported) in trees() {
        let again = call("importLoom", &[imported["tree"].clone()], None).unwrap();
        assert_eq!(again["format"], "ctxweave", "{name}");
        assert_eq!(again["trees"][0]["tree"].to_string(), imported["tree"].to_string(), "{name}");
    }
}
