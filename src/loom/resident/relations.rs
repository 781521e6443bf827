//! The relations of the nodes of a resident tree, computed on demand and then updated by edits.

use super::forest::Forest;
use crate::loom::path::{self, Choices, SelectedVersions};
use crate::loom::tree::{self, EdgeIx, EdgeKind, NodeIx, Tree};
use crate::maps::{SortedMap, SortedSet};

/// A node, and the edge over which it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation {
    pub node: NodeIx,
    pub edge: Option<EdgeIx>,
    /// Whether that is an annotation edge.
    pub annotation: bool,
}

/// Relations that would otherwise require a walk through the whole tree.
#[derive(Debug, Default)]
pub(super) struct Relations {
    /// Nodes without an incoming edge.
    unreached: PlaceSet,
    /// Leaves.
    leaves: PlaceSet,
    /// The edits of each node, by its id, which may be missing in the tree.
    edits: SortedMap<String, Vec<NodeIx>>,
    /// The edited node of each edit.
    edited_from: SortedMap<NodeIx, String>,
    forest: Option<Forest>,
}

impl Relations {
    pub(super) fn new(tree: &Tree<'_>) -> Self {
        let mut this = Self::default();
        for place in 0..u32::try_from(tree.places()).unwrap_or(u32::MAX) {
            this.note(tree, place);
        }
        this
    }

    /// Updates after edits at these slots.
    pub(super) fn update(&mut self, tree: &Tree<'_>, places: &[NodeIx]) {
        for &place in places {
            let was_edit = self.edited_from.contains_key(&place);
            self.note(tree, place);
            let Some(forest) = &mut self.forest else { continue };
            let several = |&edge: &EdgeIx| tree::predecessors(tree.sources(edge)).count() > 1;
            let has_versions = was_edit
                || self.edited_from.contains_key(&place)
                || match tree.is_there(place) {
                    true => self.edits.contains_key(&*tree.at(place).id),
                    false => !self.edits.is_empty(),
                }
                || tree.outgoing(place).iter().any(several);
            forest.update(tree, place, has_versions);
        }
    }

    fn note(&mut self, tree: &Tree<'_>, place: NodeIx) {
        let is_there = tree.is_there(place);
        let reached = !tree.incoming(place).is_empty() || !tree.annotated_by(place).is_empty();
        self.unreached.set(place, is_there && !reached);
        self.leaves.set(place, is_there && !tree.has_child(place));
        let origin = tree.at(place).edited_from.as_deref();
        if self.edited_from.get(&place).map(String::as_str) == origin {
            return;
        }
        if let Some(before) = self.edited_from.remove(&place)
            && let Some(edits) = self.edits.get_mut(&before)
        {
            edits.retain(|&edit| edit != place);
            if edits.is_empty() {
                self.edits.remove(&before);
            }
        }
        if let Some(origin) = origin {
            self.edited_from.insert(place, origin.to_owned());
            self.edits.or_default(origin.to_owned()).push(place);
        }
    }

    /// The predecessor of each node.
    pub(super) fn forest(&mut self, tree: &Tree<'_>) -> &Forest {
        if self.forest.as_ref().is_some_and(Forest::is_stale) {
            self.forest = None;
        }
        self.forest.get_or_insert_with(|| Forest::new(tree, &Choices::default(), &SelectedVersions::new()))
    }

    /// The roots, in the order of nodes.
    pub(super) fn roots(&self, tree: &Tree<'_>) -> Vec<Relation> {
        // An edit without an edge is at the place of the node it edits.
        let is_root = |&place: &NodeIx| origin(tree, place).is_none();
        let roots = self.unreached.list.iter().copied().filter(is_root);
        in_order(tree, roots).into_iter().map(|node| Relation { node, edge: None, annotation: false }).collect()
    }

    /// The leaves, in the order of nodes.
    pub(super) fn leaves(&self, tree: &Tree<'_>) -> Vec<Relation> {
        let leaves = in_order(tree, self.leaves.list.iter().copied()).into_iter();
        leaves.map(|node| relation_of(tree, node)).collect()
    }

    /// A node, the node it edits, and all other edits of that, each after the node it edits; then the other
    /// predecessors of its edges.
    pub(super) fn versions(&self, tree: &Tree<'_>, node: NodeIx) -> Vec<Relation> {
        let chain = path::origins(tree, node);
        // A cycle of edits has no first one.
        let first = chain.last().copied().unwrap_or(node);
        let mut seen = SortedSet::new();
        let mut versions = Vec::new();
        let mut open = vec![first];
        while let Some(version) = open.pop() {
            if !seen.insert(version) {
                continue;
            }
            versions.push(version);
            let edits = self.edits.get(&*tree.at(version).id).into_iter().flatten().copied();
            open.extend(in_order(tree, edits).into_iter().rev());
        }
        let edges = tree.outgoing(node).iter().filter(|&&edge| tree.edge(edge).kind == EdgeKind::Continuation);
        for &edge in edges {
            let others: Vec<NodeIx> = tree::predecessors(tree.sources(edge)).collect();
            if others.contains(&node) {
                versions.extend(others.into_iter().filter(|&other| seen.insert(other)));
            }
        }
        versions.into_iter().map(|node| relation_of(tree, node)).collect()
    }
}

/// The children of a node and its annotations, in the order of their edges.
pub(super) fn children(tree: &Tree<'_>, node: NodeIx) -> Vec<Relation> {
    let mut seen = Seen::default();
    let children = tree.outgoing(node).iter().filter_map(|&edge| child_by(tree, node, edge));
    children.filter(|child| seen.insert(child.node)).collect()
}

/// The target of an edge, if it continues or annotates the node.
fn child_by(tree: &Tree<'_>, node: NodeIx, edge: EdgeIx) -> Option<Relation> {
    let linked = tree.edge(edge);
    let annotation = linked.kind == EdgeKind::Annotation;
    let continues = annotation || tree::predecessors(&linked.links).any(|origin| origin == node);
    continues.then_some(Relation { node: linked.target, edge: Some(edge), annotation })
}

/// The parents of a node, and the nodes that it annotates.
pub(super) fn parents(tree: &Tree<'_>, node: NodeIx) -> Vec<Relation> {
    let (at, _) = path::edges_into(tree, node);
    let mut seen = Seen::default();
    let mut parents = Vec::new();
    for &edge in tree.incoming(at).iter().chain(tree.annotated_by(at)) {
        let linked = tree.edge(edge);
        let annotation = linked.kind == EdgeKind::Annotation;
        let sources: Vec<NodeIx> = match annotation {
            true => linked.links.iter().map(|link| link.node).collect(),
            false => path::primaries(tree, edge),
        };
        let new = sources.into_iter().filter(|&node| seen.insert(node));
        parents.extend(new.map(|node| Relation { node, edge: Some(edge), annotation }));
    }
    parents
}

/// All descendants of a node, each after the node from which it was first reached.
pub(super) fn descendants(tree: &Tree<'_>, node: NodeIx) -> Vec<Relation> {
    let mut seen = Seen::default();
    seen.insert(node);
    let mut descendants = Vec::new();
    let mut open = children(tree, node);
    open.reverse();
    while let Some(next) = open.pop() {
        if seen.insert(next.node) {
            descendants.push(next);
            open.extend(children(tree, next.node).into_iter().rev());
        }
    }
    descendants
}

/// The next or previous one among the nodes that edges of one kind connect to the same node. Pruned nodes are skipped,
/// unless the node itself is pruned.
pub(super) fn adjacent(tree: &Tree<'_>, node: NodeIx, from: NodeIx, edge: EdgeIx, next: bool) -> Option<Relation> {
    let at = tree.edge(edge);
    let is_one = |&edge: &EdgeIx| {
        let child = child_by(tree, from, edge)?;
        let same_kind = child.annotation == (at.kind == EdgeKind::Annotation);
        let shows = !tree.at(child.node).pruned || tree.at(node).pruned;
        (same_kind && shows && child.node != at.target).then_some(child)
    };
    let (before, later) = tree.outgoing_around(from, edge);
    if next { later.iter().find_map(is_one) } else { before.iter().rev().find_map(is_one) }
}

/// The node that an edit without an edge edits.
fn origin(tree: &Tree<'_>, place: NodeIx) -> Option<NodeIx> {
    tree.at(place).edited_from.as_deref().and_then(|id| tree.find_opt(id))
}

/// A node with its first incoming edge.
fn relation_of(tree: &Tree<'_>, node: NodeIx) -> Relation {
    let edge = tree.incoming(node).iter().chain(tree.annotated_by(node)).next().copied();
    let annotation = edge.is_some_and(|edge| tree.edge(edge).kind == EdgeKind::Annotation);
    Relation { node, edge, annotation }
}

/// Sorts slots in the order of nodes.
fn in_order(tree: &Tree<'_>, places: impl Iterator<Item = NodeIx>) -> Vec<NodeIx> {
    let mut ranked: Vec<(u64, NodeIx)> = places.map(|place| (tree.node_order().rank(place), place)).collect();
    crate::sorting::sort(&mut ranked);
    ranked.into_iter().map(|(_, place)| place).collect()
}

/// Nodes that were returned already: a few in a list, more in a set.
#[derive(Debug, Default)]
pub(super) struct Seen {
    few: Vec<NodeIx>,
    many: SortedSet<NodeIx>,
}

impl Seen {
    /// Whether the node is new.
    pub(super) fn insert(&mut self, node: NodeIx) -> bool {
        const MAX_LINEAR_NODES: usize = 16;
        if self.few.len() < MAX_LINEAR_NODES {
            let new = !self.few.contains(&node);
            if new {
                self.few.push(node);
            }
            return new;
        }
        !self.few.contains(&node) && self.many.insert(node)
    }
}

/// An unordered set of slots with insertion and removal in constant time.
#[derive(Debug, Default)]
struct PlaceSet {
    list: Vec<NodeIx>,
    /// The index of each slot in the list plus 1, or 0.
    at: Vec<u32>,
}

impl PlaceSet {
    /// Adds or removes a slot.
    fn set(&mut self, place: NodeIx, is_in: bool) {
        if self.at.len() <= place as usize {
            self.at.resize(place as usize + 1, 0);
        }
        let Some(at) = self.at.get_mut(place as usize) else { return };
        match (*at, is_in) {
            (0, true) => {
                self.list.push(place);
                *at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
            }
            (number, false) if number > 0 => {
                *at = 0;
                self.list.swap_remove(number as usize - 1);
                if let Some(&moved) = self.list.get(number as usize - 1)
                    && let Some(at) = self.at.get_mut(moved as usize)
                {
                    *at = number;
                }
            }
            _ => {}
        }
    }
}
