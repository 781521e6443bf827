//! Changes of a resident tree as data: inverses, stored changes, and updates of a copy elsewhere (docs/resident.md).

use ctxweave::Error;
use ctxweave::call::CallContext;
use ctxweave::loom::resident::{Handle, METHODS, UNPACKED};
use ctxweave::tokens::memory::Memory;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::generate::{cases, text};

/// A tree as JavaScript has it.
#[derive(Debug)]
pub(crate) struct Js(pub(crate) Handle);

impl Js {
    pub(crate) fn of(tree: &Value) -> Self {
        Self(Handle::from_json(tree.to_string().as_bytes(), &Memory::default()).unwrap())
    }

    pub(crate) fn call(&mut self, name: &str, request: &Value) -> Result<Value, Error> {
        let method = METHODS.iter().copied().flatten().chain(UNPACKED).find(|method| method.name == name).unwrap();
        let answer = method.answer(&mut self.0, request.to_string().as_bytes(), &[], &CallContext::default())?;
        Ok(match &answer.bytes[..] {
            [bytes] if answer.json.is_empty() => Value::String(String::from_utf8(bytes.clone()).unwrap()),
            _ => serde_json::from_slice(&answer.to_json()).unwrap(),
        })
    }

    pub(crate) fn snapshot(&mut self) -> String {
        self.call("snapshot", &Value::Null).unwrap().as_str().unwrap().to_owned()
    }
}

/// A tree as plain JSON, changed in the plainest way.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    settings: Map<String, Value>,
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Plain {
    pub(crate) fn new() -> Self {
        let settings =
            json!({ "id": "t1", "rootNodeId": null, "owner": { "name": "Ann" }, "metadata": { "kept": true } });
        Self { settings: settings.as_object().unwrap().clone(), nodes: Vec::new(), edges: Vec::new() }
    }

    pub(crate) fn tree(&self) -> Value {
        let mut tree = self.settings.clone();
        tree.insert("nodes".to_owned(), json!(self.nodes));
        tree.insert("edges".to_owned(), json!(self.edges));
        Value::Object(tree)
    }

    fn has(&self, id: &Value) -> bool {
        self.nodes.iter().any(|node| node["id"] == *id)
    }

    pub(crate) fn ids(&self) -> Vec<Value> {
        self.nodes.iter().map(|node| node["id"].clone()).collect()
    }

    /// For each node with several continuation edges to it, the first of these.
    pub(crate) fn first_edges(&self) -> Value {
        let mut choices = Map::new();
        for edge in &self.edges {
            if edge.get("edgeType").is_none_or(|kind| kind == "continuation") {
                choices.entry(edge["targetNodeId"].as_str().unwrap()).or_insert(edge["id"].clone());
            }
        }
        Value::Object(choices)
    }

    /// Whether an edit can be made; then it is.
    pub(crate) fn edit(&mut self, name: &str, request: &Value) -> bool {
        match name {
            "upsert" => return self.upsert(request),
            "remove" => return self.remove(request),
            "append" => return self.append(request),
            _ => {}
        }
        let named = ["title", "mode", "systemContext", "bufferModeSystemContext", "bufferPrefix", "preferences"];
        for (key, value) in request["settings"].as_object().unwrap() {
            match (key.as_str(), value) {
                ("fields", fields) => {
                    self.settings.retain(|name, _| named.contains(&name.as_str()));
                    self.settings.extend(fields.as_object().cloned().unwrap_or_default());
                }
                (_, Value::Null) => _ = self.settings.shift_remove(key),
                _ => _ = self.settings.insert(key.clone(), value.clone()),
            }
        }
        true
    }

    fn append(&mut self, request: &Value) -> bool {
        let more = request["text"].as_str().unwrap();
        let Some(node) = self.nodes.iter_mut().find(|node| node["id"] == request["nodeId"]) else { return false };
        if more.is_empty() {
            return true;
        }
        let content = &mut node["content"];
        let ending = match content["type"].as_str() {
            None => Some(&mut *content),
            Some("text") => content.get_mut("text"),
            Some("mixed") => {
                let last = content["blocks"].as_array_mut().unwrap().last_mut();
                last.filter(|block| block["type"] == "text").and_then(|block| block.get_mut("text"))
            }
            Some(_) => None,
        };
        match ending {
            Some(text) => *text = Value::String(text.as_str().unwrap().to_owned() + more),
            None => {
                let block = json!({ "type": "text", "text": more });
                match content.get_mut("blocks").and_then(Value::as_array_mut) {
                    Some(blocks) => blocks.push(block),
                    None => *content = json!({ "type": "mixed", "blocks": [content, block] }),
                }
            }
        }
        true
    }

    fn upsert(&mut self, change: &Value) -> bool {
        let list = |name: &str| change[name].as_array().cloned().unwrap_or_default();
        let (nodes, edges) = (list("nodes"), list("edges"));
        let twice = |list: &[Value]| (1..list.len()).any(|at| list[..at].iter().any(|it| it["id"] == list[at]["id"]));
        let known = |id: &Value| self.has(id) || nodes.iter().any(|node| node["id"] == *id);
        let linked = edges.iter().all(|edge| {
            known(&edge["targetNodeId"]) && edge["sources"].as_array().unwrap().iter().all(|it| known(&it["nodeId"]))
        });
        if twice(&nodes) || twice(&edges) || !linked {
            return false;
        }
        let put = |list: &mut Vec<Value>, item: Value| match list.iter_mut().find(|old| old["id"] == item["id"]) {
            Some(old) => *old = item,
            None => list.push(item),
        };
        nodes.into_iter().for_each(|node| put(&mut self.nodes, node));
        edges.into_iter().for_each(|edge| put(&mut self.edges, edge));
        true
    }

    fn remove(&mut self, removal: &Value) -> bool {
        let list = |name: &str| removal[name].as_array().cloned().unwrap_or_default();
        let (nodes, edges) = (list("nodes"), list("edges"));
        if !nodes.iter().all(|id| self.has(id)) || !edges.iter().all(|id| self.edges.iter().any(|it| it["id"] == *id)) {
            return false;
        }
        self.nodes.retain(|node| !nodes.contains(&node["id"]));
        self.edges.retain_mut(|edge| {
            let sources = edge["sources"].as_array().unwrap().clone();
            let gone = |source: &Value| nodes.contains(&source["nodeId"]);
            let primary = |source: &Value| source.get("role").is_none_or(|role| role == "primary");
            let origins: Vec<&Value> = match edge.get("edgeType").is_some_and(|kind| kind == "annotation") {
                true => sources.iter().collect(),
                false if sources.iter().any(primary) => sources.iter().filter(|source| primary(source)).collect(),
                false => sources.iter().take(1).collect(),
            };
            let touched = sources.iter().any(gone);
            let stays = !touched || origins.into_iter().any(|source| !gone(source));
            let named = edges.contains(&edge["id"]) || nodes.contains(&edge["targetNodeId"]);
            edge["sources"] = sources.into_iter().filter(|source| !gone(source)).collect();
            !named && stays
        });
        true
    }
}

/// A change of a tree, by the name of the method.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Edit(&'static str, Value),
    /// So many changes are taken back, one after the other, and perhaps made again.
    Undo(usize, bool),
    /// A copy elsewhere is brought up to date.
    Sync,
    /// A copy elsewhere is made of what was stored; before it there was another tree.
    Reload,
    /// A copy of another tree becomes one of this.
    Adopt,
}

fn id(number: u8) -> String {
    format!("n{number}")
}

pub(crate) fn node() -> impl Strategy<Value = Value> {
    let content = prop_oneof![
        4 => text().prop_map(Value::String),
        2 => text().prop_map(|text| json!({ "type": "text", "text": text })),
        1 => text().prop_map(|text| json!({ "type": "mixed", "blocks": [{ "type": "text", "text": text }] })),
        1 => (text(), text()).prop_map(|(one, other)| json!({ "type": "mixed", "blocks": [
            { "type": "text", "text": one }, { "type": "reasoning", "text": other, "signature": "s" },
        ] })),
        1 => (0..3u8).prop_map(|call| json!({
            "type": "toolCall", "id": format!("c{call}"), "name": "look", "arguments": { "q": call, "deep": [1.5, null] },
        })),
        1 => ((0..3u8), text()).prop_map(|(call, text)| json!({
            "type": "toolResult", "toolCallId": format!("c{call}"), "content": text,
        })),
    ];
    let more = prop::sample::select(vec![
        json!({}),
        json!({}),
        json!({}),
        json!({ "summary": "in short" }),
        json!({ "metadata": {} }),
        json!({ "metadata": { "pruned": true } }),
        json!({ "metadata": { "excluded": false, "bookmarked": true, "bookmarkLabel": "Böse", "x": [1] } }),
        json!({ "metadata": { "excluded": true, "bookmarked": true } }),
        json!({ "createdAt": "2025-01-01T00:00:00Z", "authorAgentId": "poet", "localId": null, "$own": { "a": null } }),
        json!({ "__proto__": 1, "metadata": null }),
    ]);
    let author = prop::sample::select(vec!["human", "model"]);
    let edited = prop::option::weighted(0.1, 0..20u8);
    (0..20u8, content, author, more, edited).prop_map(|(number, content, author, more, edited)| {
        let mut node = json!({ "id": id(number), "content": content, "authorType": author });
        if let Some(edited) = edited {
            node["editedFrom"] = id(edited).into();
        }
        node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        node
    })
}

pub(crate) fn edge() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec![None, None, Some("primary"), Some("context"), Some("instruction")]);
    let sources = prop::collection::vec((0..20u8, role), 0..4);
    let kind = prop::sample::select(vec![None, Some("continuation"), Some("annotation")]);
    let more = prop::sample::select(vec![json!({}), json!({}), json!({ "weight": 0.5, "metadata": { "k": 1 } })]);
    (0..30u8, sources, 0..20u8, kind, more).prop_map(|(number, sources, target, kind, more)| {
        let source = |(node, role): (u8, Option<&str>)| match role {
            Some(role) => json!({ "nodeId": id(node), "role": role }),
            None => json!({ "nodeId": id(node) }),
        };
        let sources: Vec<Value> = sources.into_iter().map(source).collect();
        let mut edge = json!({ "id": format!("e{number}"), "sources": sources, "targetNodeId": id(target) });
        if let Some(kind) = kind {
            edge["edgeType"] = kind.into();
        }
        edge.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edge
    })
}

pub(crate) fn edit() -> impl Strategy<Value = (&'static str, Value)> {
    let nodes = || prop::collection::vec(node(), 0..4);
    let edges = || prop::collection::vec(edge(), 0..4);
    let upsert = (nodes(), edges()).prop_map(|(nodes, edges)| json!({ "nodes": nodes, "edges": edges }));
    let node_ids = prop::collection::vec((0..20u8).prop_map(id), 0..3);
    let edge_ids = prop::collection::vec((0..30u8).prop_map(|number| format!("e{number}")), 0..2);
    let remove = (node_ids, edge_ids).prop_map(|(nodes, edges)| json!({ "nodes": nodes, "edges": edges }));
    let settings = prop::sample::select(vec![
        json!({ "title": "A title" }),
        json!({ "title": null, "systemContext": "Be brief.", "bufferPrefix": "Once, " }),
        json!({ "preferences": { "tokenBuffer": 5, "truncationStrategy": "rollingWindow" } }),
        json!({ "preferences": { "startOn": "user", "protect": ["lastUser"], "fill": "results" } }),
        json!({ "mode": "buffer", "bufferModeSystemContext": true }),
        json!({ "mode": null, "preferences": null }),
        json!({ "mode": "dialogue", "bufferModeSystemContext": false, "preferences": {} }),
        json!({ "fields": { "id": "t2", "metadata": { "of": ["another"] } } }),
        json!({ "bufferModeSystemContext": null, "fields": null }),
    ]);
    let append = ((0..20u8).prop_map(id), prop_oneof![8 => text(), 1 => Just(String::new())]);
    let append = append.prop_map(|(id, text)| json!({ "nodeId": id, "text": text }));
    prop_oneof![
        3 => append.prop_map(|request| ("append", request)),
        6 => upsert.prop_map(|change| ("upsert", change)),
        3 => remove.prop_map(|removal| ("remove", removal)),
        1 => settings.prop_map(|settings| ("apply", json!({ "settings": settings }))),
    ]
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => edit().prop_map(|(name, request)| Step::Edit(name, request)),
        2 => (1..6usize, any::<bool>()).prop_map(|(count, again)| Step::Undo(count, again)),
        1 => Just(Step::Sync),
        1 => Just(Step::Reload),
        1 => Just(Step::Adopt),
    ];
    prop::collection::vec(step, count)
}

fn run(steps: Vec<Step>) {
    let mut plain = Plain::new();
    let mut tree = Js::of(&plain.tree());
    let mut copy = (Js::of(&plain.tree()), 0);
    // The changes that take back what was done, with what the tree was before.
    let mut done: Vec<(Value, String, Plain)> = Vec::new();
    for step in steps {
        match step {
            Step::Edit(name, request) => {
                let (before, was) = (tree.snapshot(), plain.clone());
                let right = plain.edit(name, &request);
                let result = tree.call(name, &request);
                assert_eq!(result.is_ok(), right, "{name} {request}: {result:?}");
                match result {
                    Ok(result) => done.push((result["inverse"].clone(), before, was)),
                    Err(_) => assert_eq!(tree.snapshot(), before, "what fails changes nothing"),
                }
            }
            Step::Undo(count, again) => {
                let mut redo = Vec::new();
                for (inverse, before, was) in done.split_off(done.len().saturating_sub(count)).into_iter().rev() {
                    redo.push((tree.snapshot(), std::mem::replace(&mut plain, was.clone())));
                    let inverse = tree.call("apply", &inverse).unwrap()["inverse"].clone();
                    assert_eq!(tree.snapshot(), before);
                    done.push((inverse, before, was));
                }
                let undone = done.split_off(done.len() - redo.len());
                if again {
                    for ((inverse, before, was), (after, plain_after)) in
                        undone.into_iter().rev().zip(redo.into_iter().rev())
                    {
                        let inverse = tree.call("apply", &inverse).unwrap()["inverse"].clone();
                        assert_eq!(tree.snapshot(), after);
                        plain = plain_after;
                        done.push((inverse, before, was));
                    }
                }
            }
            Step::Sync => {
                let changes = tree.call("changesSince", &json!({ "revision": copy.1 })).unwrap();
                copy.0.call("apply", &changes).unwrap();
                copy.1 = changes["revision"].as_u64().unwrap();
                assert_eq!(copy.0.snapshot(), tree.snapshot());
            }
            Step::Reload => {
                let stored = tree.snapshot();
                let mut again = Js(Handle::from_json(stored.as_bytes(), &Memory::default()).unwrap());
                assert_eq!(again.snapshot(), stored);
                copy = (again, tree.call("revision", &Value::Null).unwrap().as_u64().unwrap());
            }
            Step::Adopt => {
                let other = json!({ "mode": "buffer", "title": "Another", "preferences": {}, "of": "another", "nodes": [], "edges": [] });
                let mut again = Js::of(&other);
                let all = tree.call("changesSince", &json!({ "revision": u32::MAX })).unwrap();
                let back = again.call("apply", &all).unwrap()["inverse"].clone();
                assert_eq!(again.snapshot(), tree.snapshot());
                again.call("apply", &back).unwrap();
                assert_eq!(again.call("toJSON", &Value::Null).unwrap(), other);
            }
        }
        assert_eq!(tree.call("toJSON", &Value::Null).unwrap(), plain.tree());
    }
    while let Some((inverse, before, _)) = done.pop() {
        tree.call("apply", &inverse).unwrap();
        assert_eq!(tree.snapshot(), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(6)))]

    /// A thousand edits, some of which fail: `toJSON` returns the input, inverses restore it to the byte, and a copy
    /// that receives the changes is equal.
    #[test]
    fn a_thousand_edits_can_be_taken_back(steps in steps(1000)) {
        run(steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    /// The same over few edits, so that what goes wrong is small.
    #[test]
    fn a_few_edits_can_be_taken_back(steps in steps(12)) {
        run(steps);
    }
}
