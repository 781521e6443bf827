//! The conventions shared by imports and exports.

use serde_json::{Value as Json, json};

/// The key under which an export records data that its format cannot hold.
pub(super) const OWN_FIELD: &str = "ctxweave";

/// Fields of pyloom's nodes that are expressed or reported separately.
pub(super) const PYLOOM_FIELDS: &[&str] =
    &["id", "text", "children", "parent_id", "parentId", "bookmark", "masked_head", "tail_id", "history", OWN_FIELD];

/// In the record of a node: the edges that lead to it.
pub(super) const EDGES: &str = "edges";

/// In the record of a tree: the ids of its nodes, if the file has them in another order.
pub(super) const ORDER: &str = "nodeOrder";

/// The id of the edge that an import makes to a node.
pub(super) fn edge_id(child: &str) -> String {
    ["e:", child].concat()
}

/// pyloom's tag of bookmarks.
pub(super) const BOOKMARK: &str = "bookmark";

/// The id of the chapter that an export makes for a node of pyloom's.
pub(super) fn chapter_id(node: &str) -> String {
    ["chapter:", node].concat()
}

/// The definition of the tag of bookmarks in an export for pyloom.
pub(super) fn bookmark_tags() -> Json {
    json!({ BOOKMARK: { "scope": "node", "hide": false, "show_only": false, "toggle_key": "b", "icon": "bookmark" } })
}
