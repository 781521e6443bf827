//! coloom (Butanium/coloom): nodes with the text that each adds, or its tokens, and cursors.

use serde_json::Value as Json;

use super::{author_unknown, check_nodes, ids, objects};
use crate::error::{DiagnosticCode, Result};
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::maps::SortedSet;
use crate::time::Timestamp;

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let nodes = file.object_at("nodes").map(|nodes| objects(nodes, context)).unwrap_or_default();
    check_nodes(context, nodes.len())?;
    let bookmarks: SortedSet<String> = ids(file, "bookmarks").into_iter().collect();
    let entries = nodes
        .into_iter()
        .map(|(key, node)| {
            let mut entry = entry(key, node, context);
            entry.bookmarked |= bookmarks.contains(entry.id.as_str());
            entry
        })
        .collect();
    let tip = EntryRef::id(cursor(file, context));
    let imported = context.rest(file, &["id", "title", "nodes", "roots", "bookmarks"], None);
    let title = file.text_at("title").filter(|title| !title.is_empty());
    Ok(EntryTree { id: file.id_at("id"), title, is_document: true, entries, tip, imported, ..EntryTree::default() })
}

/// The node of the requested cursor, else of the one that moved last.
fn cursor(file: Object<'_>, context: &mut Context<'_>) -> Option<String> {
    let cursors = file.object_at("cursors").map(|cursors| objects(cursors, context)).unwrap_or_default();
    let asked = context.options.cursor.clone();
    if let Some(asked) = asked {
        if let Some((_, cursor)) = cursors.iter().find(|(name, _)| *name == asked) {
            return cursor.id_at("node_id");
        }
        let message = format!("unknown cursor `{asked}`");
        context.findings.warn(DiagnosticCode::ImportDanglingReference, message, &asked);
    }
    let updated = |cursor: &Object<'_>| cursor.text_at("updated").as_deref().and_then(Timestamp::parse);
    cursors.iter().max_by_key(|(_, cursor)| updated(cursor)).and_then(|(_, cursor)| cursor.id_at("node_id"))
}

fn entry(key: String, node: Object<'_>, context: &mut Context<'_>) -> Entry {
    let id = node.id_at("id").unwrap_or(key);
    let mut imported =
        context.rest(node, &["id", "parents", "children", "content", "creator", "created", "bookmarked"], Some(&id));
    let content = node.object_at("content");
    let mut text = content.and_then(|content| content.text_at("text")).unwrap_or_default();
    if let Some(content) = content.filter(|content| content.field("tokens").is_some()) {
        let tokens = content.items_at("tokens").filter_map(Value::as_object);
        text = tokens.filter_map(|token| token.text_at("text")).collect::<Vec<_>>().concat();
    }
    if let Some(content) = content {
        let rest = context.rest(content, &["type", "text"], Some(&id));
        if !rest.is_empty() {
            imported.insert("content".to_owned(), Json::Object(rest));
        }
    }
    let creator = node.object_at("creator");
    let kind = creator.and_then(|creator| creator.text_at("type"));
    let author = match kind.as_deref() {
        Some("model") => Author::Model,
        Some("human") => Author::Human,
        _ => {
            author_unknown(context, &id, "it counts as the human's");
            Author::Human
        }
    };
    let mut agent = None;
    if let Some(creator) = creator {
        let label = creator.text_at("label").filter(|label| !label.is_empty() && author == Author::Model);
        let known: &[&str] = if label.is_some() { &["type", "label"] } else { &["type"] };
        let rest = context.rest(creator, known, Some(&id));
        if !rest.is_empty() {
            imported.insert("creator".to_owned(), Json::Object(rest));
        }
        agent = label;
    }
    let mut parents = ids(node, "parents").into_iter();
    let parent = EntryRef::id(parents.next());
    let others: Vec<String> = parents.collect();
    if !others.is_empty() {
        let message = "the node has several parents; the first is used, the others became reference material";
        context.findings.warn(DiagnosticCode::ImportUnsupportedContent, message, &id);
    }
    let created_at = context.created(node, "created", Unit::Seconds, &id, &mut imported);
    Entry {
        children: ids(node, "children"),
        context: others,
        agent,
        created_at,
        bookmarked: node.is_true("bookmarked"),
        imported,
        ..Entry::text(id, parent, author, text)
    }
}
