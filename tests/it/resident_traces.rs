//! A preview leaves no trace: a tree with previews between its edits returns the same as one without
//! (docs/resident.md).

use ctxweave::call::CallContext;
use ctxweave::loom::resident::{METHODS, UNPACKED};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::generate::{cases, text};
use crate::resident_changes::{Js, edge, edit, node};

/// A change of both trees, or a question to the first one.
#[derive(Clone, Debug)]
enum Step {
    Edit(&'static str, Value),
    /// The last change is taken back.
    Undo,
    Preview {
        change: Option<Value>,
        before: Value,
        after: Value,
    },
    Assemble(Value),
}

fn id(number: u8) -> String {
    format!("n{number}")
}

/// A change of any kind: what goes, what comes and where, other endings, settings, or another tree.
fn change() -> impl Strategy<Value = Value> {
    let nodes = prop::collection::vec(node(), 0..4);
    let edges = prop::collection::vec(edge(), 0..4);
    let removed = prop::collection::vec((0..20u8).prop_map(id), 0..4);
    let removed_edges = prop::collection::vec((0..30u8).prop_map(|number| format!("e{number}")), 0..3);
    let places = prop::collection::vec(prop_oneof![2 => Just(None), 1 => (0..30u8).prop_map(Some)], 8);
    let endings = prop::collection::vec(((0..20u8).prop_map(id), 0..2u8, text()), 0..3);
    let more = prop::sample::select(vec![
        json!({}),
        json!({}),
        json!({}),
        json!({ "replace": true }),
        json!({ "settings": { "title": "T", "fields": { "of": 1 } } }),
        json!({ "settings": { "mode": "buffer", "systemContext": "Be brief." } }),
    ]);
    (nodes, edges, removed, removed_edges, places, endings, more).prop_map(
        |(nodes, edges, removed, removed_edges, places, endings, more)| {
            let before = |list: &[Value], prefix: &str, places: &[Option<u8>]| -> Map<String, Value> {
                let placed = list.iter().zip(places);
                let placed = placed.filter_map(|(it, place)| Some((it["id"].as_str()?.to_owned(), (*place)?)));
                placed.map(|(id, place)| (id, json!((format!("{prefix}{place}"))))).collect()
            };
            let mut change = json!({
                "before": { "nodes": before(&nodes, "n", &places[..4]), "edges": before(&edges, "e", &places[4..]) },
                "upsert": { "nodes": nodes, "edges": edges },
                "remove": { "nodes": removed, "edges": removed_edges },
            });
            if !endings.is_empty() {
                let ending = |(id, cut, text): (String, u8, String)| json!({ "nodeId": id, "cut": cut, "text": text });
                change["endings"] = endings.into_iter().map(ending).collect();
            }
            change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            change
        },
    )
}

/// Text that streams, cut inside characters as well.
fn delta() -> impl Strategy<Value = Value> {
    let half = |halves: Vec<u32>| prop::sample::select(halves.into_iter().map(|half| json!(half)).collect::<Vec<_>>());
    let low = prop_oneof![2 => Just(Value::Null), 1 => half(vec![0xde00, 0xdc4d])];
    let high = prop_oneof![2 => Just(Value::Null), 1 => half(vec![0xd83d])];
    ((0..4u8).prop_map(id), prop_oneof![2 => text(), 1 => Just(String::new())], low, high)
        .prop_map(|(id, text, low, high)| json!({ "nodeId": id, "text": text, "low": low, "high": high }))
}

fn options() -> impl Strategy<Value = Value> {
    let providers = vec!["anthropic", "openai", "completion"];
    let aware = vec![json!(null), json!(null), json!({ "headers": true }), json!(true)];
    (
        0..20u8,
        prop::sample::select(vec![60, 200, 1000]),
        prop::sample::select(vec!["truncateMiddle", "rollingWindow"]),
        prop::sample::select(providers),
        prop::sample::select(aware),
    )
        .prop_map(|(tip, window, strategy, provider, aware)| {
            json!({
                "tip": id(tip),
                "contextWindow": window,
                "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0, "minimumRecentNodes": 2 },
                "provider": provider,
                "loomAware": aware,
            })
        })
}

fn edits() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        3 => edit(),
        2 => change().prop_map(|change| ("apply", change)),
        2 => delta().prop_map(|delta| ("append", delta)),
    ]
}

/// Nearly all edits of an empty tree fail.
fn first() -> Step {
    let nodes: Vec<Value> =
        (0..16).map(|at| json!({ "id": id(at), "content": "some words", "authorType": "human" })).collect();
    let edge =
        |at: u8| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": id(at) }], "targetNodeId": id(at + 1) });
    let edges: Vec<Value> = (0..12).filter(|at| at % 5 != 4).map(edge).collect();
    Step::Edit("upsert", json!({ "nodes": nodes, "edges": edges }))
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let preview = (prop::option::weighted(0.9, change()), options(), options(), any::<bool>());
    let preview = preview.prop_map(|(change, before, after, same)| {
        let after = if same { before.clone() } else { after };
        Step::Preview { change, before, after }
    });
    let step = prop_oneof![
        5 => edits().prop_map(|(name, request)| Step::Edit(name, request)),
        1 => Just(Step::Undo),
        6 => preview,
        2 => options().prop_map(Step::Assemble),
    ];
    prop::collection::vec(step, count).prop_map(|steps| std::iter::once(first()).chain(steps).collect())
}

/// The answer of a method, to the byte.
fn raw(tree: &mut Js, name: &str, request: &Value) -> Result<(String, Vec<Vec<u8>>), String> {
    let method = METHODS.iter().copied().flatten().chain(UNPACKED).find(|method| method.name == name).unwrap();
    let answer = method.answer(&mut tree.0, request.to_string().as_bytes(), &[], &CallContext::default());
    let answer = answer.map_err(|error| format!("{:?} {error}", error.code()))?;
    Ok((String::from_utf8(answer.to_json().into_owned()).unwrap(), answer.bytes))
}

/// A result as JSON text and bytes, or the code of an error.
type Observation = Result<(String, Vec<Vec<u8>>), String>;

/// What can be seen of a tree.
fn observed(tree: &mut Js) -> Vec<(String, Observation)> {
    let (revision, _) = raw(tree, "revision", &Value::Null).unwrap();
    let latest: u32 = revision.parse().unwrap();
    let tips: Value = (0..4).map(id).collect::<Vec<_>>().into();
    let mut asked: Vec<(&str, Value)> = ["revision", "snapshot", "toJSON", "diagnostics", "nodeIds", "roots", "leaves"]
        .map(|name| (name, Value::Null))
        .into();
    asked.extend((latest.saturating_sub(12)..=latest).map(|at| ("changesSince", json!({ "revision": at }))));
    asked.extend(["children", "parents", "versions", "descendants"].map(|name| (name, json!({ "nodeId": "n1" }))));
    asked.push(("search", json!({ "query": "o", "options": { "ignoreCase": true } })));
    for name in ["tokensOf", "pathTokens", "subtreeTokens"] {
        asked.push((name, json!({ "nodeIds": null, "options": {} })));
    }
    asked.push(("measurePaths", json!({ "tips": tips, "options": { "contextWindow": 8000 } })));
    let mut seen: Vec<_> =
        asked.into_iter().map(|(name, request)| (format!("{name} {request}"), raw(tree, name, &request))).collect();
    let size = tree.call("size", &Value::Null).unwrap();
    let size = ["nodes", "edges", "textBytes"].map(|name| size[name].to_string()).join(" ");
    seen.push(("size".to_owned(), Ok((size, Vec::new()))));
    seen
}

fn run(steps: Vec<Step>) {
    let empty = json!({ "id": "t", "nodes": [], "edges": [] });
    let (mut tree, mut other) = (Js::of(&empty), Js::of(&empty));
    let mut inverses: Vec<Value> = Vec::new();
    let mut have = 0;
    for step in steps {
        match step {
            Step::Edit(name, request) => {
                let edited = raw(&mut tree, name, &request);
                assert_eq!(edited, raw(&mut other, name, &request), "{name} {request}");
                if let Ok((answer, _)) = edited {
                    inverses.push(serde_json::from_str::<Value>(&answer).unwrap()["inverse"].clone());
                }
            }
            Step::Undo => {
                let Some(inverse) = inverses.pop() else { continue };
                assert_eq!(raw(&mut tree, "apply", &inverse), raw(&mut other, "apply", &inverse), "undo {inverse}");
            }
            Step::Preview { change, before, after } => {
                let (name, request) = match change {
                    Some(change) => ("preview", json!({ "change": change, "options": before, "then": after })),
                    None => ("compare", json!({ "options": before, "then": after })),
                };
                let _ = raw(&mut tree, name, &request);
            }
            Step::Assemble(options) => {
                for name in ["assembleDialogue", "assembleBuffer", "wouldCut"] {
                    assert_eq!(raw(&mut tree, name, &options), raw(&mut other, name, &options), "{name} {options}");
                }
                let bytes = options.to_string();
                // The messages of the last one are known.
                let [packed, again] = [&mut tree, &mut other]
                    .map(|tree| tree.0.pack_dialogue(bytes.as_bytes(), &[], &CallContext::default(), have, false).ok());
                assert_eq!(packed, again, "packed {options}");
                have += u32::from(packed.is_some());
            }
        }
        for (one, another) in observed(&mut tree).into_iter().zip(observed(&mut other)) {
            assert_eq!(one, another);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), ..ProptestConfig::default() })]

    /// A preview leaves no trace.
    #[test]
    fn previews_leave_no_trace(steps in steps(14)) {
        run(steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4), ..ProptestConfig::default() })]

    /// The same over many steps, in which places become free and are taken again.
    #[test]
    fn many_previews_leave_no_trace(steps in steps(300)) {
        run(steps);
    }
}

/// Places of what went are taken by what comes, in another order than that of edges.
#[test]
fn a_preview_keeps_the_changes_since_a_revision() {
    let node = |id: &str| json!({ "id": id, "content": id, "authorType": "human" });
    let edge =
        |id: &str, from: &str, to: &str| json!({ "id": id, "sources": [{ "nodeId": from }], "targetNodeId": to });
    let mut tree = Js::of(&json!({
        "id": "t",
        "nodes": (["a", "b", "c", "d"].map(node)),
        "edges": [edge("ab", "a", "b"), edge("cd", "c", "d")],
    }));
    tree.call("remove", &json!({ "nodes": ["b"], "edges": [] })).unwrap();
    let revision = tree.call("revision", &Value::Null).unwrap();
    tree.call("upsert", &json!({ "nodes": [node("x")], "edges": [edge("dx", "d", "x")] })).unwrap();
    let since = json!({ "revision": revision });
    let expected = tree.call("changesSince", &since).unwrap();
    let options = json!({ "tip": "d", "contextWindow": 8000 });
    let change = json!({ "remove": { "nodes": ["d"], "edges": [] } });
    tree.call(
        "preview",
        &json!({ "change": change, "options": options, "then": { "tip": "c", "contextWindow": 8000 } }),
    )
    .unwrap();
    assert_eq!(tree.call("changesSince", &since).unwrap(), expected);
    assert_eq!(expected["upsert"]["edges"], json!([edge("dx", "d", "x")]));
}

/// Half a character waits for its other half while the text, or another one, is previewed.
#[test]
fn a_preview_keeps_half_a_character() {
    for aware in [json!(null), json!(true)] {
        let mut tree = Js::of(&json!({
            "id": "t",
            "nodes": [{ "id": "a", "content": "x", "authorType": "human" }],
            "edges": [],
        }));
        tree.call("append", &json!({ "nodeId": "a", "text": "", "high": 0xd83d })).unwrap();
        let options = json!({ "tip": "a", "contextWindow": 8000, "loomAware": aware });
        let change = json!({ "endings": [{ "nodeId": "a", "cut": 0, "text": " and more" }] });
        tree.call("preview", &json!({ "change": change, "options": options, "then": options })).unwrap();
        tree.call("append", &json!({ "nodeId": "a", "text": "", "low": 0xde00 })).unwrap();
        assert_eq!(tree.call("toJSON", &Value::Null).unwrap()["nodes"][0]["content"], "x😀", "{aware}");
    }
}
