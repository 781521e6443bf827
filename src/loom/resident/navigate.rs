//! Navigation in a resident tree (docs/resident.md).

use serde::Serialize;

use super::loom_tree::LoomTree;
use super::relations::{self, Relation, Relations, Seen};
use crate::error::Result;
use crate::loom::path::{self, Choices};
use crate::loom::tree::{NodeIx, Tree};

/// A node reached from another, with flags for nodes that contexts leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Relative<'a> {
    /// The node.
    pub id: &'a str,
    /// The edge over which it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<&'a str>,
    /// Whether that is an annotation edge, so that one of the two annotates the other.
    #[serde(skip_serializing_if = "is_false")]
    pub annotation: bool,
    /// Whether the node is excluded.
    #[serde(skip_serializing_if = "is_false")]
    pub excluded: bool,
    /// Whether the node is pruned.
    #[serde(skip_serializing_if = "is_false")]
    pub pruned: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl LoomTree {
    /// The children of a node, and its annotations, in the order of their edges.
    ///
    /// # Errors
    /// [`Code::NodeNotFound`](crate::Code::NodeNotFound).
    pub fn children(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        Ok(self.relatives(relations::children(&self.tree, self.tree.find(id)?)))
    }

    /// The parents of a node, and the nodes that it annotates, in the order of its edges; for an edit without an edge,
    /// those of the edited node.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn parents(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        Ok(self.relatives(relations::parents(&self.tree, self.tree.find(id)?)))
    }

    /// The children of a node's parents, including itself if an edge leads to it; the roots for a root.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn siblings(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        let node = self.tree.find(id)?;
        let parents = relations::parents(&self.tree, node);
        if parents.is_empty() {
            return Ok(self.roots());
        }
        let mut seen = Seen::default();
        let all = parents.iter().flat_map(|parent| relations::children(&self.tree, parent.node));
        Ok(self.relatives(all.filter(|sibling| seen.insert(sibling.node)).collect()))
    }

    /// All descendants of a node, each after the node from which it was reached.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn descendants(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        Ok(self.relatives(relations::descendants(&self.tree, self.tree.find(id)?)))
    }

    /// A node, the node it edits, and the other edits of that, each after the node it edits; then the other primary
    /// sources of its edges.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn versions(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        let node = self.tree.find(id)?;
        Ok(self.relatives(self.with_relations(|relations, tree| relations.versions(tree, node))))
    }

    /// The roots, in insertion order.
    pub fn roots(&self) -> Vec<Relative<'_>> {
        self.relatives(self.with_relations(|relations, tree| relations.roots(tree)))
    }

    /// The leaves, in insertion order.
    pub fn leaves(&self) -> Vec<Relative<'_>> {
        self.relatives(self.with_relations(|relations, tree| relations.leaves(tree)))
    }

    /// The number of nodes before a node on its path. If several edges lead to a node, the path takes the first.
    ///
    /// # Errors
    /// As [`LoomTree::children`], and [`Code::PathCycle`](crate::Code::PathCycle).
    pub fn depth(&self, id: &str) -> Result<u32> {
        let node = self.tree.find(id)?;
        let depth = self.with_relations(|relations, tree| relations.forest(tree).depth(node));
        depth.ok_or_else(|| path::cycle(&self.tree, node))
    }

    /// The last node on the paths to both, which may be one of them; `None` if they share none.
    ///
    /// # Errors
    /// As [`LoomTree::depth`].
    pub fn common_ancestor(&self, a: &str, b: &str) -> Result<Option<&str>> {
        let (mut one, mut other) = (self.tree.find(a)?, self.tree.find(b)?);
        let common = self.with_relations(|relations, tree| {
            let forest = relations.forest(tree);
            let depth = |node: NodeIx| forest.depth(node).ok_or_else(|| path::cycle(tree, node));
            let (mut depth_of_one, mut depth_of_other) = (depth(one)?, depth(other)?);
            while one != other {
                if depth_of_one < depth_of_other {
                    (one, other) = (other, one);
                    (depth_of_one, depth_of_other) = (depth_of_other, depth_of_one);
                }
                let Some(parent) = forest.parent(one) else { return Ok(None) };
                one = parent;
                depth_of_one = depth_of_one.saturating_sub(1);
            }
            Ok(Some(one))
        });
        Ok(common?.map(|node| &*self.tree.at(node).id))
    }

    /// The sibling after a node if `next`, otherwise the one before it. Pruned siblings are skipped, unless the node
    /// itself is pruned; the siblings of an annotation are the other annotations. Among several edges to the node the
    /// choices decide.
    ///
    /// # Errors
    /// As [`LoomTree::children`], and those of a path.
    pub fn sibling(&self, id: &str, choices: &Choices, next: bool) -> Result<Option<Relative<'_>>> {
        let tree = &self.tree;
        let node = tree.find(id)?;
        let versions = path::check_choices(tree, choices)?;
        if let Some(edge) = path::edge_into(tree, node, choices)? {
            let (from, _) = path::predecessor(tree, edge, &versions, &mut Vec::new())?;
            return Ok(relations::adjacent(tree, node, from, edge, next).map(|relation| self.relative(relation)));
        }
        let roots = self.with_relations(|relations, tree| relations.roots(tree));
        let first = path::origins(tree, node).last().copied().unwrap_or(node);
        let Some(at) = roots.iter().position(|root| root.node == first) else { return Ok(None) };
        let shows = |root: &&Relation| !tree.at(root.node).pruned || tree.at(node).pruned;
        let (before, later) = roots.split_at(at);
        let found = if next { later.iter().skip(1).find(shows) } else { before.iter().rev().find(shows) };
        Ok(found.map(|&root| self.relative(root)))
    }

    /// Passes the relations of nodes to a function; they are kept up to date from then on.
    pub(super) fn with_relations<R>(&self, look: impl FnOnce(&mut Relations, &Tree<'static>) -> R) -> R {
        let mut relations = self.relations.borrow_mut();
        look(relations.get_or_insert_with(|| Relations::new(&self.tree)), &self.tree)
    }

    fn relatives(&self, relations: Vec<Relation>) -> Vec<Relative<'_>> {
        relations.into_iter().map(|relation| self.relative(relation)).collect()
    }

    fn relative(&self, relation: Relation) -> Relative<'_> {
        let node = self.tree.at(relation.node);
        let edge = relation.edge.map(|edge| &*self.tree.edge(edge).id);
        let Relation { annotation, .. } = relation;
        Relative { id: &node.id, edge, annotation, excluded: node.excluded, pruned: node.pruned }
    }
}
