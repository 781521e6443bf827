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
        let shared = |prefix: &str| case.tree.nodes().iter().any(|node| node.id != **id && node.id.starts_with(prefix));
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
