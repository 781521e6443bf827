//! Athanor Loom (gabriel-berzescu/athanor-loom): a map of nodes with the text that each adds.

use serde_json::Value as Json;

use super::{author_unknown, check_nodes, check_version, ids, objects};
use crate::error::Result;
use crate::json::Object;
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    check_version(context, file, "version", "1.0");
    let root = file.id_at("root");
    let nodes = file.object_at("nodes").map(|nodes| objects(nodes, context)).unwrap_or_default();
    check_nodes(context, nodes.len())?;
    let mut entries = Vec::with_capacity(nodes.len());
    for (key, node) in nodes {
        let id = node.id_at("id").unwrap_or(key);
        let metadata = node.object_at("metadata");
        let model = metadata.and_then(|metadata| metadata.text_at("model")).filter(|model| !model.is_empty());
        let author = match &model {
            Some(_) => Author::Model,
            None if root.as_ref() == Some(&id) => Author::Human,
            None => {
                author_unknown(context, &id, "the root counts as the human's, the rest as the model's");
                Author::Model
            }
        };
        let mut imported = context.rest(node, &["id", "text", "parent", "children", "metadata"], Some(&id));
        if let Some(metadata) = metadata {
            let rest = context.rest(metadata, &["created", "model"], Some(&id));
            if !rest.is_empty() {
                imported.insert("metadata".to_owned(), Json::Object(rest));
            }
        }
        let created_at =
            metadata.and_then(|metadata| context.created(metadata, "created", Unit::Milliseconds, &id, &mut imported));
        let parent = EntryRef::id(node.id_at("parent"));
        let text = node.text_at("text").unwrap_or_default();
        let children = ids(node, "children");
        entries.push(Entry { children, agent: model, created_at, imported, ..Entry::text(id, parent, author, text) });
    }
    let title = file.object_at("metadata").and_then(|metadata| metadata.text_at("title"));
    let imported = context.rest(file, &["root", "nodes"], None);
    let title = title.filter(|title| !title.is_empty());
    Ok(EntryTree { title, is_document: true, entries, imported, ..EntryTree::default() })
}
