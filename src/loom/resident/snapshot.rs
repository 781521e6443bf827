//! The whole tree as JSON, and its changes since a revision: for a host that stores it, and for copies of it.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::change::{ChangeSet, OrderPosition, Upsert, with_next};
use super::change_log::Changed;
use super::loom_tree::LoomTree;
use super::written::WrittenTree;
use crate::error::Result;
use crate::json;
use crate::loom::tree::{EdgeIx, NodeIx};
use crate::maps::{SortedMap, SortedSet};

/// The changes of a tree since a revision.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesSince {
    /// The current revision of the tree.
    pub revision: u32,
    /// The change from the earlier revision to the current one.
    pub change: ChangeSet,
}

impl Serialize for ChangesSince {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("revision", &self.revision)?;
        self.change.write_into(&mut map)?;
        map.end()
    }
}

impl LoomTree {
    /// The number of edits that changed the tree.
    pub fn revision(&self) -> u32 {
        self.log.revision()
    }

    /// The tree as JSON, as it was passed: nodes and edges in their order, with fields that the model does not name.
    ///
    /// # Errors
    /// [`Code::InternalError`](crate::Code::InternalError), which would be a bug.
    pub fn snapshot(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(self.text_bytes + 128 * self.tree.len() + 128);
        json::append(&mut out, &WrittenTree(self))?;
        Ok(out)
    }

    /// The changes since a revision of this tree. Without one, and for an unknown or too old one, the whole tree, as a
    /// change that replaces everything.
    pub fn changes_since(&self, revision: Option<u32>) -> ChangesSince {
        let changes = revision.and_then(|revision| self.log.since(revision));
        let change = changes.map_or_else(|| self.whole(), |changes| self.change_of(changes));
        ChangesSince { revision: self.revision(), change }
    }

    fn change_of<'a>(&'a self, changes: impl Iterator<Item = &'a Changed>) -> ChangeSet {
        // Whether each was added or moved, by slot.
        let mut nodes: SortedMap<NodeIx, bool> = SortedMap::new();
        let mut edges: SortedMap<EdgeIx, bool> = SortedMap::new();
        let mut gone_nodes = SortedSet::new();
        let mut gone_edges = SortedSet::new();
        let mut settings = false;
        for change in changes {
            match change {
                Changed::Node(ix) => _ = nodes.or_insert(*ix, false),
                Changed::PlacedNode(ix) => _ = nodes.insert(*ix, true),
                Changed::Edge(ix) => _ = edges.or_insert(*ix, false),
                Changed::PlacedEdge(ix) => _ = edges.insert(*ix, true),
                Changed::NodeRemoved(id) => _ = gone_nodes.insert(&**id),
                Changed::EdgeRemoved(id) => _ = gone_edges.insert(&**id),
                Changed::Settings => settings = true,
            }
        }
        let is_there = |ix: NodeIx| self.tree.find_opt(&self.tree.at(ix).id) == Some(ix);
        let node_id = |ix: NodeIx| self.tree.at(ix).id.to_string();
        let edge_id = |ix: EdgeIx| self.tree.edge_data(ix).map(|edge| edge.id.to_string());
        let placed = |map: &SortedMap<u32, bool>, wanted: bool| -> Vec<u32> {
            map.iter().filter(|(_, placed)| **placed == wanted).map(|(&ix, _)| ix).collect()
        };
        let there = |list: Vec<u32>| -> Vec<u32> { list.into_iter().filter(|&ix| is_there(ix)).collect() };
        let moved = with_next(self.tree.node_order(), there(placed(&nodes, true)));
        let moved = moved.into_iter().map(|(ix, next)| self.put_back(ix, OrderPosition::of(next.map(node_id))));
        let changed = there(placed(&nodes, false)).into_iter().map(|ix| self.put_back(ix, OrderPosition::Kept));
        let nodes: Vec<Upsert<_>> = moved.chain(changed).collect();
        let there = |list: Vec<u32>| -> Vec<u32> { list.into_iter().filter(|&ix| edge_id(ix).is_some()).collect() };
        let moved = with_next(self.tree.edge_order(), there(placed(&edges, true)));
        let moved = moved
            .into_iter()
            .filter_map(|(ix, next)| self.put_edge_back(ix, OrderPosition::of(next.and_then(edge_id))));
        let changed = placed(&edges, false).into_iter().filter_map(|ix| self.put_edge_back(ix, OrderPosition::Kept));
        let edges: Vec<Upsert<_>> = moved.chain(changed).collect();
        ChangeSet {
            // Removed entries that were added again are inserted with their edges.
            removed_nodes: owned(gone_nodes.into_iter().filter(|id| self.tree.find_opt(id).is_none())),
            removed_edges: owned(gone_edges.into_iter().filter(|id| self.tree.find_edge(id).is_none())),
            nodes,
            edges,
            endings: Vec::new(),
            settings: settings.then(|| self.fields()),
            replaces: false,
        }
    }
}

fn owned<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    ids.map(str::to_owned).collect()
}
