//! Turns entries into a Loom tree: unique ids, valid links, edges in the order of siblings, and a tip.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json};

use super::context::Context;
use super::conventions::{EDGES, ORDER, edge_id};
use super::cycles::cut_cycles;
use super::entry::{Author, Entry, EntryRef, EntryTree};
use super::format::FileFormat;
use crate::content::Block;
use crate::content::node_data::{EdgeData, MetadataData, Named, NodeData, SourceData};
use crate::error::{DiagnosticCode, Result};
use crate::json::{self, Object, Value};
use crate::limits;
use crate::maps::SortedMap;
use crate::sorting::sort_by_key;
use crate::text::is_blank;
use crate::time::Timestamp;

/// A tree read from a file.
#[derive(Debug, serde::Serialize)]
pub struct ImportedTree {
    /// The id in the file; for Loomsidian the path of its note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tree, as `LoomTree` takes it.
    pub tree: TreeFile,
    /// The current node if the file marks one, else the newest leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// Images and recordings whose data or URLs are in the file, by `ref`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub media: Map<String, Json>,
}

/// The JSON of a tree.
#[derive(Debug)]
pub struct TreeFile {
    /// The settings of the tree.
    fields: Map<String, Json>,
    nodes: Vec<NodeFile>,
    edges: Vec<EdgeFile>,
}

/// A node: newly made, or from an export by ctxweave.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum NodeFile {
    Made(Box<NodeData>),
    Exported(Map<String, Json>),
}

#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum EdgeFile {
    Made(EdgeData),
    Exported(Json),
}

impl Serialize for TreeFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("nodes", &self.nodes)?;
        map.serialize_entry("edges", &self.edges)?;
        map.end()
    }
}

/// Consecutive instructions beyond this are not sources of the edge after them.
const MAX_INSTRUCTIONS: usize = 100;

/// Makes a tree of the entries.
pub(super) fn build(tree: EntryTree, format: FileFormat, context: &mut Context<'_>) -> Result<ImportedTree> {
    let EntryTree { id, title, is_document, buffer_prefix, entries, tip, aliases, imported, exported } = tree;
    limits::check("nodes", entries.len(), context.options.limits.nodes)?;
    let (mut entries, tip, aliases) = with_results_apart(entries, tip, aliases);
    let given_ids = number_ids(&mut entries, context);
    let find = |link: &EntryRef| match link {
        EntryRef::None => None,
        EntryRef::At(at) => Some(*at).filter(|at| *at < entries.len()),
        EntryRef::Id(id) => given_ids.get(id.as_str()).copied().or_else(|| aliases.get(id.as_str()).copied()),
    };
    let mut parents = find_parents(&entries, &find, context);
    for entry in cut_cycles(&mut parents).into_iter().filter_map(|at| entries.get(at)) {
        let message = format!("node `{}` is its own ancestor; it became a root", entry.id);
        context.findings.warn(DiagnosticCode::ImportDanglingReference, message, &entry.id);
    }
    let children = children_in_order(&entries, &parents);
    let edits: Vec<Option<usize>> = entries.iter().map(|entry| find(&entry.edited_from)).collect();
    let dangling = |what: &str, id: &str, context: &mut Context<'_>| {
        let message = format!("the {what} `{id}` is missing in the file");
        context.findings.warn(DiagnosticCode::ImportDanglingReference, message, id);
    };
    for (entry, edit) in entries.iter().zip(&edits) {
        if let (EntryRef::Id(id), None) = (&entry.edited_from, edit) {
            dangling("original", id, context);
        }
    }
    if let (EntryRef::Id(id), None) = (&tip, find(&tip)) {
        dangling("current node", id, context);
    }
    let tip = find(&tip).or_else(|| newest_leaf(&entries, &children));
    let contexts: Vec<Vec<usize>> = entries
        .iter()
        .map(|entry| entry.context.iter().filter_map(|id| find(&EntryRef::Id(id.clone()))).collect())
        .collect();
    let system = instructions(&entries, &parents);

    let ids: Vec<String> = entries.iter().map(|entry| entry.id.clone()).collect();
    let id_at = |at: usize| ids.get(at).cloned().unwrap_or_default();
    // Conversations with different beginnings start at an empty node.
    let blank_root = system.before_all.is_none() && !system.first.is_empty();
    let blank_id = blank_root.then(|| unused_id("root", &given_ids));
    let mut edges = Vec::with_capacity(entries.len());
    let parent_order: Vec<usize> = children.iter().flatten().copied().collect();
    let roots = parents.iter().enumerate().filter(|(_, parent)| parent.is_none()).map(|(at, _)| at);
    let order: Vec<usize> = roots.chain(parent_order).collect();
    for at in order {
        let Some(entry) = entries.get(at) else { continue };
        let parent = parents.get(at).copied().flatten();
        let (primary, said) = match system.of.get(&at) {
            Some((primary, said)) => (primary.map(id_at).or_else(|| blank_id.clone()), said.as_slice()),
            None => (parent.map(id_at), &[][..]),
        };
        if let Some(own) = exported_edges(entry, parent.map(id_at).as_deref(), &given_ids) {
            edges.extend(own.into_iter().map(EdgeFile::Exported));
            continue;
        }
        let Some(primary) = primary else { continue };
        let source = |node_id: String, role: &'static str| SourceData { node_id, role: Some(role) };
        let mut sources = vec![source(primary, "primary")];
        sources.extend(contexts.get(at).into_iter().flatten().map(|&at| source(id_at(at), "context")));
        sources.extend(said.iter().map(|&at| source(id_at(at), "instruction")));
        edges.push(EdgeFile::Made(EdgeData { id: edge_id(&entry.id), sources, target_node_id: entry.id.clone() }));
    }
    let root = blank_id.clone().or_else(|| parents.iter().position(Option::is_none).map(id_at));
    let mut named = Named::for_tree();
    let mut nodes = Vec::with_capacity(entries.len());
    if let Some(id) = blank_id {
        nodes.push(NodeFile::Made(Box::new(node(
            Entry::text(id, EntryRef::None, Author::Human, ""),
            None,
            false,
            &mut named,
        ))));
    }
    for ((at, entry), edit) in entries.into_iter().enumerate().zip(edits) {
        let is_instruction = system.is_sent_apart(at);
        let edited_from = edit.map(id_at);
        nodes.push(match entry.exported {
            Some(_) => NodeFile::Exported(exported_node(entry, edited_from, &mut named)),
            None => NodeFile::Made(Box::new(node(entry, edited_from, is_instruction, &mut named))),
        });
    }
    let fields = [
        ("id", id.clone().map(Json::from)),
        ("title", title.clone().map(Json::from)),
        ("mode", Some(Json::from(if is_document { "buffer" } else { "dialogue" }))),
        ("rootNodeId", root.map(Json::from)),
        ("systemContext", system.before_all.map(Json::from)),
        ("bufferPrefix", buffer_prefix.filter(|prefix| !prefix.is_empty()).map(Json::from)),
    ];
    let mut fields: Map<String, Json> =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let is_own = exported.is_some();
    if let Some(mut exported) = exported {
        in_exported_order(&mut nodes, exported.shift_remove(ORDER));
        fields = exported;
    }
    // For an export by ctxweave it holds additions of another program.
    if !is_own || !imported.is_empty() {
        let imported = json::object([("format", format.name().into()), ("fields", Json::Object(imported))]);
        fields.insert("imported".to_owned(), imported);
    }
    let of_tree =
        |name: &str, other: Option<String>| fields.get(name).and_then(Json::as_str).map(str::to_owned).or(other);
    let (id, title) = (of_tree("id", id), of_tree("title", title));
    let media = named.media.unwrap_or_default();
    Ok(ImportedTree { id, title, tree: TreeFile { fields, nodes, edges }, tip: tip.map(id_at), media })
}

/// A tree that ctxweave wrote, with everything in it unchanged.
pub(super) fn own_tree(
    id: Option<String>,
    title: Option<String>,
    tree: Object<'_>,
    tip: Option<String>,
) -> Result<ImportedTree> {
    let mut fields = Map::new();
    for (key, value) in tree.entries() {
        let name = key.string()?;
        if name != "nodes" && name != "edges" {
            fields.insert(name, value.to_json()?);
        }
    }
    let list = |name: &str| tree.need(name)?.list("a list")?.map(Value::to_json).collect::<Result<Vec<Json>>>();
    let node = |node: Json| if let Json::Object(node) = node { node } else { Map::new() };
    let nodes = list("nodes")?.into_iter().map(|it| NodeFile::Exported(node(it))).collect();
    let edges = list("edges")?.into_iter().map(EdgeFile::Exported).collect();
    Ok(ImportedTree { id, title, tree: TreeFile { fields, nodes, edges }, tip, media: Map::new() })
}

/// Puts nodes in the order of the tree that was exported; new ones are last.
fn in_exported_order(nodes: &mut [NodeFile], order: Option<Json>) {
    let Some(Json::Array(order)) = order else { return };
    let ranks: SortedMap<&str, usize> =
        order.iter().enumerate().filter_map(|(rank, id)| Some((id.as_str()?, rank))).collect();
    let rank = |node: &NodeFile| {
        let id = match node {
            NodeFile::Made(node) => Some(node.id.as_str()),
            NodeFile::Exported(node) => node.get("id").and_then(Json::as_str),
        };
        id.and_then(|id| ranks.get(id).copied()).unwrap_or(usize::MAX)
    };
    sort_by_key(nodes, rank);
}

/// Moves tool results into separate entries: content before and between them in one entry precedes it, and the last
/// part keeps the id.
fn with_results_apart(
    entries: Vec<Entry>,
    tip: EntryRef,
    aliases: SortedMap<String, usize>,
) -> (Vec<Entry>, EntryRef, SortedMap<String, usize>) {
    let is_result = |block: &Block<'_>| matches!(block, Block::ToolResult { .. });
    let is_mixed = |entry: &Entry| {
        let results = entry.blocks.iter().filter(|block| is_result(block)).count();
        results > 0 && results < entry.blocks.len()
    };
    if !entries.iter().any(is_mixed) {
        return (entries, tip, aliases);
    }
    let mut places = Vec::with_capacity(entries.len());
    let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
    // The original index of each, for links by index.
    let mut from = Vec::with_capacity(entries.len());
    for (at, mut entry) in entries.into_iter().enumerate() {
        if is_mixed(&entry) {
            let mut parts: Vec<Vec<Block<'static>>> = Vec::new();
            for block in std::mem::take(&mut entry.blocks) {
                match parts.last_mut() {
                    Some(last) if last.first().is_some_and(is_result) == is_result(&block) => last.push(block),
                    _ => parts.push(vec![block]),
                }
            }
            let last = parts.pop().unwrap_or_default();
            for (number, blocks) in (1_u32..).zip(parts) {
                let author = if blocks.first().is_some_and(is_result) { Author::Human } else { entry.author };
                let part = Entry {
                    id: format!("{}.{number}", entry.id),
                    parent: std::mem::replace(&mut entry.parent, EntryRef::None),
                    author,
                    agent: entry.agent.clone().filter(|_| author == Author::Model),
                    blocks,
                    created_at: entry.created_at.clone(),
                    excluded: entry.excluded,
                    ..Entry::default()
                };
                from.push(if number == 1 { Some(at) } else { None });
                entry.parent = EntryRef::At(out.len());
                out.push(part);
            }
            if last.first().is_some_and(is_result) {
                entry.author = Author::Human;
            }
            entry.blocks = last;
            from.push(None);
        } else {
            from.push(Some(at));
        }
        places.push(out.len());
        out.push(entry);
    }
    let moved = |at: usize| places.get(at).copied().unwrap_or(usize::MAX);
    for (entry, from) in out.iter_mut().zip(from) {
        if let (EntryRef::At(at), Some(_)) = (&mut entry.parent, from) {
            *at = moved(*at);
        }
        if let EntryRef::At(at) = &mut entry.edited_from {
            *at = moved(*at);
        }
    }
    let aliases = aliases.into_iter().map(|(alias, at)| (alias, moved(at))).collect();
    (out, if let EntryRef::At(at) = tip { EntryRef::At(moved(at)) } else { tip }, aliases)
}

/// Makes ids unique, and returns the index of the first entry of each given id.
fn number_ids(entries: &mut [Entry], context: &mut Context<'_>) -> SortedMap<String, usize> {
    let mut known: SortedMap<String, usize> = SortedMap::new();
    let mut again = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.id.is_empty() || known.contains_key(entry.id.as_str()) {
            again.push(at);
        } else {
            known.insert(entry.id.clone(), at);
        }
    }
    let mut all = known.clone();
    // The number of uses of each id, so that many duplicates take linear time.
    let mut counts: SortedMap<String, u32> = SortedMap::new();
    for at in again {
        let Some(entry) = entries.get_mut(at) else { continue };
        let given = std::mem::take(&mut entry.id);
        let count = counts.or_default(given.clone());
        let id = loop {
            *count = count.saturating_add(1);
            let number = count.saturating_add(1);
            let id = if given.is_empty() { format!("node-{count}") } else { format!("{given}~{number}") };
            if !all.contains_key(id.as_str()) {
                break id;
            }
        };
        all.insert(id.clone(), at);
        let message = match given.as_str() {
            "" => format!("a node has no id; it got `{id}`"),
            _ => format!("duplicate id `{given}`; this node got `{id}`"),
        };
        context.findings.warn(DiagnosticCode::ImportIdChanged, message, &id);
        entry.id = id;
    }
    known
}

/// An unused id.
fn unused_id(wish: &str, known: &SortedMap<String, usize>) -> String {
    let mut id = wish.to_owned();
    while known.contains_key(id.as_str()) {
        id.push('~');
    }
    id
}

/// The parent of each entry: the one that it names, else one that lists it as a child.
fn find_parents(
    entries: &[Entry],
    find: &impl Fn(&EntryRef) -> Option<usize>,
    context: &mut Context<'_>,
) -> Vec<Option<usize>> {
    let mut claimed: SortedMap<&str, usize> = SortedMap::new();
    for (at, entry) in entries.iter().enumerate() {
        for child in &entry.children {
            if !claimed.contains_key(child.as_str()) {
                claimed.insert(child, at);
            }
        }
    }
    let mut parents = Vec::with_capacity(entries.len());
    for entry in entries {
        let found = match &entry.parent {
            EntryRef::None => claimed.get(entry.id.as_str()).copied(),
            link => find(link),
        };
        if let (EntryRef::Id(parent), None) = (&entry.parent, found) {
            let message =
                format!("the parent `{parent}` of node `{}` is missing in the file; the node became a root", entry.id);
            context.findings.warn(DiagnosticCode::ImportDanglingReference, message, &entry.id);
        }
        parents.push(found);
    }
    parents
}

/// The children of each entry, in order: those it lists first, then the others in file order.
fn children_in_order(entries: &[Entry], parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    for (at, parent) in parents.iter().enumerate() {
        if let Some(list) = parent.and_then(|parent| children.get_mut(parent)) {
            list.push(at);
        }
    }
    for (entry, list) in entries.iter().zip(&mut children) {
        if list.len() > 1 && !entry.children.is_empty() {
            let mut ranks: SortedMap<&str, usize> = SortedMap::new();
            for (rank, id) in entry.children.iter().enumerate() {
                ranks.insert(id, rank);
            }
            sort_by_key(list, |&at| {
                entries.get(at).and_then(|child| ranks.get(child.id.as_str()).copied()).unwrap_or(usize::MAX)
            });
        }
    }
    children
}

/// The leaf that was written last; the last one if times do not decide.
fn newest_leaf(entries: &[Entry], children: &[Vec<usize>]) -> Option<usize> {
    let leaves = entries
        .iter()
        .enumerate()
        .filter(|(at, entry)| children.get(*at).is_some_and(Vec::is_empty) && entry.author != Author::System);
    let time = |entry: &Entry| entry.created_at.as_deref().and_then(Timestamp::parse);
    leaves.max_by_key(|(_, entry)| time(entry)).map(|(at, _)| at)
}

/// The result for the instructions of a chat.
#[derive(Debug, Default)]
struct Instructions {
    /// The system context, if all conversations of the tree begin with the same instructions.
    before_all: Option<String>,
    /// The first entries of conversations with different beginnings.
    first: Vec<usize>,
    /// For an entry after instructions: its parent before them, and the instructions.
    of: SortedMap<usize, (Option<usize>, Vec<usize>)>,
    /// The instructions that are in the system context.
    leading: SortedMap<usize, ()>,
}

impl Instructions {
    /// Whether an entry is an instruction, outside the conversation.
    fn is_sent_apart(&self, at: usize) -> bool {
        self.leading.contains_key(&at)
    }
}

/// Common leading instructions become the system context, and their nodes are kept, excluded. Others become instruction
/// sources of the edges after them.
fn instructions(entries: &[Entry], parents: &[Option<usize>]) -> Instructions {
    let is_system = |at: usize| entries.get(at).is_some_and(|entry| entry.author == Author::System);
    let mut found = Instructions::default();
    if !entries.iter().any(|entry| entry.author == Author::System) {
        return found;
    }
    let parent_of = |at: usize| parents.get(at).copied().flatten();
    let mut chains: Vec<(usize, Vec<usize>)> = Vec::new();
    for at in (0..entries.len()).filter(|&at| !is_system(at)) {
        let mut said = Vec::new();
        let mut before = parent_of(at);
        while let Some(system) = before.filter(|&before| is_system(before) && said.len() < MAX_INSTRUCTIONS) {
            said.push(system);
            before = parent_of(system);
        }
        said.reverse();
        match before {
            None => chains.push((at, said)),
            Some(_) if said.is_empty() => {}
            Some(_) => {
                found.of.insert(at, (before, said));
            }
        }
    }
    let is_same = |(_, one): &(usize, Vec<usize>)| chains.first().is_some_and(|(_, first)| first == one);
    if chains.iter().all(is_same) {
        let leading = chains.first().map(|(_, said)| said.clone()).unwrap_or_default();
        let texts: Vec<&str> = leading
            .iter()
            .filter_map(|&at| entries.get(at))
            .filter(|entry| !entry.excluded)
            .flat_map(|entry| entry.blocks.iter().filter_map(Block::as_text))
            .filter(|text| !is_blank(text))
            .collect();
        found.before_all = Some(texts.join("\n\n")).filter(|text| !text.is_empty());
        found.leading = leading.into_iter().map(|at| (at, ())).collect();
    } else {
        for (at, said) in chains {
            found.first.push(at);
            found.of.insert(at, (None, said));
        }
    }
    found
}

/// The node of an entry.
fn node(entry: Entry, edited_from: Option<String>, is_instruction: bool, named: &mut Named) -> NodeData {
    let metadata = MetadataData {
        excluded: entry.excluded || is_instruction,
        bookmarked: entry.bookmarked,
        bookmark_label: entry.bookmark_label.map(Cow::Owned),
        imported: entry.imported,
    };
    let mut content: Vec<_> = entry.blocks.into_iter().map(|block| named.named(block)).collect();
    if content.is_empty() {
        content.push(Block::text(""));
    }
    NodeData {
        id: entry.id,
        content,
        author_type: if entry.author == Author::Model { "model" } else { "human" },
        author_agent_id: entry.agent,
        created_at: entry.created_at,
        edited_from,
        summary: entry.summary,
        metadata: (metadata != MetadataData::default()).then_some(metadata),
    }
}

/// The node recorded by an export of ctxweave. Its text is that of the file, which may have been edited since.
fn exported_node(mut entry: Entry, edited_from: Option<String>, named: &mut Named) -> Map<String, Json> {
    let exported = entry.exported.take().unwrap_or_default();
    let mut made = match serde_json::to_value(node(entry, edited_from, false, named)) {
        Ok(Json::Object(made)) => made,
        _ => Map::new(),
    };
    // An export by ctxweave records everything that the format cannot express.
    let kept = ["id", "content"].map(|name| (name.to_owned(), made.remove(name).unwrap_or_default()));
    let imported = made.remove("metadata").and_then(|mut metadata| metadata.get_mut("imported").map(Json::take));
    let mut out: Map<String, Json> = kept.into_iter().collect();
    for (name, value) in exported {
        if name != EDGES {
            out.insert(name, value);
        }
    }
    if let Some(imported) = imported {
        let metadata = out.entry("metadata").or_insert_with(|| Json::Object(Map::new()));
        if let Json::Object(metadata) = metadata {
            metadata.insert("imported".to_owned(), imported);
        }
    }
    out
}

/// The edges recorded by an export of ctxweave, if the node still has the same parent.
fn exported_edges(entry: &Entry, parent: Option<&str>, known: &SortedMap<String, usize>) -> Option<Vec<Json>> {
    let edges = entry.exported.as_ref()?.get(EDGES)?.as_array()?;
    if edges.is_empty() {
        return Some(Vec::new());
    }
    let sources = |edge: &Json| -> Vec<String> {
        let list = edge.get("sources").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|source| source.get("nodeId")?.as_str().map(str::to_owned)).collect()
    };
    let all: Vec<String> = edges.iter().flat_map(sources).collect();
    let is_whole = all.iter().all(|id| known.contains_key(id.as_str()))
        && edges.iter().all(|edge| edge.get("targetNodeId").and_then(Json::as_str) == Some(&entry.id));
    let is_same = match parent {
        Some(parent) => all.iter().any(|id| id == parent),
        None => true,
    };
    (is_whole && is_same).then(|| edges.clone())
}
