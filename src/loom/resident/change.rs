//! Changes of a tree as data: each is made whole or not at all, and gives the change that takes it back.

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

/// What is done to a tree: first what is to go goes, then what is to come is put.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSet {
    /// Nodes that go, and with them the edges that lead to them; those that are not there are gone already.
    pub removed_nodes: Vec<String>,
    /// Edges that go; those that are not there are gone already.
    pub removed_edges: Vec<String>,
    /// Nodes to add, or to put in the place of those with their ids.
    pub nodes: Vec<Upsert<Node<'static>>>,
    /// Edges to add, or to put in the place of those with their ids; they may name nodes of the same change.
    pub edges: Vec<Upsert<Edge<'static>>>,
    /// Texts that end otherwise, of nodes that the change does not name elsewhere.
    pub endings: Vec<TailEdit>,
    /// What the tree then says about itself; none where that stays as it is.
    pub settings: Option<TreeFields>,
    /// Whether everything goes that is not put, so that the tree has these nodes and edges alone, in this order.
    pub replaces: bool,
}

/// What a tree has next to its nodes and edges.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeFields {
    /// What it says about itself.
    pub settings: TreeSettings,
    /// What its JSON has beyond the model.
    pub extra: Extra,
}

/// A node or an edge that is put into a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Upsert<T> {
    /// The node or the edge.
    pub entity: T,
    /// What its JSON has beyond the model.
    pub extra: Extra,
    /// Where in the order of the tree.
    pub place: OrderPosition,
}

impl<T> From<T> for Upsert<T> {
    fn from(entity: T) -> Self {
        Self { entity, extra: Extra::default(), place: OrderPosition::Kept }
    }
}

/// Another ending of the text that is the last block of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TailEdit {
    /// The node.
    pub node_id: String,
    /// How many UTF-16 code units go from the end of its text.
    pub cut: usize,
    /// What then comes there.
    pub text: String,
}

/// A place in the order of nodes, or of edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OrderPosition {
    /// Where it is; what is new comes last.
    #[default]
    Kept,
    /// The end.
    Last,
    /// Before the one of this id; the end if missing.
    Before(String),
}

/// Effects of a change beyond its request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Applied {
    /// Edges that led to a removed node, or that lost every node they could come from.
    pub edges: Vec<String>,
    /// Edges that lost a source and stay.
    pub shortened: Vec<String>,
    /// The change that takes it back: after it, the tree is as it was, order and all.
    pub inverse: ChangeSet,
}

/// What goes, by place.
#[derive(Debug, Default)]
pub(super) struct Removal {
    pub nodes: SortedSet<NodeIx>,
    /// Edges that are named.
    named: SortedSet<EdgeIx>,
    /// Edges that go with a node.
    along: Vec<EdgeIx>,
    /// Edges that lose a source and stay.
    shortened: Vec<EdgeIx>,
}

/// Where what a change adds has to be, so that a tree is what it was.
#[derive(Debug)]
pub(super) struct RestoredPlaces {
    pub free: FreePlaces,
    /// The places of the nodes that are added, in the order in which they are.
    pub nodes: Vec<NodeIx>,
    /// Those of the edges.
    pub edges: Vec<EdgeIx>,
}

impl LoomTree {
    /// Adds nodes and edges; one whose id is in the tree is put in its place. Edges may name nodes of the same call. Gives
    /// the change that takes it back.
    ///
    /// # Errors
    /// [`Code::DuplicateId`] for an id that is given twice, [`Code::EdgeNodeNotFound`], and [`Code::LimitExceeded`]. The
    /// tree is then as it was.
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

    /// Removes nodes and edges. With a node go the edges that lead to it; an edge that starts from it loses that source,
    /// and goes too when no source is left that it could come from. What went along is in the answer.
    ///
    /// # Errors
    /// [`Code::NodeNotFound`] and [`Code::EdgeNotFound`] for ids that are not in the tree. The tree is then as it was.
    pub fn remove(&mut self, nodes: &[String], edges: &[String]) -> Result<Applied> {
        for id in nodes {
            self.tree.find(id)?;
        }
        for id in edges {
            self.tree.find_edge(id).ok_or_else(|| edge_not_found(id))?;
        }
        let (removed_nodes, removed_edges) = (nodes.to_vec(), edges.to_vec());
        // Nothing grows that has a limit.
        self.apply(ChangeSet { removed_nodes, removed_edges, ..ChangeSet::default() }, &Limits::default())
    }

    /// Makes a change.
    ///
    /// # Errors
    /// [`Code::DuplicateId`](crate::Code::DuplicateId) for an id that is put twice,
    /// [`Code::EdgeNodeNotFound`](crate::Code::EdgeNodeNotFound), and
    /// [`Code::LimitExceeded`](crate::Code::LimitExceeded). The tree is then as it was.
    pub fn apply(&mut self, change: ChangeSet, limits: &Limits) -> Result<Applied> {
        let gone = self.gone(&change);
        self.check(&change, &gone, limits)?;
        let inverse = self.inverse(&change, &gone);
        let name = |edges: &[EdgeIx]| edges.iter().map(|&edge| self.tree.edge(edge).id.to_string()).collect();
        let (edges, shortened) = (name(&gone.along), name(&gone.shortened));
        self.make(change, gone, None);
        self.touch();
        Ok(Applied { edges, shortened, inverse })
    }

    /// What a change removes, itself or with something else.
    pub(super) fn gone(&self, change: &ChangeSet) -> Removal {
        let mut gone = Removal::default();
        let put_edges = SortedSet::from_iter(change.edges.iter().filter_map(|put| self.tree.find_edge(&put.entity.id)));
        if change.replaces {
            let put = SortedSet::from_iter(change.nodes.iter().filter_map(|put| self.tree.find_opt(&put.entity.id)));
            let goes = |place: &NodeIx| !put.contains(place);
            gone.nodes = SortedSet::from_iter(self.tree.node_order().iter().filter(goes));
            gone.named = SortedSet::from_iter(self.tree.edge_order().iter().filter(|edge| !put_edges.contains(edge)));
            return gone;
        }
        gone.nodes = SortedSet::from_iter(change.removed_nodes.iter().filter_map(|id| self.tree.find_opt(id)));
        gone.named = SortedSet::from_iter(change.removed_edges.iter().filter_map(|id| self.tree.find_edge(id)));
        // An edge that is put is as it is put.
        let mut looked_at = SortedSet::from_iter(gone.named.iter().copied().chain(put_edges));
        // In the order of the nodes, so that the answer is the same each time.
        for &place in gone.nodes.iter() {
            let into = self.tree.incoming(place).iter().chain(self.tree.annotated_by(place));
            for &edge in into.chain(self.tree.outgoing(place)) {
                if looked_at.insert(edge) {
                    let stays = self.stays(edge, &gone.nodes);
                    let list = if stays { &mut gone.shortened } else { &mut gone.along };
                    list.push(edge);
                }
            }
        }
        gone
    }

    /// Whether an edge still leads somewhere, from somewhere, without these nodes.
    fn stays(&self, edge: EdgeIx, gone: &SortedSet<NodeIx>) -> bool {
        let linked = self.tree.edge(edge);
        let origins = if linked.kind == EdgeKind::Continuation {
            path::primaries(&self.tree, edge)
        } else {
            linked.links.iter().map(|link| link.node).collect()
        };
        !gone.contains(&linked.target) && origins.iter().any(|node| !gone.contains(node))
    }

    pub(super) fn check(&self, change: &ChangeSet, gone: &Removal, limits: &Limits) -> Result<()> {
        let stays = |id: &str| self.tree.find_opt(id).filter(|place| !gone.nodes.contains(place));
        let size_at = |place: NodeIx| size(self.tree.at(place));
        let mut ids = SortedSet::new();
        let mut count = self.tree.len() - gone.nodes.iter().count();
        let mut bytes = self.text_bytes.saturating_sub(gone.nodes.iter().map(|&place| size_at(place)).sum());
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
        let mut count = self.tree.edge_count() - gone.edges().count();
        for Upsert { entity: edge, .. } in &change.edges {
            if !edge_ids.insert(&*edge.id) {
                return Err(tree::duplicate("edge", &edge.id));
            }
            let known = self.tree.find_edge(&edge.id).filter(|edge| !gone.named.contains(edge));
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

    /// The end of a text that goes; nothing where the node has none of that length.
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

    /// What takes a change back: all that it removes, moves or replaces as it is now, and the removal of what is new.
    pub(super) fn inverse(&self, change: &ChangeSet, gone: &Removal) -> ChangeSet {
        let settings = change.settings.as_ref().map(|_| self.fields());
        if change.replaces {
            return ChangeSet { settings, ..self.whole() };
        }
        let mut inverse = ChangeSet { settings, ..ChangeSet::default() };
        let mut moved: Vec<NodeIx> = gone.nodes.iter().copied().collect();
        let mut kept = Vec::new();
        for Upsert { entity, place, .. } in &change.nodes {
            match self.tree.find_opt(&entity.id) {
                None => inverse.removed_nodes.push(entity.id.to_string()),
                Some(ix) if gone.nodes.contains(&ix) => {}
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

        let mut moved: Vec<EdgeIx> = gone.edges().collect();
        let mut kept: Vec<_> =
            gone.shortened.iter().filter_map(|&ix| self.put_edge_back(ix, OrderPosition::Kept)).collect();
        for Upsert { entity, place, .. } in &change.edges {
            match self.tree.find_edge(&entity.id) {
                None => inverse.removed_edges.push(entity.id.to_string()),
                Some(ix) if gone.named.contains(&ix) => {}
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

    /// What the tree has next to nodes and edges, as it is.
    pub(super) fn fields(&self) -> TreeFields {
        TreeFields { settings: self.tree.settings().clone(), extra: self.extra.clone() }
    }

    /// A node as it is.
    pub(super) fn put_back(&self, ix: NodeIx, place: OrderPosition) -> Upsert<Node<'static>> {
        Upsert { entity: self.tree.at(ix).clone(), extra: self.node_extras.get(ix).clone(), place }
    }

    /// An edge as it is.
    pub(super) fn put_edge_back(&self, ix: EdgeIx, place: OrderPosition) -> Option<Upsert<Edge<'static>>> {
        let entity = self.tree.edge_data(ix)?.into_owned();
        Some(Upsert { entity, extra: self.edge_extras.get(ix).clone(), place })
    }

    /// The change that makes this tree of any other.
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

    /// Makes a change that was checked. With `restored`, what is added takes these places, and the free ones become what they were.
    pub(super) fn make(&mut self, change: ChangeSet, gone: Removal, restored: Option<RestoredPlaces>) {
        let mut changed = Vec::new();
        let Removal { nodes: gone_nodes, named, along, shortened } = gone;
        // What is put back first gets the place that became free last: its own.
        let mut gone_edges: Vec<EdgeIx> = named.into_iter().chain(along).collect();
        sort(&mut gone_edges);
        for ix in gone_edges.into_iter().rev() {
            changed.push(Changed::EdgeGone(self.tree.edge(ix).id.as_ref().into()));
            self.tree.remove_edge(ix);
            self.edge_extras.set(ix, Extra::default());
        }
        for ix in shortened {
            changed.push(Changed::Edge(ix));
            let stay = self.tree.sources(ix).iter().map(|link| !gone_nodes.contains(&link.node));
            let extra = self.edge_extras.get(ix).with_sources(stay);
            self.edge_extras.set(ix, extra);
            self.tree.drop_sources(ix, |node| gone_nodes.contains(&node));
        }
        let gone_nodes: Vec<NodeIx> = gone_nodes.into_iter().collect();
        for ix in gone_nodes.into_iter().rev() {
            changed.push(Changed::NodeGone(self.tree.at(ix).id.as_ref().into()));
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
    /// These nodes and edges, with nothing else.
    pub(super) fn only(nodes: SortedSet<NodeIx>, edges: SortedSet<EdgeIx>) -> Self {
        Self { nodes, named: edges, ..Self::default() }
    }

    /// Whether an edge is among those that the change names.
    pub(super) fn names(&self, edge: EdgeIx) -> bool {
        self.named.contains(&edge)
    }

    /// All edges that go.
    pub(super) fn edges(&self) -> impl Iterator<Item = EdgeIx> {
        self.named.iter().chain(&self.along).copied()
    }
}

impl OrderPosition {
    /// Before the one of this id, or the end.
    pub(super) fn of(next: Option<String>) -> Self {
        next.map_or(Self::Last, Self::Before)
    }
}

fn edge_not_found(id: &str) -> Error {
    Error::new(Code::EdgeNotFound, format!("edge `{id}` is not in the tree; check the id")).with("edgeId", id)
}

fn no_such_ending(id: &str) -> Error {
    let message = format!(
        "node `{id}` has no text at its end of which so much could go, or the change names it elsewhere, too; make the change to the tree for which it was given"
    );
    Error::new(Code::InvalidEdit, message).with("nodeId", id)
}

/// Places in their order, each with the next one in it that is not among them: put before that one after the other, they are
/// in their order again.
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
