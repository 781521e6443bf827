//! Files of other looms: what comes in assembles, what goes out comes in again, nothing is dropped, and no bytes trap.
//!
//! The fixtures are the goldens of `importLoom`.

mod damage;
mod exports;
mod miniloom;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::calls::{call, is_bytes};

/// The goldens of `importLoom`: name, arguments, and the result if there is one.
pub(crate) fn fixtures() -> Vec<(String, Vec<Value>, Option<Value>)> {
    let folder = Path::new(crate::ROOT).join("tests/golden/import");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".expected.json") {
            continue;
        }
        let golden: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        if golden["call"] == json!("importLoom") {
            let args = golden["args"].as_array().unwrap().clone();
            let result = call("importLoom", &args, None).ok();
            found.push((name.trim_end_matches(".json").to_owned(), args, result));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() > 50, "only {} fixtures", found.len());
    found
}

/// All trees of all fixtures.
pub(crate) fn trees() -> Vec<(String, Value)> {
    let of = |(name, _, result): (String, Vec<Value>, Option<Value>)| {
        let trees = result.map(|result| result["trees"].as_array().unwrap().clone()).unwrap_or_default();
        trees.into_iter().map(move |tree| (name.clone(), tree)).collect::<Vec<_>>()
    };
    fixtures().into_iter().flat_map(of).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        block if block["type"] == "text" => block["text"].as_str().unwrap().to_owned(),
        block if block["type"] == "mixed" => block["blocks"].as_array().unwrap().iter().map(text_of).collect(),
        _ => String::new(),
    }
}

/// The ids from the root to a node, by a naive walk.
fn path_to(tree: &Value, tip: &str) -> Vec<String> {
    let parent: BTreeMap<&str, &str> = tree["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (edge["targetNodeId"].as_str().unwrap(), edge["sources"][0]["nodeId"].as_str().unwrap()))
        .collect();
    let mut path = vec![tip.to_owned()];
    while let Some(parent) = parent.get(path.last().unwrap().as_str()) {
        path.push((*parent).to_owned());
        assert!(path.len() < 1000, "a circle at {tip}");
    }
    path.reverse();
    path
}

/// Every other call accepts each tree, from each of its nodes, with the texts of the path.
#[test]
fn imported_trees_assemble() {
    let mut count = 0;
    for (name, imported) in trees() {
        let tree = &imported["tree"];
        let nodes: BTreeMap<&str, &Value> =
            tree["nodes"].as_array().unwrap().iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
        assert_eq!(nodes.contains_key(imported["tip"].as_str().unwrap_or_default()), !nodes.is_empty(), "{name}");
        let is_document = tree["mode"] == "buffer";
        for tip in nodes.keys() {
            let path = path_to(tree, tip);
            let steps = [json!(["path", tip])];
            assert_eq!(call("LoomTree", std::slice::from_ref(tree), Some(&steps)).unwrap()[0], json!(path), "{name}");
            let request =
                json!({ "tree": tree, "tip": tip, "contextWindow": 1_000_000, "media": imported.get("media") });
            if is_document {
                let is_shown = |node: &&Value| node["metadata"]["excluded"] != json!(true);
                let text: String = path
                    .iter()
                    .map(|id| nodes[id.as_str()])
                    .filter(is_shown)
                    .map(|node| text_of(&node["content"]))
                    .collect();
                let result = call("assembleBuffer", &[request], None).unwrap();
                let prefix = tree["bufferPrefix"].as_str().unwrap_or_default();
                let document = result["document"].as_str().unwrap();
                // Reference material stands in a document, too.
                let has_context = name.starts_with("coloom-");
                assert!(has_context || document.strip_prefix(prefix).unwrap_or(document) == text, "{name}: {document}");
            } else {
                let result = call("assembleDialogue", &[request], None).unwrap();
                let all = result.to_string();
                for node in
                    path.iter().map(|id| nodes[id.as_str()]).filter(|node| node["metadata"]["excluded"] != json!(true))
                {
                    let blocks = node["content"]["blocks"].as_array().cloned();
                    for block in blocks.unwrap_or_else(|| vec![node["content"].clone()]) {
                        let said = text_of(&block);
                        let broken = all.contains("tool_pair_broken");
                        let written = json!(said.trim()).to_string();
                        assert!(broken || all.contains(written.trim_matches('"')), "{name}: {said}");
                    }
                }
            }
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}

/// The strings in a JSON value, keys too, but for those under `skip`.
fn strings(value: &Value, skip: &dyn Fn(&str, &Value) -> bool, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            found.insert(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| strings(value, skip, found)),
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, value)| !skip(key, value)) {
                strings(value, skip, found);
                let _ = key;
            }
        }
        _ => {}
    }
}

/// Every text of a file is in what it becomes, except keys to services and duplicated texts.
#[test]
fn an_import_drops_nothing() {
    for (name, args, result) in fixtures() {
        let (Some(result), false) = (result, is_bytes(&args[0])) else { continue };
        if args.get(1).is_some_and(|options| options.get("select").is_some()) {
            continue;
        }
        let twice = |key: &str, value: &Value| {
            let of_item = |field: &str| !value[field].is_null();
            match name.split('-').next().unwrap() {
                // Keys; a chain that stands for itself; what a settings object holds.
                "loomsidian" => key == "settings" || key == "generating",
                "pyloom" => (key == "text" && name == "pyloom-zipped") || key == "parent_id",
                "miniloom" => matches!(key, "focus" | "patch" | "root"),
                "coloom" => key == "roots",
                "claude" => key == "text" && of_item("nothing") || key == "flag",
                "open" => key == "messages" && value.is_array() || key == "content" && value == "ignored",
                "nextchat" => key == "access-control",
                _ => false,
            }
        };
        let mut said = BTreeSet::new();
        strings(&args[0], &twice, &mut said);
        let mut kept = BTreeSet::new();
        strings(&result["trees"], &|_, _| false, &mut kept);
        let all: String = kept.iter().map(|text| format!("{text}\n")).collect();
        let is_said = |text: &String| {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            text.contains("sk-secret")
                || kept.contains(text)
                || all.contains(text.as_str())
                || words(&all).contains(&words(text))
        };
        // What becomes a name of ours, a time, or the place of a node.
        const EXPRESSED: &[&str] = &[
            "user",
            "assistant",
            "system",
            "tool",
            "text",
            "snippet",
            "tokens",
            "human",
            "model",
            "unknown",
            "prompt",
            "AI",
            "USER",
            "LLM",
            "gen",
            "all",
            "multimodal_text",
            "code",
            "execution_output",
            "reasoning_recap",
            "function",
            "thinking",
            "tool_use",
            "tool_result",
            "token_budget",
            "flat",
            "bookmark",
            "Exoloom",
            "client-created-root",
            "gap",
            "r",
            "root",
            "genesis",
            "N/A",
            "404",
            "image_url",
            "x",
            "dup",
            "print(2**10)",
            "missing",
            "nowhere",
            "{\"q\":1}",
            "{}",
            "image",
            "data:image/png;base64,iVBORw0KGgo=",
            "summary_text",
            "function_call",
            "function_call_output",
            "input_text",
            "output_text",
            "message",
            "reasoning",
            "00000000-0000-4000-8000-000000000000",
            "00000000-0000-0000-0000-000000000000",
            "0000004d-0000-4000-8000-00000000004d",
            "no mapping",
            "z",
            "u",
            "w",
            "U",
            "AB",
            "tool_call",
            "think",
            "Chat",
            "Lost",
            "{\"query\":\"looms\"}",
            "{\"knot\":\"bowline\"}",
            "not a time",
            "user_editable_context",
        ];
        let is_time = |text: &str| {
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            digits >= 8 && text.len() < 40 && !text.contains(|ch: char| ch.is_alphabetic() && !"TZ".contains(ch))
        };
        let lost: Vec<&String> = said
            .iter()
            .filter(|text| !is_said(text) && !EXPRESSED.contains(&text.as_str()) && !is_time(text))
            .filter(|text| !text.contains("<details type") && !text.starts_with("[{\"id\": \"call_1\""))
            .collect();
        assert!(lost.is_empty(), "{name} lost {lost:?}");
    }
}

#[test]
fn keys_to_services_are_never_kept() {
    let mut given = 0;
    for (name, args, result) in fixtures() {
        given += usize::from(json!(args).to_string().contains("sk-secret"));
        let result = result.map(|result| result.to_string()).unwrap_or_default();
        assert!(!result.contains("sk-secret"), "{name}");
        assert!(
            !json!(args).to_string().contains("sk-secret")
                || result.contains("import_secret_left_out")
                || name.contains("nextchat")
                || name.contains("not-there"),
            "{name}"
        );
    }
    assert!(given >= 5, "{given}");
}

/// A file is the same as an object, as text, and as bytes.
#[test]
fn all_ways_to_give_a_file_are_one() {
    for (name, args, result) in fixtures() {
        let (Some(result), false) = (result, is_bytes(&args[0])) else { continue };
        let text = args[0].to_string();
        for file in [json!(text), json!({ "$text": text }), json!({ "$text": format!("\u{feff}{text}\n") })] {
            let options = args.get(1).cloned().unwrap_or(Value::Null);
            assert_eq!(call("importLoom", &[file, options], None).unwrap(), result, "{name}");
        }
    }
}

/// A tree in an order that does not depend on how it was written: nodes and edges by their ids, and what follows each node.
pub(crate) fn in_order(tree: &Value) -> Value {
    let by_id = |list: &Value| -> Value {
        let all = list.as_array().unwrap().iter();
        Value::Object(all.map(|item| (item["id"].as_str().unwrap().to_owned(), item.clone())).collect())
    };
    let mut siblings: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for edge in tree["edges"].as_array().unwrap() {
        // Of several edges to one node the first sets its position.
        if seen.insert(edge["targetNodeId"].to_string()) {
            siblings.entry(edge["sources"][0]["nodeId"].to_string()).or_default().push(edge["targetNodeId"].clone());
        }
    }
    let fields: Map<String, Value> = tree
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "nodes" | "edges"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    json!({ "fields": fields, "nodes": by_id(&tree["nodes"]), "edges": by_id(&tree["edges"]), "siblings": siblings })
}
