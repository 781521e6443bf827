//! Loom trees of ctxweave, which are returned unchanged.

use super::build::{ImportedTree, own_tree};
use super::context::Context;
use super::export::{ExportOptions, ExportTree};
use super::file::Shape;
use super::verbatim::Lenient;
use crate::error::Result;
use crate::time::Timestamp;

/// The tree of a file, if it is selected.
pub(super) fn read(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<ImportedTree>> {
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let options = ExportOptions { limits: context.options.limits, ..ExportOptions::default() };
    let tree = ExportTree::read(file, &options)?;
    let (id, title) = (tree.fields.id_at("id"), tree.fields.text_at("title").filter(|title| !title.is_empty()));
    if !context.wants(id.as_deref(), title.as_deref()) {
        return Ok(Vec::new());
    }
    Ok(vec![own_tree(id, title, tree.fields, newest_leaf(&tree))?])
}

/// The leaf that was written last; the last one if times do not decide.
fn newest_leaf(tree: &ExportTree<'_>) -> Option<String> {
    let time = |created: Option<String>| created.as_deref().and_then(Timestamp::parse);
    let leaves = tree.nodes.iter().filter(|node| node.children.is_empty());
    leaves.max_by_key(|node| time(node.fields.text_at("createdAt"))).map(|node| node.id.to_string())
}
