//! Loomsidian (cosmicoptima/loom): a map of nodes for each note, and the plugin's data file with many of them.

use super::{as_note, author_unknown, check_nodes, exported_tree, objects, take_exported};
use crate::error::{DiagnosticCode, Result, Severity};
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::conventions::OWN_FIELD;
use crate::loom_import::detect::notes;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::file::Shape;
use crate::loom_import::verbatim::{Lenient, is_empty};

const KNOWN: &[&str] = &["id", "text", "value", "parentId", "bookmarked", "author", OWN_FIELD];

pub(super) fn read_all(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    if let Some(note) = as_note(shape) {
        let tree = read(note, context)?;
        return Ok(context.wants(tree.id.as_deref(), tree.title.as_deref()).then_some(tree).into_iter().collect());
    }
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let Some(file) = file.as_object() else { return Ok(Vec::new()) };
    if file.field("settings").is_some() {
        let what = "`settings`, which holds the keys to services, was left out";
        context.findings.count(DiagnosticCode::ImportSecretLeftOut, Severity::Info, what, None);
    }
    let mut trees = Vec::new();
    for (path, note) in notes(file).map(|notes| objects(notes, context)).unwrap_or_default() {
        if context.wants(Some(&path), Some(&path)) {
            trees.push(EntryTree { id: Some(path.clone()), title: Some(path), ..read(note, context)? });
        }
    }
    Ok(trees)
}

fn read(note: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let mut tree = EntryTree { is_document: true, tip: EntryRef::id(note.id_at("current")), ..EntryTree::default() };
    let nodes = match note.object_at("nodes") {
        Some(nodes) => objects(nodes, context),
        // Other programs write a list.
        None => {
            let list = note.items_at("nodes").filter_map(Value::as_object);
            list.map(|node| (node.id_at("id").unwrap_or_default(), node)).collect()
        }
    };
    check_nodes(context, nodes.len())?;
    tree.exported = exported_tree(note, context);
    for (id, node) in nodes {
        if node.object_at(OWN_FIELD).is_some_and(|own| own.is_true("made")) {
            continue;
        }
        let (entry, own_id) = entry(id, node, tree.exported.is_some(), context);
        let key = entry.id.clone();
        if let Some(own_id) = own_id {
            tree.aliases.insert(key, tree.entries.len());
            tree.entries.push(Entry { id: own_id, ..entry });
        } else {
            tree.entries.push(entry);
        }
    }
    tree.imported = context.rest(note, &["current", "nodes", OWN_FIELD], None);
    tree.imported.retain(|_, value| !is_empty(value));
    Ok(tree)
}

/// An entry, and its id before the export. In a file by ctxweave no author is guessed.
fn entry(id: String, node: Object<'_>, is_own: bool, context: &mut Context<'_>) -> (Entry, Option<String>) {
    let text = node.text_at("text").or_else(|| node.text_at("value")).unwrap_or_default();
    let (author, agent) = match node.text_at("author") {
        Some(author) if author == "genesis" || author == "N/A" || author.is_empty() => (Author::Human, None),
        Some(model) => (Author::Model, Some(model)),
        None => {
            let is_unread = node.is_true("unread");
            if !is_own {
                author_unknown(context, &id, "unread ones count as the model's, the rest as the human's");
            }
            (if is_unread { Author::Model } else { Author::Human }, None)
        }
    };
    let mut known = KNOWN.to_vec();
    // The usual values.
    known.extend(["collapsed", "unread"].into_iter().filter(|field| !node.is_true(field)));
    let imported = context.rest(node, &known, Some(&id));
    let parent = EntryRef::id(node.id_at("parentId"));
    let bookmarked = node.is_true("bookmarked");
    let mut entry = Entry { agent, bookmarked, imported, ..Entry::text(id, parent, author, text.clone()) };
    let own_id = take_exported(&mut entry, node, &text, context);
    (entry, own_id)
}
