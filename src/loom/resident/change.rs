//! Changes of a tree as data: each is applied completely or not at all, and returns the change that undoes it.

use serde::Serialize;

use super::change_log::Changed;
use super::extra::Extra;
use super::loom_tree::{LoomTree, size};
use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
use crate::loom::ordered_slots::OrderedSlots;
use crate::loom::path;
use crate::loom::tree::{self, Edge, EdgeIx, EdgeKind, FreePlaces, Node, NodeIx, TreeSettings};
use crate::maps::SortedSet;
use crate::sorting::{sort, sort_by_key};
use crate::text::utf16_len;

/// A change of a tree: removals first, then insertions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSet {
    /// Nodes to remove, with the edges that lead to them; missing ones are ignored.
    pub removed_nodes: Vec<String>,
    /// Edges to remove; missing ones are ignored.
    pub removed_edges: Vec<String>,
    /// Nodes to add, or to replace by id.
    pub nodes: Vec<Upsert<Node<'static>>>,
    /// Edges to add, or to replace by id; they may refer to nodes of the same change.
    pub edges: Vec<Upsert<Edge<'static>>>,
    /// New endings of texts, of nodes that the change does not name elsewhere.
    pub endings: Vec<TailEdit>,
    /// The new settings of the tree; `None` leaves them unchanged.
    pub settings: Option<TreeFields>,
    /// Whether everything else is removed, so that the tree has exactly these nodes and edges, in this order.
    pub replaces: bool,
}

/// The fields of a tree other than its nodes and edges.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeFields {
    /// The settings.
    pub settings: TreeSettings,
    /// Fields of its JSON beyond the model.
    pub extra: Extra,
}

/// A node or an edge to add or replace.
#[derive(Clone, Debug, PartialEq)]
pub struct Upsert<T> {
    /// The node or the edge.
    pub entity: T,
    /// Fields of its JSON beyond the model.
    pub extra: Extra,
    /// The position in the order of the tree.
    pub place: OrderPosition,
}

impl<T> From<T> for Upsert<T> {
    fn from(entity: T) -> Self {
        Self { entity, extra: Extra::default(), place: OrderPosition::Kept }
    }
}

/// A new ending of the text in the last block of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TailEdit {
    /// The node.
    pub node_id: String,
    /// The number of UTF-16 code units to remove from the end of its text.
    pub cut: usize,
    /// The text to append after that.
    pub text: String,
}

/// A position in the order of nodes or of edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OrderPosition {
    /// The current position; a new entry is appended.
    #[default]
    Kept,
    /// The end.
    Last,
    /// Before the one with this id; the end if missing.
    Before(String),
}

/// Effects of a change beyond its request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Applied {
    /// Removed edges: those that led to a removed node, or lost every possible predecessor.
    pub edges: Vec<String>,
    /// Edges that lost a source but remain.
    pub shortened: Vec<String>,
    /// The change that undoes it and restores the tree completely, including the order.
    pub inverse: ChangeSet,
}

/// The removals, by slot.
#[derive(Debug, Default)]
pub(super) struct Removal {
    pub nodes: SortedSet<NodeIx>,
    /// Edges that the change names.
    named: SortedSet<EdgeIx>,
    /// Edges removed together with a node.
    along: Vec<EdgeIx>,
    /// Edges that lose a source but remain.
    shortened: Vec<EdgeIx>,
}

/// The slots for additions, so that a tree is restored exactly.
#[derive(Debug)]
pub(super) struct RestoredPlaces {
    pub free: FreePlaces,
    /// The slots of the added nodes, in the order of their insertion.
    pub nodes: Vec<NodeIx>,
    /// Those of the edges.
    pub edges: Vec<EdgeIx>,
}

impl LoomTree {
    /// Adds nodes and edges; existing ones with the same id are replaced. Edges may refer to nodes of the same call.
    /// Returns the change that undoes it.
    ///
    /// # Errors
    /// [`Code::DuplicateId`] for an id that occurs twice, [`Code::EdgeNodeNotFound`], and [`Code::LimitExceeded`]. The
    /// tree is then unchanged.
    pub fn upsert(
        &mut self,
        nodes: Vec<Node<'static>>,
        edges: Vec<Edge<'static>>,
        limits: &Limits,
    ) -> Result<ChangeSet> {
        let nodes = nodes.into_iter().map(Upsert::from).collect();
        let edges = edges.into_iter().map(Upsert::from).collect();
        self.apply(ChangeSet { nodes, edges, ..ChangeSet::default() }, limits).map(|applied| applied.inverse)
    }

    /// Removes nodes and edges. Edges that lead to a removed node are removed as well; an edge that starts from it
    /// loses that source, and is removed if no possible predecessor is left. The result lists these.
    ///
    /// # Errors
    /// [`Code::NodeNotFound`] and [`Code::EdgeNotFound`] for ids that are not in the tree. The tree is then unchanged.
    pub fn remove(&mut self, nodes: &[String], edges: &[String]) -> Result<Applied> {
        for id in nodes {
            self.tree.find(id)?;
        }
        for id in edges {
            self.tree.find_edge(id).ok_or_else(|| edge_not_found(id))?;
        }
        let (removed_nodes, removed_edges) = (nodes.to_vec(), edges.to_vec());
        // A removal cannot exceed a limit.
        self.apply(ChangeSet { removed_nodes, removed_edges, ..ChangeSet::default() }, &Limits::default())
    }

    /// Applies a change.
    ///
    /// # Errors
    /// [`Code::DuplicateId`](crate::Code::DuplicateId) for an id that is inserted twice, [`Code::EdgeNodeNotFound`](crate::Code::EdgeNodeNotFound),
    /// and [`Code::LimitExceeded`](crate::Code::LimitExceeded). The tree is then unchanged.
    pub fn apply(&mut self, change: ChangeSet, limits: &Limits) -> Result<Applied> {
        let removal = self.removal(&change);
        self.check(&change, &removal, limits)?;
        let inverse = self.inverse(&change, &removal);
        let name = |edges: &[EdgeIx]| edges.iter().map(|&edge| self.tree.edge(edge).id.to_string()).collect();
        let (edges, shortened) = (name(&removal.along), name(&removal.shortened));
        self.make(change, removal, None);
        self.touch();
        Ok(Applied { edges, shortened, inverse })
    }

    /// The removals of a change, including consequential ones.
    pub(super) fn removal(&self, change: &ChangeSet) -> Removal {
        let mut removal = Removal::default();
        let put_edges = SortedSet::from_iter(change.edges.iter().filter_map(|put| self.tree.find_edge(&put.entity.id)));
        if change.replaces {
            let put = SortedSet::from_iter(change.nodes.iter().filter_map(|put| self.tree.find_opt(&put.entity.id)));
            let goes = |place: &NodeIx| !put.contains(place);
            removal.nodes = SortedSet::from_iter(self.tree.node_order().iter().filter(goes));
            removal.named =
                SortedSet::from_iter(self.tree.edge_order().iter().filter(|edge| !put_edges.contains(edge)));
            return removal;
        }
        removal.nodes = SortedSet::from_iter(change.removed_nodes.iter().filter_map(|id| self.tree.find_opt(id)));
        removal.named = SortedSet::from_iter(change.removed_edges.iter().filter_map(|id| self.tree.find_edge(id)));
        // A replaced edge is exactly as the change has it.
        let mut looked_at = SortedSet::from_iter(removal.named.iter().copied().chain(put_edges));
        // In the order of the nodes, so that the result is deterministic.
        for &place in removal.nodes.iter() {
            let into = self.tree.incoming(place).iter().chain(self.tree.annotated_by(place));
            for &edge in into.chain(self.tree.outgoing(place)) {
                if looked_at.insert(edge) {
                    let stays = self.stays(edge, &removal.nodes);
                    let list = if stays { &mut removal.shortened } else { &mut removal.along };
                    list.push(edge);
                }
            }
        }
        removal
    }

    /// Whether an edge still has a target and a possible predecessor without these nodes.
    fn stays(&self, edge: EdgeIx, removal: &SortedSet<NodeIx>) -> bool {
        let linked = self.tree.edge(edge);
        let origins = if linked.kind == EdgeKind::Continuation {
            path::primaries(&self.tree, edge)
        } else {
            linked.links.iter().map(|link| link.node).collect()
        };
        !removal.contains(&linked.target) && origins.iter().any(|node| !removal.contains(node))
    }

    pub(super) fn check(&self, change: &ChangeSet, removal: &Removal, limits: &Limits) -> Result<()> {
        let stays = |id: &str| self.tree.find_opt(id).filter(|place| !removal.nodes.contains(place));
        let size_at = |place: NodeIx| size(self.tree.at(place));
        let mut ids = SortedSet::new();
        let mut count = self.tree.len() - removal.nodes.iter().count();
        let mut bytes = self.text_bytes.saturating_sub(removal.nodes.iter().map(|&place| size_at(place)).sum());
        for Upsert { entity: node, .. } in &change.nodes {
            if !ids.insert(&*node.id) {
                return Err(tree::duplicate("node", &node.id));
            }
            match stays(&node.id) {
                Some(place) => bytes = bytes.saturating_sub(size_at(place)),
                None => count += 1,
            }
            bytes += size(node);
        }
        for ending in &change.endings {
            let named_elsewhere = ids.contains(&*ending.node_id) || stays(&ending.node_id).is_none();
            let end = self.end_of(ending).filter(|_| !named_elsewhere);
            let end = end.ok_or_else(|| no_such_ending(&ending.node_id))?;
            bytes = bytes.saturating_sub(end.len()).saturating_add(ending.text.len());
            if !ids.insert(&*ending.node_id) {
                return Err(tree::duplicate("node", &ending.node_id));
            }
        }
        limits::check("nodes", count, limits.nodes)?;
        limits::check("inputBytes", bytes, limits.input_bytes)?;
        let mut edge_ids = SortedSet::new();
        let mut count = self.tree.edge_count() - removal.edges().count();
        for Upsert { entity: edge, .. } in &change.edges {
            if !edge_ids.insert(&*edge.id) {
                return Err(tree::duplicate("edge", &edge.id));
            }
            let known = self.tree.find_edge(&edge.id).filter(|edge| !removal.named.contains(edge));
            count += usize::from(known.is_none());
            limits::check("edgeSources", edge.sources.len(), limits.edge_sources)?;
            for id in edge.nodes() {
                if !ids.contains(id) && stays(id).is_none() {
                    return Err(tree::edge_node_not_found(&edge.id, id));
                }
            }
        }
        limits::check("edges", count, limits.edges)
    }

    /// The end of a text that is removed; `None` if the node has no text of that length.
    fn end_of(&self, ending: &TailEdit) -> Option<&str> {
        let text = self.last_text(self.tree.find_opt(&ending.node_id)?)?;
        let mut units = ending.cut;
        let mut at = text.len();
        for c in text.chars().rev() {
            if units == 0 {
                break;
            }
            units = units.checked_sub(c.len_utf16())?;
            at = at.saturating_sub(c.len_utf8());
        }
        text.get(at..).filter(|_| units == 0)
    }

    /// The change that undoes a change: restores everything it removes, moves or replaces, and removes new entries.
    pub(super) fn inverse(&self, change: &ChangeSet, removal: &Removal) -> ChangeSet {
        let settings = change.settings.as_ref().map(|_| self.fields());
        if change.replaces {
            return ChangeSet { settings, ..self.whole() };
        }
        let mut inverse = ChangeSet { settings, ..ChangeSet::default() };
        let mut moved: Vec<NodeIx> = removal.nodes.iter().copied().collect();
        let mut kept = Vec::new();
        for Upsert { entity, place, .. } in &change.nodes {
            match self.tree.find_opt(&entity.id) {
                None => inverse.removed_nodes.push(entity.id.to_string()),
                Some(ix) if removal.nodes.contains(&ix) => {}
                Some(ix) if *place == OrderPosition::Kept => kept.push(self.put_back(ix, OrderPosition::Kept)),
                Some(ix) => moved.push(ix),
            }
        }
        for ending in change.endings.iter().rev() {
            let text = self.end_of(ending).unwrap_or_default().to_owned();
            inverse.endings.push(TailEdit { node_id: ending.node_id.clone(), cut: utf16_len(&ending.text), text });
        }
        let id = |ix: NodeIx| self.tree.at(ix).id.to_string();
        let moved = with_next(self.tree.node_order(), moved);
        let moved = moved.into_iter().map(|(ix, next)| self.put_back(ix, OrderPosition::of(next.map(id))));
        inverse.nodes = moved.chain(kept).collect();

        let mut moved: Vec<EdgeIx> = removal.edges().collect();
        let mut kept: Vec<_> =
            removal.shortened.iter().filter_map(|&ix| self.put_edge_back(ix, OrderPosition::Kept)).collect();
        for Upsert { entity, place, .. } in &change.edges {
            match self.tree.find_edge(&entity.id) {
                None => inverse.removed_edges.push(entity.id.to_string()),
                Some(ix) if removal.named.contains(&ix) => {}
                Some(ix) if *place == OrderPosition::Kept => kept.extend(self.put_edge_back(ix, OrderPosition::Kept)),
                Some(ix) => moved.push(ix),
            }
        }
        let id = |ix: EdgeIx| self.tree.edge(ix).id.to_string();
        let moved = with_next(self.tree.edge_order(), moved);
        let moved = moved.into_iter().filter_map(|(ix, next)| self.put_edge_back(ix, OrderPosition::of(next.map(id))));
        inverse.edges = moved.chain(kept).collect();
        inverse
    }

    /// The current fields of the tree other than nodes and edges.
    pub(super) fn fields(&self) -> TreeFields {
        TreeFields { settings: self.tree.settings().clone(), extra: self.extra.clone() }
    }

    /// An upsert that restores a node.
    pub(super) fn put_back(&self, ix: NodeIx, place: OrderPosition) -> Upsert<Node<'static>> {
        Upsert { entity: self.tree.at(ix).clone(), extra: self.node_extras.get(ix).clone(), place }
    }

    /// An upsert that restores an edge.
    pub(super) fn put_edge_back(&self, ix: EdgeIx, place: OrderPosition) -> Option<Upsert<Edge<'static>>> {
        let entity = self.tree.edge_data(ix)?.into_owned();
        Some(Upsert { entity, extra: self.edge_extras.get(ix).clone(), place })
    }

    /// The change that turns any tree into this one.
    pub(super) fn whole(&self) -> ChangeSet {
        let nodes = self.tree.node_order().iter().map(|ix| self.put_back(ix, OrderPosition::Last));
        let edges = self.tree.edge_order().iter().filter_map(|ix| self.put_edge_back(ix, OrderPosition::Last));
        ChangeSet {
            nodes: nodes.collect(),
            edges: edges.collect(),
            settings: Some(self.fields()),
            replaces: true,
            ..ChangeSet::default()
        }
    }

    /// Applies a checked change. With `restored`, additions use these slots, and the free list is restored.
    pub(super) fn make(&mut self, change: ChangeSet, removal: Removal, restored: Option<RestoredPlaces>) {
        let mut changed = Vec::new();
        let Removal { nodes: removed_nodes, named, along, shortened } = removal;
        // Restored entries are inserted in the reverse order of their removal, so each gets its slot back.
        let mut removed_edges: Vec<EdgeIx> = named.into_iter().chain(along).collect();
        sort(&mut removed_edges);
        for ix in removed_edges.into_iter().rev() {
            changed.push(Changed::EdgeRemoved(self.tree.edge(ix).id.as_ref().into()));
            self.tree.remove_edge(ix);
            self.edge_extras.set(ix, Extra::default());
        }
        for ix in shortened {
            changed.push(Changed::Edge(ix));
            let stay = self.tree.sources(ix).iter().map(|link| !removed_nodes.contains(&link.node));
            let extra = self.edge_extras.get(ix).with_sources(stay);
            self.edge_extras.set(ix, extra);
            self.tree.drop_sources(ix, |node| removed_nodes.contains(&node));
        }
        let removed_nodes: Vec<NodeIx> = removed_nodes.into_iter().collect();
        for ix in removed_nodes.into_iter().rev() {
            changed.push(Changed::NodeRemoved(self.tree.at(ix).id.as_ref().into()));
            self.tree.remove_node(ix);
            self.node_extras.set(ix, Extra::default());
            self.intern(ix);
        }
        if let Some(RestoredPlaces { free, nodes, edges }) = restored {
            self.tree.restore_free_places(free, &nodes, &edges);
        }
        for Upsert { entity, extra, place } in change.nodes {
            let place = if change.replaces { OrderPosition::Last } else { place };
            let placed = place != OrderPosition::Kept || self.tree.find_opt(&entity.id).is_none();
            let ix = self.tree.put_node(entity);
            self.node_extras.set(ix, extra);
            self.intern(ix);
            match place {
                OrderPosition::Kept => {}
                OrderPosition::Last => self.tree.move_node(ix, None),
                OrderPosition::Before(id) => self.tree.move_node(ix, self.tree.find_opt(&id)),
            }
            changed.push(if placed { Changed::PlacedNode(ix) } else { Changed::Node(ix) });
        }
        for Upsert { entity, extra, place } in change.edges {
            let place = if change.replaces { OrderPosition::Last } else { place };
            let placed = place != OrderPosition::Kept || self.tree.find_edge(&entity.id).is_none();
            let Some(ix) = self.tree.put_edge(entity) else { continue };
            self.edge_extras.set(ix, extra);
            match place {
                OrderPosition::Kept => {}
                OrderPosition::Last => self.tree.move_edge(ix, None),
                OrderPosition::Before(id) => self.tree.move_edge(ix, self.tree.find_edge(&id)),
            }
            changed.push(if placed { Changed::PlacedEdge(ix) } else { Changed::Edge(ix) });
        }
        for ending in change.endings {
            let cut = self.end_of(&ending).map_or(0, str::len);
            if let Some(ix) = self.tree.find_opt(&ending.node_id).filter(|_| cut > 0 || !ending.text.is_empty()) {
                self.change_ending(ix, cut, &ending.text);
                changed.push(Changed::Node(ix));
            }
        }
        if let Some(TreeFields { settings, extra }) = change.settings {
            changed.push(Changed::Settings);
            self.tree.set_settings(settings);
            self.extra = extra;
        }
        self.log.note(changed, self.tree.len() + self.tree.edge_count());
    }
}

impl Removal {
    /// Exactly these nodes and edges.
    pub(super) fn only(nodes: SortedSet<NodeIx>, edges: SortedSet<EdgeIx>) -> Self {
        Self { nodes, named: edges, ..Self::default() }
    }

    /// Whether the change names an edge for removal.
    pub(super) fn names(&self, edge: EdgeIx) -> bool {
        self.named.contains(&edge)
    }

    /// All removed edges.
    pub(super) fn edges(&self) -> impl Iterator<Item = EdgeIx> {
        self.named.iter().chain(&self.along).copied()
    }
}

impl OrderPosition {
    /// Before the one with this id, or the end.
    pub(super) fn of(next: Option<String>) -> Self {
        next.map_or(Self::Last, Self::Before)
    }
}

fn edge_not_found(id: &str) -> Error {
    Error::new(Code::EdgeNotFound, format!("edge `{id}` is not in the tree; check the id")).with("edgeId", id)
}

fn no_such_ending(id: &str) -> Error {
    let message = format!(
        "the ending of node `{id}` does not match the tree, or the change names the node twice; apply the change to the tree it was made for"
    );
    Error::new(Code::InvalidEdit, message).with("nodeId", id)
}

/// Slots in their order, each with the next slot that is not among them: inserting them one after the other before that
/// slot restores the order.
pub(super) fn with_next(order: &OrderedSlots, mut places: Vec<u32>) -> Vec<(u32, Option<u32>)> {
    sort_by_key(&mut places, |&place| order.rank(place));
    let mut with_next = Vec::with_capacity(places.len());
    let mut after: Option<(u32, Option<u32>)> = None;
    for place in places.into_iter().rev() {
        let next = order.next(place);
        let next = match after {
            Some((following, beyond)) if next == Some(following) => beyond,
            _ => next,
        };
        after = Some((place, next));
        with_next.push((place, next));
    }
    with_next.reverse();
    with_next
}
