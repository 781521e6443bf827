//! ExoLoom (exoloom.io): nodes by number, with the text that each adds.

use super::{check_nodes, check_version, ids, objects};
use crate::error::Result;
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::maps::SortedSet;

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    check_version(context, file, "schemaVersion", "1");
    let lens = file.object_at("lens");
    let named = |field: &str| -> SortedSet<String> {
        let items = lens.into_iter().flat_map(|lens| lens.items_at(field)).filter_map(Value::as_object);
        items.filter_map(|item| item.id_at("nodeId")).collect()
    };
    let (bookmarks, pruned) = (named("bookmarks"), named("prunedNodes"));
    let mut tree = EntryTree { is_document: true, ..EntryTree::default() };
    let Some(given) = file.object_at("tree") else { return Ok(tree) };
    let nodes = given.object_at("nodes").map(|nodes| objects(nodes, context)).unwrap_or_default();
    check_nodes(context, nodes.len())?;
    for (id, node) in nodes {
        let is_model = node.text_at("authorType").as_deref() == Some("LLM");
        let agent = node.text_at("authorName").filter(|name| is_model && !name.is_empty());
        let mut known = vec!["content", "authorType", "parentId", "childrenIds", "createdAt"];
        if agent.is_some() {
            known.push("authorName");
        }
        let mut imported = context.rest(node, &known, Some(&id));
        if pruned.contains(id.as_str()) {
            context.findings.not_expressed("lens.prunedNodes", Some(&id));
            imported.insert("pruned".to_owned(), true.into());
        }
        let created_at = context.created(node, "createdAt", Unit::Milliseconds, &id, &mut imported);
        let parent = EntryRef::id(node.id_at("parentId"));
        let text = node.text_at("content").unwrap_or_default();
        tree.entries.push(Entry {
            children: ids(node, "childrenIds"),
            agent,
            created_at,
            bookmarked: bookmarks.contains(id.as_str()),
            imported,
            ..Entry::text(id, parent, if is_model { Author::Model } else { Author::Human }, text)
        });
    }
    tree.title = given.text_at("title").filter(|title| !title.is_empty());
    tree.imported = context.rest(file, &["loomType", "tree"], None);
    let rest = context.rest(given, &["title", "nodes"], None);
    tree.imported.insert("tree".to_owned(), rest.into());
    Ok(tree)
}
