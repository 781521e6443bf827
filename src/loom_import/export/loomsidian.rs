//! The tree of a Loomsidian note: a map of nodes, whose ids are UUIDs.

use serde_json::{Map, Value as Json, json};

use super::noted::{FormatFields, kept_fields, noted, noted_of_tree};
use super::tree::{ExportNode, ExportTree};
use crate::error::Result;
use crate::json::{Object, Value, object, text};
use crate::loom_import::conventions::OWN_FIELD;
use crate::maps::SortedSet;

const RESERVED: &[&str] = &["id", "text", "value", "parentId", "bookmarked", "author", "searchResultState", OWN_FIELD];

const FORMAT: FormatFields<'static> = FormatFields {
    format: "loomsidian",
    expresses: &expresses,
    reserved: RESERVED,
    defaults: &[("collapsed", "false"), ("unread", "false")],
};

fn expresses(name: &str, value: Value<'_>) -> bool {
    name == "metadata.bookmarked" && value.raw() == "true"
}

pub(super) fn write(tree: &ExportTree<'_>) -> Result<String> {
    let ids = uuids(tree);
    let id_of = |at: usize| ids.get(at).cloned().unwrap_or_default();
    // Other readers only use the tree of the first root.
    let above = (tree.roots.len() != 1).then(|| {
        let known: SortedSet<String> = ids.iter().cloned().collect();
        free_uuid("root", &known)
    });
    let current = tree.tip.or(tree.roots.first().copied()).map(id_of).or_else(|| above.clone());
    let mut fields = Map::new();
    fields.insert("current".to_owned(), current.into());
    for (name, value) in [("hoisted", json!([])), ("searchTerm", json!("")), ("generating", Json::Null)] {
        fields.insert(name.to_owned(), value);
    }
    put_in_order(&mut fields, tree.imported_from(FORMAT.format))?;
    if let Some(noted) = noted_of_tree(tree, FORMAT.format)? {
        fields.insert(OWN_FIELD.to_owned(), Json::Object(noted));
    }
    let mut out = String::from("{");
    for (name, value) in fields {
        out.push_str(&text(&name));
        out.push(':');
        out.push_str(&text(&value));
        out.push(',');
    }
    out.push_str("\"nodes\":{");
    let mut is_first = true;
    let mut push = |id: &str, node: &Map<String, Json>| {
        out.push_str(if std::mem::take(&mut is_first) { "" } else { "," });
        out.push_str(&text(id));
        out.push(':');
        out.push_str(&text(node));
    };
    if let Some(above) = &above {
        let mut node = plain("", None);
        node.insert(OWN_FIELD.to_owned(), object([("made", true.into())]));
        push(above, &node);
    }
    // Nodes follow their parents, and siblings are in order.
    let mut work: Vec<usize> = tree.roots.iter().rev().copied().collect();
    while let Some(at) = work.pop() {
        let Some(node) = tree.node(at) else { continue };
        let id = id_of(at);
        let parent = node.parent.map(id_of).or_else(|| above.clone());
        push(&id, &fields_of(tree, node, &id, parent)?);
        work.extend(node.children.iter().rev());
    }
    out.push_str("}}");
    Ok(out)
}

fn plain(said: &str, parent: Option<String>) -> Map<String, Json> {
    let fields = object([
        ("text", said.into()),
        ("parentId", parent.into()),
        ("collapsed", false.into()),
        ("unread", false.into()),
        ("bookmarked", false.into()),
        ("searchResultState", Json::Null),
    ]);
    if let Json::Object(fields) = fields { fields } else { Map::new() }
}

fn fields_of(
    tree: &ExportTree<'_>,
    node: &ExportNode<'_>,
    id: &str,
    parent: Option<String>,
) -> Result<Map<String, Json>> {
    let mut fields = plain(&node.text(), parent);
    fields.insert("bookmarked".to_owned(), node.is_bookmarked().into());
    put_in_order(&mut fields, kept_fields(tree, node, &FORMAT))?;
    // Unread nodes are the model's, others the human's.
    let author = if fields.get("unread") == Some(&Json::Bool(true)) { "model" } else { "human" };
    let expresses =
        |name: &str, value: Value<'_>| name == "authorType" && value.is_string(author) || expresses(name, value);
    let mut noted = noted(tree, node, &FormatFields { expresses: &expresses, ..FORMAT })?;
    if id != node.id {
        noted.insert("id".to_owned(), (&*node.id).into());
    }
    if !noted.is_empty() {
        fields.insert(OWN_FIELD.to_owned(), Json::Object(noted));
    }
    Ok(fields)
}

/// Adds preserved fields in their order, also those that have a default.
fn put_in_order(fields: &mut Map<String, Json>, kept: Option<Object<'_>>) -> Result<()> {
    for (key, value) in kept.into_iter().flat_map(Object::entries) {
        let name = key.string()?;
        fields.shift_remove(&name);
        fields.insert(name, value.to_json()?);
    }
    Ok(())
}

/// An id for each node: its id if that is a UUID, else one derived from it.
fn uuids(tree: &ExportTree<'_>) -> Vec<String> {
    let own = tree.nodes.iter().map(|node| node.id.to_string()).filter(|id| is_uuid(id));
    let mut known: SortedSet<String> = own.collect();
    let mut ids = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let id = if is_uuid(&node.id) { node.id.to_string() } else { free_uuid(&node.id, &known) };
        known.insert(id.clone());
        ids.push(id);
    }
    ids
}

fn is_uuid(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
        })
}

/// An unused UUID derived from an id.
fn free_uuid(id: &str, known: &SortedSet<String>) -> String {
    let mut wish = id.to_owned();
    loop {
        let uuid = uuid_of(&wish);
        if !known.contains(uuid.as_str()) {
            return uuid;
        }
        wish.push('~');
    }
}

/// A UUID (version 4 by its form) from the 128 bits of FNV-1a.
fn uuid_of(id: &str) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = id.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    let hash = hash & !(0xf << 76) | 4 << 76;
    let hash = hash & !(0x3 << 62) | 2 << 62;
    let hex = format!("{hash:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
