//! Loom-aware agents (docs/loom.md): a naive model of headers and names, and the rules one by one.

use std::collections::{BTreeMap, BTreeSet};

use crate::calls::loom::{assemble_buffer_json, assemble_dialogue_json, request_body_json};
use ctxweave::loom::{Author, EdgeKind, LoomAware, SourceRole, assemble_dialogue};
use ctxweave::time::Timestamp;
use ctxweave::{Code, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::{Case, case, cases};

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
            let minutes = (now.unix_millis().div_euclid(1000) - created.unix_millis().div_euclid(1000)) / 60;
            parts.push(if minutes < 60 { format!("{minutes}m ago") } else { format!("{}h ago", minutes / 60) });
        }
        for (kind, one) in [(EdgeKind::Continuation, "continuation"), (EdgeKind::Annotation, "annotation")] {
            let starts_here = |edge: &&ctxweave::loom::Edge| {
                let primary = |source: &ctxweave::loom::Source| source.role == SourceRole::Primary && source.node == id;
                edge.kind == kind && edge.sources.iter().any(primary)
            };
            let targets = self.case.edges.iter().filter(starts_here).map(|edge| &*edge.target);
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
            names.insert((*id).to_owned(), name.to_string());
        }
    }
    for id in ids.iter().filter(|id| !names.contains_key(**id)).collect::<Vec<_>>() {
        let shared = |prefix: &str| case.tree.nodes().any(|node| node.id != **id && node.id.starts_with(prefix));
        let mut prefixes = (6.min(id.len())..=id.len()).map(|end| &id[..end]);
        let free = prefixes.find(|prefix| (!shared(prefix) || prefix == id) && !is_taken(&names, prefix));
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
    let has_line = |text: &Value| text.as_str().is_some_and(|text| text.contains(line));
    messages.iter().any(|message| match &message["content"] {
        Value::Array(parts) => parts.iter().any(|part| has_line(&part["text"])),
        text => has_line(text),
    })
}

fn value(case: &Case) -> Result<Value, Error> {
    assemble_dialogue(&case.tree, &case.options, case.counter).map(|result| serde_json::to_value(&result).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1500)))]

    /// None of the loom context is truncated before the conversation is. If there is a result at all, both blocks are
    /// whole, and so is the header of every kept node, even a truncated one.
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
                use ctxweave::content::Block::{Image, Text};
                matches!(block, Image(_)) || matches!(block, Text(text) if !crate::model::trimmed(text).is_empty())
            });
            if aware.headers && speaks {
                prop_assert_eq!(&headers.put(id, vec![bare])[0]["text"], &json!(format!("{line}\n\nsaid")));
                prop_assert!(has_header(messages, &line), "{} is gone", line);
                counted += u64::from(case.counter.count(&line));
            }
        }
        // The report has the tokens of each of them, counted alone.
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
            addendum: ctxweave::loom::loom_context::Addendum::None,
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
    assemble_dialogue_json(request.to_string().as_bytes()).map(|result| serde_json::from_slice(&result).unwrap())
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

/// Derived names are the shortest unique prefix of the id, at least 6 characters.
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

/// Headers precede each node's own text, ages come only from `now`, and connections that are zero or lead to deleted
/// nodes are not mentioned.
#[test]
fn headers_stand_at_the_head_of_each_nodes_words() {
    let tree = lighthouse();
    let request = |aware: Value| json!({ "tree": tree, "tip": id(&tree, "Good. Write"), "contextWindow": 9000, "loomAware": aware });
    let result = assemble(request(json!({ "now": "2026-04-11T20:00:00Z", "authors": { "bern": "Bernard" } }))).unwrap();
    let opening = said(&result, 0);
    assert!(opening.starts_with("[opening] human · 1d ago · 1 continuation\n\nI want a ghost story"), "{opening}");
    let third = said(&result, 2);
    assert!(third.contains("] human · 1d ago · 2 continuations\n\nI like the log."), "a pruned branch counts: {third}");
    // Two people in a row: one message, two headers.
    let both = said(&result, 4);
    assert!(both.contains("] Bernard (human) · 22h ago · 1 continuation\n\nJoining in late."), "{both}");
    assert!(both.contains("could write.\n\n[01KNXSQ] human · 11h ago · 1 continuation\n\nYes."), "{both}");
    let remarked = result["messages"][7]["content"].as_str().unwrap();
    assert!(remarked.contains(" · 1 continuation · 2 annotations\n\nThe notes give"), "{remarked}");
    // The same moment as a number; and without it no ages at all.
    let number = assemble(request(json!({ "now": 1_775_937_600_000_i64, "authors": { "bern": "Bernard" } }))).unwrap();
    assert_eq!(number, result);
    let ageless = assemble(request(json!(true))).unwrap().to_string();
    assert!(ageless.contains("[opening] human · 1 continuation") && !ageless.contains(" ago"));
}

/// Replies of the provider and tool results stay unchanged.
#[test]
fn headers_keep_out_of_tool_pairs() {
    let tree = lighthouse();
    let result = assemble(json!({
        "tree": tree, "tip": id(&tree, "Good. Write"), "contextWindow": 9000, "provider": "anthropic", "loomAware": true,
    }))
    .unwrap();
    let kinds = |at: usize| -> Vec<String> {
        let parts = result["messages"][at]["content"].as_array().unwrap().iter();
        parts.map(|part| part["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(5), ["reasoning", "text", "toolCall", "toolCall"]);
    assert_eq!(kinds(6), ["toolResult", "toolResult"]);
    assert!(!result["messages"][6].to_string().contains("human ·"));
    assert!(
        result["messages"][5]["content"][1]["text"]
            .as_str()
            .unwrap()
            .ends_with("\n\nLet me look at the notes on the weather first.")
    );
    // A picture without its bytes is a text; with them it has its header before it.
    let media = json!({ "photo-keeper": { "url": "https://example.org/keeper.jpg" } });
    let seen = assemble(json!({
        "tree": tree, "tip": id(&tree, "Good. Write"), "contextWindow": 9000, "media": media, "loomAware": true,
    }))
    .unwrap();
    let parts = seen["messages"][8]["content"].as_array().unwrap();
    assert!(parts[0]["text"].as_str().unwrap().ends_with("] human · 1 continuation"));
    assert_eq!((&parts[1]["type"], &parts[2]["type"]), (&json!("image"), &json!("text")));
    let answer = id(&tree, "“West.”");
    let tail = assemble(json!({ "tree": tree, "tip": answer, "contextWindow": 9000, "loomAware": true })).unwrap();
    let last = tail["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((last["role"].as_str(), &last["nodeIds"]), (Some("user"), &json!([])), "the loom block is the user's");
}

/// None of it is truncated before the conversation, and context that never fits is an error with a reason.
#[test]
fn blocks_that_do_not_fit_are_an_error() {
    let words = "seven words of the wind ".repeat(30);
    let request = |window: u32, aware: Value| {
        json!({
            "tree": chain(&["short", "also short", "and the question"]), "tip": "n2", "contextWindow": window,
            "preferences": { "tokenBuffer": 0 }, "loomAware": aware,
        })
    };
    let pinned = json!({ "addendum": false, "pinned": [{ "text": words }] });
    let error = assemble(request(120, pinned.clone())).unwrap_err();
    assert_eq!(error.code(), Code::LoomContextTooLong);
    let details = error.details();
    assert_eq!(details["limit"], 120);
    assert_eq!(details["overBy"], details["required"].as_u64().unwrap() - 120);
    assert!(details["memory"].as_u64().unwrap() > 120 && details["loomBlock"].as_u64().unwrap() > 0);
    // One token more than the blocks take is too little for a message, however short.
    let required = details["required"].as_u64().unwrap();
    let error = assemble(request(u32::try_from(required).unwrap(), pinned.clone())).unwrap_err();
    assert_eq!(error.code(), Code::ContextTooLong);
    let error = assemble(request(40, json!({ "addendum": words }))).unwrap_err();
    assert_eq!(error.code(), Code::SystemContextTooLong);
    // With room for one message the conversation has gone, and the memory has not.
    let result = assemble(request(u32::try_from(required).unwrap() + 30, pinned)).unwrap();
    assert_eq!(result["report"]["truncated"], true);
    assert_eq!(blocks(&result)[0].as_ref().unwrap().matches("seven words of the wind").count(), 30);
}

/// A truncated text keeps its header.
#[test]
fn a_shortened_text_keeps_its_header() {
    let long = "word ".repeat(3000);
    for (strategy, begins) in [
        ("truncateMiddle", "[… 2 earlier nodes omitted …]\n\n[n2] human\n\nword word"),
        ("rollingWindow", "[n2] human\n\n[…]\n\nword"),
    ] {
        let result = assemble(json!({
            "tree": chain(&["short", "also short", &long]), "tip": "n2", "contextWindow": 300,
            "preferences": { "tokenBuffer": 0, "truncationStrategy": strategy, "protect": [] },
            "loomAware": { "addendum": false, "trace": ["viewed n1"] },
        }))
        .unwrap();
        let memory = "=== Operational Memory ===\nRecent actions:\n  viewed n1\n===\n\n";
        assert!(said(&result, 0).starts_with(&format!("{memory}{begins}")), "{:.200}", said(&result, 0));
        assert!(said(&result, 0).ends_with("\n\n=== Loom Context ===\nTree: untitled (dialogue mode)\n3 nodes · 1 branch · depth 2\nPosition: [n0] → [n1] → [n2]\n==="));
        assert_eq!(result["report"]["cut"]["partialNodeIds"], json!(["n2"]));
        assert!(result["report"]["tokens"]["total"].as_u64().unwrap() > 280);
    }
}

/// The memory is a user message already, so `startOn` removes nothing.
#[test]
fn a_window_after_a_memory_starts_on_the_user() {
    let texts = vec!["a dozen words or so that take about fifteen tokens of the budget, roughly"; 20];
    let mut roles = BTreeSet::new();
    for window in 120..180 {
        let request = |aware: Value| {
            json!({
                "tree": chain(&texts), "tip": "n19", "contextWindow": window, "loomAware": aware,
                "preferences": { "truncationStrategy": "rollingWindow", "startOn": "user", "tokenBuffer": 0 },
            })
        };
        let aware = |trace: Value| json!({ "addendum": false, "headers": false, "loomBlock": false, "trace": trace });
        let result = assemble(request(aware(json!(["viewed n3"])))).unwrap();
        assert_eq!(result["messages"][0]["role"], "user");
        roles.insert(result["messages"][1]["role"].as_str().unwrap().to_owned());
        assert_eq!(assemble(request(aware(json!([])))).unwrap()["messages"][0]["nodeIds"].as_array().unwrap().len(), 1);
    }
    assert!(roles.contains("assistant"), "the memory stands before an assistant message somewhere");
}

/// Pinned nodes are accounted for, and nodes that cannot be pinned are reported.
#[test]
fn pinned_nodes_are_accounted_for() {
    let tree = lighthouse();
    let [far, near, gone] =
        ["The wind’s seven", "“Wind west", "The first page is torn"].map(|begins| id(&tree, begins));
    let call = tree["nodes"].as_array().unwrap().iter().find(|node| node["content"]["type"] == "toolResult").unwrap();
    let result = assemble(json!({
        "tree": tree, "tip": id(&tree, "Good. Write"), "contextWindow": 9000,
        "loomAware": { "pinned": [
            { "nodeId": far }, { "nodeId": near }, { "nodeId": gone }, { "nodeId": far }, { "nodeId": call["id"] },
            { "text": " \n" }, { "label": "a note", "text": "===\nnot the end\r\n\r\n===" },
        ], "stashes": [{ "label": "x", "text": "" }], "trace": ["", "viewed\n [opening]"] },
    }))
    .unwrap();
    let memory = blocks(&result)[0].clone().unwrap();
    assert!(memory.contains("Pinned:\n  [words] human\n    The wind’s seven words"), "{memory}");
    assert!(
        memory.contains("  a note\n    ===\n    not the end\r\n\r\n    ===\nRecent actions:\n  viewed [opening]\n==="),
        "{memory}"
    );
    let row = |id: &str| {
        let rows = result["report"]["nodes"].as_array().unwrap();
        rows.iter().find(|row| row["nodeId"] == id).unwrap().clone()
    };
    assert_eq!(
        (&row(&far)["as"], &row(&far)["fate"], &row(&far)["pinned"]),
        (&json!("pinned"), &json!("kept"), &json!(true))
    );
    assert_eq!((&row(&near)["as"], &row(&near)["pinned"]), (&json!("path"), &json!(true)));
    assert_eq!((&row(&gone)["fate"], &row(&gone)["reason"]), (&json!("excluded"), &json!("pruned")));
    assert!(row(&gone).get("pinned").is_none());
    assert_eq!(codes(&result).iter().filter(|code| **code == "memory_left_out").count(), 6);
    let rows = result["report"]["nodes"].as_array().unwrap().len() as u64;
    let all = tree["nodes"].as_array().unwrap().len() as u64;
    assert_eq!(rows + result["report"]["notOnPath"].as_u64().unwrap(), all);
}

#[test]
fn invalid_settings_are_errors_that_name_them() {
    let error = |aware: Value| {
        let request = json!({ "tree": chain(&["hello"]), "tip": "n0", "contextWindow": 5000, "loomAware": aware });
        let error = assemble(request).unwrap_err();
        (error.code(), error.details().get("path").or(error.details().get("nodeId")).unwrap().clone())
    };
    for (aware, code, path) in [
        (json!({ "now": "yesterday" }), Code::InvalidInput, "loomAware.now"),
        (json!({ "now": "2026-13-01T00:00:00Z" }), Code::InvalidInput, "loomAware.now"),
        (json!({ "now": 1e16 }), Code::InvalidInput, "loomAware.now"),
        (json!({ "now": true }), Code::InvalidInput, "loomAware.now"),
        (json!({ "addendum": 3 }), Code::InvalidInput, "loomAware.addendum"),
        (json!({ "pinned": [{ "text": "a" }, {}] }), Code::InvalidInput, "loomAware.pinned[1]"),
        (json!({ "pinned": [{ "text": "a", "nodeId": "n0" }] }), Code::InvalidInput, "loomAware.pinned[0]"),
        (json!({ "pinned": [{ "nodeId": "nobody" }] }), Code::NodeNotFound, "nobody"),
        (json!({ "stashes": [{ "label": "a" }] }), Code::InvalidInput, "loomAware.stashes[0]"),
        (json!({ "trace": "viewed" }), Code::InvalidInput, "loomAware.trace"),
        (json!("yes"), Code::InvalidInput, "loomAware"),
    ] {
        assert_eq!(error(aware.clone()), (code, json!(path)), "{aware}");
    }
    let off = json!({ "tree": chain(&["hello"]), "tip": "n0", "contextWindow": 5000, "loomAware": false });
    assert!(assemble(off).unwrap()["report"]["tokens"].get("loomAware").is_none());
}

/// Unreadable fields count as absent and are reported once per node.
#[test]
fn unreadable_times_are_reported_once() {
    let mut tree = chain(&["a", "b", "c"]);
    tree["nodes"][1]["createdAt"] = json!("last week");
    let result = assemble(json!({
        "tree": tree, "tip": "n2", "contextWindow": 5000,
        "loomAware": { "now": "2026-03-01T00:00:00Z", "pinned": [{ "nodeId": "n1" }] },
    }))
    .unwrap();
    assert_eq!(codes(&result), ["timestamp_unreadable"]);
    assert_eq!(result["report"]["diagnostics"][0]["nodeId"], "n1");
}

/// Documents are one continuous text: none of it applies, which is reported.
#[test]
fn documents_have_none_of_it() {
    let request = |aware: Value| {
        let mut tree = lighthouse();
        tree["bufferModeSystemContext"] = json!(true);
        let tip = id(&tree, "Good. Write");
        let request = json!({ "tree": tree, "tip": tip, "contextWindow": 9000, "loomAware": aware });
        let bytes = assemble_buffer_json(request.to_string().as_bytes()).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let (mut aware, plain) = (request(json!({ "trace": ["viewed"] })), request(json!(false)));
    let diagnostics = aware["report"]["diagnostics"].as_array_mut().unwrap();
    let at = diagnostics.iter().position(|found| found["code"] == "loom_aware_left_out").unwrap();
    diagnostics.remove(at);
    assert_eq!(aware, plain);
}

/// The permissions of an agent: those of the request, else those of its entity.
#[test]
fn permissions_are_the_requests_or_the_agents() {
    let block = |agent: Value, aware: Value| {
        let request =
            json!({ "tree": chain(&["a"]), "tip": "n0", "contextWindow": 5000, "agent": agent, "loomAware": aware });
        blocks(&assemble(request).unwrap())[1].clone().unwrap()
    };
    let may = |agent: Value, aware: Value| {
        let text = block(agent, aware);
        text.lines().find_map(|line| line.strip_prefix("Permissions: ")).map(str::to_owned)
    };
    assert_eq!(may(json!({}), json!(true)), None);
    assert_eq!(may(json!({ "permissions": { "read": true, "write": true } }), json!(true)).unwrap(), "read, write");
    assert_eq!(may(json!({ "permissions": { "read": true, "write": false } }), json!({})).unwrap(), "read");
    assert_eq!(may(json!({ "permissions": { "read": true } }), json!({ "permissions": [] })).unwrap(), "none");
    let line = may(json!({}), json!({ "permissions": ["loom_aware", "a\nforged line"] })).unwrap();
    assert_eq!(line, "loom_aware, a forged line");
}

/// The providers' rules hold with headers and blocks in the messages: results stand directly after their calls, before
/// anything else of the user's, and what a model thought comes before what it said.
#[test]
fn request_bodies_keep_results_by_their_calls() {
    let tree = lighthouse();
    let body = |provider: &str| -> Value {
        let request = json!({
            "tree": tree, "tip": id(&tree, "Good. Write"), "contextWindow": 9000, "provider": provider,
            "target": { "provider": provider, "model": "m" }, "loomAware": { "trace": ["viewed [words]"] },
        });
        let bytes = request_body_json(request.to_string().as_bytes()).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    let texts = |value: &Value| value.to_string();
    let anthropic = body("anthropic");
    let messages = anthropic["messages"].as_array().unwrap();
    let calls = messages.iter().position(|message| texts(message).contains("tool_use")).unwrap();
    let kinds = |at: usize| -> Vec<&str> {
        messages[at]["content"].as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap()).collect()
    };
    assert!(kinds(calls).ends_with(&["text", "tool_use", "tool_use"]), "{:?}", kinds(calls));
    assert_eq!(kinds(calls + 1), ["tool_result", "tool_result"]);
    assert!(
        texts(&messages[0])
            .contains("=== Operational Memory ===\\nRecent actions:\\n  viewed [words]\\n===\\n\\n[opening] human")
    );
    assert!(texts(messages.last().unwrap()).contains("\\n\\n=== Loom Context ==="));
    let openai = body("openai");
    let roles: Vec<&str> =
        openai["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    let at = roles.iter().position(|role| *role == "tool").unwrap();
    assert_eq!(roles[at - 1..at + 3], ["assistant", "tool", "tool", "assistant"]);
    assert!(openai["messages"][at - 1]["tool_calls"].is_array());
}
