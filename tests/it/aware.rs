//! What a loom-aware agent is told (SPEC §1 "Loom-aware"): a naive model of headers and names, and the rules one by one.

use std::collections::{BTreeMap, BTreeSet};

use ctxweave::loom::wire::{assemble_buffer_json, assemble_dialogue_json};
use ctxweave::loom::{Author, EdgeKind, LoomAware, SourceRole, assemble_dialogue};
use ctxweave::time::Timestamp;
use ctxweave::{Code, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::{Case, case};
use crate::recount;

/// The headers that the nodes of a case have, written for clarity.
pub(crate) struct Headers<'c> {
    case: &'c Case,
    names: BTreeMap<String, String>,
}

impl<'c> Headers<'c> {
    pub(crate) fn new(case: &'c Case, whole: &Value) -> Self {
        let rows = whole["report"]["nodes"].as_array().unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| row["nodeId"].as_str().unwrap()).collect();
        Self { case, names: names(case, &ids) }
    }

    /// The parts of a node with its header.
    pub(crate) fn put(&self, id: &str, mut parts: Vec<Value>) -> Vec<Value> {
        let Some(aware) = self.case.options.loom_aware.as_ref().filter(|aware| aware.headers) else { return parts };
        let Some(at) = parts.iter().position(|part| part["type"] == "text" || part["type"] == "image") else {
            return parts;
        };
        let header = self.line(id, aware);
        if parts[at]["type"] == "text" {
            parts[at]["text"] = json!(format!("{header}\n\n{}", parts[at]["text"].as_str().unwrap()));
        } else {
            parts.insert(at, json!({ "type": "text", "text": header }));
        }
        parts
    }

    fn line(&self, id: &str, aware: &LoomAware) -> String {
        let node = self.case.tree.node(id).unwrap();
        let kind = if node.author == Author::Human { "human" } else { "model" };
        let author = if node.author_agent_id.is_some() { format!("Ada Lovelace ({kind})") } else { kind.to_owned() };
        let mut parts = vec![format!("[{}] {author}", self.names[id])];
        let created = node.created_at.as_deref().and_then(Timestamp::parse);
        if let (Some(now), Some(created)) = (aware.now, created) {
            let minutes = (now.unix_seconds() - created.unix_seconds()) / 60;
            parts.push(if minutes < 60 { format!("{minutes}m ago") } else { format!("{}h ago", minutes / 60) });
        }
        for (kind, one) in [(EdgeKind::Continuation, "continuation"), (EdgeKind::Annotation, "annotation")] {
            let starts_here = |edge: &&ctxweave::loom::Edge| {
                let primary = |source: &ctxweave::loom::Source| source.role == SourceRole::Primary && source.node == id;
                edge.kind == kind && edge.sources.iter().any(primary)
            };
            let targets = self.case.edges.iter().filter(starts_here).map(|edge| edge.target.as_str());
            let there = targets.filter(|target| !self.case.tree.node(target).unwrap().pruned);
            match there.collect::<BTreeSet<_>>().len() {
                0 => {}
                1 => parts.push(format!("1 {one}")),
                several => parts.push(format!("{several} {one}s")),
            }
        }
        parts.join(" · ")
    }
}

/// The names of nodes: their own, else the shortest prefix that is free, from six characters up.
fn names(case: &Case, ids: &[&str]) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let is_taken = |names: &BTreeMap<String, String>, name: &str| names.values().any(|other| other == name);
    for id in ids {
        if let Some(name) = &case.tree.node(id).unwrap().local_id
            && !is_taken(&names, name)
        {
            names.insert((*id).to_owned(), name.clone());
        }
    }
    for id in ids.iter().filter(|id| !names.contains_key(**id)).collect::<Vec<_>>() {
        let shared = |prefix: &str| case.tree.nodes().any(|node| node.id != **id && node.id.starts_with(prefix));
        let prefixes = (6.min(id.len())..=id.len()).map(|end| &id[..end]);
        let free = prefixes.filter(|prefix| (!shared(prefix) || prefix == id) && !is_taken(&names, prefix)).next();
        let numbered = || (2..).map(|n| format!("{id}-{n}")).find(|name| !is_taken(&names, name)).unwrap();
        let name = free.map_or_else(numbered, str::to_owned);
        names.insert((**id).to_owned(), name);
    }
    names
}

/// The operational memory and the loom block of a result, where they are there.
pub(crate) fn blocks(whole: &Value) -> [Option<String>; 2] {
    let messages = whole["messages"].as_array().unwrap();
    let texts = |message: &Value| -> Vec<String> {
        match &message["content"] {
            Value::String(text) => vec![text.clone()],
            parts => {
                parts.as_array().unwrap().iter().filter_map(|part| Some(part["text"].as_str()?.to_owned())).collect()
            }
        }
    };
    let first = messages.iter().find(|message| message["role"] != "system");
    let memory = first.and_then(|message| texts(message).first().cloned()).and_then(|text| {
        let rest = text.strip_prefix("=== Operational Memory ===\n")?;
        let end = rest.find("\n===").unwrap();
        Some(format!("=== Operational Memory ===\n{}\n===", &rest[..end]))
    });
    let loom = messages.last().and_then(|message| texts(message).last().cloned()).and_then(|text| {
        text.ends_with("\n===").then_some(())?;
        Some(text[text.rfind("=== Loom Context ===\n")?..].to_owned())
    });
    [memory, loom]
}

fn has_header(messages: &[Value], line: &str) -> bool {
    let says = |text: &Value| text.as_str().is_some_and(|text| text.contains(line));
    messages.iter().any(|message| match &message["content"] {
        Value::Array(parts) => parts.iter().any(|part| says(&part["text"])),
        text => says(text),
    })
}

fn value(case: &Case) -> Result<Value, Error> {
    assemble_dialogue(&case.tree, &case.options, case.counter).map(|result| serde_json::to_value(&result).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// SPEC §1 "Loom-aware": nothing of it is truncated before the conversation is. Where there is a result at all, both
    /// blocks are whole, and so is the header of every node that is left, were it only in part.
    #[test]
    fn blocks_and_headers_outlast_the_conversation(mut case in case()) {
        let Ok(cut) = value(&case) else { return Ok(()) };
        let Some(aware) = case.options.loom_aware.clone() else { return Ok(()) };
        case.options.context_window = 1e9;
        let whole = value(&case).unwrap();
        prop_assert_eq!(blocks(&cut), blocks(&whole));
        let headers = Headers::new(&case, &whole);
        let messages = cut["messages"].as_array().unwrap();
        let mut counted = 0;
        for id in messages.iter().flat_map(|message| message["nodeIds"].as_array().unwrap()) {
            let id = id.as_str().unwrap();
            let line = headers.line(id, &aware);
            let bare = json!({ "type": "text", "text": "said" });
            let speaks = headers.case.tree.node(id).unwrap().content.iter().any(|block| {
                use ctxweave::loom::Block::{Image, Text};
                matches!(block, Image { .. }) || matches!(block, Text(text) if !text.trim().is_empty())
            });
            if aware.headers && speaks {
                prop_assert_eq!(&headers.put(id, vec![bare])[0]["text"], &json!(format!("{line}\n\nsaid")));
                prop_assert!(has_header(messages, &line), "{} is gone", line);
                counted += u64::from(case.counter.count(&line));
            }
        }
        // The report says what each of them takes, counted alone.
        let tokens = &cut["report"]["tokens"]["loomAware"];
        let count = |text: &Option<String>| u64::from(case.counter.count(text.as_deref().unwrap_or("")));
        let [memory, loom_block] = blocks(&cut);
        prop_assert_eq!(tokens["memory"].as_u64().unwrap(), count(&memory));
        prop_assert_eq!(tokens["loomBlock"].as_u64().unwrap(), count(&loom_block));
        prop_assert_eq!(tokens["headers"].as_u64().unwrap(), counted);
    }

    /// Without any of its parts, loom-aware is as if it were not there; and no two nodes are called the same.
    #[test]
    fn nothing_is_added_where_nothing_is_asked_for(mut case in case()) {
        if let Some(names) = value(&case).ok().and_then(|result| result["report"]["localIds"].as_array().cloned()) {
            let distinct: BTreeSet<&str> = names.iter().map(|name| name["localId"].as_str().unwrap()).collect();
            prop_assert_eq!(distinct.len(), names.len());
            prop_assert!(distinct.iter().all(|name| !name.is_empty()));
        }
        case.options.loom_aware = None;
        let plain = value(&case);
        case.options.loom_aware = Some(LoomAware {
            addendum: ctxweave::loom::aware::Addendum::None,
            headers: false,
            loom_block: false,
            ..LoomAware::default()
        });
        match (value(&case), plain) {
            (Ok(mut bare), Ok(plain)) => {
                let report = bare["report"].as_object_mut().unwrap();
                report.remove("localIds");
                let tokens = report["tokens"].as_object_mut().unwrap().remove("loomAware").unwrap();
                prop_assert_eq!(tokens, json!({ "addendum": 0, "memory": 0, "headers": 0, "loomBlock": 0 }));
                // Diagnostics about names are the one thing that may be there.
                let diagnostics = bare["report"]["diagnostics"].as_array_mut().unwrap();
                diagnostics.retain(|found| found["code"] != "local_id_not_unique");
                prop_assert_eq!(bare, plain);
            }
            (bare, plain) => prop_assert_eq!(bare.unwrap_err(), plain.unwrap_err()),
        }
    }
}

fn lighthouse() -> Value {
    serde_json::from_str(include_str!("../../examples/trees/lighthouse.json")).unwrap()
}

fn assemble(request: Value) -> Result<Value, Error> {
    assemble_dialogue_json(request.to_string().as_bytes(), &Default::default())
        .map(|result| serde_json::from_slice(&result).unwrap())
}

/// The id of a node of the lighthouse, by how its text begins.
fn id(tree: &Value, begins: &str) -> String {
    let node = tree["nodes"].as_array().unwrap().iter().find(|node| {
        let blocks = node["content"]["blocks"].as_array().cloned().unwrap_or_default();
        let texts = blocks.iter().filter_map(|block| block["text"].as_str()).chain(node["content"].as_str());
        texts.into_iter().any(|text| text.starts_with(begins))
    });
    node.unwrap_or_else(|| panic!("no node begins with {begins}"))["id"].as_str().unwrap().to_owned()
}

/// A chain of nodes n0, n1, … of alternating authors.
fn chain(texts: &[&str]) -> Value {
    let author = |at: usize| if at.is_multiple_of(2) { "human" } else { "model" };
    let node = |(at, text)| json!({ "id": format!("n{at}"), "content": text, "authorType": author(at) });
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    let nodes: Vec<Value> = texts.iter().enumerate().map(node).collect();
    json!({ "nodes": nodes, "edges": (1..texts.len()).map(edge).collect::<Vec<_>>() })
}

fn said(result: &Value, at: usize) -> &str {
    result["messages"][at]["content"].as_str().unwrap()
}

fn codes(result: &Value) -> Vec<&str> {
    result["report"]["diagnostics"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect()
}

/// SPEC §1 "Loom-aware": derived names are the shortest unique prefix of the id, at least 6 characters.
#[test]
fn names_are_the_shortest_unique_prefixes() {
    let node = |id: &str| json!({ "id": id, "content": id, "authorType": "human" });
    let ids = ["abcdefgh", "abcdefgi", "abcdefgij", "zzzzzzzzzz", "xy", "é̱́é̱́é̱́é̱́é̱́é̱́é̱́"];
    let mut nodes: Vec<Value> = ids.iter().map(|id| node(id)).collect();
    nodes.push(json!({ "id": "named", "localId": "  the\nopening ", "content": "x", "authorType": "human" }));
    // What a node is called by its own account is not free for others; the first of two keeps it.
    nodes.push(json!({ "id": "also-named", "localId": "zzzzzz", "content": "x", "authorType": "human" }));
    nodes.push(json!({ "id": "twice-named", "localId": "zzzzzz", "content": "x", "authorType": "human" }));
    nodes.push(json!({ "id": "off the path but near: zzzzzzzzzy", "content": "x", "authorType": "human" }));
    let path: Vec<&str> = nodes.iter().take(9).map(|node| node["id"].as_str().unwrap()).collect();
    let result = assemble(json!({
        "tree": { "nodes": nodes, "edges": [] }, "path": path, "contextWindow": 5000, "loomAware": true,
    }))
    .unwrap();
    let names = result["report"]["localIds"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        names.iter().map(|name| (name["nodeId"].as_str().unwrap(), name["localId"].as_str().unwrap())).collect();
    assert_eq!(
        names,
        [
            ("abcdefgh", "abcdefgh"),
            ("abcdefgi", "abcdefgi"),
            ("abcdefgij", "abcdefgij"),
            ("zzzzzzzzzz", "zzzzzzz"),
            ("xy", "xy"),
            (ids[5], "é̱́é̱́"),
            ("named", "the opening"),
            ("also-named", "zzzzzz"),
            ("twice-named", "twice-"),
        ]
    );
    assert!(codes(&result).contains(&"local_id_not_unique"));
}
