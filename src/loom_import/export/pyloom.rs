//! pyloom's file: nested nodes with one at the top.

use serde_json::{Map, Value as Json, json};

use super::noted::{FormatFields, is_usual, kept_fields, noted, noted_of_tree};
use super::tree::{ExportNode, ExportTree};
use crate::error::Result;
use crate::json::{JsonWriter, Object, Value};
use crate::loom_import::conventions::{BOOKMARK, OWN_FIELD, PYLOOM_FIELDS, bookmark_tags, chapter_id};
use crate::loom_import::verbatim::Lenient;
use crate::time::Timestamp;

const FORMAT: FormatFields<'static> =
    FormatFields { format: "pyloom", expresses: &expresses, reserved: PYLOOM_FIELDS, defaults: &[("mutable", "true")] };

fn expresses(name: &str, value: Value<'_>) -> bool {
    match name {
        "authorType" => true,
        "createdAt" => value.as_text().is_some_and(|time| timestamp(&time).is_some_and(|(_, is_whole)| is_whole)),
        "metadata.bookmarked" => value.raw() == "true",
        "metadata.bookmarkLabel" => value.as_text().is_some(),
        _ => false,
    }
}

/// A time in pyloom's form, and whether it is exact.
fn timestamp(time: &str) -> Option<(String, bool)> {
    let utc = Timestamp::parse(time)?.to_string();
    let (date, clock) = utc.split_once('T')?;
    let clock = clock.get(..8)?.replace(':', ".");
    Some((format!("{date}-{clock}"), utc == time && !utc.contains('.')))
}

/// The next thing to write.
enum Work {
    /// A node.
    Open(usize),
    Close,
}

pub(super) fn write(tree: &ExportTree<'_>) -> Result<String> {
    let histories = Histories::new(tree);
    let mut json = JsonWriter::default();
    json.open_object();
    json.key("root");
    // The program requires one node at the top, with a child.
    let only = match tree.roots.as_slice() {
        [only] if tree.node(*only).is_some_and(|root| !root.children.is_empty()) => Some(*only),
        _ => None,
    };
    match only {
        Some(root) => subtree(tree, root, &histories, &mut json)?,
        None => {
            open_made(tree, "root", &mut json);
            for &root in &tree.roots {
                subtree(tree, root, &histories, &mut json)?;
            }
            if tree.roots.is_empty() {
                open_made(tree, "first", &mut json);
                close_node(&mut json);
            }
            close_node(&mut json);
        }
    }
    for (name, value) in &fields_of_file(tree)? {
        json.value_field(name, value);
    }
    json.close_object();
    Ok(json.finish_text())
}

/// The fields next to the root.
fn fields_of_file(tree: &ExportTree<'_>) -> Result<Map<String, Json>> {
    let selected = tree.tip.or(tree.roots.first().copied()).and_then(|at| tree.node(at));
    let mut fields = Map::new();
    if let Some(selected) = selected {
        fields.insert("selected_node_id".to_owned(), (&*selected.id).into());
    }
    for (key, value) in tree.imported_from(FORMAT.format).into_iter().flat_map(Object::entries) {
        fields.insert(key.string()?, value.to_json()?);
    }
    add_chapters(tree, &mut fields);
    if !fields.contains_key("tags") {
        fields.insert("tags".to_owned(), bookmark_tags());
    }
    if let Some(noted) = noted_of_tree(tree, FORMAT.format)? {
        fields.insert(OWN_FIELD.to_owned(), Json::Object(noted));
    }
    Ok(fields)
}

/// Begins a node that only the program requires, and the list of its children.
fn open_made(tree: &ExportTree<'_>, wish: &str, json: &mut JsonWriter) {
    let mut id = wish.to_owned();
    while tree.places.contains_key(id.as_str()) {
        id.push('~');
    }
    json.open_object();
    json.text_field("id", &*id);
    json.text_field("text", "");
    json.raw_field("mutable", "true");
    json.object_field(OWN_FIELD, |json| json.raw_field("made", "true"));
    json.key("children");
    json.open_list();
}

fn close_node(json: &mut JsonWriter) {
    json.close_list();
    json.close_object();
}

fn subtree(tree: &ExportTree<'_>, root: usize, histories: &Histories, json: &mut JsonWriter) -> Result<()> {
    let mut work = vec![Work::Open(root)];
    while let Some(next) = work.pop() {
        match next {
            Work::Close => close_node(json),
            Work::Open(at) => {
                let Some(node) = tree.node(at) else { continue };
                json.open_object();
                for (name, value) in &fields_of(tree, at, node, histories)? {
                    json.value_field(name, value);
                }
                json.key("children");
                json.open_list();
                work.push(Work::Close);
                let is_shown = |child: &usize| histories.is_version.get(*child) == Some(&false);
                work.extend(node.children.iter().rev().copied().filter(is_shown).map(Work::Open));
            }
        }
    }
    Ok(())
}

fn fields_of(
    tree: &ExportTree<'_>,
    at: usize,
    node: &ExportNode<'_>,
    histories: &Histories,
) -> Result<Map<String, Json>> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), (&*node.id).into());
    if let Some(parent) = node.parent.and_then(|parent| tree.node(parent)) {
        fields.insert("parent_id".to_owned(), (&*parent.id).into());
    }
    fields.insert("text".to_owned(), node.text().into_owned().into());
    if node.parent.is_none() {
        fields.insert("mutable".to_owned(), true.into());
    }
    let mut meta = Map::new();
    meta.insert("source".to_owned(), if node.is_model { "AI" } else { "prompt" }.into());
    let created = node.fields.text_at("createdAt").and_then(|time| timestamp(&time));
    if let Some((time, _)) = created {
        meta.insert("creation_timestamp".to_owned(), time.into());
    }
    meta.insert("modified".to_owned(), false.into());
    let mut tags = Vec::new();
    for (key, value) in kept_fields(tree, node, &FORMAT).into_iter().flat_map(Object::entries) {
        let name = key.string()?;
        match (name.as_str(), value.to_json()?) {
            ("meta", Json::Object(kept)) => meta.extend(kept),
            ("tags", Json::Array(kept)) => tags = kept,
            (_, value) => {
                fields.insert(name, value);
            }
        }
    }
    let label = node.bookmark_label();
    if node.is_bookmarked() && label.is_none() {
        tags.push(BOOKMARK.into());
    }
    if !tags.is_empty() {
        fields.insert("tags".to_owned(), Json::Array(tags));
    }
    if label.is_some() && !fields.contains_key("chapter_id") {
        fields.insert("chapter_id".to_owned(), chapter_id(&node.id).into());
    }
    let is_model = matches!(meta.get("source").and_then(Json::as_str), Some("AI" | "mixed"));
    fields.insert("meta".to_owned(), Json::Object(meta));
    // The history states that it is an edit of earlier versions.
    let has_history = histories.has(at);
    if let Some(history) = histories.of.get(at).filter(|_| has_history) {
        fields.insert("history".to_owned(), Json::Array(history.clone()));
    }
    let expresses = |name: &str, value: Value<'_>| match name {
        "editedFrom" => has_history,
        "authorType" => is_model == node.is_model,
        "metadata.bookmarkLabel" => node.is_bookmarked() && expresses(name, value),
        _ => expresses(name, value),
    };
    let noted = noted(tree, node, &FormatFields { expresses: &expresses, ..FORMAT })?;
    if !noted.is_empty() {
        fields.insert(OWN_FIELD.to_owned(), Json::Object(noted));
    }
    Ok(fields)
}

/// The chapters of nodes with a label, and those that an import could not assign to a node.
fn add_chapters(tree: &ExportTree<'_>, fields: &mut Map<String, Json>) {
    let mut chapters = match fields.remove("chapters") {
        Some(Json::Object(chapters)) => chapters,
        _ => Map::new(),
    };
    for node in &tree.nodes {
        if let Some(title) = node.bookmark_label() {
            let kept = kept_fields(tree, node, &FORMAT).and_then(|kept| kept.id_at("chapter_id"));
            let id = kept.unwrap_or_else(|| chapter_id(&node.id));
            let chapter = json!({ "id": id, "root_id": &*node.id, "title": title });
            chapters.insert(id, chapter);
        }
    }
    fields.insert("chapters".to_owned(), Json::Object(chapters));
}

/// The earlier versions of nodes that an import made from their histories, which are written as histories again.
struct Histories {
    /// The history of each node.
    of: Vec<Vec<Json>>,
    /// Whether a node is such a version.
    is_version: Vec<bool>,
}

impl Histories {
    fn new(tree: &ExportTree<'_>) -> Self {
        let count = tree.nodes.len();
        let mut histories = Self { of: vec![Vec::new(); count], is_version: vec![false; count] };
        for (node, of) in tree.nodes.iter().zip(&mut histories.of) {
            for (at, entry) in versions(tree, node) {
                if let Some(is_version) = histories.is_version.get_mut(at) {
                    *is_version = true;
                }
                of.push(entry);
            }
        }
        histories
    }

    fn has(&self, at: usize) -> bool {
        self.of.get(at).is_some_and(|history| !history.is_empty())
    }
}

/// Whether a node is exactly what an import makes of a version of another node.
fn is_version_of(version: &ExportNode<'_>, node: &str) -> bool {
    let is_mark = |metadata: Object<'_>| {
        let kept = metadata.object_at("imported").filter(|kept| kept.len() == 1 && metadata.len() == 1);
        kept.and_then(|kept| kept.id_at("versionOf")).is_some_and(|of| of == node)
    };
    let is_said = |(key, value): (Value<'_>, Value<'_>)| match key.as_text().as_deref() {
        Some("id" | "content" | "authorType" | "editedFrom" | "metadata") => true,
        Some("createdAt") => expresses("createdAt", value),
        _ => false,
    };
    version.metadata.is_some_and(is_mark) && version.fields.entries().all(is_said)
}

/// The earlier versions of a node, oldest first, with their indices; empty if a history could not express all of them.
fn versions(tree: &ExportTree<'_>, node: &ExportNode<'_>) -> Vec<(usize, Json)> {
    let mut history = Vec::new();
    let mut edited = node.fields.text_at("editedFrom");
    while let Some(at) = edited.as_ref().and_then(|id| tree.places.get(id.as_str()).copied()) {
        let Some(version) = tree.node(at) else { break };
        let is_one = is_version_of(version, &node.id)
            && is_usual(tree, version)
            && version.is_plain
            && version.children.is_empty()
            && version.parent == node.parent
            && version.is_model == node.is_model
            && history.len() < tree.nodes.len();
        if !is_one {
            return Vec::new();
        }
        let mut entry = Map::new();
        if let Some((time, _)) = version.fields.text_at("createdAt").and_then(|time| timestamp(&time)) {
            entry.insert("timestamp".to_owned(), time.into());
        }
        entry.insert("text".to_owned(), version.text().into_owned().into());
        history.push((at, Json::Object(entry)));
        edited = version.fields.text_at("editedFrom");
    }
    history.reverse();
    // An import numbers them.
    let is_numbered = |(number, (at, _)): (usize, &(usize, Json))| {
        let id = format!("{}.h{}", node.id, number.saturating_add(1));
        tree.node(*at).is_some_and(|version| *version.id == *id)
    };
    if history.iter().enumerate().all(is_numbered) { history } else { Vec::new() }
}
