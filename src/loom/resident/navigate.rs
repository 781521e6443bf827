//! Going about in a resident tree (SPEC §1 "What a front end asks a resident tree").

use serde::Serialize;

use super::loom_tree::LoomTree;
use super::relations::{self, Relation, Relations, Seen};
use crate::error::Result;
use crate::loom::path::{self, Choices};
use crate::loom::tree::{NodeIx, Tree};

/// A node as it is come to from another. What is left out of contexts says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Relative<'a> {
    /// The node.
    pub id: &'a str,
    /// The edge that it was come to by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<&'a str>,
    /// Whether that is an annotation edge, so that one of the two is a remark about the other.
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
    /// The children of a node, and the remarks about it, in the order of their edges.
    ///
    /// # Errors
    /// [`Code::NodeNotFound`](crate::Code::NodeNotFound), as all here.
    pub fn children(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        Ok(self.relatives(relations::children(&self.tree, self.tree.find(id)?)))
    }

    /// The parents of a node, and the nodes that it is a remark about, in the order of its edges; of an edit without an edge of its
    /// own, those of the node that it is an edit of.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn parents(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        Ok(self.relatives(relations::parents(&self.tree, self.tree.find(id)?)))
    }

    /// The children of a node's parents, itself among them where an edge leads to it; the roots for a root.
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

    /// All that can be come to from a node by its children and theirs, each after the one that it was come to from.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn descendants(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        Ok(self.relatives(relations::descendants(&self.tree, self.tree.find(id)?)))
    }

    /// A node, what it is an edit of, and the other edits of that, each after what it is an edit of; then those that stand
    /// next to it as primary sources of an edge.
    ///
    /// # Errors
    /// As [`LoomTree::children`].
    pub fn versions(&self, id: &str) -> Result<Vec<Relative<'_>>> {
        let node = self.tree.find(id)?;
        Ok(self.relatives(self.with_relations(|relations, tree| relations.versions(tree, node))))
    }

    /// The nodes where paths begin, in the order in which they were given.
    pub fn roots(&self) -> Vec<Relative<'_>> {
        self.relatives(self.with_relations(|relations, tree| relations.roots(tree)))
    }

    /// The leaves, in the order in which they were given.
    pub fn leaves(&self) -> Vec<Relative<'_>> {
        self.relatives(self.with_relations(|relations, tree| relations.leaves(tree)))
    }

    /// How many nodes the path to a node has before it. Where several edges lead to a node, the path takes the first.
    ///
    /// # Errors
    /// As [`LoomTree::children`], and [`Code::PathCycle`](crate::Code::PathCycle).
    pub fn depth(&self, id: &str) -> Result<u32> {
        let node = self.tree.find(id)?;
        let depth = self.with_relations(|relations, tree| relations.forest(tree).depth(node));
        depth.ok_or_else(|| path::cycle(&self.tree, node))
    }

    /// The last node that is on the paths to both, which may be one of them; nothing where they have none in common.
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

    /// The node after another among the children of its parent, or the one `next` to it on the other side. Pruned
    /// ones are passed over, unless the node itself is pruned; the siblings of a remark are the other remarks. Of several edges to
    /// the node the choices say which.
    ///
    /// # Errors
    /// As [`LoomTree::children`], and those of a path.
    pub fn sibling(&self, id: &str, choices: &Choices, next: bool) -> Result<Option<Relative<'_>>> {
        let tree = &self.tree;
        let node = tree.find(id)?;
        let versions = path::check_choices(tree, choices)?;
        if let Some(edge) = path::edge_into(tree, node, choices)? {
            let (from, _) = path::predecessor(tree, edge, &versions, &mut Vec::new())?;
            return Ok(relations::beside(tree, node, from, edge, next).map(|relation| self.relative(relation)));
        }
        let roots = self.with_relations(|relations, tree| relations.roots(tree));
        let first = path::origins(tree, node).last().copied().unwrap_or(node);
        let Some(at) = roots.iter().position(|root| root.node == first) else { return Ok(None) };
        let shows = |root: &&Relation| !tree.at(root.node).pruned || tree.at(node).pruned;
        let (before, behind) = roots.split_at(at);
        let found = if next { behind.iter().skip(1).find(shows) } else { before.iter().rev().find(shows) };
        Ok(found.map(|&root| self.relative(root)))
    }

    /// Looks at how nodes are related; what that needs is kept from then on.
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
