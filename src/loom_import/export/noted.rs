//! Data that a format cannot hold, as an export records them for a later import.

use serde_json::{Map, Value as Json};

use super::tree::{ExportNode, ExportTree};
use crate::error::Result;
use crate::json::{Object, Value};
use crate::loom_import::conventions::{EDGES, ORDER, edge_id};
use crate::loom_import::verbatim::Lenient;

/// The fields that a format can express.
#[derive(Clone, Copy)]
pub(super) struct FormatFields<'s> {
    /// The name of the format.
    pub format: &'static str,
    /// Whether a field of a node is in the file unchanged; fields of `metadata` have the prefix `metadata.`.
    pub expresses: &'s dyn Fn(&str, Value<'_>) -> bool,
    /// Fields of the file's nodes that no import preserves.
    pub reserved: &'s [&'s str],
    /// Fields with values that are equivalent to absence.
    pub defaults: &'s [(&'s str, &'s str)],
}

/// The fields that an import of this format preserved of a node, to be written back.
pub(super) fn kept_fields<'t>(
    tree: &ExportTree<'t>,
    node: &ExportNode<'t>,
    format: &FormatFields<'_>,
) -> Option<Object<'t>> {
    tree.fields.object_at("imported")?.field("format").filter(|from| from.is_string(format.format))?;
    let kept = node.metadata?.object_at("imported")?;
    let is_fine = |(key, value): (Value<'_>, Value<'_>)| {
        let is_default = |(name, raw): &(&str, &str)| key.is_string(name) && value.raw() == *raw;
        let is_reserved = format.reserved.iter().any(|name| key.is_string(name));
        !value.is_null() && !is_reserved && !format.defaults.iter().any(is_default)
    };
    (kept.len() > 0 && kept.entries().all(is_fine)).then_some(kept)
}

/// The data to record of a node; `None` if the format expresses everything.
pub(super) fn noted(
    tree: &ExportTree<'_>,
    node: &ExportNode<'_>,
    format: &FormatFields<'_>,
) -> Result<Map<String, Json>> {
    let kept = kept_fields(tree, node, format).is_some();
    let is_said = |name: &str, value: Value<'_>| match name {
        "id" => true,
        "content" => node.is_plain,
        "metadata" => value.as_object().filter(|metadata| metadata.len() > 0).is_some_and(|metadata| {
            metadata.entries().all(|(key, value)| match key.as_text().as_deref() {
                Some("imported") => kept,
                Some(name) => (format.expresses)(&["metadata.", name].concat(), value),
                None => false,
            })
        }),
        _ => (format.expresses)(name, value),
    };
    let mut noted = Map::new();
    let all_said = node.fields.entries().all(|(key, value)| is_said(&key.as_text().unwrap_or_default(), value));
    if all_said && is_usual(tree, node) {
        return Ok(noted);
    }
    for (key, value) in node.fields.entries() {
        let name = key.string()?;
        match name.as_str() {
            "id" => {}
            "content" if node.is_plain => {}
            "metadata" if kept => {
                let mut metadata = value.to_json()?;
                if let Json::Object(fields) = &mut metadata {
                    fields.shift_remove("imported");
                }
                noted.insert(name, metadata);
            }
            _ => {
                noted.insert(name, value.to_json()?);
            }
        }
    }
    if !node.is_plain {
        noted.insert("of".to_owned(), node.text().into_owned().into());
    }
    if !is_usual(tree, node) {
        let edges = node.edges.iter().map(|edge| edge.to_json()).collect::<Result<_>>()?;
        noted.insert(EDGES.to_owned(), Json::Array(edges));
    }
    Ok(noted)
}

/// Whether the edges to a node are those that an import makes: one from its parent.
pub(super) fn is_usual(tree: &ExportTree<'_>, node: &ExportNode<'_>) -> bool {
    let Some(parent) = node.parent.and_then(|parent| tree.node(parent)) else { return node.edges.is_empty() };
    let [edge] = node.edges.as_slice() else { return false };
    let Some(edge) = edge.as_object() else { return false };
    let mut sources = edge.items_at("sources");
    let (Some(source), None) = (sources.next().and_then(Value::as_object), sources.next()) else { return false };
    edge.len() == 3
        && edge.field("id").is_some_and(|id| id.is_string(&edge_id(&node.id)))
        && source.len() == 2
        && source.field("nodeId").is_some_and(|id| id.is_string(&parent.id))
        && source.field("role").is_some_and(|role| role.is_string("primary"))
}

/// The data to record of the tree: all its settings, unless an import of the format would give the same.
pub(super) fn noted_of_tree(tree: &ExportTree<'_>, format: &str) -> Result<Option<Map<String, Json>>> {
    let kept = tree.imported_from(format).is_some();
    let first = tree.roots.first().and_then(|&root| tree.node(root));
    let is_said = |name: &str, value: Value<'_>| match name {
        "nodes" | "edges" => true,
        "imported" => kept,
        "mode" => value.is_string("buffer"),
        "rootNodeId" => first.is_some_and(|root| value.is_string(&root.id)),
        _ => false,
    };
    let mut fields = tree.fields.entries();
    let all_said = fields.all(|(key, value)| is_said(&key.as_text().unwrap_or_default(), value));
    let has = |name: &str| tree.fields.field(name).is_some();
    if all_said && kept && is_depth_first(tree) && has("mode") && (has("rootNodeId") || first.is_none()) {
        return Ok(None);
    }
    let mut noted = Map::new();
    for (key, value) in tree.fields.entries() {
        let name = key.string()?;
        // An import of an export by ctxweave has `imported` for fields that the file has.
        let is_in_file = tree.imported_from(format).is_some_and(|fields| fields.len() > 0);
        if !(matches!(name.as_str(), "nodes" | "edges") || name == "imported" && is_in_file) {
            noted.insert(name, value.to_json()?);
        }
    }
    if !is_depth_first(tree) {
        let ids = tree.nodes.iter().map(|node| Json::from(&*node.id)).collect();
        noted.insert(ORDER.to_owned(), Json::Array(ids));
    }
    Ok(Some(noted))
}

/// Whether the nodes are in the order in which an export writes them.
fn is_depth_first(tree: &ExportTree<'_>) -> bool {
    let mut work: Vec<usize> = tree.roots.iter().rev().copied().collect();
    let mut next = 0_usize;
    while let Some(at) = work.pop() {
        if at != next {
            return false;
        }
        next = next.saturating_add(1);
        work.extend(tree.node(at).into_iter().flat_map(|node| node.children.iter().rev()));
    }
    true
}
